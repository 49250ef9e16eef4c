"""The state that every method shares, and what a method is to the driver."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fwlab.arrays import Floats
from fwlab.problem import Certificate, Problem

# the projection of a feasible row moves it by less
SHOWS = 1e-14


@dataclass(eq=False)
class State:
    """Where a run stands. A method changes it in place, one iteration a call.

    link is V(A), which is W(A) but for an LpNorm (with a Gram matrix A^T K / (lam n)), tracked by
    the method; scores are those of link for a method that keeps them. A method whose primal point
    is not W(A) sets `coefficients` C (n, m): link is then their combination. One that keeps_best
    has for primal point the best link that it or the driver offered. own_problem is the problem
    that a method solves where it may be another one. A method may change over to the Gram matrix
    if that takes at most max_memory bytes. judged are the steps made until the last checkpoint,
    and its certificate.
    """

    problem: Problem
    A: Floats
    rng: np.random.Generator
    link: Floats = field(init=False)
    scores: Floats = field(init=False)
    keeps_scores: bool = False
    n_lmo: int = 0
    n_steps: int = 0
    active: int = 0
    step: float = np.nan
    coefficients: Floats | None = None
    own_problem: Problem | None = None
    max_memory: int = 0
    given_problem: Problem = field(init=False)
    gram_problem: Problem | None = None
    keeps_best: bool = False
    best_link: Floats = field(init=False)
    best_primal: float = np.inf
    judged: tuple[int, Certificate] | None = None

    def __post_init__(self) -> None:
        self.given_problem = self.problem
        self.link = self.problem.link(self.A)

    @property
    def machine(self) -> Floats:
        """C with the combination link: the coefficients of the method, or else A."""
        return self.A if self.coefficients is None else self.coefficients

    def use_gram(self) -> None:
        """From here on the products go through the Gram matrix, which is computed once."""
        if self.problem is self.gram_problem:
            return
        self.gram_problem = self.gram_problem or self.given_problem.with_gram()
        self._change_problem(self.gram_problem)

    def use_given(self) -> None:
        """From here on the products are those of the problem that was given."""
        if self.problem is not self.given_problem:
            self._change_problem(self.given_problem)

    def _change_problem(self, problem: Problem) -> None:
        self.problem = problem
        if self.own_problem is not None:
            self.own_problem = problem.with_loss(self.own_problem.loss)
        self.refresh()

    def weights(self) -> Floats:
        """The primal point, (m, d)."""
        if self.keeps_best:
            return np.ascontiguousarray(self.best_link)
        if self.coefficients is not None:
            return self.problem.combination(self.coefficients)
        return self.problem.weights(self.A)

    def expansion(self) -> Floats | None:
        """Coefficients whose combination is the primal point, None where they are A."""
        if self.coefficients is not None or self.problem.regularizer.plain:
            return self.coefficients
        return self.problem.expansion(self.A)

    def offer(self, link: Floats, primal: float) -> None:
        """Keep this link if its primal value is the lowest so far."""
        if primal < self.best_primal:
            self.best_link, self.best_primal = link.copy(), primal

    def round_to_domain(self) -> None:
        """Where A misses the domain by rounding errors that show, project it.

        A block step projects a point as large as its own weight is small, with the rounding errors
        of that point.
        """
        if self.problem.is_feasible(self.A):
            for rows, _ in self.problem.chunks():
                nearest = self.problem.nearest_feasible(self.A, rows)
                if np.abs(self.A[rows] - nearest).max() > SHOWS:
                    self.A[rows] = nearest

    def refresh(self) -> None:
        """Recompute what the method tracked from A and, if it has them, its coefficients."""
        self.link = self.problem.link(self.machine)
        if self.keeps_scores:
            self.scores = self.problem.features.scores(self.link)
        if self.keeps_best and np.isfinite(self.best_primal):
            self.best_primal = self.problem.primal(self.best_link)

    def keep_scores(self) -> None:
        """From here on the method keeps `scores` up to date."""
        self.keeps_scores = True
        self.scores = self.problem.features.scores(self.link)


class Method(Protocol):
    """A frozen object with the options of a method."""

    def start(self, state: State) -> Any:
        """Prepare the run, once; what is returned is handed to every iteration."""

    def iterate(self, state: State, workspace: Any) -> None:
        """One iteration: change A and all that follows it."""
