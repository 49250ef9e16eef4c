"""The objective of benchopt's benchmark: how far a machine is from the optimum, certified.

A dual point of one long run bounds the optimum from below. The primal of any solver's machine less
this bound is at least the suboptimality, and exceeds it by at most TOL of the objective.
"""

from benchopt import BaseObjective

import fwlab

TOL = 1e-9


class Objective(BaseObjective):
    """The primal of a top-k SVM, K19 (1), with lam = 1 / (C n)."""

    name = "top-k SVM"
    min_benchopt_version = "1.7"
    requirements = ("fwlab",)
    parameters = {"k": [1, 3], "C": [1.0]}
    sampling_strategy = "iteration"
    test_dataset_name = "Gaussian classes"

    def set_data(self, X, y):
        """Keep the problem of a data set, and bound its optimum."""
        self.problem = fwlab.Problem(X, y, fwlab.TopK(self.k), C=self.C)
        result = fwlab.solve(self.problem, "auto", tol=TOL, relative=True)
        self.bound = result.dual - result.gap_error

    def get_objective(self):
        """Return the arguments that a solver receives."""
        return {"problem": self.problem, "k": self.k, "C": self.C}

    def evaluate_result(self, W):
        """Judge a machine W (m, d); benchopt draws "value", a bound on the suboptimality."""
        primal = self.problem.primal(W)
        return {"value": primal - self.bound, "primal": primal}

    def get_one_result(self):
        """Return the machine of the dual point 0."""
        return {"W": fwlab.solve(self.problem, max_iter=0).W}
