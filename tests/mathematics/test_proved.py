"""Labels and accuracies that a certificate proves: never a wrong one, and not too few."""

import numpy as np
import pytest

import fwlab

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


@pytest.mark.parametrize(("method", "arguments"), RUNS, ids=str)
def test_no_label_of_the_optimum_contradicts_a_proved_one(method, arguments):
    proved = 0
    for seed in range(3):
        X, y, X_new = drawn(seed)
        problem = fwlab.Problem(X, y, lam=0.05, **arguments)
        optimal = "direct" if "regularizer" in arguments else "ascent"
        best = fwlab.solve(problem, optimal, **OPTIMAL)
        for iterations in (3, 10, 40, 160):
            result = fwlab.solve(problem, method, tol=1e-12, max_iter=iterations)
            sure = result.proved(X_new) & best.proved(X_new)
            assert (result.predict(X_new) == best.predict(X_new))[sure].all()
            proved += sure.sum()
    assert method == "subgradient" or proved > 0


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


def test_a_margin_at_the_bound_is_not_proved():
    """The machine is (1, 0) and the distance 1: a lead of sqrt(2) |x| is no proof, more is one."""
    from fwlab.proved import proved_accuracy, proved_labels

    W, x = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[1.0, 0.0]])
    assert proved_labels(W, 1.9 / np.sqrt(2), x).all()
    assert not proved_labels(W, 2 / np.sqrt(2), x).any()
    assert proved_accuracy(W, 1.9 / np.sqrt(2), x, np.array([1]), 1) == (0.0, 0.0)
    assert proved_accuracy(W, 2 / np.sqrt(2), x, np.array([1]), 1) == (0.0, 1.0)


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
