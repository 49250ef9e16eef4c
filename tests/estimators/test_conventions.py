"""TopKSVC keeps scikit-learn's conventions: its own checks, and what people do with one."""

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from expected_checks import expected_failures
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import fwlab
from fwlab.metrics import make_topk_scorer

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]

PAGE = Path(fwlab.__file__).parent / "docs" / "pages" / "estimator.md"


@pytest.mark.turns
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
# check_array of scikit-learn 1.5 does so
@pytest.mark.filterwarnings("ignore:You are comparing a array_api_strict dtype")
@parametrize_with_checks(
    [
        fwlab.TopKSVC(),
        fwlab.TopKSVC(fit_intercept=True, loss="usunier"),
        fwlab.TopKSVCCV(Cs=[0.1, 1.0], cv=2, fit_intercept=True),
        fwlab.TopKClassifier(),
        fwlab.TopKClassifier(fit_intercept=True, loss="max-hinge"),
    ]
)
def test_scikit_learns_own_checks(estimator, check, request):
    for name, reason in expected_failures(estimator).items():
        if name in request.node.name:
            request.applymarker(pytest.mark.xfail(reason=reason))
    check(estimator)


def test_the_page_names_the_checks_that_fail_and_no_other():
    machines = fwlab.TopKSVC(), fwlab.TopKSVCCV(), fwlab.TopPushClassifier()
    names = {name for machine in machines for name in expected_failures(machine)}
    found = set(re.findall(r"`(check_[^`]*)`", PAGE.read_text("utf-8")))
    assert found - {"check_estimator"} == names


# ---------------------------------------------------------------- what people do with it


def test_labels_of_any_kind_come_back():
    for labels in (NAMES, NAMES.astype(object), Y + 1, 10.0 * Y, Y.astype(np.int8)):
        machine = fwlab.TopKSVC(fit_intercept=True).fit(X, labels)
        assert machine.classes_.tolist() == sorted(set(labels.tolist()))
        predicted = machine.predict(X)
        assert predicted.dtype == machine.classes_.dtype
        assert (predicted == labels).mean() > 0.9
        assert machine.predict_topk(X, 3).shape == (150, 3)
        np.testing.assert_array_equal(machine.predict_topk(X, 1)[:, 0], predicted)


def test_two_classes_have_one_decision_value():
    two = Y < 2
    machine = fwlab.TopKSVC(fit_intercept=True).fit(X[two], NAMES[two])
    values = machine.decision_function(X[two])
    assert machine.coef_.shape == (1, 4) and machine.intercept_.shape == (1,)
    assert values.shape == (100,)
    np.testing.assert_allclose(values, X[two] @ machine.coef_[0] + machine.intercept_[0])
    np.testing.assert_array_equal(machine.predict(X[two]), machine.classes_[(values > 0) * 1])
    assert make_topk_scorer(1)(machine, X[two], NAMES[two]) == machine.score(X[two], NAMES[two])


def test_a_data_frame_keeps_its_feature_names():
    pandas = pytest.importorskip("pandas", reason="DataFrames need pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    machine = fwlab.TopKSVC(random_state=0).fit(frame, pandas.Series(NAMES))
    assert machine.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        machine.predict(frame[["b", "a", "c", "d"]])
    plain = fwlab.TopKSVC(random_state=0).fit(X, NAMES)
    np.testing.assert_array_equal(machine.predict(frame), plain.predict(X))


def test_sparse_samples_give_the_same_machine():
    dense = fwlab.TopKSVC(k=2, fit_intercept=True, tol=1e-10).fit(X, NAMES)
    sparse = fwlab.TopKSVC(k=2, fit_intercept=True, tol=1e-10).fit(sp.csr_array(X), NAMES)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-4)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csc_matrix(X)), sparse.decision_function(X)
    )


def test_it_works_in_a_pipeline_and_a_grid_search():
    pipeline = make_pipeline(StandardScaler(), fwlab.TopKSVC(k=2))
    search = GridSearchCV(
        pipeline,
        {"topksvc__C": [0.1, 1.0], "topksvc__k": [1, 2]},
        scoring=make_topk_scorer(2),
        cv=3,
    ).fit(X, NAMES)
    assert search.best_score_ > 0.9
    assert cross_val_score(pipeline, X, NAMES, cv=3, n_jobs=2).min() > 0.6


def test_a_precomputed_kernel_is_cut_by_rows_and_columns():
    K = (1 + X @ X.T) ** 2 / 1000
    scores = cross_val_score(fwlab.TopKSVC(kernel="precomputed", C=10), K, NAMES, cv=3)
    assert scores.min() > 0.9


def test_a_clone_is_unfitted_and_a_pickle_is_fitted():
    machine = fwlab.TopKSVC(C=0.5, weights="linear", k=2).fit(X, NAMES)
    with pytest.raises(NotFittedError):
        clone(machine).predict(X)
    assert clone(machine).get_params() == machine.get_params()
    again = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(again.predict(X), machine.predict(X))
    assert pickle.loads(pickle.dumps(make_topk_scorer(2))) == make_topk_scorer(2)


def test_the_same_seed_gives_the_same_machine():
    one, two, other = (fwlab.TopKSVC(random_state=seed).fit(X, Y) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert (one.coef_ != other.coef_).any()


def test_a_warm_start_goes_on_from_the_last_fit():
    machine = fwlab.TopKSVC(warm_start=True, tol=1e-8, random_state=0).fit(X, Y)
    cold = machine.n_iter_
    assert machine.fit(X, Y).n_iter_ < cold / 2
    machine.set_params(C=1.1).fit(X, Y)
    assert 0 < machine.n_iter_ and machine.duality_gap_ <= 1e-8
    machine.fit(X[:100], Y[:100])  # other data: from the beginning
    assert machine.coef_.shape == (1, 4)


def test_another_kernel_forgets_the_last_machine():
    machine = fwlab.TopKSVC().fit(X, Y)
    machine.set_params(kernel="rbf").fit(X, Y)
    assert not hasattr(machine, "coef_") and machine.score(X, Y) > 0.9
    machine.set_params(kernel="linear").fit(X, Y)
    assert not hasattr(machine, "dual_coef_") and machine.coef_.shape == (3, 4)


def test_a_run_that_ends_too_early_warns_with_its_gap():
    with pytest.warns(ConvergenceWarning, match=r"duality gap of .* after 1 iterations, above tol"):
        machine = fwlab.TopKSVC(max_iter=1, tol=1e-9).fit(X, Y)
    assert machine.duality_gap_ > 1e-9 and machine.n_iter_ == 1
    large = fwlab.TopKSVC(C=100, fit_intercept=True, max_iter=100)
    with pytest.warns(ConvergenceWarning, match='method="auto" is made for large C. A larger'):
        large.fit(X, Y)
    assert large.set_params(method="auto").fit(X, Y).duality_gap_ <= large.tol
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fwlab.TopKSVC().fit(X, Y)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"loss": "hinge"}, "loss must be a loss of fwlab or one of topk, usunier"),
        ({"k": 4}, r"k must be .*3; got 4"),
        ({"k": 0}, "k must be"),
        ({"k": 1.5}, "k must be"),
        ({"loss": "pseudo-topk", "k": 3}, "k must be .*2; got 3"),
        ({"weights": "steep"}, "weights must be flat, linear, exponential or an array"),
        (
            {"loss": "max-hinge", "weights": "linear"},
            'weights must be "flat" with loss="max-hinge"',
        ),
        ({"weights": [1.0, 2.0]}, "weights must be non-increasing"),
        ({"weights": [4, 3, 2, 1]}, "weights must have at most one entry a class of y, 3; got 4"),
        ({"class_weight": {0: -1}}, r"class_weight\[0\] must be finite and >= 0; got -1"),
        ({"class_weight": {1: np.nan}}, r"class_weight\[1\] must be finite and >= 0; got nan"),
        ({"class_weight": {2: np.inf}}, r"class_weight\[2\] must be finite and >= 0; got inf"),
        ({"class_weight": {0: "a"}}, r"class_weight\[0\] must be a real number; got 'a'"),
        ({"class_weight": {0: None}}, r"class_weight\[0\] must be a real number; got None"),
        ({"class_weight": {"a": 1}}, "class_weight must name .* got 'a', .* and none for 0"),
        ({"class_weight": {0: 1, 9: 1}}, "class_weight must name .* got 9, .* and none for 1"),
        ({"class_weight": {0: 0, 1: 0, 2: 0}}, "class_weight must not be 0 for all classes"),
        ({"class_weight": "equal"}, "class_weight must be a dict .* got 'equal'"),
        ({"class_weight": [1, 2, 3]}, r"class_weight must be a dict .* got \[1, 2, 3\]"),
        ({"C": 0}, "C must be"),
        ({"C": "1"}, "C must be"),
        ({"kernel": "poly"}, "kernel must be callable or one of linear, rbf, precomputed"),
        ({"kernel": "rbf", "gamma": "wide"}, 'gamma must be "scale", "auto" or a positive number'),
        ({"kernel": "rbf", "gamma": -1}, "gamma must be"),
        ({"kernel": lambda X, Z: X}, "kernel must return an array"),
        ({"norm": 0.5}, "p must be"),
        ({"fit_intercept": True, "intercept_scaling": 0}, "intercept_scaling must be"),
        ({"method": "sgd"}, "method must be"),
        ({"tol": -1}, "tol must be"),
        ({"max_iter": -1}, "max_iter must be"),
    ],
)
def test_a_bad_argument_is_named(options, match):
    with pytest.raises((ValueError, TypeError), match=match):
        fwlab.TopKSVC(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("continuous", lambda: fwlab.TopKSVC().fit(X, X[:, 0] + 0.5)),
        ("one class", lambda: fwlab.TopKSVC().fit(X, np.zeros(150))),
        ("sample_weight must be non-neg", lambda: fwlab.TopKSVC().fit(X, Y, -np.ones(150))),
        ("k must be", lambda: fwlab.TopKSVC().fit(X, Y).predict_topk(X, 4)),
        ("y must have 150 labels", lambda: fwlab.TopKSVC().fit(X, Y).proved_accuracy(X, Y[:3])),
        ('proved needs kernel="linear"', lambda: fwlab.TopKSVC(kernel="rbf").fit(X, Y).proved(X)),
    ],
)
def test_bad_data_are_named(said, refused):
    with pytest.raises(ValueError, match=said):
        refused()


def test_a_machine_that_is_not_fitted_proves_nothing():
    with pytest.raises(NotFittedError):
        fwlab.TopKSVC().proved(X)


def test_classes_that_are_digits_take_the_weights_of_their_names():
    machine = fwlab.TopKSVC(random_state=0, class_weight={"0": 2.0, "1": 3.0, "2": 1.0})
    expected = fwlab.TopKSVC(random_state=0, class_weight={0: 2.0, 1: 3.0}).fit(X, Y)
    np.testing.assert_array_equal(machine.fit(X, Y.astype(str)).coef_, expected.coef_)
