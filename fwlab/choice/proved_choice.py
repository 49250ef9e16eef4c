"""The outcome of `prove_choice`: the chosen C, and what is proved of all others."""

from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.plot import Bounds, plot_bounds
from fwlab.result import Result
from fwlab.text import listed

# intervals that a sentence names
MOST_NAMED = 3


class ChoiceStatus(Enum):
    """Why the proof ended; the value is the sentence a user reads."""

    PROVED = "The proof holds for the whole interval of C."
    TIME_LIMIT = "The time limit ended the proof."
    INTERRUPTED = "The proof was interrupted."
    OPEN = "For some C the bound stays above that, however short the stretch."


@dataclass(frozen=True, eq=False, repr=False)
class ProvedChoice:
    """The chosen C of a softmax head, and a bound of the accuracy of any other; see `prove_choice`.

    Accuracies are shares of the validation samples. A bound is about the exact optimum for C.

    Attributes
    ----------
    C : float
        The chosen constant: the best of the solved ones, and the smallest one of several.
    accuracy : float
        The validation accuracy of its machine.
    machine : Result
        The run at the chosen C, with W, `predict`, and the certificate.
    slack : float
        What another C may gain by the statement: whole samples, as a share.
    interval : (float, float)
        The C that were asked about.
    proved : list of (float, float)
        The intervals in which no C has an accuracy above accuracy + slack.
    bound : float
        No C of the whole interval has an accuracy above it; 1 or less.
    edges, bounds : array (stretches + 1,), array (stretches,)
        The ends of the stretches of C, ascending, and the bound on each.
    knots, accuracies : array (knots,)
        The solved C, ascending, and the accuracies of their machines.
    status : ChoiceStatus
    message : str
        The statement, and why the proof ended.
    n_points : int
        The number of machines that were evaluated on the way.
    wall_seconds : float
        Time of the call, without compiling.
    """

    C: float
    accuracy: float
    machine: Result
    slack: float
    interval: tuple[float, float]
    proved: list[tuple[float, float]]
    bound: float
    edges: Floats
    bounds: Floats
    knots: Floats
    accuracies: Floats
    status: ChoiceStatus
    message: str
    n_points: int
    wall_seconds: float

    def __repr__(self) -> str:
        return (
            f"ProvedChoice(C = {self.C:.4g} with accuracy {self.accuracy:.4f}; {self._statement()})"
        )

    @property
    def is_proved(self) -> bool:
        """Whether the statement is proved for the whole interval."""
        return self.status is ChoiceStatus.PROVED

    def plot(self, ax: Any = None) -> Any:
        """Draw the bound of the accuracy over C, and the chosen C; return the axes.

        Needs matplotlib.
        """
        bounds = Bounds(
            self.edges,
            self.bounds,
            self.knots,
            self.accuracies,
            self.C,
            self.accuracy,
            self.accuracy + self.slack,
        )
        return plot_bounds(bounds, ax)

    def _statement(self) -> str:
        return statement(self.proved, self.interval, self.accuracy + self.slack)


def statement(
    proved: list[tuple[float, float]], interval: tuple[float, float], limit: float
) -> str:
    """Return what is proved of the C in these intervals: no accuracy is above the limit."""
    low, high = interval
    if not proved:
        return f"nothing is proved of the C in [{low:g}, {high:g}]"
    if proved == [interval]:
        where = f"[{low:g}, {high:g}]"
    else:
        longest = sorted(proved, key=lambda part: part[0] / part[1])[:MOST_NAMED]
        where = listed(f"[{a:.6g}, {b:.6g}]" for a, b in sorted(longest))
        rest = len(proved) - len(longest)
        where += (f" and {rest} shorter intervals" if rest else "") + f" of [{low:g}, {high:g}]"
    return f"no C in {where} has a validation accuracy above {min(limit, 1.0):.4f}"


def merged(edges: Floats, are_proved: np.ndarray) -> list[tuple[float, float]]:
    """Return the intervals that the proved stretches between these edges make up."""
    parts: list[tuple[float, float]] = []
    for (low, high), is_proved in zip(pairwise(edges.tolist()), are_proved, strict=True):
        if not is_proved:
            continue
        if parts and parts[-1][1] == low:
            low = parts.pop()[0]
        parts.append((low, high))
    return parts
