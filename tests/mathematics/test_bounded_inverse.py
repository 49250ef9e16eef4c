"""The bound of an inverse: by hand, with large units of rounding, and for all allowed errors."""

import numpy as np
import pytest
import scipy.sparse

import fwlab.bounded_inverse as module
from fwlab.bounded_inverse import Inverse, dense_rows, inverse_factor
from fwlab.enclosing_ball import norm_above

M, D = 3, 2
MARGIN, UNDERFLOW, UNIT = 1.5, 1e-3, 1e-4


def gamma(count):
    return count / 10**4


@pytest.fixture
def large(monkeypatch):
    """Make an operation's error 1/10,000, a margin 1.5; numbers below 1/1000 vanish."""
    monkeypatch.setattr(module, "MARGIN", MARGIN)
    monkeypatch.setattr(module, "UNDERFLOW", UNDERFLOW)
    monkeypatch.setattr(module, "UNIT", UNIT)
    monkeypatch.setattr(module, "gamma", gamma)


def drawn_matrix(seed=0, smallest=0.1):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(M * D, M * D))
    values, vectors = np.linalg.eigh(B @ B.T)
    return (vectors * (values - values[0] + smallest)) @ vectors.T


def drawn_inverse():
    return Inverse(np.random.default_rng(1).normal(size=(M * D, M * D)), (M, D))


def pair(x, j, c):
    """Return (e_j - e_c) (x) x."""
    return np.outer(np.eye(M)[j] - np.eye(M)[c], x).ravel()


def test_the_norm_by_hand(large):
    inverse, G = drawn_inverse(), np.arange(6.0).reshape(M, D)
    size = MARGIN * np.square(inverse.T).sum()
    rounding = gamma(8) * np.sqrt(size) * norm_above(G)
    expected = MARGIN * (norm_above(inverse.T @ G.ravel()) + rounding)
    assert inverse.norm(G) == pytest.approx(expected, rel=1e-12)


def test_a_step_solves_with_the_matrix():
    inverse, G = drawn_inverse(), np.arange(6.0).reshape(M, D)
    H = np.linalg.inv(inverse.T.T @ inverse.T)
    assert (H @ inverse.step(G).ravel()).reshape(M, D) == pytest.approx(G, abs=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, np.float32])
def test_the_reach_by_hand(large, monkeypatch, kind):
    monkeypatch.setattr(module, "ROWS", 2)
    inverse, rng = drawn_inverse(), np.random.default_rng(2)
    X, classes = rng.normal(size=(5, D)).astype(np.float32), np.array([0, 2, 1, 0, 0])
    X[4] = 0.0
    size = MARGIN * np.square(inverse.T).sum()
    rounding = 2 * gamma(M * D + 4) + 4 * gamma(2 * D + 16)
    found = inverse.reach(kind(X), classes)
    for i, (x, c) in enumerate(zip(X.astype(float), classes, strict=True)):
        square = 1.01 * (x @ x)
        errors = rounding * size * square + 8 * M * D**2 * UNDERFLOW * (1 + square)
        for j in range(M):
            form = np.square(inverse.T @ pair(x, j, c)).sum()
            expected = 0.0 if j == c else MARGIN * np.sqrt(form + errors)
            assert found[i, j] == pytest.approx(expected, rel=1e-9)


def test_the_reach_of_numbers_that_leave_the_floats_is_infinite():
    """The form is a difference of two numbers that do."""
    inverse = Inverse(np.kron(np.eye(M), [[1.0, -2.0], [0.0, 1.0]]), (M, D))
    with np.errstate(all="ignore"):
        found = inverse.reach(np.array([[1e200, 1e200]]), np.array([0]))
    assert found.tolist() == [[0.0, np.inf, np.inf]]


def test_a_form_that_rounding_makes_negative_counts_as_0(monkeypatch):
    inverse = drawn_inverse()
    monkeypatch.setattr(Inverse, "_forms", lambda *_: np.full((1, M), -1.0))
    found = inverse.reach(np.ones((1, D)), np.array([0]))
    assert (found[0, 1:] > 0).all() and found.max() < 1e-5


def test_the_factor_by_hand(large, monkeypatch):
    monkeypatch.setattr(module, "MOST_WRONG", 0.5)
    H, error, N = drawn_matrix(smallest=3.0), 1e-3, M * D
    trace = MARGIN * np.trace(H)
    shift = MARGIN * (error + 4 * gamma(N + 8) * trace)
    L = np.linalg.cholesky(H - shift * np.eye(N))
    T, size = np.linalg.inv(L), MARGIN * np.square(L).sum()
    rest = gamma(N + 8) * (np.sqrt(size * np.square(T).sum()) + N)
    expected = T * (1 + 4 * UNIT) / (1 - MARGIN * rest)
    # the upper half is not read
    assert inverse_factor(np.tril(H) + np.triu(np.ones((N, N)), 1), error) == pytest.approx(
        expected, rel=1e-9
    )
    monkeypatch.setattr(module, "MOST_WRONG", 0.99 * MARGIN * rest)
    assert inverse_factor(H, error) is None


def test_the_residual_counts_with_its_rounding(large, monkeypatch):
    """A factor that is too large is found where the shift does not cover it."""
    monkeypatch.setattr(module, "MOST_WRONG", 0.5)
    H, error, N = drawn_matrix(smallest=3.0), 0.5, M * D
    trace, cholesky = MARGIN * np.trace(H), np.linalg.cholesky
    shift = MARGIN * (error + 4 * gamma(N + 8) * trace)
    at_most = []
    for wrong in np.linspace(0, 0.2, 401):
        monkeypatch.setattr(np.linalg, "cholesky", lambda A, w=wrong: cholesky(A) * (1 + w))
        L = (1 + wrong) * cholesky(H - shift * np.eye(N))
        size = MARGIN * np.square(L).sum()
        R = norm_above(H - shift * np.eye(N) - L @ L.T)
        total = error + MARGIN * (R + gamma(N + 8) * (size + trace))
        assert (inverse_factor(H, error) is not None) == (total <= shift)
        at_most.append(total <= shift)
    assert at_most[0] and not at_most[-1]


@pytest.mark.parametrize("error", [0.0, 0.01, 0.09])
def test_the_bound_holds_for_all_errors_and_is_reached(error):
    H = drawn_matrix()
    values, vectors = np.linalg.eigh(H)
    T, rng = inverse_factor(H, error), np.random.default_rng(3)
    worst = vectors[:, 0]
    for D in (error * np.eye(len(H)), -error * np.outer(worst, worst)):
        for v in (worst, *rng.normal(size=(20, len(H)))):
            form = v @ np.linalg.solve(H + D, v)
            assert form <= (1 + 1e-9) * np.square(T @ v).sum()
    # the margin of the shift counts more where it is nearly the smallest eigenvalue
    least = 1 / (values[0] - 1.02 * error)
    assert np.square(T @ worst).sum() <= (1 + 1e-9) * least


def test_an_error_above_the_smallest_eigenvalue_leaves_no_bound():
    H = drawn_matrix()
    assert inverse_factor(H, 1.01 * np.linalg.eigvalsh(H)[0]) is None
    assert inverse_factor(-H, 0.0) is None
    assert inverse_factor(np.diag([np.inf, 1.0]), 0.0) is None
    assert inverse_factor(np.eye(2), np.inf) is None


@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_a_poor_inverse_is_counted(factor, monkeypatch):
    H, exact = drawn_matrix(), np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda L: factor * exact(L))
    T, v = inverse_factor(H, 0.0), np.arange(1.0, 7.0)
    assert v @ np.linalg.solve(H, v) <= np.square(T @ v).sum()
    monkeypatch.setattr(np.linalg, "inv", lambda L: factor**10 * exact(L))
    assert inverse_factor(H, 0.0) is None


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, np.float32])
def test_rows_are_read_as_arrays_of_float64(kind):
    X = np.arange(12.0).reshape(6, 2)
    found = dense_rows(kind(X), slice(1, 4))
    assert found.dtype == np.float64 and np.array_equal(found, X[1:4])
