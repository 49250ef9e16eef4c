"""The state that ranking's methods share, and what a method is to the driver."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fwlab.ranking.problem import Point, Problem


@dataclass(eq=False)
class State:
    """Where a run stands; a method replaces or changes `point`, one iteration a call."""

    problem: Problem
    point: Point
    rng: np.random.Generator
    n_lmo: int = 0
    n_steps: int = 0
    step: float = np.nan

    @property
    def active(self) -> int:
        """Rows with a dual variable that is not 0."""
        return int(np.count_nonzero(self.point.alpha) + np.count_nonzero(self.point.beta))


class Method(Protocol):
    """A frozen object with the options of a method."""

    def start(self, state: State) -> Any:
        """Prepare the run, once; what is returned is handed to every iteration."""

    def iterate(self, state: State, workspace: Any) -> None:
        """One iteration: change the point."""
