"""Labels and accuracies that a certificate proves: never a wrong one, and not too few."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import fwlab
from fwlab import proved
from fwlab.proved import _scores, proved_accuracy, proved_labels

OPTIMAL = {"tol": 1e-12, "max_iter": 1000}


def drawn(seed, n=60, m=4, d=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, m, n)
    means = rng.normal(size=(m, d))
    return means[y] + rng.normal(size=(n, d)), y, 3 * rng.normal(size=(200, d))


RUNS = [
    ("ascent", {"loss": fwlab.TopK(2)}),
    ("subgradient", {"loss": fwlab.TopK(2)}),
    ("fw", {"loss": fwlab.MaxHinge(), "smoothing": 0.5}),
    ("ascent", {"loss": fwlab.Usunier(3), "kernel": "linear"}),
    ("direct", {"loss": fwlab.TopK(1), "regularizer": fwlab.LpNorm(1.5)}),
]


@pytest.mark.turns
@pytest.mark.parametrize(("method", "arguments"), RUNS, ids=str)
def test_no_label_of_the_optimum_contradicts_a_proved_one(method, arguments):
    count = 0
    for seed in range(3):
        X, y, X_new = drawn(seed)
        problem = fwlab.Problem(X, y, lam=0.05, **arguments)
        optimal = "direct" if "regularizer" in arguments else "ascent"
        best = fwlab.solve(problem, optimal, **OPTIMAL)
        for iterations in (3, 10, 40, 160):
            result = fwlab.solve(problem, method, tol=1e-12, max_iter=iterations)
            sure = result.proved(X_new) & best.proved(X_new)
            assert (result.predict(X_new) == best.predict(X_new))[sure].all()
            count += sure.sum()
    assert method == "subgradient" or count > 0


@pytest.mark.parametrize("k", [1, 2])
def test_the_accuracy_of_the_optimum_lies_in_its_interval(k):
    for seed in range(4):
        X, y, X_new = drawn(seed)
        y_new = np.random.default_rng(seed).integers(0, 4, len(X_new))
        problem = fwlab.Problem(X, y, fwlab.TopK(k), 0.05)
        best = fwlab.solve(problem, **OPTIMAL)
        exact = fwlab.metrics.topk_accuracy(y_new, X_new @ best.W.T, k)
        widths = []
        for tol in (1e-2, 1e-4, 1e-8):
            result = fwlab.solve(problem, tol=tol)
            low, high = result.proved_accuracy(X_new, y_new, k)
            assert low <= exact <= high
            widths.append(high - low)
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] < 0.02


def test_the_distance_bounds_the_distance_to_the_optimum():
    """|W - W*| <= distance, which is sqrt(gap / lam) at W(A) and sqrt(2 gap / lam) elsewhere."""
    for seed in range(5):
        X, y, _ = drawn(seed)
        problem = fwlab.Problem(X, y, fwlab.TopK(2), 0.05)
        best = fwlab.solve(problem, **OPTIMAL).W
        for method, factor in (("ascent", 1), ("subgradient", 2)):
            result = fwlab.solve(problem, method, tol=1e-3)
            assert np.linalg.norm(result.W - best) <= result.distance
            assert result.distance == pytest.approx(np.sqrt(factor * result.gap / 0.05), rel=0.02)


def test_a_tie_is_never_proved():
    """Both classes have the same samples: the optimum scores them alike."""
    problem = fwlab.Problem(np.array([[1.0], [1.0]]), np.array([0, 1]), fwlab.MaxHinge(), 0.1)
    result = fwlab.solve(problem, tol=1e-12)
    assert not result.proved(np.array([[1.0], [2.0]])).any()
    assert result.proved_accuracy(np.array([[1.0], [1.0]]), np.array([0, 1])) == (0.0, 1.0)


@pytest.mark.parametrize("size", [0.25, 1.0, 8.0])
def test_a_margin_at_the_bound_is_not_proved(size):
    """At the distance r the optimum's lead can be smaller by sqrt(2) |x| r, which is all here."""
    direction, r = np.array([0.6, 0.8]), np.sqrt(2)
    W, x, other = np.outer([1, -1], direction), 5 * size * direction[None], np.array([1])
    optimum = W - 1.001 * r / np.sqrt(2) * W
    assert np.linalg.norm(optimum - W) == pytest.approx(1.001 * r)
    assert x @ optimum[0] < x @ optimum[1]
    assert proved_labels(W, 0.99 * r, x).all()
    assert not proved_labels(W, r, x).any()
    assert proved_accuracy(W, 0.99 * r, x, other, 1) == (0.0, 0.0)
    assert proved_accuracy(W, r, x, other, 1) == (0.0, 1.0)


def test_the_rounding_of_both_scores_counts():
    """Scores in exact numbers differ by up to the bound less, and at times by half of it."""
    rng, ratios = np.random.default_rng(0), []
    X, W = rng.uniform(1.0, 1.1, (300, 2)), rng.uniform(1.0, 1.1, (6, 2))
    scores, slack = _scores(W, 0.0, X)
    for x, computed, bound in zip(X, scores, slack, strict=True):
        errors = [Fraction(s) - _product(w, x) for s, w in zip(computed, W, strict=True)]
        ratios.append(float(max(errors) - min(errors)) / bound)
    assert 0.5 < max(ratios) <= 1


def _product(w, x):
    return sum(Fraction(a) * Fraction(b) for a, b in zip(w, x, strict=True))


def test_what_is_proved_holds_for_all_scores_within_the_bound(monkeypatch):
    """Each difference of two scores may be off by `slack`: all such differences are tried."""
    triples = np.array(list(product(range(3), repeat=3)), dtype=float)
    for slack in (0.5, 1.5):
        monkeypatch.setattr(proved, "_scores", lambda *_, s=slack: (triples, np.full(27, s)))
        sure = proved_labels(np.zeros((3, 1)), 0.0, None)
        for scores, found in zip(triples, sure, strict=True):
            best = scores.argmax()
            assert found == all(
                scores[best] - scores[j] + off > 0
                for j in set(range(3)) - {best}
                for off in (-slack, 0.0, slack)
            )
        for k in (1, 2, 3):
            assert proved_accuracy(np.zeros((3, 1)), 0.0, None, np.full(27, -1), k) == (0.0, 0.0)
        for k, y in product((1, 2, 3), range(3)):
            outcomes = [
                {
                    sum(
                        a + b >= 0
                        for a, b in zip(np.delete(scores - scores[y], y), off, strict=True)
                    )
                    < k
                    for off in product((-slack, 0.0, slack), repeat=2)
                }
                for scores in triples
            ]
            expected = (
                np.mean([o == {True} for o in outcomes]),
                np.mean([True in o for o in outcomes]),
            )
            assert proved_accuracy(np.zeros((3, 1)), 0.0, None, np.full(27, y), k) == expected


@pytest.mark.parametrize("own", [0, 1])
@pytest.mark.parametrize("others", [[1e200, 1e200], [0.0, 0.0]], ids=["all", "one"])
def test_scores_that_leave_the_floats_prove_nothing(own, others):
    W, X = np.array([[1e200, 1e200], others, others]), np.full((1, 2), 1e200)
    with np.errstate(all="ignore"):
        assert not proved_labels(W, 1.0, X).any()
        for k, least in ((1, 0.0), (2, 0.0), (3, 1.0)):
            assert proved_accuracy(W, 1.0, X, np.array([own]), k) == (least, 1.0)


def test_bad_arguments_get_one_sentence():
    X, y, X_new = drawn(0)
    result = fwlab.solve(fwlab.Problem(X, y, fwlab.TopK(2), 0.05))
    with pytest.raises(ValueError, match="X_new must have 5 columns; got 2"):
        result.proved(np.ones((3, 2)))
    with pytest.raises(ValueError, match="y must have 200 labels, one per row; got 3"):
        result.proved_accuracy(X_new, y[:3])
    with pytest.raises(ValueError, match=r"k must be in 1\.\.4; got 5"):
        result.proved_accuracy(X_new, np.zeros(200, dtype=int), 5)
    kernel = fwlab.Problem(X @ X.T, y, fwlab.TopK(2), 0.05, kernel="precomputed")
    with pytest.raises(ValueError, match="proved needs W"):
        fwlab.solve(kernel).proved(X @ X.T)


def test_nothing_is_proved_where_no_distance_is_known():
    X, y, X_new = drawn(0)
    problem = fwlab.Problem(X, y, fwlab.TopK(2), 0.05, regularizer=fwlab.LpNorm(3.0))
    result = fwlab.solve(problem, "direct")
    assert result.distance == np.inf
    assert not result.proved(X_new).any()
