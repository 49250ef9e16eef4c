"""Count the validation samples that some optimum between two points can label correctly.

At the machine W(t) = (1 - t) W_a + t W_b a class j leads the label y of sample x by

    lead_j(t) = <w_j - w_y, x> = (1 - t) lead_j(0) + t lead_j(1),

and at the optimum W* by at least lead_j(t) - sqrt(2) |x| |W* - W(t)|. So the prediction is wrong
for all t at which a lead exceeds sqrt(2) |x| reach, rounding errors of the scores included. Each j
has these t up to, or from, a root of its linear lead; the t that are left over are an interval. The
bound over the stretch is the largest number of samples whose intervals overlap.

A label that is no class of the training samples is never predicted, and for x = 0 the scores are
equal, so that the first class is predicted.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.operators.features import features_of
from fwlab.operators.features_interface import DataFeatures
from fwlab.operators.scores import score_errors
from fwlab.operators.sizes import row_maxima
from fwlab.operators.sums import MARGIN, UNIT, norms_above

# by which intervals of t are longer, for the rounding of their ends
WIDER = 1e-12


@dataclass(frozen=True, eq=False)
class Leads:
    """The leads of all classes over the label, at one machine.

    Attributes
    ----------
    leads : array (n, m)
        -inf for the label itself.
    errors : array (n,)
        Bounds of their errors.
    n_right : int
        The number of correct predictions.
    """

    leads: Floats
    errors: Floats
    n_right: int

    def margins(self, norms: Floats) -> Floats:
        """Return how far the optimum must be from the machine for a correct prediction, (n,)."""
        leads = self.leads.max(axis=1) - self.errors
        return np.asarray(leads / (np.sqrt(2) * norms))


@dataclass(frozen=True, eq=False)
class Validation:
    """The validation samples whose predictions can be correct.

    Attributes
    ----------
    features : DataFeatures
        The rows of the samples whose label is a class and that are not 0.
    codes : array
        Their labels' classes.
    norms : array
        Bounds of the norms of the rows.
    n_always : int
        The number of rows that are 0 and belong to the first class.
    """

    features: DataFeatures
    codes: Integers
    norms: Floats
    n_always: int

    @classmethod
    def of(cls, X: Any, codes: Integers) -> "Validation":
        """Return the samples X (n, d) with the classes `codes` (n,), -1 for any other label."""
        features = features_of(X, None)
        empty = _is_zero(X)
        kept = np.flatnonzero((codes >= 0) & ~empty)
        part = cast(DataFeatures, features.rows(kept))
        norms = norms_above(part.square_norms())
        return cls(part, codes[kept], norms, int((empty & (codes == 0)).sum()))

    def leads(self, W: Floats) -> Leads:
        """Return the leads of a machine W (m, d)."""
        scores = self.features.scores(W)
        places = np.arange(len(scores)), self.codes
        n_right = int((scores.argmax(axis=1) == self.codes).sum())
        errors = 2 * score_errors(self.features, self.norms, W) + 8 * UNIT * row_maxima(scores)
        leads = scores - scores[places][:, None]
        leads[places] = -np.inf
        return Leads(leads, MARGIN * errors, self.n_always + n_right)

    def most_right(self, a: Leads, b: Leads, reach: float) -> int:
        """Return the largest number of correct predictions for any t, with this reach."""
        if not np.isfinite(reach):
            return self.n_always + len(self.codes)
        limit = np.maximum(a.errors, b.errors)
        limit += MARGIN * np.sqrt(2) * reach * self.norms
        open_ = np.minimum(a.leads, b.leads).max(axis=1) <= limit
        first, last = _open_ends(a.leads[open_], b.leads[open_], limit[open_])
        return self.n_always + _most_overlapping(first, last)


def _is_zero(X: Any) -> np.ndarray:
    """Return whether each row is 0, (n,)."""
    sizes = abs(X).max(axis=1)
    sizes = np.asarray(sizes.toarray() if hasattr(sizes, "toarray") else sizes)
    return np.asarray(sizes.ravel() == 0.0)


def _open_ends(left: Floats, right: Floats, limit: Floats) -> tuple[Floats, Floats]:
    """Return the first and the last t at which no lead exceeds its limit, (n,) each.

    left and right (n, m) are the leads at t = 0 and t = 1. A sample without such a t has a first
    one above its last one.
    """
    limit = limit[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        roots = (limit - left) / (right - left)
    first = np.where((left > limit) & (right <= limit), roots, 0.0).max(axis=1, initial=0.0)
    last = np.where((right > limit) & (left <= limit), roots, 1.0).min(axis=1, initial=1.0)
    return first - WIDER, last + WIDER


def _most_overlapping(first: Floats, last: Floats) -> int:
    """Return the largest number of intervals [first, last] with a common point."""
    first, last = first[first <= last], last[first <= last]
    starts, ends = np.sort(first), np.sort(last)
    counts = np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="left")
    return int(counts.max(initial=0))
