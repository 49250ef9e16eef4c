"""Find the predictions that a certificate proves to be the predictions of the exact optimum.

Let |W - W*|_F <= r, with W* the machine of the exact optimum (`Result.distance`). For two classes c
and j and a sample x

    |<w_c - w_j, x> - <w*_c - w*_j, x>| <= |x| (|w_c - w*_c| + |w_j - w*_j|) <= sqrt(2) |x| r,

so the two machines order c and j alike if the scores differ by more than this bound plus the
rounding errors of both scores.
"""

from typing import Any, cast

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.operators.features import features_of
from fwlab.operators.features_interface import DataFeatures
from fwlab.operators.sums import MARGIN, UNDERFLOW, gamma, norms_above


def proved_labels(W: Floats, distance: float, X: Any) -> np.ndarray:
    """Return whether the exact optimum is proved to predict each label too, (n,) bool.

    W (m, d) is the machine and `distance` a bound of |W - W*|_F.
    """
    scores, slack = _scores(W, distance, X)
    best = scores.argmax(axis=1)
    lead = np.take_along_axis(scores, best[:, None], axis=1) - scores
    np.put_along_axis(lead, best[:, None], np.inf, axis=1)
    return np.asarray(lead.min(axis=1) > slack)


def proved_accuracy(
    W: Floats, distance: float, X: Any, codes: Integers, k: int
) -> tuple[float, float]:
    """Return an interval that holds the top-k accuracy of the exact optimum.

    A sample counts as in fwlab.metrics.topk_accuracy: fewer than k other classes score at least as
    high as its own. codes (n,) holds the classes of the samples; one of -1, which is no class,
    counts as wrong.
    """
    scores, slack = _scores(W, distance, X)
    lead = scores - np.take_along_axis(scores, codes[:, None], axis=1)
    np.put_along_axis(lead, codes[:, None], -np.inf, axis=1)
    known = codes >= 0
    right = known & ((lead >= -slack[:, None]).sum(axis=1) < k)
    wrong = ~known | ((lead > slack[:, None]).sum(axis=1) >= k)
    return float(right.mean()), float((~wrong).mean())


def _scores(W: Floats, distance: float, X: Any) -> tuple[Floats, Floats]:
    """Return the scores (n, m), and per row a bound (n,) of the error of a difference of two."""
    features = cast(DataFeatures, features_of(X, None))
    scores, d = features.scores(W), W.shape[1]
    x = norms_above(features.square_norms(), d)
    w = norms_above(np.einsum("ij,ij->i", W, W), d)
    terms = features.row_terms()
    rounding = gamma(terms + 4) * x * w.max() + terms * UNDERFLOW
    with np.errstate(invalid="ignore"):  # a row of zeros at an infinite distance
        moved = np.where(x > 0, x * distance, 0.0)
    return scores, MARGIN * (np.sqrt(2) * moved + 2 * rounding)
