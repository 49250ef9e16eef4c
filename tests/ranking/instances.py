"""Random small ranking problems: every objective, surrogate and kernel; tied and repeated rows."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fwlab.ranking import PatMat, TopPush, TopPushK
from reference.ranking import Ranking, features_of

# Pat&Mat over all rows takes turns through two budgets, both surrogates and all kernels
OVER_ALL = range(1000, 1012)


@dataclass(frozen=True, eq=False)
class Instance:
    """Arguments of fwlab.ranking.solve."""

    X: np.ndarray
    y: np.ndarray
    objective: Any
    C: float
    kernel: str
    sigma: float | None

    def arguments(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def gram(self) -> np.ndarray:
        if self.kernel == "precomputed":
            return self.X
        if self.kernel == "linear":
            return self.X @ self.X.T
        return np.exp(-self.sigma * ((self.X[:, None] - self.X) ** 2).sum(axis=2))

    def reference(self) -> Ranking:
        """Return this problem for the reference, through a factor of the kernel matrix."""
        F, positive, objective = features_of(self.gram), self.y == 1, self.objective
        power = {"hinge": 1, "quadratic": 2}[objective.surrogate]
        counted = F[~positive] if objective.over == "negatives" else F
        common = (F[positive], counted, self.C, power, objective.theta)
        if isinstance(objective, TopPushK):
            return Ranking(*common, K=objective.K)
        rows = len(self.y) if objective.budget == "all" else int((~positive).sum())
        theta2 = objective.theta if objective.theta2 is None else objective.theta2
        return Ranking(*common, budget=objective.tau * rows, theta2=theta2)


def random_instance(seed: int) -> Instance:
    """Return instance number `seed`; objectives, surrogates and kernels take turns.

    From OVER_ALL.start on, the objective is Pat&Mat over all rows.
    """
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 41)), int(rng.integers(1, 7))
    X = np.round(rng.normal(size=(n, d)), 1)
    y = rng.permutation(np.concatenate([[0, 1], rng.integers(0, 2, n - 2)]))
    negatives = np.flatnonzero(y == 0)
    if seed % 3 == 0:
        X[negatives] = X[rng.choice(negatives, len(negatives))]
    if seed % 7 == 0:
        X[negatives] = X[negatives[0]]
    surrogate = ("quadratic", "hinge")[seed % 2]
    theta, theta2 = rng.choice([0.5, 1.0, 2.0], 2)
    q = len(negatives)
    objective = (
        TopPush(surrogate, theta),
        TopPushK(int(rng.integers(1, q + 1)), surrogate, theta),
        TopPushK(q, surrogate, theta),
        PatMat(rng.uniform(0.05, 0.95) * q / n, surrogate, theta, theta2),
        PatMat(rng.uniform(0.05, 0.95), surrogate, theta, budget="negatives"),
    )[seed // 2 % 5]
    turn = seed // 10
    if seed >= OVER_ALL.start:
        turn, budget = seed // 4, ("all", "negatives")[seed // 2 % 2]
        objective = PatMat(rng.uniform(0.01, 0.99), surrogate, theta, theta2, budget, "all")
    kernel, sigma = (("linear", None), ("rbf", 0.3), ("precomputed", None))[turn % 3]
    if kernel == "precomputed":
        X = ((1 + X @ X.T) / (1 + d)) ** 2
    return Instance(X, y, objective, 10.0 ** rng.integers(-2, 3), kernel, sigma)
