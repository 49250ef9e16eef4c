"""Measures of prediction quality."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_floats, as_integer, as_real, checked_sample_weight
from fwlab.checks.labels import as_labels, as_positive, codes_of_rows, one_column


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
        scores = class_scores(estimator, X)
        n, m = scores.shape
        if self.k >= m:
            warnings.warn(
                f"k should be below the number of classes, {m}, because the top-{self.k} accuracy "
                f"is 1 otherwise; got {self.k}.",
                stacklevel=2,
            )
        hits = topk_hits(codes_of_rows(one_column(y), estimator.classes_, n), scores, self.k)
        return float(np.average(hits, weights=checked_sample_weight(sample_weight, n)))

    def set_score_request(self, *, sample_weight: bool | str | None) -> "TopKScorer":
        """Return this scorer with a request for routed weights, as scikit-learn describes it."""
        return TopKScorer(self.k, sample_weight)

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's record of the request."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weighted)
        return request


def class_scores(estimator: Any, X: Any) -> Floats:
    """Return the scores of all classes, (n, m), from a fitted classifier's decision function.

    Raises ValueError if it has no column per class, or has its columns for pairs of classes.
    """
    scores = as_floats("scores", estimator.decision_function(X), ndims=(1, 2))
    m = len(estimator.classes_)
    if scores.ndim == 1 and m == 2:  # the second less the first
        return np.column_stack([np.zeros_like(scores), scores])
    if scores.ndim == 1 or scores.shape[1] != m:
        raise ValueError(
            f"decision_function must return one column a class, {m}; got shape {scores.shape}."
        )
    if getattr(deciding(estimator), "decision_function_shape", None) == "ovo":
        raise ValueError(
            'decision_function_shape must be "ovr", one column a class; got "ovo", one column a '
            "pair of classes."
        )
    return scores


def deciding(estimator: Any) -> Any:
    """Return the estimator whose decision function a search or a pipeline returns."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator


def make_topk_scorer(k: int) -> TopKScorer:
    """Return a scorer for GridSearchCV and similar tools; its score is `topk_accuracy` with this k.

    The classifier needs `classes_` and a `decision_function` with one column per class, or of two
    classes one value per sample. The scorer takes `sample_weight`. For a
    classifier of k classes or fewer it returns 1 and warns.
    """
    return TopKScorer(as_integer("k", k, low=1))
