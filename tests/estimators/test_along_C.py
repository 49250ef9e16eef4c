"""Paths along C and the choice of C: the machines of single fits, for less work."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import LinearSVC

import fwlab
from fwlab.estimators.topk_svc_cv import best_mean
from fwlab.metrics import make_topk_scorer

X, Y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
CS = [0.01, 0.1, 1.0]
FINE = {"tol": 1e-9, "max_iter": 5000}


# ---------------------------------------------------------------- path


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_path_has_the_machine_of_each_C(kernel):
    omega = np.random.default_rng(0).uniform(0.5, 1.5, len(Y))
    machine = fwlab.TopKSVC(k=2, kernel=kernel, fit_intercept=True, **FINE)
    path = machine.path(X, NAMES, CS, sample_weight=omega)
    assert [fitted.C for fitted in path] == CS
    with pytest.raises(NotFittedError):
        machine.predict(X)
    for fitted in path:
        assert fitted.duality_gap_ <= 1e-9
        alone = clone(machine).set_params(C=fitted.C).fit(X, NAMES, sample_weight=omega)
        np.testing.assert_allclose(
            fitted.decision_function(X), alone.decision_function(X), atol=2e-2 * fitted.C**0.5
        )
        assert fitted.get_params() == alone.get_params()


def test_a_path_starts_where_the_last_machine_ended():
    Cs = [1.0, 1.1, 1.2, 1.3]
    options = {"tol": 1e-8, "random_state": 0}
    warm = fwlab.TopKSVC.path(X, Y, Cs, **options)
    cold = [fwlab.TopKSVC(C=C, **options).fit(X, Y) for C in Cs]
    assert warm[0].n_iter_ == cold[0].n_iter_
    assert sum(m.n_iter_ for m in warm[1:]) < 0.7 * sum(m.n_iter_ for m in cold[1:])


def test_a_path_of_the_class_takes_arguments():
    path = fwlab.TopKSVC.path(X, NAMES, CS, k=2, loss="usunier")
    assert [(m.k, m.loss, m.C) for m in path] == [(2, "usunier", C) for C in CS]
    assert fwlab.TopKSVC.path(X, NAMES, [0.5])[0].k == 1
    assert "one fitted estimator for each C" in fwlab.TopKSVC.path.__doc__


@pytest.mark.parametrize(
    ("Cs", "match"),
    [
        ([], "Cs must hold at least one number; got none"),
        ([0.1, -1], "Cs must be finite and > 0; got -1"),
        (3.0, "Cs must be a list of positive numbers; got 3.0"),
        ("1", "Cs must be a list of positive numbers; got '1'"),
    ],
)
def test_bad_Cs_are_named(Cs, match):
    with pytest.raises((ValueError, TypeError), match=match):
        fwlab.TopKSVC.path(X, Y, Cs)
    with pytest.raises((ValueError, TypeError), match=match):
        fwlab.TopKSVCCV(Cs=Cs).fit(X, Y)


# ---------------------------------------------------------------- cross-validation


@pytest.mark.parametrize("k", [1, 2])
def test_C_is_the_best_of_a_grid_search(k):
    cv = StratifiedKFold(3, shuffle=True, random_state=1)
    scoring = make_topk_scorer(k)
    options = {"k": 2, "fit_intercept": True, **FINE}
    chosen = fwlab.TopKSVCCV(CS, cv=cv, scoring=scoring, **options).fit(X, NAMES)
    grid = GridSearchCV(fwlab.TopKSVC(**options), {"C": CS}, cv=cv, scoring=scoring).fit(X, NAMES)
    assert chosen.C_ == grid.best_params_["C"]
    folds = [grid.cv_results_[f"split{i}_test_score"] for i in range(3)]
    np.testing.assert_allclose(chosen.scores_, folds, atol=0.021)  # one sample of 50
    alone = fwlab.TopKSVC(C=chosen.C_, **options).fit(X, NAMES)
    np.testing.assert_allclose(chosen.coef_, alone.coef_, atol=1e-3)
    assert chosen.duality_gap_ <= 1e-9 and chosen.classes_.tolist() == sorted(set(NAMES))


def test_a_number_of_Cs_and_of_folds():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = fwlab.TopKSVCCV(Cs=3, cv=2, max_iter=50).fit(X, Y)
    np.testing.assert_allclose(machine.Cs_, [1e-4, 1, 1e4])
    assert machine.scores_.shape == (2, 3) and machine.C_ in machine.Cs_
    assert machine.score(X, Y) == (machine.predict(X) == Y).mean()
    with pytest.raises(ValueError, match="Cs must be at least 1; got 0"):
        fwlab.TopKSVCCV(Cs=0).fit(X, Y)


def test_equal_scores_choose_the_smallest_C():
    two = Y < 2
    machine = fwlab.TopKSVCCV([10.0, 1.0], cv=3, fit_intercept=True).fit(X[two], Y[two])
    assert machine.Cs_.tolist() == [1.0, 10.0]
    assert (machine.scores_ == 1.0).all() and machine.C_ == 1.0


def test_weights_and_kernels_reach_the_folds():
    """With weights of 0 a class is not there, and a Gram matrix is cut on both axes."""
    K = (1 + X @ X.T) ** 2 / 1000
    cv = KFold(3, shuffle=True, random_state=0)
    machine = fwlab.TopKSVCCV([10.0], cv=cv, kernel="precomputed").fit(K, NAMES)
    grid = cross_val_score(fwlab.TopKSVC(C=10.0, kernel="precomputed"), K, NAMES, cv=cv)
    np.testing.assert_array_equal(machine.scores_[:, 0], grid)
    unweighted = fwlab.TopKSVCCV([1.0], cv=cv).fit(X, Y)
    weighted = fwlab.TopKSVCCV([1.0], cv=cv).fit(X, Y, sample_weight=1.0 * (Y != 0))
    assert unweighted.scores_.mean() > 0.8 and weighted.scores_.mean() < 0.75


def nan_at(C):
    def score(machine, X, y):
        return np.nan if machine.C == C else machine.C

    return score


def test_a_score_of_NaN_is_the_worst():
    with pytest.warns(UserWarning, match=r"scoring returned NaN for C = 1, not chosen\.$"):
        machine = fwlab.TopKSVCCV(CS, cv=2, scoring=nan_at(1.0)).fit(X, Y)
    assert machine.C_ == 0.1 and np.isnan(machine.scores_[:, 2]).all()
    with pytest.warns(UserWarning, match="C = 0.01, not chosen"):
        assert fwlab.TopKSVCCV(CS, cv=2, scoring=nan_at(0.01)).fit(X, Y).C_ == 1.0
    with pytest.raises(ValueError, match=r"scoring must return a number .*; got NaN for all"):
        fwlab.TopKSVCCV([1.0], cv=2, scoring=nan_at(1.0)).fit(X, Y)


def test_a_NaN_in_one_fold_counts():
    scores = np.array([[0.2, 0.9, 0.3], [0.2, np.nan, 0.1]])
    with pytest.warns(UserWarning, match="C = 2, not chosen"):
        assert best_mean(np.array([1.0, 2.0, 3.0]), scores) == 0


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([[np.nan, -np.inf]], 1),
        ([[-np.inf, np.nan, -np.inf]], 0),
        ([[np.nan, -np.inf, -5.0]], 2),
        ([[np.nan, -np.inf], [1.0, 3.0]], 1),
    ],
)
def test_NaN_is_worse_than_minus_infinity(scores, best):
    scores = np.array(scores)
    with pytest.warns(UserWarning, match="not chosen"):
        assert best_mean(np.arange(1.0, 1 + scores.shape[1]), scores) == best


def test_groups_reach_the_splitter():
    groups = np.arange(len(Y)) % 5
    machine = fwlab.TopKSVCCV([0.1], cv=GroupKFold(5)).fit(X, Y, groups=groups)
    folds = [
        fwlab.TopKSVC(C=0.1)
        .fit(X[groups != g], Y[groups != g])
        .score(X[groups == g], Y[groups == g])
        for g in range(5)
    ]
    assert sorted(machine.scores_[:, 0]) == pytest.approx(sorted(folds), abs=0.034)
    with pytest.raises(ValueError, match="groups"):
        fwlab.TopKSVCCV([0.1], cv=GroupKFold(5)).fit(X, Y)
    search = GridSearchCV(fwlab.TopKSVC(), {"C": [0.1]}, cv=GroupKFold(5)).fit(X, Y, groups=groups)
    assert machine.scores_.mean() == pytest.approx(search.best_score_, abs=0.01)


ONE_CLASS_LESS = [
    (np.flatnonzero(Y > 0), np.arange(0, 150, 7)),
    (np.arange(0, 150, 2), np.arange(1, 150, 2)),
]


@pytest.mark.parametrize(("loss", "least"), [("topk", 2), ("usunier", 2), ("pseudo-topk", 1)])
def test_a_fold_with_fewer_classes_is_trained_with_the_largest_k(loss, least):
    k = least + 1
    sentence = rf"fold 0 trains on 2 of the 3 classes, with k = {least} instead of {k}"
    with pytest.warns(UserWarning, match=sentence):
        machine = fwlab.TopKSVCCV([0.1], cv=ONE_CLASS_LESS, loss=loss, k=k).fit(X, Y)
    assert machine.scores_.shape == (2, 1) and machine.k == k
    train, test = ONE_CLASS_LESS[0]
    alone = fwlab.TopKSVC(loss=loss, k=least, C=0.1).fit(X[train], Y[train])
    assert machine.scores_[0, 0] == pytest.approx(alone.score(X[test], Y[test]), abs=0.1)


@pytest.mark.parametrize("given", [{0: 3.0}, {0: 3.0, 1: 2.0}, {1: 2.0}, {0: 3, 1: 2, 2: 1, 9: 1}])
def test_a_fold_may_lack_a_class_that_has_a_weight(given):
    machine = fwlab.TopKSVCCV([0.1], cv=ONE_CLASS_LESS, class_weight=given, random_state=0)
    machine.fit(X, Y)
    for (train, test), scores in zip(ONE_CLASS_LESS, machine.scores_, strict=True):
        omega = np.array([given.get(label, 1.0) for label in Y[train]])
        alone = fwlab.TopKSVC(C=0.1, random_state=0).fit(X[train], Y[train], sample_weight=omega)
        assert scores[0] == alone.score(X[test], Y[test])


@pytest.mark.parametrize("loss", ["topk", "usunier"])
@pytest.mark.parametrize("form", [list, tuple, np.array])
def test_a_fold_with_fewer_classes_takes_the_first_weights(form, loss):
    weights = form([3.0, 2.0, 1.0])
    sentence = "fold 0 trains on 2 of the 3 classes, with k = 2 instead of 3"
    machine = fwlab.TopKSVCCV([0.1], cv=ONE_CLASS_LESS, weights=weights, loss=loss, random_state=0)
    with pytest.warns(UserWarning, match=sentence):
        machine.fit(X, Y)
    assert machine.weights is weights
    train, test = ONE_CLASS_LESS[0]
    alone = fwlab.TopKSVC(C=0.1, weights=[3.0, 2.0], loss=loss, random_state=0)
    assert machine.scores_[0, 0] == alone.fit(X[train], Y[train]).score(X[test], Y[test])


def test_in_a_search_a_partial_dict_is_refused_as_by_scikit_learn():
    for estimator in (fwlab.TopKSVC(class_weight={0: 3.0}), LinearSVC(class_weight={0: 3.0})):
        with pytest.raises(ValueError, match="class_weight"):
            cross_val_score(estimator, X, Y, cv=ONE_CLASS_LESS, error_score="raise")
        estimator.set_params(class_weight={0: 3.0, 1: 1.0, 2: 1.0})
        assert cross_val_score(estimator, X, Y, cv=ONE_CLASS_LESS, error_score="raise")[1] > 0.8


@pytest.mark.parametrize(
    ("options", "cv", "sentence"),
    [
        ({"loss": fwlab.TopK(3)}, ONE_CLASS_LESS, "fold 0, which trains on 2 classes: k must be"),
        (
            {},
            [(np.arange(50), np.arange(50, 150))],
            "fold 0, which trains on 1 class: y must hold",
        ),
        (
            {"scoring": make_topk_scorer(1)},
            [ONE_CLASS_LESS[1], (np.arange(50, 150), np.arange(50))],
            r"fold 1, which trains on 2 classes: y must hold labels of the classes 1, 2; got none",
        ),
    ],
)
def test_a_fold_that_cannot_be_used_is_named(options, cv, sentence):
    with pytest.raises(ValueError, match=sentence):
        fwlab.TopKSVCCV([0.1], cv=cv, **options).fit(X, Y)


def test_it_stands_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), fwlab.TopKSVCCV(CS, cv=3))
    assert cross_val_score(pipeline, X, NAMES, cv=3).min() > 0.7
    pipeline.fit(X, NAMES)
    assert pipeline[-1].to_model().predict(pipeline[:-1].transform(X)).tolist() == list(
        pipeline.predict(X)
    )
