"""Average the points of a block method with weights that grow with the steps.

After K steps the average of the points a^(1), .., a^(K) is

    2 / (K (K + 1)) sum_k k a^(k)   (Lacoste-Julien et al. 2013, for block-coordinate Frank-Wolfe).

A step changes one row. A row that stays at a from step `first` + 1 to step `last` enters with the
weight T(last) - T(first), T(k) = k (k + 1) / 2, so that each row is brought up to date only when it
is about to change.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats, Integers


@dataclass(eq=False)
class Average:
    """The average, and the point of the method that it averages.

    Attributes
    ----------
    A, link : array
        The point of the method, (n, m), and its link.
    point : array (n, m)
        Row i is the average over the first steps[i] steps.
    steps : array (n,)
    count : int
        The number of steps so far.
    """

    A: Floats
    link: Floats
    point: Floats
    steps: Floats
    count: int = 0

    @classmethod
    def starting(cls, A: Floats, link: Floats) -> "Average":
        """Return the average before the first step; the start has no weight."""
        return cls(A.copy(), link.copy(order="K"), A.copy(), np.zeros(len(A)))

    def stay(self, rows: Integers, last: Integers | int) -> None:
        """Take in that these rows of A, each listed once, stay as they are to the steps `last`."""
        first = self.steps[rows]
        total = np.asarray(last, dtype=float) * (np.asarray(last) + 1.0)
        # no total is between 0 and 2; where it is 0, the row and its average are the start
        share = 1.0 - first * (first + 1.0) / np.maximum(total, 1.0)
        self.point[rows] += share[:, None] * (self.A[rows] - self.point[rows])
        self.steps[rows] = last


def parts_without_repeats(order: Integers) -> Iterator[Integers]:
    """Yield `order` in parts that list no row twice."""
    start, seen = 0, set[int]()
    for place, row in enumerate(order.tolist()):
        if row in seen:
            yield order[start:place]
            start, seen = place, set()
        seen.add(row)
    yield order[start:]
