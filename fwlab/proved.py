"""Find the predictions that a certificate proves to be the predictions of the exact optimum.

Let |W - W*|_F <= r, with W* the machine of the exact optimum (`Result.distance`). For two classes c
and j and a sample x

    |<w_c - w_j, x> - <w*_c - w*_j, x>| <= |x| (|w_c - w*_c| + |w_j - w*_j|) <= sqrt(2) |x| r,

so the two machines order c and j alike if the scores differ by more than this bound plus the
rounding errors of both scores. The same holds around any other centre of a ball that holds W*
(fwlab.enclosing_ball).
"""

from typing import Any, cast

import numpy as np

from fwlab.arrays import (
    Floats,
    Integers,
    is_tensor,
    like,
    namespace_of,
    on_host,
    without_gradient,
)
from fwlab.checks.arguments import as_features
from fwlab.operators.features import features_of
from fwlab.operators.features_interface import DataFeatures
from fwlab.operators.scores import score_errors
from fwlab.operators.sums import norms_above
from fwlab.operators.tensor_rows import tensor_rows

# of labels in tensors, by the kind of their array
TYPES = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}


def best_classes(W: Any, X: Any) -> Any:
    """Return the class of the largest score, (n,); ties go to the lowest class."""
    if is_tensor(X):
        return namespace_of(X).argmax(tensor_rows(features_of(X, None)).scores(W), axis=1)
    return np.asarray(X @ W.T).argmax(axis=1)


def labels_of(best: Any, classes: np.ndarray) -> Any:
    """Return the labels of classes, in their shape: a tensor for a tensor, except of strings."""
    if not is_tensor(best) or classes.dtype.kind not in TYPES:
        return np.asarray(classes[on_host(best)])
    xp, labels = namespace_of(best), classes_beside(classes, best)
    return xp.reshape(xp.take(labels, xp.reshape(best, (-1,))), best.shape)


def classes_beside(classes: np.ndarray, other: Any) -> Any:
    """Return the labels of classes (m,) as a tensor beside another value, if that is a tensor.

    Strings stay in an array of numpy.
    """
    kind = classes.dtype.kind
    return (
        like(classes.astype(TYPES[kind]), other) if is_tensor(other) and kind in TYPES else classes
    )


def rows_beside(X: Any, W: Any) -> Any:
    """Return X (n, d) as a tensor on the device of W; all but floating types become float64.

    Raises ValueError or TypeError unless it is 2-D, not empty, and holds finite real numbers.
    """
    xp, given = namespace_of(W), X if is_tensor(X) else np.array(as_features("X_new", X))
    rows = xp.asarray(without_gradient(given), device=W.device)
    if rows.ndim != 2 or 0 in rows.shape:
        shape = tuple(rows.shape)
        raise ValueError(f"X_new must be 2-D with at least one row; got shape {shape}.")
    if xp.isdtype(rows.dtype, "complex floating"):
        raise TypeError(f"X_new must hold real numbers; got {rows.dtype}.")
    rows = rows if xp.isdtype(rows.dtype, "real floating") else xp.astype(rows, xp.float64)
    if not bool(xp.all(xp.isfinite(rows))):
        raise ValueError("X_new must be finite; an entry is not.")
    return rows


def proved_labels(W: Any, distance: float, X: Any) -> Any:
    """Return whether the exact optimum is proved to predict each label too, (n,) bool.

    W (m, d) is the machine and `distance` a bound of |W - W*|_F. X (n, d) may be a tensor, beside W
    on one device.
    """
    scores, slack = _scores(W, distance, X)
    xp = namespace_of(scores)
    lead = xp.max(scores, axis=1, keepdims=True) - scores
    return _count(xp, lead > slack[:, None]) == W.shape[0] - 1


def proved_in_ball(W: Any, centre: Any, radius: float, X: Any) -> Any:
    """Return whether W and all machines of a ball are proved to predict one label, (n,) bool.

    The ball has a centre (m, d), which is W for None, and a radius.
    """
    if centre is None:
        return proved_labels(W, radius, X)
    features = features_of(X, None)
    xp, own, best = namespace_of(centre), *(features.scores(M) for M in (W, centre))
    same = xp.argmax(own, axis=1) == xp.argmax(best, axis=1)
    return proved_labels(W, 0.0, X) & same & proved_labels(centre, radius, X)


def proved_accuracy(
    W: Any, distance: float, X: Any, codes: Integers, k: int
) -> tuple[float, float]:
    """Return an interval that holds the top-k accuracy of the exact optimum.

    A sample counts as in fwlab.metrics.topk_accuracy: fewer than k other classes score at least as
    high as its own. The other classes that may are all but those that are proved to score less.
    codes (n,) holds the classes of the samples; one of -1, which is no class, counts as wrong.
    """
    scores, slack = _scores(W, distance, X)
    xp = namespace_of(scores)
    codes_here = like(codes, scores)
    known = codes_here >= 0
    places = xp.where(known, codes_here, xp.zeros_like(codes_here))
    lead = scores - xp.take_along_axis(scores, places[:, None], axis=1)
    less, more = lead < -slack[:, None], lead > slack[:, None]
    right = known & (W.shape[0] - _count(xp, less) - 1 < k)
    wrong = ~known | (_count(xp, more) >= k)
    return float(on_host(right).mean()), float((~on_host(wrong)).mean())


def _count(xp: Any, flags: Any) -> Any:
    """Return the number of true entries of each row, (n,)."""
    return xp.count_nonzero(flags, axis=1)


def _scores(W: Any, distance: float, X: Any) -> tuple[Any, Any]:
    """Return the scores (n, m), and per row a bound (n,) of the error of a difference of two."""
    features = cast(DataFeatures, features_of(X, None))
    x = norms_above(features.square_norms())
    # x may be infinity
    away = np.sqrt(2) * x * distance if distance else 0.0
    slack: Floats = away + 2 * score_errors(features, x, on_host(W))
    scores = features.scores(W)
    return scores, like(slack, scores)
