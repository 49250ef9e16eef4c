"""The scorer of top-k accuracy, alone and in scikit-learn's tools."""

import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import top_k_accuracy_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import fwlab
from fwlab.metrics import make_topk_scorer, topk_accuracy

X, Y = load_iris(return_X_y=True)
OMEGA = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))


class Scores:
    """A classifier of given scores (n, m), or (n,) of two classes."""

    def __init__(self, scores, classes):
        self.scores, self.classes_ = np.asarray(scores), np.array(classes)

    def decision_function(self, X):
        return self.scores


def test_the_score_is_the_topk_accuracy():
    scores = np.random.default_rng(0).integers(0, 4, (50, 5)).astype(float)
    codes = np.random.default_rng(1).integers(0, 5, 50)
    classes = ["a", "b", "c", "d", "e"]
    for k in range(1, 5):
        found = make_topk_scorer(k)(Scores(scores, classes), None, np.array(classes)[codes])
        assert found == topk_accuracy(codes, scores, k)
    shuffled = Scores(scores[:, ::-1], classes[::-1])
    assert make_topk_scorer(2)(shuffled, None, np.array(classes)[codes]) == topk_accuracy(
        codes, scores, 2
    )


def test_of_two_classes_the_decision_value_decides_and_a_tie_is_wrong():
    machine = Scores([-1.0, 2.0, 0.0, 0.0], [3, 7])
    assert make_topk_scorer(1)(machine, None, [3, 7, 3, 7]) == 0.5


def test_sample_weights_weigh():
    machine = Scores([-1.0, 2.0, 3.0], [3, 7])
    scorer = make_topk_scorer(1)
    assert scorer(machine, None, [3, 7, 3], sample_weight=[1.0, 2.0, 5.0]) == 3 / 8
    fitted = RidgeClassifier().fit(X, Y)
    expected = top_k_accuracy_score(Y, fitted.decision_function(X), k=2, sample_weight=OMEGA)
    found = make_topk_scorer(2)(fitted, X, Y, sample_weight=OMEGA)
    assert found == pytest.approx(expected, abs=1e-12)
    for bad, sentence in (
        ([1, 2], "one weight a row of X, 3; got 2"),
        ([1, -1, 1], "non-negative"),
    ):
        with pytest.raises(ValueError, match=f"sample_weight must .*{sentence}"):
            scorer(machine, None, [3, 7, 3], sample_weight=bad)


def test_routed_weights_arrive_and_others_are_refused():
    machine = fwlab.TopKSVC(random_state=0)
    with config_context(enable_metadata_routing=True):
        machine.set_fit_request(sample_weight=False)
        settings = {"cv": 3, "params": {"sample_weight": OMEGA}, "return_estimator": True}
        scorer = make_topk_scorer(1).set_score_request(sample_weight=True)
        found = cross_validate(machine, X, Y, scoring=scorer, return_indices=True, **settings)
        for fitted, rows, score in zip(
            found["estimator"], found["indices"]["test"], found["test_score"], strict=True
        ):
            right = fitted.predict(X[rows]) == Y[rows]
            assert score == pytest.approx(np.average(right, weights=OMEGA[rows]))
        with pytest.raises(ValueError, match="sample_weight"):
            cross_validate(machine, X, Y, scoring=make_topk_scorer(1), **settings)
        search = GridSearchCV(machine, {"C": [0.1]}, scoring=scorer, cv=3)
        search.fit(X, Y, sample_weight=OMEGA)
        assert search.cv_results_["mean_test_score"][0] > 0.9


@pytest.mark.parametrize("k", [3, 4, 9])
def test_with_k_classes_or_fewer_the_score_is_one_and_a_warning_says_so(k):
    machine = fwlab.TopKSVC().fit(X, Y)
    with pytest.warns(UserWarning, match=rf"k should be below .* classes, 3, .* got {k}\."):
        assert make_topk_scorer(k)(machine, X, Y) == 1.0
    with pytest.warns(UserWarning, match="k should be below"):
        assert make_topk_scorer(k)(machine, X[-10:], [*Y[-8:], 7, 7]) == 0.8
    two = Scores([1.0, -1.0], [0, 1])
    with pytest.warns(UserWarning, match="k should be below"):
        assert make_topk_scorer(k)(two, None, [0, 0]) == 1.0


def test_as_many_classes_as_k_warn_and_more_do_not():
    machine, labels = Scores([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], ["a", "b", "c"]), ["b", "c"]
    assert make_topk_scorer(2)(machine, None, labels) == 0.5
    for k in (3, 4):
        with pytest.warns(UserWarning, match=rf"classes, 3, because .* got {k}\.") as found:
            assert make_topk_scorer(k)(machine, None, labels) == 1.0
        assert found[0].filename == __file__


@pytest.mark.parametrize("k", [0, -1])
def test_a_scorer_of_no_class_is_refused(k):
    with pytest.raises(ValueError, match=f"k must be .* got {k}"):
        make_topk_scorer(k)


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match=r"scores must be finite .* got nan"):
        make_topk_scorer(1)(Scores([[np.nan, 1.0, 0.0]], [0, 1, 2]), None, [0])


@pytest.mark.parametrize(("k", "labels"), [(1, [0]), (2, [0, 1, 2]), (1, [])])
def test_there_is_one_label_a_sample(k, labels):
    machine = Scores(np.eye(4, 3), [0, 1, 2])
    with pytest.raises(ValueError, match=rf"^y must have 4 labels, .*; got {len(labels)}\.$"):
        make_topk_scorer(k)(machine, None, labels)


@pytest.mark.parametrize(
    ("scores", "classes"),
    [
        (np.zeros((2, 6)), [0, 1, 2, 3]),
        (np.zeros((2, 2)), [0, 1, 2]),
        (np.zeros((2, 1)), [0, 1]),
        (np.zeros(2), [0, 1, 2]),
        (np.zeros(2), [0]),
    ],
)
def test_a_decision_function_has_one_column_a_class(scores, classes):
    found = re.escape(f"{len(classes)}; got shape {scores.shape}.")
    with pytest.raises(ValueError, match=f"^decision_function must .* a class, {found}$"):
        make_topk_scorer(1)(Scores(scores, classes), None, [0, 0])


@pytest.mark.parametrize("wrap", [lambda machine: machine, make_pipeline, "search", "both"])
@pytest.mark.parametrize("shape", ["ovo", "ovr"])
def test_columns_of_pairs_are_refused_also_for_three_classes(shape, wrap):
    machine = SVC(decision_function_shape=shape)
    if isinstance(wrap, str):
        inner = make_pipeline(machine) if wrap == "both" else machine
        machine = GridSearchCV(inner, {}, cv=2)
    else:
        machine = wrap(machine)
    machine.fit(X, Y)
    scores = machine.decision_function(X)
    assert scores.shape == (150, 3)
    if shape == "ovr":
        assert make_topk_scorer(2)(machine, X, Y) == topk_accuracy(Y, scores, 2)
    else:
        with pytest.raises(ValueError, match=r'decision_function_shape must be "ovr".*got "ovo"'):
            make_topk_scorer(2)(machine, X, Y)
    two = machine.fit(X[:100], Y[:100])
    assert make_topk_scorer(1)(two, X[:100], Y[:100]) == 1.0
