"""TopPushClassifier and PatMatClassifier: scikit-learn's conventions over fwlab.ranking."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from expected_checks import expected_failures
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import fwlab
from fwlab import ranking

X, Y = load_breast_cancer(return_X_y=True)
X, Y = scale(X)[:200], Y[:200]
NAMES = np.array(["malignant", "benign"])[Y]  # in alphabetical order benign is the first
MACHINES = [
    *(fwlab.TopPushClassifier(K=3), fwlab.PatMatClassifier(tau=0.05)),
    fwlab.PatMatClassifier(tau=0.05, over="all"),
]
OBJECTIVES = [ranking.TopPushK(3), ranking.PatMat(0.05), ranking.PatMat(0.05, over="all")]


@pytest.mark.turns
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [fwlab.TopPushClassifier(), fwlab.TopPushClassifier(K=2), fwlab.PatMatClassifier(tau=0.1)]
)
def test_scikit_learns_own_checks(estimator, check):
    if reason := expected_failures(estimator).get(check.func.__name__):
        pytest.skip(f"{reason}, up to rounding")
    check(estimator)


@pytest.mark.parametrize(("machine", "objective"), list(zip(MACHINES, OBJECTIVES, strict=True)))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_it_is_the_machine_of_fwlab_ranking(machine, objective, kernel):
    machine.set_params(kernel=kernel, gamma=0.02, C=0.5).fit(X, NAMES)
    sigma = 0.02 if kernel == "rbf" else None
    result = ranking.solve(X, NAMES == "malignant", objective, 0.5, kernel=kernel, sigma=sigma)
    assert machine.classes_.tolist() == ["benign", "malignant"]
    np.testing.assert_array_equal(machine.decision_function(X), result.decision_function(X))
    assert machine.threshold_ == result.threshold and machine.n_iter_ == result.nit
    assert machine.duality_gap_ == result.gap and machine.gap_error_ == result.gap_error
    above = np.where(machine.decision_function(X) > 0, "malignant", "benign")
    np.testing.assert_array_equal(machine.predict(X), above)
    assert hasattr(machine, "coef_") == (kernel == "linear")
    if kernel == "linear":
        scores = X @ machine.coef_[0] + machine.intercept_[0]
        np.testing.assert_allclose(machine.decision_function(X), scores, atol=1e-12)


@pytest.mark.parametrize("machine", MACHINES)
def test_gram_matrices_and_sparse_samples_give_the_same_machine(machine):
    by_rbf = machine.set_params(kernel="rbf", gamma="auto").fit(X, NAMES).decision_function(X[:20])
    K = rbf_kernel(X, gamma=1 / X.shape[1])
    machine.set_params(kernel="precomputed").fit(K, NAMES)
    np.testing.assert_allclose(machine.decision_function(K[:20]), by_rbf, atol=1e-3)
    assert cross_val_score(machine, K, NAMES, cv=2, scoring="roc_auc").min() > 0.6
    machine.set_params(kernel="linear").fit(X, NAMES)
    dense = machine.decision_function(X)
    machine.fit(sp.csr_array(X), NAMES)
    np.testing.assert_allclose(machine.decision_function(sp.csr_array(X)), dense, atol=1e-3)


def test_it_works_in_a_pipeline_a_grid_search_and_a_pickle():
    pipeline = make_pipeline(StandardScaler(), fwlab.TopPushClassifier())
    grid = {"toppushclassifier__C": [0.01, 0.1], "toppushclassifier__K": [1, 5]}
    search = GridSearchCV(pipeline, grid, scoring="average_precision", cv=2).fit(X, Y)
    assert search.best_score_ > 0.9
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_a_run_that_ends_too_early_warns_with_its_gap():
    with pytest.warns(ConvergenceWarning, match="TopPushClassifier stopped at a duality gap of"):
        fwlab.TopPushClassifier(max_iter=1, tol=1e-12).fit(X, Y)


@pytest.mark.parametrize(
    ("machine", "match"),
    [
        (fwlab.TopPushClassifier(K=0), "K must be"),
        (fwlab.TopPushClassifier(K=10**6), "K must be at most"),
        (fwlab.TopPushClassifier(C=0), "C must be"),
        (fwlab.TopPushClassifier(surrogate="log"), "surrogate must be"),
        (fwlab.TopPushClassifier(kernel="poly"), "kernel must be .*got 'poly'"),
        (fwlab.TopPushClassifier(kernel=rbf_kernel), "kernel must be one of"),
        (fwlab.TopPushClassifier(kernel="rbf", gamma=-1), "gamma must be"),
        (fwlab.TopPushClassifier(method="sgd"), "method must be"),
        (fwlab.PatMatClassifier(tau=1), "tau must be"),
        (fwlab.PatMatClassifier(budget="some"), "budget must be"),
        (fwlab.PatMatClassifier(over="positives"), "over must be one of all, negatives; got 'pos"),
    ],
)
def test_a_bad_argument_is_named(machine, match):
    with pytest.raises((ValueError, TypeError), match=match):
        machine.fit(X, Y)


def test_bad_labels_are_named():
    for bad, match in (
        (np.arange(200) % 3, "Only binary classification is supported.* y holds 3 classes"),
        (np.ones(200), "y must hold two classes; got one class"),
        (X[:, 0], "continuous"),
    ):
        with pytest.raises(ValueError, match=match):
            fwlab.TopPushClassifier().fit(X, bad)
    with pytest.raises(NotFittedError):
        fwlab.PatMatClassifier().predict(X)
