"""The registry that the tests of problems and solvers read: methods, losses, small problems.

Methods come from fwlab.methods(), so a new one meets every test here at once.
"""

from dataclasses import dataclass
from inspect import signature
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse

import fwlab
from fwlab.solvers.registry import REGISTRY

METHODS = tuple(fwlab.methods())
BLOCK_METHODS = tuple(
    name for name in METHODS if "order" in signature(REGISTRY[name].build).parameters
)
FORMS = ("dense", "sparse", "linear", "precomputed")

M = 4
COSTS = ((0, 1, 2, 0.5), (1.5, 0, 1, 1), (3, 0.25, 0, 1), (1, 1, 0, 0))
LOSSES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "max-hinge": ("MaxHinge", ()),
    "structured-hinge": ("StructuredHinge", (COSTS,)),
    "structured-hinge-per-sample": ("StructuredHinge", ("per sample",)),
    "top-k": ("TopK", (2,)),
    "top-m": ("TopK", (M,)),
    "pseudo-top-k": ("PseudoTopK", (2,)),
    "usunier": ("Usunier", (3,)),
    "weighted-top-k": ("WeightedTopK", ((0.5, 0.25, 0.25, 0.125),)),
    "weighted-usunier": ("WeightedUsunier", ((0.75, 0.5, 0.125),)),
}


def make_loss(name: str, y: np.ndarray, package: ModuleType = fwlab) -> Any:
    """The loss as `package` defines it; costs of samples are drawn for the labels y."""
    kind, arguments = LOSSES[name]
    if arguments == ("per sample",):
        costs = np.random.default_rng(len(y)).integers(0, 4, (len(y), M)) / 2
        costs[np.arange(len(y)), y] = 0
        return getattr(package, kind)(costs, per_sample=True)
    return getattr(package, kind)(*arguments)


@dataclass(frozen=True)
class Case:
    """A small problem by its choices; equal cases have equal data."""

    loss: str = "top-k"
    form: str = "dense"
    smoothing: float = 0.0
    weighted: bool = False
    n: int = 12
    d: int = 5
    lam: float = 0.05
    seed: int = 0

    def __str__(self) -> str:
        parts = [self.loss, self.form]
        parts += [f"smoothing {self.smoothing}"] if self.smoothing else []
        return ", ".join([*parts, "weighted"] if self.weighted else parts)

    @property
    def X(self) -> np.ndarray:
        """(n, d), about a third of the entries 0."""
        rng = np.random.default_rng(self.seed)
        return rng.normal(size=(self.n, self.d)) * (rng.random((self.n, self.d)) < 0.7)

    @property
    def y(self) -> np.ndarray:
        """(n,), every class present."""
        return np.random.default_rng(self.seed + 1).permutation(np.arange(self.n) % M)

    @property
    def sample_weight(self) -> np.ndarray | None:
        """(n,) in 0.25 .. 2 with one 0."""
        if not self.weighted:
            return None
        weights = np.random.default_rng(self.seed + 2).uniform(0.25, 2.0, self.n)
        weights[self.n // 2] = 0.0
        return weights

    @property
    def omega(self) -> np.ndarray:
        """The sample weights, ones if there are none."""
        return np.ones(self.n) if self.sample_weight is None else self.sample_weight

    def problem(self) -> fwlab.Problem:
        """The problem in its form."""
        X, kernel = self.X, None
        if self.form == "sparse":
            X = scipy.sparse.csr_matrix(X)
        elif self.form == "linear":
            kernel = "linear"
        elif self.form == "precomputed":
            X, kernel = X @ X.T, "precomputed"
        return fwlab.Problem(
            X,
            self.y,
            make_loss(self.loss, self.y),
            self.lam,
            smoothing=self.smoothing,
            kernel=kernel,
            n_classes=M,
            sample_weight=self.sample_weight,
        )


SMOOTHINGS, WEIGHTED = (0.0, 0.1), (False, True)
GRID = tuple(
    Case(loss, smoothing=smoothing, weighted=weighted)
    for loss in LOSSES
    for smoothing in SMOOTHINGS
    for weighted in WEIGHTED
)


def random_feasible(case: Case, rng: np.random.Generator) -> np.ndarray:
    """A (n, m): rows are omega_i times random mixtures of vertices of the negated domain."""
    loss = make_loss(case.loss, case.y)
    A = np.zeros((case.n, M))
    for share in rng.dirichlet(np.ones(3)):
        A += share * loss.lmo(rng.normal(size=A.shape), case.y)
    return case.omega[:, None] * A
