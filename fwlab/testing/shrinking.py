"""Shrink an input that shows a contradiction.

Own code: hypothesis finds no smaller inputs, takes a hundred times as long for a loss that passes,
and would be one more package for everybody who checks a loss.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats, Integers

MOST_TRIES = 2000


class Contradiction(AssertionError):
    """A promise that a loss or a method breaks; `kind` identifies it while an input shrinks."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


@dataclass(frozen=True, eq=False)
class Inputs:
    """Rows of points by their names, each (n, m), and the labels y (n,) of the rows."""

    y: Integers
    points: dict[str, Floats]

    @property
    def n_classes(self) -> int:
        return int(next(iter(self.points.values())).shape[1])

    def take(self, rows: Integers) -> "Inputs":
        """Return some of the rows."""
        return Inputs(self.y[rows], {name: p[rows] for name, p in self.points.items()})

    def without_class(self, j: int) -> "Inputs":
        """Return the rows with one class fewer."""
        points = {name: np.delete(p, j, axis=1) for name, p in self.points.items()}
        return Inputs(self.y - (self.y > j), points)

    def with_entry(self, name: str, place: tuple[int, int], entry: float) -> "Inputs":
        """Return the rows with another entry."""
        changed = self.points[name].copy()
        changed[place] = entry
        return Inputs(self.y, {**self.points, name: changed})

    def __str__(self) -> str:
        labels = ", ".join(str(label) for label in self.y)
        shown = [f"{name} = {text_of(p)}" for name, p in self.points.items()]
        return ", ".join([*shown, f"y = [{labels}]"])


def text_of(values: Floats) -> str:
    """Return an array as one line of Python."""
    if values.ndim == 0:
        return f"{values:.10g}"
    return f"[{', '.join(text_of(row) for row in values)}]"


def smallest(
    check: Callable[[Inputs], None], inputs: Inputs, found: Contradiction
) -> tuple[Inputs, Contradiction]:
    """Return the smallest input with a contradiction of the same kind, and that contradiction.

    Rows and classes are removed, and entries become zeros or integers, one at a time, as long as
    the contradiction remains.
    """
    tries = 0
    while tries < MOST_TRIES:
        for smaller in _smaller(inputs, classes=found.kind != "raises"):
            tries += 1
            again = contradiction_of(check, smaller)
            if again is not None and again.kind == found.kind:
                inputs, found = smaller, again
                break
            if tries >= MOST_TRIES:
                break
        else:
            break
    return inputs, found


def contradiction_of(check: Callable[[Inputs], None], inputs: Inputs) -> Contradiction | None:
    """Return the contradiction that a check finds, if any."""
    try:
        check(inputs)
    except Contradiction as found:
        return found
    return None


def _smaller(inputs: Inputs, classes: bool) -> Iterator[Inputs]:
    """Yield inputs that are simpler in one respect, the most promising first."""
    n, m = len(inputs.y), inputs.n_classes
    if n > 1:
        for i in range(n):
            yield inputs.take(np.array([i]))
        for i in range(n):
            yield inputs.take(np.delete(np.arange(n), i))
    if classes and m > 2:
        for j in range(m):
            if j not in inputs.y:
                yield inputs.without_class(j)
    for i in range(n):
        if inputs.y[i] > 0:
            y = inputs.y.copy()
            y[i] = 0
            yield Inputs(y, inputs.points)
    for name, points in inputs.points.items():
        for place in np.ndindex(points.shape):
            for entry in _simpler(float(points[place])):
                yield inputs.with_entry(name, (place[0], place[1]), entry)


def _simpler(entry: float) -> list[float]:
    """Return 0, 1 or -1, and a rounded number, so far as they are simpler than an entry."""
    found = [0.0, float(np.sign(entry)), float(np.round(entry)), float(np.round(entry, 1))]
    size = (len(repr(entry)), abs(entry))
    return [s for s in dict.fromkeys(found) if (len(repr(s)), abs(s)) < size]
