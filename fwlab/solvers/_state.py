"""The state that every method shares, and what a method is to the driver."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fwlab._validation import Floats
from fwlab.problem import Problem


@dataclass(eq=False)
class State:
    """Where a run stands. A method changes it in place, one iteration a call.

    link is W(A) (with a Gram matrix A^T K / (lam n)), tracked by the method; scores are those of
    link for a method that keeps them. A method whose primal point is not W(A) sets `coefficients`
    C (n, m): link is then W(C). own_problem is the problem that a method solves where it may be
    another one.
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

    def __post_init__(self) -> None:
        self.link = self.problem.link(self.A)

    @property
    def machine(self) -> Floats:
        """C with link = W(C): the coefficients of the method, or else A."""
        return self.A if self.coefficients is None else self.coefficients

    def refresh(self) -> None:
        """Recompute what the method tracked from A and, if it has them, its coefficients."""
        self.link = self.problem.link(self.machine)
        if self.keeps_scores:
            self.scores = self.problem.features.scores(self.link)

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
