"""scikit-learn's LinearSVC with Crammer and Singer's hinge, which is the top-1 hinge."""

import warnings

import numpy as np
from benchopt import BaseSolver
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC


class Solver(BaseSolver):
    """Run it for a number of iterations."""

    name = "LinearSVC"
    requirements = ("scikit-learn",)
    sampling_strategy = "iteration"

    def skip(self, problem, k, C):
        """Skip problems that LinearSVC cannot solve."""
        if k != 1 or problem.n_classes == 2:
            return True, "it needs k = 1 and more than two classes"
        return False, None

    def set_objective(self, problem, k, C):
        """Keep the problem; its sum of losses has the weight C."""
        self.problem, self.C = problem, C

    def run(self, n_iter):
        """Train from the machine 0."""
        self.W = np.zeros((self.problem.n_classes, self.problem.n_features))
        if n_iter == 0:
            return
        options = {"multi_class": "crammer_singer", "fit_intercept": False, "random_state": 0}
        machine = LinearSVC(C=self.C, tol=1e-12, max_iter=n_iter, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # every run but the last one
            self.W = machine.fit(self.problem.X, self.problem.y).coef_

    def get_result(self):
        """Return the machine."""
        return {"W": self.W}
