"""Bounds of `certify` against the exact excess, the optimum and its labels: never on a wrong side.

Objectives are enclosed in ball arithmetic (fwlab.verify), or computed in fractions.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import fwlab

flint = pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")

RUNS, DEEP_RUNS, TOGETHER = 300, 10_000, 25
M, D = 4, 3


def drawn_loss(rng, m):
    k = int(rng.integers(1, m + 1))
    costs = rng.random((m, m)) * (1 - np.eye(m))
    losses = [
        fwlab.MaxHinge(),
        fwlab.TopK(k),
        fwlab.PseudoTopK(min(k, m - 1)),
        fwlab.Usunier(k),
        fwlab.WeightedUsunier(np.sort(rng.random(k))[::-1]),
        fwlab.StructuredHinge(costs),
    ]
    # every other run has an entropy, of one guess or of more
    entropy = fwlab.TopKEntropy(min(k, m - 1)) if k > 1 else fwlab.CrossEntropy()
    return losses[int(rng.integers(len(losses)))] if rng.random() < 0.5 else entropy


def drawn_problem(rng):
    """Return a problem of any loss and scale, and samples that it does not hold."""
    n, m, d = int(rng.integers(2, 20)), int(rng.integers(2, M + 1)), int(rng.integers(1, D + 1))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2) + rng.choice([0.0, 0.0, 10.0])
    loss, form = drawn_loss(rng, m), {}
    if not isinstance(loss, fwlab.CrossEntropy | fwlab.TopKEntropy):
        if rng.random() < 0.3:
            form["smoothing"] = 10.0 ** rng.uniform(-3, 1)
        elif rng.random() < 0.2:
            form["kernel"] = "linear"
    if rng.random() < 0.3:
        form["sample_weight"] = rng.random(n) + 0.01
    if not form and rng.random() < 0.3:
        form["storage"] = "float32"
    kind = scipy.sparse.csr_matrix if rng.random() < 0.2 else np.asarray
    lam = 10.0 ** rng.uniform(-3, 1)
    y = rng.integers(0, m, n)
    problem = fwlab.Problem(kind(X), y, loss, lam, n_classes=m, **form)
    return problem, X[rng.integers(0, n, 30)] + rng.normal(size=(30, d)) * np.abs(X).mean()


def optimum(problem):
    return fwlab.solve(problem, "auto", tol=1e-13, relative=True, max_iter=3000)


def drawn_machine(rng, problem, best):
    """Return a machine at any distance from the optimum."""
    noise = rng.normal(size=best.W.shape) * 10.0 ** rng.uniform(-16, 1)
    kind = rng.integers(4)
    if kind == 0:
        return np.abs(best.W).max() * noise
    if kind == 1:
        return best.W * (1 + noise)
    if kind == 2:
        return best.W * rng.uniform(0, 2)
    return optimum(problem.with_lam(problem.lam * rng.choice([2, problem.n_samples]))).W


def check(seed):
    """Certify a random machine; return whether its excess is known, and labels are proved."""
    rng = np.random.default_rng([52, seed])
    problem, X_new = drawn_problem(rng)
    best = optimum(problem)
    W = drawn_machine(rng, problem, best)
    factor = float(rng.choice([1.01, 1.1, 2.0]))
    found = fwlab.certify(problem, W, factor=factor)
    exact = fwlab.verify(problem, best)
    primal = fwlab.verify(problem, replace(best, W=W)).primal
    assert found.excess >= primal[0] - exact.primal[1]
    assert found.excess_low <= primal[1] - exact.dual[0]
    assert np.abs(np.subtract(primal, found.primal)).max() <= found.gap_error
    low, high = found.excess_low, found.excess
    if found.status is fwlab.ExcessStatus.KNOWN:
        assert 0 < high <= factor * low
    elif found.status is fwlab.ExcessStatus.NEGLIGIBLE:
        assert high <= max(1e-12 * abs(found.primal), 2 * found.gap_error)
    else:
        # the excess is as small as the rounding of the optimum's own gap
        assert found.result.status is fwlab.Status.ROUNDING_FLOOR, found
    # best.distance bounds how far the optimum is from best.W
    assert found.distance >= np.linalg.norm(W - best.W) * (1 - 1e-12) - best.distance
    assert np.linalg.norm(found.ball.centre - best.W) <= found.ball.radius + 2 * best.distance
    proved, sure = found.proved(X_new), best.proved(X_new)
    labels = best.predict(X_new)
    assert ((X_new @ W.T).argmax(axis=1) == labels)[proved & sure].all()
    y_new, k = rng.integers(0, problem.n_classes, 30), int(rng.integers(1, problem.n_classes + 1))
    (low, high), (least, most) = (c.proved_accuracy(X_new, y_new, k) for c in (found, best))
    assert low <= most and least <= high
    return found.status, bool(proved.any())


@pytest.mark.turns
@pytest.mark.parametrize("first", range(0, RUNS, TOGETHER))
def test_no_bound_is_on_the_wrong_side(first):
    outcomes = [check(seed) for seed in range(first, first + TOGETHER)]
    known = [status is fwlab.ExcessStatus.KNOWN for status, _ in outcomes]
    assert sum(known) >= TOGETHER / 3
    assert sum(proved for _, proved in outcomes) >= TOGETHER / 3


@pytest.mark.deep
@pytest.mark.parametrize("first", range(RUNS, DEEP_RUNS, TOGETHER))
def test_no_bound_is_on_the_wrong_side_in_10000_runs(first):
    for seed in range(first, first + TOGETHER):
        check(seed)


# ------------------------------------------------------------- optima in closed form


def square(W):
    return sum(Fraction(float(w)) ** 2 for w in np.ravel(W))


@pytest.mark.turns
@pytest.mark.parametrize("power", range(-16, 1))
def test_the_excess_of_a_hinge_in_fractions(power):
    """One sample x = 1 of two classes: W* = (t, -t) with t = min(1/2, 1/lam)."""
    rng = np.random.default_rng(power + 16)
    for lam in (0.25, 1.0, 4.0):
        problem = fwlab.Problem(np.ones((1, 1)), [0], fwlab.MaxHinge(), lam, n_classes=2)
        best = min(0.5, 1 / lam) * np.array([[1.0], [-1.0]])
        lowest = Fraction(lam) / 2 * square(best) + Fraction(max(0.0, 1 - 2 * best[0, 0]))
        for _ in range(5):
            W = best + 10.0**power * rng.normal(size=(2, 1))
            margin = 1 - (Fraction(W[0, 0]) - Fraction(W[1, 0]))
            excess = Fraction(lam) / 2 * square(W) + max(margin, Fraction(0)) - lowest
            found = fwlab.certify(problem, W)
            assert Fraction(found.excess_low) <= excess <= Fraction(found.excess)
            assert Fraction(found.distance) ** 2 >= square(W - best)
            assert found.excess <= 1.1 * float(excess) + 3 * found.gap_error


@pytest.mark.parametrize("power", range(-10, 3))
def test_the_excess_of_the_cross_entropy_in_fractions(power):
    """Without features P(W) = lam/2 |W|^2 + log m, and W* = 0."""
    rng = np.random.default_rng(power + 16)
    for lam in (0.25, 4.0):
        problem = fwlab.Problem(np.zeros((3, 2)), [0, 1, 2], fwlab.CrossEntropy(), lam)
        W = 10.0**power * rng.normal(size=(3, 2))
        found = fwlab.certify(problem, W)
        excess = Fraction(lam) / 2 * square(W)
        assert Fraction(found.excess_low) <= excess <= Fraction(found.excess)
        assert Fraction(found.distance) ** 2 >= square(W)
        assert found.distance <= 1.02 * np.sqrt(2 * found.excess / lam)
