"""What the kernels need of a loss on given samples: two weight vectors, the costs, the labels.

Every loss of the lab is max over beta in B of <beta, h> with margins h_j = delta_j + s_j - s_y.
kernels.support states the polytope that `upper` and `lower` describe. Nothing here is checked:
the losses and Problem check once, at the door.
"""

from dataclasses import dataclass, replace

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.kernels.domains.membership import in_domain_rows
from fwlab.kernels.domains.projection import project_rows
from fwlab.kernels.domains.vertices import cost_products_rows, values_rows, vertex_rows


@dataclass(frozen=True, eq=False)
class RowPolytopes:
    """One polytope a sample. costs[cost_rows[i]] are the costs delta_i, its entry y[i] unused."""

    y: Integers
    upper: Floats
    lower: Floats
    costs: Floats
    cost_rows: Integers

    @property
    def support(self) -> int:
        """Entries a vertex touches, the true class apart."""
        return int(np.count_nonzero(self.upper))

    @property
    def bounds(self) -> tuple[Floats, Floats, int, int, float, float]:
        """upper and lower, how many of each are not zero, and their sums."""
        upper, lower = self.upper, self.lower
        sums = float(upper.sum()), float(lower.sum())
        return upper, lower, self.support, int(np.count_nonzero(lower)), *sums

    @property
    def n_classes(self) -> int:
        return len(self.upper) + 1

    def take(self, rows: Integers | slice) -> "RowPolytopes":
        """Those of some of the samples."""
        return replace(self, y=self.y[rows], cost_rows=self.cost_rows[rows])

    def without_costs(self) -> "RowPolytopes":
        """The same polytopes with delta = 0."""
        zeros = np.zeros((1, self.n_classes))
        return replace(self, costs=zeros, cost_rows=np.zeros(len(self.y), dtype=np.int64))

    def values(self, scores: Floats) -> Floats:
        """Loss of every row, (n,)."""
        out = np.empty(len(scores))
        values_rows(
            scores, self.y, self.costs, self.cost_rows, self.upper, self.lower, self.support, out
        )
        return out

    def compact_vertices(self, scores: Floats) -> tuple[Integers, Floats, Floats]:
        """LMO at gradient scores + delta: classes and entries (n, support + 1), and the losses."""
        shape = (len(scores), self.support + 1)
        columns, entries = np.empty(shape, dtype=np.int64), np.empty(shape)
        values = np.empty(len(scores))
        vertex_rows(
            scores,
            self.y,
            self.costs,
            self.cost_rows,
            self.upper,
            self.lower,
            columns,
            entries,
            values,
        )
        return columns, entries, values

    def vertices(self, scores: Floats) -> Floats:
        """The same LMO as a dense (n, m) array."""
        columns, entries, _ = self.compact_vertices(scores)
        dense = np.zeros((len(scores), self.n_classes))
        np.put_along_axis(dense, columns, entries, axis=1)
        return dense

    def project(self, points: Floats) -> Floats:
        """Nearest points of the negated domains, (n, m)."""
        out = np.empty_like(points)
        project_rows(points, self.y, self.bounds, out)
        return out

    def contains(self, v: Floats, slack: float) -> np.ndarray:
        """Whether rows of v lie in the (not negated) domains, up to `slack` in each bound."""
        out = np.empty(len(v), dtype=np.bool_)
        in_domain_rows(v, self.y, self.upper, self.lower, slack, out)
        return out

    def cost_products(self, points: Floats) -> Floats:
        """<delta_i, row i of points>, (n,)."""
        out = np.empty(len(points))
        cost_products_rows(points, self.y, self.costs, self.cost_rows, out)
        return out

    def add_costs(self, scores: Floats) -> Floats:
        """scores + delta, (n, m)."""
        shared = len(self.costs) == 1
        shifted = scores + (self.costs if shared else self.costs[self.cost_rows])
        rows = np.arange(len(scores))
        shifted[rows, self.y] = scores[rows, self.y]
        return shifted
