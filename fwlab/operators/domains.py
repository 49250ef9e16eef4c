"""Describe the domain of the dual variable of each sample, all that a problem needs of its loss.

Every loss of the family is the maximum over beta in B of <beta, h>, with the margins
h_j = delta_j + s_j - s_y. kernels.domains.vertices states the polytope B that `upper` and `lower`
describe. RowPolytopes holds them as the kernels take them: two weight vectors, the costs, the
labels. This module checks no argument: the losses and Problem have done so.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.kernels.domains.membership import in_domain_rows
from fwlab.kernels.domains.projection import project_rows
from fwlab.kernels.domains.sorting import COUNTING_LENGTH
from fwlab.kernels.domains.vertices import cost_products_rows, values_rows, vertex_rows
from fwlab.kernels.layouts import (
    EqualWeights,
    LongPolytopeWeights,
    PolytopeWeights,
    SamplePolytopes,
)
from fwlab.operators.sums import UNIT
from fwlab.threads import for_rows

FARTHEST = 1e100
ROWS = 512  # at a time, so that temporary arrays stay small


class Domains(Protocol):
    """One negated domain, compact and convex, and one vector of costs delta_i per sample.

    The loss of sample i is the maximum of -<s_i + delta_i, u> - r(u) over u in its negated domain.
    For a polytope r = 0 (RowPolytopes, GivenDomains); for the cross-entropy r is the negated
    entropy (fwlab.operators.simplices).
    """

    @property
    def scale(self) -> float:
        """The size of the domains, which is the unit of tolerances."""

    @property
    def checks_membership(self) -> bool:
        """Whether there is `contains`."""

    @property
    def projects(self) -> bool:
        """Whether there is `project`."""

    @property
    def trusted(self) -> bool:
        """Whether the functions are the library's own, and bounds of their errors are proved."""

    def take(self, rows: Integers | slice) -> "Domains":
        """Return the domains of the given samples."""

    def values(self, scores: Floats) -> Floats:
        """Return the loss of every row, (n,)."""

    def lowest(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the vertices U (n, m) that minimise <scores + delta, U>, and minus the minima."""

    def cost_products(self, points: Floats) -> Floats:
        """Return <delta_i, row i of points>, (n,)."""

    def conjugate_terms(self, points: Floats, omega: Floats) -> Floats:
        """Return omega_i Phi_i*(-u_i / omega_i), (n,), for row u_i of omega_i times a domain.

        It is <delta_i, u_i> + omega_i r(u_i / omega_i).
        """

    def add_costs(self, scores: Floats) -> Floats:
        """Return scores + delta, (n, m)."""

    def cost_sizes(self) -> Floats:
        """Return bounds of max_j |delta_ij|, (n,)."""

    def contains(self, v: Floats, slack: float) -> np.ndarray:
        """Return whether rows of v lie in the (not negated) domains, up to `slack`, (n,)."""

    def project(self, points: Floats) -> Floats:
        """Return the nearest points of the negated domains, (n, m)."""


@dataclass(frozen=True, eq=False)
class RowPolytopes:
    """One polytope per sample; costs[cost_rows[i]] are the costs delta_i, entry y[i] unused."""

    y: Integers
    upper: Floats
    lower: Floats
    costs: Floats
    cost_rows: Integers
    scale: float

    checks_membership: ClassVar = True
    projects: ClassVar = True
    trusted: ClassVar = True

    @cached_property
    def weights(self) -> PolytopeWeights:
        """The weights of the polytopes, counted and summed for the kernels."""
        upper, lower = self.upper, self.lower
        counts = self.support, int(np.count_nonzero(lower))
        weights = np.concatenate([upper, lower])
        equal = bool((weights[weights != 0.0] == upper[0]).all())
        unequal = LongPolytopeWeights if len(upper) > COUNTING_LENGTH else PolytopeWeights
        kind = EqualWeights if equal else unequal
        return kind(upper, lower, *counts, float(upper.sum()), float(lower.sum()))

    @cached_property
    def layout(self) -> SamplePolytopes:
        """The arrays that kernels take."""
        return SamplePolytopes(self.y, self.costs, self.cost_rows, self.upper, self.lower)

    def _layout_of(self, rows: slice) -> SamplePolytopes:
        """Return the arrays of these rows."""
        return self.layout._replace(y=self.y[rows], cost_rows=self.cost_rows[rows])

    @property
    def support(self) -> int:
        """Number of entries that a vertex touches, without the true class."""
        return int(np.count_nonzero(self.upper))

    @property
    def n_classes(self) -> int:
        return len(self.upper) + 1

    def take(self, rows: Integers | slice) -> "RowPolytopes":
        """Return the polytopes of the given samples."""
        if isinstance(rows, slice) and rows.indices(len(self.y)) == (0, len(self.y), 1):
            return self
        shared = self.upper, self.lower, self.costs
        return RowPolytopes(self.y[rows], *shared, self.cost_rows[rows], self.scale)

    def without_costs(self) -> "RowPolytopes":
        """Return the same polytopes with delta = 0."""
        zeros = np.zeros((1, self.n_classes))
        return replace(self, costs=zeros, cost_rows=np.zeros(len(self.y), dtype=np.int64))

    def values(self, scores: Floats) -> Floats:
        """Return the loss of every row, (n,)."""
        out = np.empty(len(scores))

        def work(rows: slice) -> None:
            values_rows(scores[rows], self._layout_of(rows), self.support, out[rows])

        for_rows(work, len(scores))
        return out

    def compact_vertices(self, scores: Floats) -> tuple[Integers, Floats, Floats]:
        """Call the LMO at gradient scores + delta.

        Returns classes and entries (n, support + 1) of the vertices, and the losses (n,).
        """
        shape = (len(scores), self.support + 1)
        columns, entries = np.empty(shape, dtype=np.int64), np.empty(shape)
        values = np.empty(len(scores))

        def work(rows: slice) -> None:
            layout = self._layout_of(rows)
            vertex_rows(scores[rows], layout, columns[rows], entries[rows], values[rows])

        for_rows(work, len(scores))
        return columns, entries, values

    def lowest(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the vertices of compact_vertices as a dense (n, m) array, and the losses (n,)."""
        columns, entries, values = self.compact_vertices(scores)
        dense = np.zeros((len(scores), self.n_classes))
        np.put_along_axis(dense, columns, entries, axis=1)
        return dense, values

    def project(self, points: Floats) -> Floats:
        """Return the nearest points of the negated domains, (n, m).

        The rounded threshold of a projection can lift all entries that are 0 in a feasible row by
        the same 2^-55 of its size, and their sum by more than other rounding errors. Such entries
        stay 0, and the label's entry is the sum of what is left.
        """
        out = np.empty_like(points)

        def work(rows: slice) -> None:
            project_rows(points[rows], self.y[rows], self.weights, out[rows])

        for_rows(work, len(points))
        for start in range(0, len(out), ROWS):
            rows = slice(start, start + ROWS)
            _restore_zeros(points[rows], self.y[rows], self.scale, out[rows])
        return out

    def contains(self, v: Floats, slack: float) -> np.ndarray:
        """Return whether rows of v lie in the (not negated) domains, up to `slack`, (n,)."""
        out = np.empty(len(v), dtype=np.bool_)
        in_domain_rows(v, self.y, self.upper, self.lower, slack, out)
        return out

    def cost_products(self, points: Floats) -> Floats:
        """Return <delta_i, row i of points>, (n,)."""
        out = np.empty(len(points))
        cost_products_rows(points, self.layout, out)
        return out

    def conjugate_terms(self, points: Floats, omega: Floats) -> Floats:
        """Return <delta_i, row i of points>, (n,)."""
        return self.cost_products(points)

    def add_costs(self, scores: Floats) -> Floats:
        """Return scores + delta, (n, m)."""
        shared = len(self.costs) == 1
        shifted = scores + (self.costs if shared else self.costs[self.cost_rows])
        rows = np.arange(len(scores))
        shifted[rows, self.y] = scores[rows, self.y]
        return shifted

    def cost_sizes(self) -> Floats:
        """Return bounds of max_j |delta_ij|, (n,)."""
        return np.asarray(np.abs(self.costs).max(axis=1)[self.cost_rows])


def _restore_zeros(points: Floats, y: Integers, scale: float, out: Floats) -> None:
    """Set what rounding lifts from 0 in `points` to 0 in `out`, and entry y to the rest's sum."""
    lifted = (points == 0) & (out != 0) & (np.abs(out) <= UNIT * scale)
    if lifted.any():
        # a tiny point moves by less
        lifted &= np.abs(out) <= UNIT * np.abs(points).max(axis=1, keepdims=True)
        out[lifted] = 0.0
    labels = np.arange(len(out)), y
    out[labels] = 0.0
    out[labels] = -out.sum(axis=1)


def nearest_to_scores(domains: Domains, shifted: Floats, smoothing: float | Floats) -> Floats:
    """Return the points of the negated domains nearest to -shifted / smoothing, (n, m).

    With shifted = s + delta, which is overwritten, they are minus the gradients of the Moreau
    envelopes of the losses at s. The quotient is kept below FARTHEST, which moves a point less than
    a rounding error of the scores does.
    """
    largest = np.maximum(shifted.max(axis=1), -shifted.min(axis=1))[:, None]
    shifted /= -np.maximum(smoothing, largest / FARTHEST)
    return domains.project(shifted)
