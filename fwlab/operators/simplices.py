"""Describe the domains of the cross-entropy's dual variable: simplices with an entropy.

The conjugate of the cross-entropy is finite at v = p - e_y for p in the simplex, and there it is
the negated entropy sum_j p_j log p_j. A row of the dual point is a = -omega v, so that with
b_j = -a_j / omega for the classes j != y and t their sum

    p_j = b_j,    p_y = 1 - t,    a_y = omega t.

A row holds p_j and t with all their digits, however small. The entropy of the label is
-(1 - t) log1p(-t).

Rounding. A certificate belongs to the exact point A' with b'_j = max(0, -a_j / omega) / max(1, t'),
where t' is the exact sum of the numerators. The standard model holds (fwlab.rounding), and exp,
log and log1p are right to LIBRARY = 8 ulp and 2^-1021, which tests measure on each platform. With
u = 2^-53, eta(x) = -x log x, delta the error of t, and h the sum of the terms, the entropy of a
row has an error of at most

    (18 u + gamma_m) |h| + 2 u t        the terms and their sum
    delta (1 + |log(1 - t - delta)|)    the label, or 2 eta(2 delta) where that is no number,
                                        as |eta(x) - eta(y)| <= eta(|x - y|) for |x - y| <= 1/2
    x (|h| + 1)                         the quotient by t' <= 1 + x,  x = max(0, t + delta - 1),

which counts omega times. At scores that are right to e, a margin has an error of at most
d = 2 e + 4 u max_j |z_j|, and the loss of

    d t_max + gamma_{m+18} min(1, 2 loss) + 17 u loss + m 2^-1020,    t_max <= min(1, loss + d),

because the derivatives by the margins are p_j and their sum t is at most the loss, -log(1 - t).
The sum rest + e_y counts in full where margins are shifted; the loss is then at least log 2.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fwlab.arrays import Floats, Integers, namespace_of, with_entries
from fwlab.kernels.simplices.knapsack import project_knapsack_rows
from fwlab.operators.scores import row_slices
from fwlab.operators.sizes import row_maxima
from fwlab.operators.softmax import cross_entropies
from fwlab.operators.sums import MARGIN, UNIT, gamma, gamma_in_parts, row_products

# units in the last place to which exp, log and log1p are taken to be right, and below the normals
LIBRARY, VANISHED = 8, 2.0**-1021
# a relative error of LIBRARY ulp
LIBRARY_UNITS = 2 * LIBRARY
LARGEST = 1e300


@dataclass(frozen=True, eq=False)
class Simplices:
    """One simplex per sample, in the coordinates e_y - p; its costs delta are 0."""

    y: Integers
    n_classes: int

    scale: ClassVar = 1.0
    checks_membership: ClassVar = True
    projects: ClassVar = True
    trusted: ClassVar = True

    @property
    def _labels(self) -> tuple[Integers, Integers]:
        return np.arange(len(self.y)), self.y

    def take(self, rows: Integers | slice) -> "Simplices":
        """Return the simplices of the given samples."""
        return Simplices(self.y[rows], self.n_classes)

    def values(self, scores: Floats) -> Floats:
        """Return the loss of every row, (n,)."""
        return np.asarray(self.losses_and_duals(scores)[0])

    def losses_and_duals(self, scores: Any) -> tuple[Any, Any]:
        """Return the losses (n,) and minus their gradients (n, m), points of the negated domain.

        The scores may be a tensor, if the labels y are one on its device.
        """
        return cross_entropies(scores, self.y)

    def lowest(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the vertices U (n, m) that minimise <scores, U>, and minus the minima."""
        margins = scores - scores[self._labels][:, None]
        lifted = margins.max(axis=1)
        vertices = np.zeros_like(scores)
        vertices[self._labels] = 1.0
        vertices[self._labels[0], np.argmax(margins, axis=1)] -= 1.0
        return vertices, lifted

    def conjugate_terms(self, points: Floats, omega: Floats) -> Floats:
        """Return omega_i sum_j p_ij log p_ij, (n,), for the rows omega_i (e_y - p_i) of points."""
        terms = np.empty(len(points))
        for rows in row_slices(*points.shape):
            terms[rows] = omega[rows] * self.take(rows).entropies(points[rows], omega[rows])[0]
        return terms

    def entropies(self, points: Any, omega: Any) -> tuple[Any, Any]:
        """Return sum_j p_ij log p_ij and the sums t_i, (n,) each; points may be a tensor."""
        rest, t = self._rest(points, omega)
        return _negated_entropies(rest, t), t

    def _rest(self, points: Any, omega: Any) -> tuple[Any, Any]:
        """Return b (n, m), with 0 for the labels, and its row sums t (n,)."""
        xp = namespace_of(points)
        rest = xp.clip(points / -xp.where(omega > 0, omega, xp.inf)[:, None], 0.0, None)
        rest = with_entries(rest, self.y, 0.0)
        return rest, xp.sum(rest, axis=1)

    def cost_products(self, points: Floats) -> Floats:
        """Return zeros, (n,)."""
        return np.zeros(len(points))

    def add_costs(self, scores: Floats) -> Floats:
        """Return a copy of the scores."""
        return scores.copy()

    def cost_sizes(self) -> Floats:
        """Return zeros, (n,)."""
        return np.zeros(len(self.y))

    def contains(self, v: Floats, slack: float) -> np.ndarray:
        """Return whether rows of v + e_y lie in the simplex up to `slack`, (n,)."""
        p = v.copy()
        p[self._labels] += 1.0
        return np.asarray((p.min(axis=1) >= -slack) & (np.abs(v.sum(axis=1)) <= slack))

    def project(self, points: Floats) -> Floats:
        """Return the nearest points of the negated domains, (n, m)."""
        out = np.zeros_like(points)
        p = -points
        p[self._labels] += 1.0
        project_knapsack_rows(p, LARGEST, 1.0, 1.0, 0.0, True, out)
        out[self._labels] = 0.0
        sums = out.sum(axis=1)
        np.negative(out, out=out)
        out[self._labels] = sums
        return out + 0.0

    def distances(self, points: Floats, omega: Floats) -> Floats:
        """Return bounds of the distances |a_i - a'_i|_1 to exact points of the domains, (n,)."""
        bounds = np.empty(len(points))
        for rows in row_slices(*points.shape):
            bounds[rows] = self.take(rows).distances_of_rows(points[rows], omega[rows])
        return bounds

    def distances_of_rows(self, points: Any, omega: Any) -> Any:
        """Return `distances`, of all rows at once; points may be a tensor."""
        xp = namespace_of(points)
        wrong = xp.sum(with_entries(xp.clip(points, 0.0, None), self.y, 0.0), axis=1)
        sums = xp.sum(with_entries(xp.clip(-points, 0.0, None), self.y, 0.0), axis=1)
        label = xp.take_along_axis(points, self.y[:, None], axis=1)[:, 0]
        rounding = gamma(self.n_classes + 3) * (sums + xp.abs(label))
        apart = xp.abs(label - xp.minimum(sums, omega)) + xp.clip(sums - omega, 0.0, None)
        return MARGIN * (wrong + apart + 2 * rounding)

    def loss_errors(self, scores: Floats, e: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Return bounds of the errors of the losses at scores with the errors e, and their sizes.

        All arrays but the scores are (n,).
        """
        return self.loss_errors_at(row_maxima(scores), e, values), values

    def loss_errors_at(self, largest: Floats, e: Floats, values: Floats) -> Floats:
        """Return bounds of the errors of losses, from the sizes of the largest scores, (n,)."""
        d, m = 2 * e + 8 * UNIT * (largest + e), self.n_classes
        errors = d * np.minimum(1.0, values + d)
        errors += gamma(m + LIBRARY_UNITS + 2) * np.minimum(1.0, 2 * values)
        errors += (LIBRARY_UNITS + 1) * UNIT * values + 2 * m * VANISHED
        return np.asarray(MARGIN * errors)

    def conjugate_error(self, points: Floats, omega: Floats) -> float:
        """Return a bound of the error of the mean of conjugate_terms, at points next to A'."""
        errors, n = np.empty(len(points)), len(points)
        for rows in row_slices(*points.shape):
            part = points[rows], omega[rows]
            errors[rows] = self.take(rows).entropies_with_errors(*part, n)[1]
        return MARGIN**2 * float(np.mean(errors))

    def entropies_with_errors(self, points: Any, omega: Any, n: int) -> tuple[Any, Any]:
        """Return `entropies` of rows, and bounds of the errors of conjugate_terms among n, (n,)."""
        xp, m = namespace_of(points), self.n_classes
        entropies, t = self.entropies(points, omega)
        h, delta = xp.abs(entropies), gamma(m + 2) * t + m * VANISHED
        left = 1.0 - t - delta
        safe = xp.where(left > 0, left, 1.0)
        label = xp.where(left > 0, delta * (1 - xp.log(safe)), -4 * delta * xp.log(2 * delta))
        excess = xp.clip(-left, 0.0, None)
        errors = (gamma(m) + (LIBRARY_UNITS + 2) * UNIT) * h + 2 * UNIT * t + label
        errors += excess * (h + 1) + 1024 * m * VANISHED
        return entropies, omega * (errors + (2 * UNIT + gamma_in_parts(n)) * h)


def _negated_entropies(rest: Any, t: Any) -> Any:
    """Return sum_j b_j log b_j + (1 - t) log1p(-t), (n,), for b (n, m) and their sums t (n,)."""
    xp = namespace_of(rest)
    ones = xp.ones_like(rest)
    terms = row_products(rest, xp.log(xp.where(rest > 0, rest, ones)))
    inside = xp.clip(t, None, 1.0)
    safe = xp.where(inside < 1, inside, 0.0 * t)
    return terms + (1.0 - inside) * xp.log1p(-safe)
