"""The methods of fwlab."""

from benchopt import BaseSolver

import fwlab


class Solver(BaseSolver):
    """Run one method for a number of iterations."""

    name = "fwlab"
    parameters = {"method": ["ascent", "bcfw", "auto"]}
    sampling_strategy = "iteration"

    def set_objective(self, problem, k, C):
        """Keep the problem, and compile the method before it is timed."""
        self.problem = problem
        fwlab.solve(problem, self.method, max_iter=1)

    def run(self, n_iter):
        """Train from the dual point 0."""
        self.W = fwlab.solve(self.problem, self.method, tol=0.0, max_iter=n_iter).W

    def get_result(self):
        """Return the machine."""
        return {"W": self.W}
