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
from fwlab.operators.scores import score_errors
from fwlab.operators.sums import norms_above


def proved_labels(W: Floats, distance: float, X: Any) -> np.ndarray:
    """Return whether the exact optimum is proved to predict each label too, (n,) bool.

    W (m, d) is the machine and `distance` a bound of |W - W*|_F.
    """
    scores, slack = _scores(W, distance, X)
    lead = scores.max(axis=1, keepdims=True) - scores
    return np.asarray((lead > slack[:, None]).sum(axis=1) == len(W) - 1)


def proved_accuracy(
    W: Floats, distance: float, X: Any, codes: Integers, k: int
) -> tuple[float, float]:
    """Return an interval that holds the top-k accuracy of the exact optimum.

    A sample counts as in fwlab.metrics.topk_accuracy: fewer than k other classes score at least as
    high as its own. The other classes that may are all but those that are proved to score less.
    codes (n,) holds the classes of the samples; one of -1, which is no class, counts as wrong.
    """
    scores, slack = _scores(W, distance, X)
    lead = scores - np.take_along_axis(scores, codes[:, None], axis=1)
    less, more = lead < -slack[:, None], lead > slack[:, None]
    known = codes >= 0
    right = known & ((~less).sum(axis=1) - 1 < k)
    wrong = ~known | (more.sum(axis=1) >= k)
    return float(right.mean()), float((~wrong).mean())


def _scores(W: Floats, distance: float, X: Any) -> tuple[Floats, Floats]:
    """Return the scores (n, m), and per row a bound (n,) of the error of a difference of two."""
    features = cast(DataFeatures, features_of(X, None))
    x = norms_above(features.square_norms())
    return features.scores(W), np.sqrt(2) * x * distance + 2 * score_errors(features, x, W)
