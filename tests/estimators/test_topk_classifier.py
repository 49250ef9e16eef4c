"""TopKClassifier with the cross-entropy: its probabilities, its C, its two classes, its labels."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

import fwlab
from fwlab.operators.softmax import log_probabilities

pytestmark = pytest.mark.small
RNG = np.random.default_rng(0)
Y = np.tile([0, 1, 2, 2], 6)
X = RNG.normal(size=(24, 3)) + 0.7 * np.eye(3)[Y]
NAMES = np.array(["c", "a", "b"])[Y]
TWO = Y < 2
OMEGA = RNG.uniform(0.5, 2.0, 24)


def peer(C, rows=slice(None), **options):
    """Return scikit-learn's machine at the same C, close to its optimum."""
    machine = LogisticRegression(C=C, fit_intercept=False, tol=1e-9, max_iter=10_000, **options)
    return machine.fit(X[rows], NAMES[rows], sample_weight=OMEGA[rows])


def radius(machine, C):
    """Return a bound of |W - W*|, from the gap of an objective divided by C n."""
    return math.sqrt(2 * (machine.duality_gap_ + machine.gap_error_) * C * len(X))


# ---------------------------------------------------------------- probabilities


def test_probabilities_by_hand():
    """The shares of exp(s) at s = log 1, log 3, log 4."""
    logs = log_probabilities(np.log([[1.0, 3.0, 4.0], [4.0, 1.0, 3.0]]))
    assert_allclose(np.exp(logs), [[1 / 8, 3 / 8, 4 / 8], [4 / 8, 1 / 8, 3 / 8]])


def test_no_score_is_too_large_and_no_tail_is_lost():
    logs = log_probabilities(np.array([[1e300, 0.0, 0.0], [0.0, 40.0, 0.0], [-1e300, 7.0, 7.0]]))
    assert_allclose(logs[0], [0.0, -1e300, -1e300])
    # log p = -log(1 + 2 exp(-40)), which is 0 as a logarithm of a sum
    assert_allclose(logs[1, 1], -2 * math.exp(-40), rtol=1e-12)
    assert_allclose(logs[2], [-1e300, -math.log(2), -math.log(2)])


@pytest.mark.parametrize("rows", [slice(None), TWO], ids=["three classes", "two classes"])
def test_probabilities_stand_in_the_order_of_the_classes(rows):
    machine = fwlab.TopKClassifier(C=1.0, tol=1e-9).fit(X[rows], NAMES[rows])
    shares = machine.predict_proba(X)
    assert machine.classes_.tolist() == sorted(set(NAMES[rows]))
    assert shares.shape == (24, len(machine.classes_))
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_array_equal(machine.classes_[shares.argmax(axis=1)], machine.predict(X))
    assert_allclose(np.log(shares), machine.predict_log_proba(X))
    scores = machine.decision_function(X)
    if scores.ndim == 1:
        assert_allclose(shares[:, 1], 1 / (1 + np.exp(-scores)))
    else:
        assert_allclose(shares[:, 0] / shares[:, 2], np.exp(scores[:, 0] - scores[:, 2]))


def test_only_the_cross_entropy_has_probabilities():
    for loss in ("cross-entropy", fwlab.CrossEntropy()):
        machine = fwlab.TopKClassifier(loss=loss)
        assert hasattr(machine, "predict_proba") and hasattr(machine, "predict_log_proba")
    for hinge in (fwlab.TopKSVC(), fwlab.TopKClassifier("topk"), fwlab.TopKSVC(fwlab.TopK(1))):
        with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as caught:
            _ = hinge.predict_proba
        assert 'probabilities need loss="cross-entropy"' in str(caught.value.__cause__)
        assert not hasattr(hinge, "predict_log_proba")
    # of a fitted machine, the loss of the fit decides
    machine = fwlab.TopKClassifier(max_iter=5, tol=1.0).fit(X, Y).set_params(loss="topk")
    assert hasattr(machine, "predict_proba")


# ---------------------------------------------------------------- what the machine is


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_C_multiplies_the_sum_as_in_logistic_regression(C):
    machine = fwlab.TopKClassifier(C=C, tol=1e-13).fit(X, NAMES, sample_weight=OMEGA)
    other = peer(C)
    # the peer stops at a gradient of 1e-9 of the mean, and P is at least 1/(C n) convex
    away = radius(machine, C) + 1e-9 * math.sqrt(9) * C * len(X)
    assert away < 1e-4
    assert np.linalg.norm(machine.coef_ - other.coef_) <= away
    assert_array_equal(machine.classes_, other.classes_)


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_two_classes_are_the_logistic_regression_with_twice_the_C(C):
    """The two rows are opposite: |W|^2 / 2 is a quarter of their difference's square."""
    machine = fwlab.TopKClassifier(C=C, tol=1e-13).fit(X[TWO], NAMES[TWO], OMEGA[TWO])
    other = peer(2 * C, TWO)
    assert machine.coef_.shape == (1, 3)
    away = math.sqrt(2) * radius(machine, C) + 1e-9 * math.sqrt(3) * 2 * C * len(X)
    assert np.linalg.norm(machine.coef_ - other.coef_) <= away
    assert_allclose(machine.predict_proba(X), other.predict_proba(X), atol=1e-4)


def test_the_intercept_is_the_weight_of_a_constant_feature():
    machine = fwlab.TopKClassifier(fit_intercept=True, intercept_scaling=2.0, tol=1e-13)
    machine.fit(X, NAMES)
    by_hand = fwlab.TopKClassifier(tol=1e-13).fit(np.hstack([X, np.full((24, 1), 2.0)]), NAMES)
    assert_allclose(machine.coef_, by_hand.coef_[:, :3], atol=1e-9)
    assert_allclose(machine.intercept_, 2.0 * by_hand.coef_[:, 3], atol=1e-9)


def test_class_weights_multiply_those_of_the_samples():
    weights = {"a": 2.0, "b": 0.5, "c": 1.0}
    one = fwlab.TopKClassifier(class_weight=weights, tol=1e-13).fit(X, NAMES, OMEGA)
    factors = np.array([weights[name] for name in NAMES])
    two = fwlab.TopKClassifier(tol=1e-13).fit(X, NAMES, OMEGA * factors)
    assert_allclose(one.coef_, two.coef_, atol=1e-12)


# ---------------------------------------------------------------- labels


def test_labels_of_any_form_have_the_same_probabilities():
    expected = fwlab.TopKClassifier().fit(X, NAMES)
    categories = pd.Categorical(NAMES, categories=["c", "b", "a", "never"], ordered=True)
    for labels in (NAMES.tolist(), NAMES.astype(object), pd.Series(categories), categories):
        machine = fwlab.TopKClassifier().fit(X, labels)
        assert machine.classes_.tolist() == ["a", "b", "c"]
        assert_array_equal(machine.predict_proba(X), expected.predict_proba(X))
        assert machine.score(X, NAMES) == expected.score(X, NAMES) > 0.5


# ---------------------------------------------------------------- hinges, paths, certificates


def test_topk_svc_has_hinges_alone():
    for loss in ("cross-entropy", fwlab.CrossEntropy()):
        with pytest.raises(ValueError, match=r"a hinge in TopKSVC; .*, which fwlab.TopKClassifier"):
            fwlab.TopKSVC(loss=loss).fit(X, Y)


def test_hinges_are_those_of_topk_svc():
    options = {"k": 2, "C": 0.1, "random_state": 0}
    one = fwlab.TopKClassifier(loss="topk", method="ascent", **options).fit(X, Y)
    assert_array_equal(one.coef_, fwlab.TopKSVC(**options).fit(X, Y).coef_)
    assert fwlab.TopKSVC(**options).get_params() == {**one.get_params(), "loss": "topk"}


def test_costs_stand_in_the_order_of_the_classes():
    """With a small C each sample takes C x from the class whose place costs most in its own."""
    costs = np.array([[0.0, 3.0, 1.0], [1.0, 0.0, 2.0], [4.0, 1.0, 0.0]])
    machine = fwlab.TopKSVC(loss=fwlab.StructuredHinge(costs), C=1e-3, tol=1e-13).fit(X, NAMES)
    rows = np.searchsorted(machine.classes_, NAMES)
    taken = np.array([1, 2, 0])[rows]
    assert_allclose(machine.coef_, 1e-3 * (np.eye(3)[rows] - np.eye(3)[taken]).T @ X, atol=1e-12)


def test_what_the_cross_entropy_does_not_take_is_refused():
    for options, match in (
        ({"kernel": "rbf", "method": "lbfgs"}, "its kernel must be None"),
        ({"norm": 1.5}, r"its regularizer must be LpNorm\(2\)"),
        ({"smoothing": 0.1}, "smoothing must be 0"),
        ({"weights": "linear"}, 'weights must be "flat" with loss="cross-entropy"'),
    ):
        with pytest.raises(ValueError, match=match):
            fwlab.TopKClassifier(**options).fit(X, Y)


def test_a_path_and_the_choice_of_C_train_the_cross_entropy():
    for machine in fwlab.TopKClassifier.path(X, NAMES, [1.0, 0.1], tol=1e-13):
        alone = fwlab.TopKClassifier(C=machine.C, tol=1e-13).fit(X, NAMES)
        assert_allclose(machine.predict_proba(X), alone.predict_proba(X), atol=1e-6)
    options = {"loss": "cross-entropy", "method": "auto", "cv": 2, "scoring": "neg_log_loss"}
    machine = fwlab.TopKSVCCV([0.1, 1.0], **options, tol=1e-9).fit(X, NAMES)
    assert machine.predict_proba(X).shape == (24, 3) and (machine.scores_ < 0).all()


def test_a_changed_machine_has_other_probabilities_and_no_certificate():
    machine = fwlab.TopKClassifier().fit(X, NAMES)
    before = machine.predict_log_proba(X)
    machine.coef_ = 2 * machine.coef_
    after = machine.predict_log_proba(X)
    assert_allclose(after[:, 0] - after[:, 1], 2 * (before[:, 0] - before[:, 1]), atol=1e-12)
    match = r"and coef_ has changed since; fwlab\.certify bounds"
    with pytest.raises(AttributeError, match=match):
        _ = machine.duality_gap_
    with pytest.raises(ValueError, match=match):
        machine.proved(X)
    with pytest.raises(ValueError, match=match):
        machine.proved_accuracy(X, NAMES)
