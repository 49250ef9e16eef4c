"""Provide methods, losses and small problems for the tests of problems and solvers.

Methods come from fwlab.methods() and losses from loss_table: a new one meets every test here.
"""

import os
from dataclasses import dataclass
from inspect import signature
from itertools import groupby
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from loss_table import Entry, entries

import fwlab
from fwlab.solvers.method import Method
from fwlab.solvers.registry import REGISTRY, build

# methods that refuse some problems meet test_certificates, and have tests of their own
METHODS = tuple(m for m in REGISTRY if type(build(m, {})).refuses is Method.refuses)
# every method whose primal point is not W(A)
OWN_W = {"subgradient", "alternate", "newton", "auto"}
BLOCK_METHODS = tuple(m for m in REGISTRY if "order" in signature(REGISTRY[m]).parameters)
# passes in random order without an option for it; they, or line searches near the optimum, differ
# with the form of the data
RANDOM_FIRST = {"alternate", "direct", "newton", "auto"}
FORMS = ("dense", "sparse", "linear", "precomputed")
M = 4


def loss_names() -> tuple[str, ...]:
    """Return two losses of each kind, its second and its last entry: "TopK-1" is TopK(2)."""
    names = []
    for kind, group in groupby(entries(M, []), key=lambda entry: entry.kind):
        last = len(list(group)) - 1
        names += [f"{kind}-{place}" for place in sorted({min(1, last), last})]
    return tuple(names)


LOSSES = loss_names()


def loss_entry(name: str, y: np.ndarray) -> Entry:
    """Return the entry of loss_table behind a name; costs of samples belong to the labels y."""
    kind, place = name.split("-")
    return [entry for entry in entries(M, y) if entry.kind == kind][int(place)]


def in_form(X: np.ndarray, form: str) -> tuple[Any, str | None]:
    """Return the arguments X and kernel of Problem for dense features."""
    if form == "sparse":
        return scipy.sparse.csr_matrix(X), None
    if form == "precomputed":
        return X @ X.T, "precomputed"
    return X, "linear" if form == "linear" else None


@dataclass(frozen=True)
class Case:
    """A small problem by its choices; equal cases have equal data."""

    loss: str = "TopK-1"
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

    @property
    def entry(self) -> Entry:
        """The loss beside its reference."""
        return loss_entry(self.loss, self.y)

    def problem(self) -> fwlab.Problem:
        """Return the problem in its form."""
        X, kernel = in_form(self.X, self.form)
        return fwlab.Problem(
            X,
            self.y,
            self.entry.loss,
            self.lam,
            smoothing=self.smoothing,
            kernel=kernel,
            n_classes=M,
            sample_weight=self.sample_weight,
        )

    def orthogonal(self) -> fwlab.Problem:
        """Return the problem with orthogonal samples: rows see the gradient at a pass's start."""
        return fwlab.Problem(
            np.diag(np.linspace(0.5, 2.0, self.n)),
            self.y,
            self.entry.loss,
            self.lam,
            smoothing=self.smoothing,
            n_classes=M,
            sample_weight=self.sample_weight,
        )


SMOOTHINGS, WEIGHTED = (0.0, 0.1), (False, True)
DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
# each loss has two of the four settings, its neighbours the other two; deep takes all
GRID = tuple(
    Case(loss, smoothing=smoothing, weighted=weighted)
    for i, loss in enumerate(LOSSES)
    for smoothing in SMOOTHINGS
    for weighted in WEIGHTED
    if DEEP or (weighted == (smoothing > 0)) == (i % 2 == 0)
)
PAIRS = [
    (method, case)
    for case in GRID
    for method in REGISTRY
    if build(method, {}).refuses(case.problem()) is None
]


each_method = pytest.mark.parametrize("method", METHODS)
each_form = pytest.mark.parametrize("form", FORMS)
each_smoothing = pytest.mark.parametrize("smoothing", [0.0, 0.1])


def random_feasible(case: Case, rng: np.random.Generator) -> np.ndarray:
    """Return a (n, m): rows are omega_i times random mixtures of vertices of the negated domain."""
    loss = case.entry.loss
    A = np.zeros((case.n, M))
    for share in rng.dirichlet(np.ones(3)):
        A += share * loss.lmo(rng.normal(size=A.shape), case.y)
    return case.omega[:, None] * A
