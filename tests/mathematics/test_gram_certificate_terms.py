"""Terms of the bound of a certificate with a Gram matrix, by hand or at errors made large."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fwlab
import fwlab.certificate as module
from fwlab.certificate import _negative_curvature, _norm_error, _product_errors, certificate_of
from fwlab.checks.gram import EPS, checked_gram
from fwlab.operators.features import GramFeatures
from fwlab.result import Certificate

pytestmark = pytest.mark.small
LAM, N, M = 0.25, 2, 3
K = np.array([[9.0, 3.0], [3.0, 5.0]])
A = np.array([[2.0, -2.0, 0.0], [0.0, -1.0, 1.0]])
C = np.array([[1.0, 0.0, -1.0], [0.5, -3.0, 2.0]])
NORMS = [fwlab.LpNorm(1.5), fwlab.LpNorm(2.0), fwlab.LpNorm(3.0)]
each_norm = pytest.mark.parametrize("norm", NORMS, ids=str)


def made(norm=None, gram=K):
    labels = np.array([0, 2])
    return fwlab.Problem(
        gram, labels, fwlab.TopK(1), LAM, n_classes=M, kernel="precomputed", regularizer=norm
    )


def shifted(problem, mu):
    """Return the problem as if K + mu I had been proved to be semidefinite."""
    problem.gram_shift = mu
    return problem


@pytest.fixture
def given(monkeypatch):
    """Return a function that sets errors, which are 0 otherwise, for the certificates that follow.

    All rows count as feasible. The attribute `e` holds the last bound of errors of scores.
    """

    def set_errors(losses=0.0, rows=0.0, rho=(0, 0), entries=(0, 0, 0), errors=(1e-300,) * M):
        def losses_with_error(problem, parts, e, A):
            set_errors.e = e
            return problem.losses(parts, A), losses

        found = np.array(entries, dtype=float), np.array(errors)
        monkeypatch.setattr(module, "losses_with_error", losses_with_error)
        monkeypatch.setattr(module, "dual_row_error", lambda *_: rows)
        monkeypatch.setattr(module, "_product_errors", lambda *_: found)
        monkeypatch.setattr(module, "distances", lambda *_: np.array(rho, dtype=float))
        monkeypatch.setattr(module, "gamma", lambda count: 0.0)
        monkeypatch.setattr(module, "UNIT", 0.0)
        monkeypatch.setattr(fwlab.Problem, "is_feasible", lambda *_: True)
        monkeypatch.setattr(Certificate, "checked", lambda certificate: certificate)

    set_errors()
    return set_errors


def bound(problem, A=A, C=None):
    """Return gap_error without its margin of a hundredth."""
    return certificate_of(problem, A, coefficients=C).gap_error / 1.01


def norm_of(problem, A):
    """Return lam R*(V(A))."""
    return LAM / 2 * problem.dual_square_norm(problem.link(A), A)


def test_the_terms_of_a_gram_matrix_add_up(given):
    given(losses=0.02, rows=0.03, entries=(0.1, 0.7, 0.3), errors=(0.1, 0.2, 0.4))
    assert bound(shifted(made(), 0.0)) == pytest.approx(0.05 + 2 * LAM / 2 * 0.7)
    assert_allclose(given.e, 0.7)


def test_the_shift_of_a_gram_matrix_counts(given):
    """Scores and norms with K + mu I instead of K: of the machine of C, and of V(A)."""
    plain, mu = made(), 0.5
    other = made(gram=K + mu * np.eye(2))
    change = other.link(C) - plain.link(C)
    growth = norm_of(other, C) - norm_of(plain, C) + norm_of(other, A) - norm_of(plain, A)
    assert bound(shifted(plain, mu), C=C) == pytest.approx(growth)
    assert_allclose(given.e, np.abs(change).max(axis=0))


@each_norm
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(("second", "rho"), [(3.0, (3.0, 4.0)), (1.0, (3.0, 0.0))])
def test_moves_of_the_dual_point_count(given, norm, sign, second, rho):
    """If row i moves by rho_i in any entry, the norm grows by no more; this bound is reached.

    The samples have one direction and the lengths 3 and `second`.
    """
    problem = made(norm, np.outer([3.0, second], [3.0, second]))
    A = sign * np.array([[0.0, 2.0, 0.0], [0.0, 1.0, 0.0]])
    given(rho=rho)
    limit, changes = bound(shifted(problem, 0.0), A, 0 * A), []
    for columns, signs in product(product(range(M), repeat=N), product((-1, 1), repeat=N)):
        moved = A.copy()
        moved[np.arange(N), columns] += np.multiply(signs, rho)
        changes.append(norm_of(problem, moved) - norm_of(problem, A))
    assert max(changes) == pytest.approx(limit)


def test_moves_of_the_dual_point_count_in_the_shift(given):
    """Column j of the moved point is at most |a_j| + sum_i rho_i long."""
    lengths = np.array([2.0, np.sqrt(5), 1.0])
    growth = LAM / 2 * 0.5 / (LAM * N) ** 2
    for rho, expected in (((0, 0), lengths), ((0.3, 0.4), lengths + 0.7)):
        given(rho=rho)
        without = bound(shifted(made(), 0.0), C=0 * A)
        assert bound(shifted(made(), 0.5), C=0 * A) - without == pytest.approx(
            growth * np.sum(expected**2)
        )


def test_errors_of_scores_meet_the_moves_of_the_dual_point(given):
    given(rho=(0.3, 0.4), errors=(0.0,) * M)
    without = bound(shifted(made(), 0.0))
    given(rho=(0.3, 0.4), errors=(0.0,) * M, entries=(0.1, 0.7, 0.3))
    assert bound(shifted(made(), 0.0)) - without == pytest.approx(0.35 * 0.7)


# ---------------------------------------------------------------- products


def test_errors_of_products_by_hand(monkeypatch):
    """Sums of n products, a quotient, and products that vanish; then products with C once more."""
    link, kappa, lam_n = np.array([[1.0, -2], [3, 4], [0, -5]]), np.array([7.0, 11]), LAM * N
    arguments = made(), A, link, kappa
    sums, products = np.array([2.0, 3, 1]), np.array([2.0, 10, 5])  # of |a_ij|, and of |a_ij v_ij|

    def found(of_sum=0.0, of_sum_in_parts=0.0, unit=0.0, underflow=0.0):
        monkeypatch.setattr(module, "gamma", lambda count: of_sum * count)
        monkeypatch.setattr(module, "gamma_in_parts", lambda count: of_sum_in_parts * count)
        monkeypatch.setattr(module, "UNIT", unit)
        monkeypatch.setattr(module, "UNDERFLOW", underflow)
        return _product_errors(*arguments)

    for given, entries in [
        ({"of_sum_in_parts": 0.1}, 0.2 * np.array([14.0, 25, 11]) / lam_n),
        ({"unit": 0.1}, 0.2 * np.array([2.0, 4, 5])),
        ({"underflow": 0.1}, 0.2 / lam_n * np.ones(M)),
    ]:
        assert_allclose(found(**given), [entries, sums * entries / lam_n])
    assert_allclose(
        found(of_sum=0.1), [0 * sums, 0.1 * (N + M + 4) * products / lam_n], atol=1e-300
    )
    assert_allclose(found(), np.full((2, M), N * 2.0**-1021 * (1 + 1 / lam_n)))


@each_norm
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_errors_of_squares(norm, size):
    """|v_j|^2 with these errors changes the norm by no more, and at times by two fifths."""
    problem, eps = made(norm), np.full(M, size)
    link, C = np.full((M, N), 2.0), np.full((N, M), 1.0)
    squares = problem.square_norms(link, C)
    limit = _norm_error(problem, link, C, eps, norm.dual_square_norm)
    change = LAM / 2 * (norm.dual_square_norm(squares + eps) - norm.dual_square_norm(squares))
    assert 0.4 * limit < change <= limit * (1 + 1e-9)


@pytest.mark.parametrize("norm", [fwlab.LpNorm(1.5), fwlab.LpNorm(3.0)], ids=str)
def test_moves_of_links_and_powers_by_hand(norm, monkeypatch):
    """Links of equal norms grow as the triangle inequality allows; a power is rounded."""
    problem, zeros = made(norm), np.full(M, 1e-290)
    link, C = np.full((M, N), 2.0), np.full((N, M), 1.0)  # |v_j|^2 = 4 / (lam n)
    squares = np.full(M, 4 / (LAM * N))
    grown = (np.sqrt(squares) + 0.7) ** 2
    moved = np.sqrt(norm.dual_square_norm(np.full(M, 0.7**2)))
    change = LAM / 2 * (norm.dual_square_norm(grown) - norm.dual_square_norm(squares))
    found = _norm_error(problem, link, C, zeros, norm.dual_square_norm, moved)
    assert found == pytest.approx(change, rel=1e-9)
    monkeypatch.setattr(module, "gamma", lambda count: 0.1 * count)
    found = _norm_error(problem, link, C, zeros, norm.dual_square_norm)
    rounding = 0.1 * (4 * M + 64) * LAM / 2 * norm.dual_square_norm(squares)
    assert found == pytest.approx(rounding, rel=1e-9)


# ---------------------------------------------------------------- a matrix that is not semidefinite


@pytest.mark.parametrize(("mu", "error"), [(0.5, 0.0), (0.2, 0.3), (0.0, 0.5)])
def test_a_negative_product_beyond_the_shift_is_named(mu, error):
    """<a, K a> is -|a|^2 / 2 for the second column alone, and |a|^2 for the others."""
    gram, lam_n = np.diag([1.0, -0.5]), LAM * N
    points = np.array([[3.0, 0.0, -3.0], [0.0, 2.0, 0.0]])
    for factor, named in ((1.001, False), (0.999, True)):
        problem = shifted(made(), factor * mu)
        problem.features = GramFeatures(gram)
        errors = factor * error * 4 / lam_n**2 * np.ones(M)
        found = _negative_curvature(problem, points, problem.link(points), errors)
        assert ("<a, X a> is -2 for column 1 of" in found) == named
        assert ("whose norm is 2," in found) == named
        assert bool(found) == named


def test_the_product_that_is_furthest_below_its_error_is_named():
    problem = shifted(made(), 0.0)
    problem.features = GramFeatures(-np.eye(2))
    points = np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 0.0]])  # products of -9, -4 and -1
    errors = np.array([8.0, 1.0, 0.5]) / (LAM * N) ** 2
    found = _negative_curvature(problem, points, problem.link(points), errors)
    assert "<a, X a> is -4 for column 1 of" in found


def test_a_matrix_that_is_not_semidefinite_is_a_contradiction():
    problem = made()
    problem.features = GramFeatures(np.diag([1.0, -0.5]))
    A = np.array([[0.0, 0.0, 0.0], [0.0, -1.0, 1.0]])
    found = certificate_of(problem, A)
    assert "not positive semidefinite" in found.contradiction
    assert found.distance == np.inf


def test_products_at_the_bound_are_no_contradiction():
    """Products of exactly -mu |a|^2 and its error are no contradiction."""
    problem = shifted(made(), 0.0)
    zeros = np.zeros((N, M))
    assert _negative_curvature(problem, zeros, zeros.T, np.zeros(M)) == ""


def test_the_shift_of_a_gram_matrix_by_hand():
    """An eigenvalue of -1e-9 needs 1e4 times the first shift, which is 10 n eps with n = 64."""
    gram = np.eye(64)
    gram[0, 0] = -1e-9
    shift = 1e4 * 640 * EPS
    trace = 63 + 1e-9 + 64 * shift
    _, mu = checked_gram(gram)
    assert mu == pytest.approx(1.01 * (shift + 65 * EPS / 2 * trace), rel=1e-14, abs=0)


def test_a_gram_matrix_becomes_its_symmetric_part():
    found, _ = checked_gram(np.array([[2.0, 1.0 + 2.0**-30], [1.0, 3.0]]))
    assert_allclose(found, [[2.0, 1.0 + 2.0**-31], [1.0 + 2.0**-31, 3.0]], rtol=0)
