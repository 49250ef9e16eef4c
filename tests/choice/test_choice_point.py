"""A machine with its gradients: by hand, and the errors of its shares with large units."""

import numpy as np
import pytest
import scipy.sparse

import fwlab
import fwlab.choice.point as module
from fwlab.choice.point import TrainingSamples, row_errors, share_errors

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
Y = np.array([0, 1, 2])
W = np.array([[0.3, -0.2], [0.1, 0.4], [-0.5, 0.2]])
OMEGA = np.array([1.0, 2.0, 0.5])
C = 3.0


def training(kind=np.asarray, omega=None):
    problem = fwlab.Problem(kind(X), Y, fwlab.CrossEntropy(), C=7.0, sample_weight=omega)
    return TrainingSamples.of(problem)


def shares():
    powers = np.exp(X @ W.T)
    return powers / powers.sum(axis=1, keepdims=True)


def gradients(omega):
    return omega[:, None] * (np.eye(3)[Y] - shares())


@pytest.fixture
def large(monkeypatch):
    """Make a unit of rounding 1e-4, of c operations c / 1000, a margin 1.5; 1/50 vanishes."""
    monkeypatch.setattr(module, "UNIT", 1e-4)
    monkeypatch.setattr(module, "gamma", lambda count: count / 1000)
    monkeypatch.setattr(module, "MARGIN", 1.5)
    monkeypatch.setattr(module, "LIBRARY_UNITS", 3)
    monkeypatch.setattr(module, "VANISHED", 0.02)
    monkeypatch.setattr(module, "MOST_UNSURE", 0.5)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("omega", [np.ones(3), OMEGA])
def test_a_point_by_hand(kind, omega):
    point = training(kind, omega).point(C, W)
    U = gradients(omega).T @ X
    assert point.U == pytest.approx(U, rel=1e-13)
    assert point.scores == pytest.approx(X @ W.T, rel=1e-13)
    assert point.duals == pytest.approx(np.eye(3)[Y] - shares(), rel=1e-13)
    assert point.residual == pytest.approx(np.linalg.norm(W - C * U), rel=0.03)
    assert point.residual >= np.linalg.norm(W - C * U)
    assert (point.C, point.W.tolist()) == (C, W.tolist())


def test_the_norms_of_the_training_samples():
    found = training(omega=OMEGA)
    norms = np.linalg.norm(X, axis=1)
    assert found.norms == pytest.approx(norms, rel=0.01)
    assert (found.norms >= norms).all()
    assert found.weighted_norms == pytest.approx(OMEGA * found.norms, rel=1e-13)
    assert (found.product_errors < 1e-12).all()


def test_errors_of_shares_by_hand(large):
    largest, e = np.array([2.0, 2.0]), np.array([0.01, 10.0])
    d = 2 * 0.01 + 8e-4 * 2.01
    known, unknown = share_errors(largest, e, 4)
    assert known == pytest.approx(1.5 * (4 * d + (4 + 6 + 8) / 1000), rel=1e-12)
    assert unknown == np.inf


def test_errors_of_rows_by_hand(large):
    errors = row_errors(np.array([0.25, np.inf]), np.array([0.5, 0.5]), 3)
    assert errors == pytest.approx([4 * 0.25 * 0.5 + 16 * 3 * 0.02, 4.1], rel=1e-12)


def test_the_errors_of_a_point_by_hand(large, monkeypatch):
    monkeypatch.setattr(module, "UNDERFLOW", 0.001)
    monkeypatch.setattr(module, "share_errors", lambda largest, e, m: np.array([0.1, 0.2, 0.3]))
    found = training(omega=OMEGA)
    found = TrainingSamples(
        found.problem, np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 0.125]), OMEGA
    )
    point = found.point(C, W)
    A = gradients(OMEGA)
    t = 1 - shares()[range(3), Y]
    rows = OMEGA * (4 * np.array([0.1, 0.2, 0.3]) * t + 16 * 3 * 0.02)
    sizes = module.norms_above(np.square(A).sum(axis=1))
    total = np.array([0.5, 0.25, 0.125]) @ sizes + np.array([1.0, 2.0, 3.0]) @ rows
    U_error = 1.5 * (total + np.sqrt(6) * 3 * 0.001)
    assert point.U_error == pytest.approx(U_error, rel=1e-12)
    length, size = module.norm_above(W - C * point.U), module.norm_above(point.U)
    expected = 1.5 * (length + C * (2e-4 * size + U_error))
    assert point.residual == pytest.approx(expected, rel=1e-12)


def test_a_row_with_huge_scores_is_unknown():
    problem = fwlab.Problem(1e14 * X, Y, fwlab.CrossEntropy(), C=1e-30)
    point = TrainingSamples.of(problem).point(1e-30, W)
    assert np.isinf(point.share_errors).all()
    assert point.U_error >= 4.1 * 1e14


def test_errors_count_in_every_row(monkeypatch):
    """A share that is off by its bound moves U by no more than U_error."""
    rng = np.random.default_rng(0)
    found = training(omega=OMEGA).point(C, W)
    shift = 1 + found.share_errors[:, None] * rng.uniform(-1, 1, size=(3, 3))
    moved = shares() * shift
    A = OMEGA[:, None] * (np.eye(3)[Y] - moved)
    assert np.linalg.norm(A.T @ X - found.U) <= found.U_error
