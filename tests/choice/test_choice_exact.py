"""Bounds of a proved choice against exact optima on small hostile problems: never too low."""

from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse
from exact_optimum import exact_optimum, flint, link_error, most_and_fewest_right

import fwlab
from fwlab.choice.point import TrainingSamples
from fwlab.choice.stretch import reach
from fwlab.choice.validation import Validation

RUNS, DEEP_RUNS, TOGETHER = 150, 5_000, 25


def drawn_samples(rng, n, d, m):
    """Return samples of any scale, some of them equal, small, or 0, and classes."""
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3)
    if rng.random() < 0.3:
        X = np.round(X / np.abs(X).max() * 3)
    if rng.random() < 0.2:
        X *= 10.0 ** rng.integers(-4, 5, size=(1, d))
    X[rng.random(n) < 0.1] = 0.0
    X[int(rng.integers(n))] = X[0]
    codes = rng.integers(0, m, n)
    codes[:m] = np.arange(m)
    return X, codes


def drawn_problem(rng):
    """Return training samples, their classes and weights, and validation samples with theirs."""
    m, d = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    X, codes = drawn_samples(rng, int(rng.integers(m, 9)), d, m)
    n = int(rng.integers(3, 20))
    more = X[rng.integers(0, len(X), n)] * 10.0 ** rng.choice([0.0, 0.0, -5.0, 5.0], size=(n, 1))
    more = more + np.abs(X).mean() * rng.normal(size=(n, d)) * rng.choice([0.0, 1.0], size=(n, 1))
    if rng.random() < 0.3:
        size = np.abs(X).max()
        X = X + size * 10.0 ** rng.uniform(0, 7) * rng.choice([0.0, 1.0], size=(1, d))
        more = more + size * 10.0 ** rng.uniform(0, 7) * rng.choice([0.0, 1.0])
    if rng.random() < 0.2:
        power = 10.0 ** rng.uniform(-60, 60)
        X, more = power * X, power * more
    omega = np.ones(len(X)) if rng.random() < 0.7 else rng.random(len(X)) * rng.integers(0, 2)
    omega[:1] = 1.0
    return X, codes, omega, more, rng.integers(-1, m, n)


def solved(X, codes, omega, C, m):
    """Return a good machine for C."""
    problem = fwlab.Problem(X, codes, fwlab.CrossEntropy(), C=C, n_classes=m, sample_weight=omega)
    return problem, fwlab.solve(problem, "lbfgs", tol=1e-12, relative=True, max_iter=3000).W


def constant(rng, X):
    """Return a C at which the optimum is neither 0 nor beyond what Newton's method reaches."""
    return float(10.0 ** rng.uniform(-2, 3) / (np.square(X).sum(axis=1).max() or 1.0))


def check_stretch(seed):
    """Return the reach over the distance of an optimum from the chord, and the slack of a count."""
    rng = np.random.default_rng([53, seed])
    X, codes, omega, more, others = drawn_problem(rng)
    m, C = int(codes.max()) + 1, constant(rng, X)
    ends = C, C * float(np.exp(10.0 ** rng.uniform(-4, 0.5)))
    kind = scipy.sparse.csr_matrix if rng.random() < 0.3 else np.asarray
    points, noise = [], 10.0 ** rng.uniform(-12, 0.5)
    for end in ends:
        problem, W = solved(kind(X), codes, omega, end, m)
        W = W + noise * np.linalg.norm(W) * rng.normal(size=W.shape) * rng.integers(0, 2)
        points.append(TrainingSamples.of(problem).point(end, W))
        error = link_error(X.tolist(), codes, omega, W, points[-1].U)
        assert error < points[-1].U_error, seed
    a, b = points
    size = reach(TrainingSamples.of(problem), a, b)
    validation = Validation.of(kind(more), others)
    most = validation.most_right(validation.leads(a.W), validation.leads(b.W), size)
    t = float(rng.choice([0.0, 1.0, rng.random()]))
    between = min(max((1 - t) * a.C + t * b.C, a.C), b.C)
    best = exact_optimum(X, codes, omega, between, solved(X, codes, omega, between, m)[1])
    fewest = most_and_fewest_right(best, more, others)[1]
    assert fewest <= most, seed
    away = distance_from_chord(best, a, b, between)
    assert away <= size + best.distance, seed
    return size / away if away > 1e-100 * size else np.inf, most - fewest


def distance_from_chord(best, a, b, C):
    """Return the distance from W(t) at C, as a float."""
    with flint.ctx.workprec(300):
        t = (flint.arb(C) - a.C) / (flint.arb(b.C) - a.C)
        rest = [
            w - (1 - t) * float(u) - t * float(v)
            for row, left, right in zip(best.W, a.W, b.W, strict=True)
            for w, u, v in zip(row, left, right, strict=True)
        ]
        return float(sum((v * v for v in rest), flint.arb(0)).lower().sqrt())


@pytest.mark.parametrize("first", range(0, RUNS, TOGETHER))
def test_no_optimum_leaves_its_stretch(first):
    found = np.array([check_stretch(seed) for seed in range(first, first + TOGETHER)])
    # the bounds are no better than they must be, but not useless either
    assert np.median(found[:, 0]) < 1e4
    assert (found[:, 1] == 0).mean() > 0.1


@pytest.mark.deep
@pytest.mark.parametrize("first", range(RUNS, DEEP_RUNS, TOGETHER))
def test_no_optimum_leaves_its_stretch_in_5000_runs(first):
    for seed in range(first, first + TOGETHER):
        with suppress(ArithmeticError):  # Newton's method may not find the optimum
            check_stretch(seed)


def check_choice(seed):
    """Return whether a small choice is proved, after trying some C with exact optima."""
    rng = np.random.default_rng([54, seed])
    X, codes, omega, more, others = drawn_problem(rng)
    others[0] = 0
    low = constant(rng, X)
    high = low * 10.0 ** rng.uniform(0.1, 2)
    found = fwlab.prove_choice(
        X, codes, more, others, C=(low, high), slack=0.0, sample_weight=omega, time_limit=5.0
    )
    m, n = int(codes.max()) + 1, len(others)
    # the ends of stretches, and places within
    ends = rng.choice(found.edges, 3)
    inside = np.exp(rng.uniform(np.log(low), np.log(high), 3)).clip(low, high)
    for C in [*ends, *inside]:
        best = exact_optimum(X, codes, omega, C, solved(X, codes, omega, C, m)[1])
        right = most_and_fewest_right(best, more, others)[1] / n
        at = int(np.searchsorted(found.edges, C, side="right")) - 1
        near = found.bounds[max(0, at - 1) : at + 1] if C in found.edges else found.bounds[at]
        assert right <= np.min(near), (seed, C)
        assert right <= found.bound
        if any(a <= C <= b for a, b in found.proved):
            assert right <= found.accuracy + found.slack + 1e-12
    return found.is_proved


def test_no_small_choice_is_proved_wrongly():
    assert sum(check_choice(seed) for seed in range(30)) >= 10


@pytest.mark.deep
def test_no_small_choice_is_proved_wrongly_in_1000_runs():
    for seed in range(30, 1000):
        with suppress(ArithmeticError):
            check_choice(seed)
