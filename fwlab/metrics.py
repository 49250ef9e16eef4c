"""Measures of prediction."""

from typing import Any

import numpy as np

from fwlab._validation import as_floats, as_integer, as_labels


def topk_accuracy(y: Any, scores: Any, k: int) -> float:
    """Share of rows whose class is among the k best: fewer than k other classes score at least as
    high, so that ties count against the prediction.

    y (n,), scores (n, m), 1 <= k <= m.
    """
    scores = as_floats("scores", scores, ndims=(2,))
    y = as_labels(y, scores.shape[1])
    if len(y) != len(scores):
        raise ValueError(f"y must have {len(scores)} entries, one a row of scores; got {len(y)}.")
    if not len(y):
        raise ValueError("y must hold at least one label; got an empty array.")
    k = as_integer("k", k, low=1, high=scores.shape[1])
    own = scores[np.arange(len(y)), y]
    others = (scores >= own[:, None]).sum(axis=1) - 1
    return float((others < k).mean())
