"""The reach of a stretch: each term by hand, and the second derivative of U along a chord."""

from dataclasses import replace

import numpy as np
import pytest

import fwlab
import fwlab.choice.stretch as module
from fwlab.choice.point import TrainingSamples
from fwlab.choice.stretch import reach, variances

N, M, D = 7, 4, 3


def samples(seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N, D)), rng.integers(0, M, N)
    omega = rng.random(N) + 0.5
    problem = fwlab.Problem(X, y, fwlab.CrossEntropy(), C=1.0, n_classes=M, sample_weight=omega)
    return TrainingSamples.of(problem), *rng.normal(size=(2, M, D))


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def U_at(training, W):
    problem = training.problem
    p = softmax(problem.X @ W.T)
    A = problem.sample_weight[:, None] * (np.eye(M)[problem.y] - p)
    return A.T @ problem.X


@pytest.fixture
def large(monkeypatch):
    """Make a unit of rounding 1/1000, of c operations c / 100, and a margin 1.5."""
    monkeypatch.setattr(module, "UNIT", 1e-3)
    monkeypatch.setattr(module, "gamma", lambda count: count / 100)
    monkeypatch.setattr(module, "MARGIN", 1.5)


def test_the_terms_of_the_reach_by_hand(large, monkeypatch):
    training, W, V = samples()
    a, b = training.point(2.0, W), training.point(5.0, V)
    monkeypatch.setattr(module, "variances", lambda *_: np.arange(1.0, N + 1))
    monkeypatch.setattr(module, "norm_above", lambda D: 2 * np.linalg.norm(D))
    a, b = replace(a, residual=0.5, U_error=0.25), replace(b, residual=0.75, U_error=0.125)
    apart = 2 * np.linalg.norm(b.U - a.U) + 0.375
    second = np.sqrt(2) * training.weighted_norms @ np.arange(1.0, N + 1)
    expected = 1.5 * (0.75 + 3.0 * apart / 4 + 5.0 * second / 8)
    assert reach(training, a, b) == pytest.approx(expected, rel=1e-12)
    further = replace(a, residual=1.75)
    assert reach(training, further, b) == pytest.approx(expected + 1.5, rel=1e-12)


def test_the_variances_by_hand(large):
    training, W, V = samples()
    a, b = training.point(2.0, W), training.point(5.0, V)
    errors = np.linspace(0.001, 0.002, N)
    a = replace(a, score_errors=errors, share_errors=2 * errors)
    b = replace(b, score_errors=3 * errors)
    p, delta = softmax(a.scores), b.scores - a.scores
    y = training.problem.y
    delta = delta - delta[range(N), y][:, None]
    mu = (p * delta).sum(axis=1)
    sizes = np.abs(delta).max(axis=1)
    eps = 8 * errors + 8e-3 * (np.abs(a.scores).max(axis=1) + np.abs(b.scores).max(axis=1))
    moved = eps + (4 * errors + (M + 4) / 100) * sizes
    variance = (p * (delta - mu[:, None]) ** 2).sum(axis=1)
    variance += ((M + 8) / 25 + 4 * errors) * sizes**2
    top = delta.max(axis=1) - mu + eps + moved
    expected = 1.5 * (np.sqrt(variance) + eps) ** 2 * np.exp(top)
    assert variances(training, a, b) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_the_variances_hold_all_along_the_chord(seed):
    training, W, V = samples(seed)
    found = variances(training, training.point(1.0, W), training.point(2.0, V))
    delta = training.problem.X @ (V - W).T
    for t in np.linspace(0, 1, 21):
        p = softmax(training.problem.X @ ((1 - t) * W + t * V).T)
        mean = (p * delta).sum(axis=1)
        assert ((p * (delta - mean[:, None]) ** 2).sum(axis=1) <= found).all()


def test_a_label_without_a_share_has_the_error_of_the_others():
    """All of p is at one other class, up to what rounding leaves: the label's share is 1 - t."""
    problem = fwlab.Problem([[1.0]], [0], fwlab.CrossEntropy(), C=1.0, n_classes=3)
    training = TrainingSamples.of(problem)
    a = training.point(1.0, np.array([[0.0], [50.0], [-9.0]]))
    b = training.point(2.0, np.array([[0.0], [51.0], [-9.0]]))
    assert a.duals[0, 0] == 1.0
    assert variances(training, a, b)[0] >= 2 * a.share_errors[0]


def test_the_variance_of_a_short_chord_is_the_one_at_its_start():
    training, W, V = samples()
    V = W + 1e-6 * (V - W)
    found = variances(training, training.point(1.0, W), training.point(2.0, V))
    delta, p = training.problem.X @ (V - W).T, softmax(training.problem.X @ W.T)
    mean = (p * delta).sum(axis=1)
    expected = (p * (delta - mean[:, None]) ** 2).sum(axis=1)
    assert found == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("seed", range(20))
def test_the_second_derivative_of_the_sum_is_bounded(seed):
    training, W, V = samples(seed)
    spread = variances(training, training.point(1.0, W), training.point(2.0, V))
    bound = np.sqrt(2) * training.weighted_norms @ spread
    h = 1e-3
    for t in np.linspace(h, 1 - h, 11):
        at = [U_at(training, W + (t + s) * (V - W)) for s in (-h, 0.0, h)]
        second = (at[0] - 2 * at[1] + at[2]) / h**2
        assert np.linalg.norm(second) <= bound + 1e-6


def test_the_reach_falls_as_the_square_of_the_length():
    """Down to the residuals of the points."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, D)), rng.integers(0, M, 40)

    def bend(h):
        ends = 1.0, float(np.exp(h))
        points = []
        for C in ends:
            problem = fwlab.Problem(X, y, fwlab.CrossEntropy(), C=C, n_classes=M)
            W = fwlab.solve(problem, "lbfgs", tol=1e-15, max_iter=500).W
            points.append(TrainingSamples.of(problem).point(C, W))
        found = reach(TrainingSamples.of(problem), *points)
        return (found - max(p.residual for p in points)) / h**2

    assert bend(0.01) == pytest.approx(bend(0.1), rel=0.2)


def test_unknown_shares_have_no_variance():
    training, W, V = samples()
    a, b = training.point(1.0, W), training.point(2.0, V)
    unknown = np.where(np.arange(N) == 2, np.inf, 1e-14)
    for ends in ((replace(a, share_errors=unknown), b), (a, replace(b, share_errors=unknown))):
        assert np.isinf(variances(training, *ends)).tolist() == (np.arange(N) == 2).tolist()


def test_a_reach_that_overflows_is_infinite():
    training, W, V = samples()
    a, b = training.point(1.0, W), training.point(2.0, 1e150 * V)
    assert reach(training, a, b) == np.inf
    unsure = replace(a, share_errors=np.full(N, np.inf))
    assert reach(training, unsure, training.point(2.0, V)) == np.inf
    assert reach(training, a, replace(a, share_errors=np.full(N, np.inf))) == np.inf
    weightless = replace(training, weighted_norms=np.zeros(N))
    assert reach(weightless, unsure, training.point(2.0, V)) == np.inf
