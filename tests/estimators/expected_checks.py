"""The checks of scikit-learn that fwlab's estimators fail, each with the reason.

The page of the estimators names them; test_conventions compares.
"""

from typing import Any

import fwlab

UP_TO_TOL = "two fits agree up to the gap tol, not bit for bit; see test_weights_repeat_samples"
OTHER_FOLDS = "a sample repeated stands in other folds than one weighed"
OF_WEIGHTS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_sample_weights_invariance(kind=zeros)",  # of scikit-learn 1.5
)
THROUGH_ORIGIN = {
    "check_class_weight_classifiers": "its data need an intercept to give nine of ten to one class"
}
# of K = 1: the highest negative of the training set lies on the threshold, and the order in which a
# product of matrices adds, which differs from one batch to another, decides on which side. The
# checks fail with some orders only
ON_THE_THRESHOLD = {
    "check_methods_subset_invariance": "with K = 1 a training sample lies on the threshold",
    "check_methods_sample_order_invariance": "with K = 1 a training sample lies on the threshold",
}


def expected_failures(estimator: Any) -> dict[str, str]:
    """Return the checks that an estimator fails, with the reasons."""
    if isinstance(estimator, fwlab.TopKSVCCV):
        return dict.fromkeys(OF_WEIGHTS, OTHER_FOLDS)
    if isinstance(estimator, fwlab.TopKClassifier):
        of_weights = dict.fromkeys(OF_WEIGHTS, UP_TO_TOL)
        return of_weights if estimator.fit_intercept else {**of_weights, **THROUGH_ORIGIN}
    return ON_THE_THRESHOLD if getattr(estimator, "K", None) == 1 else {}
