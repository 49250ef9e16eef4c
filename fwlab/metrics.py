"""Measures of prediction quality."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_floats, as_integer, as_real, checked_sample_weight
from fwlab.checks.labels import as_labels, as_positive, codes_of


def topk_accuracy(y: Any, scores: Any, k: int) -> float:
    """Return the share of samples whose class is among the k best.

    A sample counts if fewer than k other classes score at least as high as its own, so that ties
    count against the prediction. y is (n,), scores is (n, m), and 1 <= k <= m.
    """
    scores = as_floats("scores", scores, ndims=(2,))
    y = as_labels(y, scores.shape[1])
    if len(y) != len(scores):
        raise ValueError(f"y must have {len(scores)} entries, one a row of scores; got {len(y)}.")
    if not len(y):
        raise ValueError("y must hold at least one label; got an empty array.")
    k = as_integer("k", k, low=1, high=scores.shape[1])
    return float(topk_hits(y, scores, k).mean())


def topk_hits(codes: Integers, scores: Floats, k: int) -> np.ndarray:
    """Return whether the class of each sample is among the k best, (n,) bool.

    codes (n,) holds the classes; one of -1, which is no class, is never among the best. Ties count
    as in `topk_accuracy`.
    """
    own = scores[np.arange(len(codes)), codes]
    others = (scores >= own[:, None]).sum(axis=1) - 1
    return np.asarray((others < k) & (codes >= 0))


def precision_at_recall(y: Any, scores: Any, recall: float) -> float:
    """Return the precision at the highest threshold that reaches the recall   (M20 (20)).

    A threshold t reaches the recall if at least that share of the positive samples scores t or
    more. The precision is the share of positives among all samples that score t or more.

    y (n,) holds labels in {0, 1} or {-1, +1}, at least one of them positive. scores is (n,), and
    0 < recall <= 1.
    """
    positive = as_positive(y)
    scores = as_floats("scores", scores, ndims=(1,))
    if len(positive) != len(scores):
        raise ValueError(
            f"y must have {len(scores)} labels, one an entry of scores; got {len(positive)}."
        )
    if not positive.any():
        raise ValueError("y must hold at least one positive label; got none.")
    recall = as_real("recall", recall, positive=True)
    if recall > 1:
        raise ValueError(f"recall must be at most 1; got {recall}.")
    own = np.sort(scores[positive])[::-1]
    # 0.07 of 100 positives is 7, but 7.000000000000001 in floating point
    needed = int(np.ceil(recall * len(own) * (1 - 1e-12)))
    above = scores >= own[needed - 1]
    return float(positive[above].mean())


@dataclass(frozen=True)
class TopKScorer:
    """A scorer for scikit-learn's `scoring`: the top-k accuracy of a fitted classifier.

    A label that the classifier has not met counts as wrong; if it has met none of them, the scorer
    raises ValueError. `weighted` is scikit-learn's request for routed sample weights.
    """

    k: int
    weighted: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the weighted share of samples whose class is among the k best."""
        scores = as_floats("scores", estimator.decision_function(X), ndims=(1, 2))
        if scores.ndim == 1:  # of two classes: the second less the first
            scores = np.column_stack([np.zeros_like(scores), scores])
        m = scores.shape[1]
        if self.k >= m:
            warnings.warn(
                f"k should be below the number of classes, {m}, because the top-{self.k} accuracy "
                f"is 1 otherwise; got {self.k}.",
                stacklevel=2,
            )
        hits = topk_hits(codes_of(y, estimator.classes_), scores, self.k)
        return float(np.average(hits, weights=checked_sample_weight(sample_weight, len(hits))))

    def set_score_request(self, *, sample_weight: bool | str | None) -> "TopKScorer":
        """Return this scorer with a request for routed weights, as scikit-learn describes it."""
        return TopKScorer(self.k, sample_weight)

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's record of the request."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weighted)
        return request


def make_topk_scorer(k: int) -> TopKScorer:
    """Return a scorer for GridSearchCV and similar tools; its score is `topk_accuracy` with this k.

    The classifier needs `decision_function` and `classes_`. The scorer takes `sample_weight`. For a
    classifier of k classes or fewer it returns 1 and warns.
    """
    return TopKScorer(as_integer("k", k, low=1))
