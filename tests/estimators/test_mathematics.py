"""TopKSVC minimises the objective that its docstring states, whatever its arguments."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

import fwlab
from fwlab.estimators.class_weights import class_weights

X, Y = load_iris(return_X_y=True)
X = scale(X)
FINE = {"tol": 1e-12, "method": "auto", "max_iter": 5000}
# |coef - coef*|^2 / 2 is at most n C times the gap
NEAR = np.sqrt(2 * 150 * 1e-12) * 10


def objective(machine, loss, C, omega=1.0, samples=X):
    """Return 1/2 |W|^2 + C sum omega Phi(W x; y)."""
    W = machine.coef_
    return 0.5 * (W**2).sum() + C * (omega * loss.value(samples @ W.T, Y)).sum()


@pytest.mark.parametrize(
    ("options", "loss"),
    [
        ({"k": 2}, fwlab.TopK(2)),
        ({"loss": "usunier", "k": 2}, fwlab.Usunier(2)),
        ({"loss": "max-hinge", "k": 3}, fwlab.MaxHinge()),
        ({"loss": "pseudo-topk", "k": 2}, fwlab.PseudoTopK(2)),
        ({"k": 2, "weights": "linear"}, fwlab.WeightedTopK([2 / 3, 1 / 3])),
        ({"loss": "usunier", "weights": [0.5, 0.2, 0.1]}, fwlab.WeightedUsunier([0.5, 0.2, 0.1])),
        (
            {"loss": "usunier", "k": 3, "weights": "exponential"},
            fwlab.WeightedUsunier(fwlab.weights.exponential(3)),
        ),
        ({"loss": fwlab.Usunier(3)}, fwlab.Usunier(3)),
    ],
)
def test_a_name_stands_for_its_loss(options, loss):
    C = 0.3
    machine = fwlab.TopKSVC(C=C, **options, **FINE).fit(X, Y)
    problem = fwlab.Problem(X, Y, loss, lam=1 / (C * len(Y)))
    expected = fwlab.solve(problem, "auto", tol=1e-12).primal * C * len(Y)
    assert abs(objective(machine, loss, C) - expected) <= 1e-9


def test_it_is_crammer_and_singers_machine():
    peer = LinearSVC(
        multi_class="crammer_singer",
        C=0.5,
        tol=1e-8,
        max_iter=10**6,
        fit_intercept=False,
        random_state=0,
    )
    peer.fit(X, Y)
    machine = fwlab.TopKSVC(C=0.5, **FINE).fit(X, Y)
    np.testing.assert_allclose(machine.coef_, peer.coef_, atol=1e-4)


@pytest.mark.parametrize("loss", ["topk", "usunier"])
def test_weights_repeat_samples(loss):
    """A weight of 2 is a sample twice, and a weight of 0 is no sample."""
    rng = np.random.default_rng(0)
    times = rng.integers(0, 3, len(Y))
    options = {"loss": loss, "k": 2, "fit_intercept": True, "C": 0.2, **FINE}
    weighted = fwlab.TopKSVC(**options).fit(X, Y, sample_weight=times)
    repeated = fwlab.TopKSVC(**options).fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=NEAR)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=NEAR)


def test_class_weights_multiply_sample_weights():
    omega = np.random.default_rng(1).uniform(0.5, 2.0, len(Y))
    factors = {0: 1.0, 1: 3.0, 2: 0.25}
    by_class = fwlab.TopKSVC(class_weight=factors, **FINE).fit(X, Y, sample_weight=omega)
    product = omega * np.array([factors[label] for label in Y])
    by_sample = fwlab.TopKSVC(**FINE).fit(X, Y, sample_weight=product)
    np.testing.assert_allclose(by_class.coef_, by_sample.coef_, atol=NEAR)
    few = np.concatenate([np.arange(60), np.arange(100, 120)])
    balanced = fwlab.TopKSVC(class_weight="balanced", **FINE).fit(X[few], Y[few])
    counts = np.bincount(Y[few])
    weights = (len(few) / (3 * np.maximum(counts, 1)))[Y[few]]
    plain = fwlab.TopKSVC(**FINE).fit(X[few], Y[few], sample_weight=weights)
    np.testing.assert_allclose(balanced.coef_, plain.coef_, atol=NEAR)


BALANCED = [
    ([[-1.0], [1.0], [2.0]], [0, 1, 1], [2, 1, 1]),
    ([[-1.0], [1.0], [2.0], [0.5]], [0, 1, 1, 2], [3, 1, 2, 5]),
    ([[-1.0], [1.0], [2.0], [0.5]], ["b", "a", "a", "b"], [1, 2, 0, 3]),
]


@pytest.mark.parametrize(("samples", "labels", "times"), BALANCED)
def test_balanced_weights_count_each_sample_by_its_weight(samples, labels, times):
    """A weight of 2 is a sample twice, in the totals of the classes, too."""
    options = {"C": 0.1, "class_weight": "balanced", "fit_intercept": True, **FINE}
    samples, labels = np.array(samples), np.array(labels)
    weighted = fwlab.TopKSVC(**options).fit(samples, labels, sample_weight=times)
    repeated = fwlab.TopKSVC(**options)
    repeated.fit(np.repeat(samples, times, axis=0), np.repeat(labels, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=NEAR)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=NEAR)


def test_balanced_weights_are_scikit_learns_machine():
    samples, labels, times = BALANCED[0]
    machine = fwlab.TopKSVC(C=0.1, class_weight="balanced", fit_intercept=True, **FINE)
    machine.fit(samples, labels, sample_weight=times)
    assert machine.coef_[0, 0] == pytest.approx(0.6, abs=NEAR)
    assert machine.intercept_[0] == pytest.approx(-0.2, abs=NEAR)
    peer = LinearSVC(C=0.1, class_weight="balanced", loss="hinge", tol=1e-12, max_iter=10**6)
    # two rows of Crammer and Singer's machine share the squares of one binary row
    peer.set_params(C=0.2).fit(np.repeat(samples, times, axis=0), np.repeat(labels, times))
    assert peer.coef_[0, 0] == pytest.approx(machine.coef_[0, 0], abs=1e-6)


def test_a_class_of_weight_zero_does_not_count_in_balanced_weights():
    few = Y != 2
    omega = np.where(few, np.random.default_rng(0).uniform(0.5, 2, len(Y)), 0.0)
    factors = class_weights("balanced", np.unique(Y), Y, omega)
    np.testing.assert_allclose(factors[:2] * np.bincount(Y, omega)[:2], omega.sum() / 2)
    assert factors[2] == 1.0
    np.testing.assert_array_equal(class_weights(None, np.unique(Y), Y, omega), np.ones(3))


def test_the_intercept_is_a_regularised_feature():
    machine = fwlab.TopKSVC(fit_intercept=True, intercept_scaling=2.0, **FINE).fit(X, Y)
    widened = np.hstack([X, np.full((len(X), 1), 2.0)])
    other = fwlab.TopKSVC(**FINE).fit(widened, Y)
    np.testing.assert_allclose(machine.coef_, other.coef_[:, :4], atol=NEAR)
    np.testing.assert_allclose(machine.intercept_, 2 * other.coef_[:, 4], atol=NEAR)
    np.testing.assert_allclose(
        machine.decision_function(X), X @ machine.coef_.T + machine.intercept_
    )


@pytest.mark.parametrize("intercept", [False, True])
def test_kernels_give_the_machine_of_their_gram_matrix(intercept):
    options = {"k": 2, "fit_intercept": intercept, "tol": 1e-9, "max_iter": 5000}
    gamma = 1 / (4 * X.var())
    machines = {
        "rbf": (fwlab.TopKSVC(kernel="rbf", **options), X),
        "number": (fwlab.TopKSVC(kernel="rbf", gamma=gamma, **options), X),
        "callable": (
            fwlab.TopKSVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=gamma), **options),
            X,
        ),
        "precomputed": (
            fwlab.TopKSVC(kernel="precomputed", **options),
            rbf_kernel(X, X, gamma=gamma),
        ),
    }
    scores = {name: m.fit(K, Y).decision_function(K) for name, (m, K) in machines.items()}
    for name in machines:
        np.testing.assert_allclose(scores[name], scores["precomputed"], atol=1e-3, err_msg=name)
    linear = fwlab.TopKSVC(**options).fit(X, Y).decision_function(X)
    by_gram = fwlab.TopKSVC(kernel=lambda A, B: A @ B.T, **options).fit(X, Y)
    np.testing.assert_allclose(by_gram.decision_function(X), linear, atol=1e-2)


def test_another_norm_is_the_machine_of_lei_et_al():
    machine = fwlab.TopKSVC(norm=1.5, C=0.5, tol=1e-8).fit(X, Y)
    problem = fwlab.Problem(
        X, Y, fwlab.MaxHinge(), lam=1 / (0.5 * len(Y)), regularizer=fwlab.LpNorm(1.5)
    )
    np.testing.assert_allclose(machine.coef_, fwlab.solve(problem, "direct", tol=1e-8).W, atol=1e-2)


def test_the_certificate_is_that_of_the_mean_objective():
    machine = fwlab.TopKSVC(tol=1e-3, C=2.0).fit(X, Y)
    best = fwlab.TopKSVC(C=2.0, **FINE).fit(X, Y)
    loss, n_C = fwlab.MaxHinge(), 2.0 * len(Y)
    excess = (objective(machine, loss, 2.0) - objective(best, loss, 2.0)) / n_C
    assert -1e-12 <= excess <= machine.duality_gap_ + machine.gap_error_ <= 1e-3
    proved = machine.proved(X)
    np.testing.assert_array_equal(machine.predict(X)[proved], best.predict(X)[proved])
    low, high = machine.proved_accuracy(X, Y)
    assert low <= best.score(X, Y) <= high
    assert best.proved(X).mean() > 0.95


def test_unknown_labels_count_as_wrong():
    two = Y < 2
    machine = fwlab.TopKSVC().fit(X[two], Y[two])
    assert machine.proved_accuracy(X, Y)[1] <= 2 / 3
    right = (machine.predict(X) == Y).mean()
    assert fwlab.metrics.make_topk_scorer(1)(machine, X, Y) == right <= 2 / 3
    for measure in (machine.proved_accuracy, partial(fwlab.metrics.make_topk_scorer(1), machine)):
        with pytest.raises(ValueError, match="y must hold labels of the classes 0, 1; got none"):
            measure(X[~two], Y[~two])
