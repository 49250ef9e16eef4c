"""The bound of a certificate's rounding error, against fractions and ball arithmetic."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from given_hinge import GivenHinge
from loss_table import entries
from numpy.testing import assert_array_equal

import fwlab
import reference.exact as exact
from fwlab.certificate import _norm_error, certificate_of
from fwlab.operators.repair import repair_distances

flint = pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")
balls = pytest.importorskip("fwlab.balls")

M = 4


def binary_entries(y):
    """Return the losses whose weights and costs are the same numbers in floats and in fractions."""
    return [entry for entry in entries(M, y) if entry.exact_in_binary]


def nearly_feasible(entry, y, rng, error):
    """Return rows near the domain: convex combinations of two vertices, moved by `error`."""
    n = len(y)
    points = [entry.loss.lmo(rng.integers(-2, 3, (n, M)).astype(float), y) for _ in range(2)]
    share = rng.integers(0, 5, (n, 1)) / 4
    return share * points[0] + (1 - share) * points[1] + error * rng.normal(size=(n, M))


def drawn(seed, scale=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, M, 6)
    X = rng.normal(size=(6, 3)) * 10.0**scale
    return rng, X, y


def repaired(problem, A):
    """Return A', as fractions."""
    result = fwlab.solve(problem, max_iter=0)
    W = None if problem.kernel == "precomputed" else problem.weights(A)
    rows = balls.Balls(flint, problem, replace(result, A=A, W=W)).A
    return [[Fraction(int(v.p), int(v.q)) for v in row] for row in rows]


@pytest.mark.parametrize("error", [0.0, 1e-17, 1e-13, 1e-9])
def test_the_repaired_rows_lie_in_the_domain_and_within_the_distance(error):
    """Membership is decided in fractions by the convex hull of the loss's own slopes."""
    rng, X, y = drawn(1)
    for entry in binary_entries(y):
        problem = fwlab.Problem(X, y, entry.loss, 1.0, n_classes=M)
        A = nearly_feasible(entry, y, rng, error)
        rho = repair_distances(A, problem.sample_weight, problem.polytopes)
        for i, row in enumerate(repaired(problem, A)):
            assert exact.in_domain(entry.reference.for_sample(i), [-v for v in row], int(y[i]))
            moved = sum(abs(v - Fraction(a)) for v, a in zip(row, A[i], strict=True))
            assert moved <= rho[i], entry


def test_the_distance_follows_the_infeasibility():
    """A bound that grows far beyond what it bounds would certify nothing."""
    rng, X, y = drawn(2)
    for entry in binary_entries(y):
        problem = fwlab.Problem(X, y, entry.loss, 1.0, n_classes=M)
        A = nearly_feasible(entry, y, rng, 1e-9)
        off = A - entry.loss.project(A, y)
        rho = repair_distances(A, problem.sample_weight, problem.polytopes)
        # at most the width of the mixing, 2 (m - 1) times the excess, for each of the m entries
        slack = 1e-13 * max(1.0, entry.size)
        assert (rho <= 4 * M**2 * np.abs(off).sum(axis=1) + slack).all(), entry


@pytest.mark.turns
@pytest.mark.parametrize("error", [0.0, 1e-14, 1e-8, 0.05])
@pytest.mark.parametrize("m", [2, 3, 6, 9])
def test_the_distance_is_that_of_the_repaired_row_up_to_a_factor(m, error):
    """Weights apart and equal, rows with few and many non-zeros, with sample weights."""
    rng = np.random.default_rng(m)
    n = 8
    for loss in losses_of(m):
        y, omega = rng.integers(0, m, n), rng.choice([0.5, 1.0, 3.0], n)
        problem = fwlab.Problem(
            rng.normal(size=(n, 2)), y, loss, 1.0, n_classes=m, sample_weight=omega
        )
        points = [loss.lmo(rng.integers(-2, 3, (n, m)).astype(float), y) for _ in range(2)]
        A = omega[:, None] * (points[0] + 3 * points[1]) / 4
        A += error * rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.5)
        rho, rows = repair_distances(A, omega, problem.polytopes), repaired(problem, A)
        for row, a, bound in zip(rows, A, rho, strict=True):
            moved = float(sum(abs(v - Fraction(float(u))) for v, u in zip(row, a, strict=True)))
            assert moved <= bound, loss
            rounding = 2 * m * 1e-15 * np.abs(a).sum() + 1e-300
            # equal weights leave no room: the share of the mean follows from the worst sum
            factor = 4 if (problem.polytopes.upper != problem.polytopes.lower).any() else 4 * m
            assert bound <= factor * (moved + rounding), loss


@pytest.mark.turns
def test_the_distance_of_a_row_of_the_smallest_numbers():
    """The mean is rounded to a whole multiple of the smallest number."""
    m, d = 300, 265 / 517
    weights = 2.0**-497 * np.repeat([1 + d, 1 - d], [149, 150])
    problem = fwlab.Problem([[1.0]], [0], GivenWeights(weights, weights), 1.0, n_classes=m)
    b = 2.0**-1074 * np.repeat([782.0, 252.0, 65.0], [149, 149, 1])
    A = np.concatenate([[b.sum()], -b])[None]
    (row,), (bound,) = repaired(problem, A), repair_distances(A, np.ones(1), problem.polytopes)
    assert sum(abs(v - Fraction(float(a))) for v, a in zip(row, A[0], strict=True)) <= bound


@dataclass(frozen=True, eq=False)
class GivenWeights(fwlab.Loss):
    """A loss with these weights."""

    upper: np.ndarray
    lower: np.ndarray

    def polytope_weights(self, m):
        return self.upper, self.lower


@dataclass(frozen=True)
class EqualWeights(fwlab.Loss):
    """k falling weights, the same above and below."""

    k: int

    def polytope_weights(self, m):
        rho = np.zeros(m - 1)
        rho[: self.k] = 3.0 * fwlab.weights.linear(self.k)
        return rho, rho


def losses_of(m):
    """Return losses of m classes with all kinds of weights."""
    weights = [fwlab.weights.linear(k) for k in range(1, m)]
    return [
        *(fwlab.TopK(k) for k in range(1, m)),
        *(fwlab.Usunier(k) for k in range(1, m)),
        *(fwlab.PseudoTopK(k) for k in range(1, m)),
        *(EqualWeights(k) for k in range(1, m)),
        *(fwlab.WeightedTopK(3 * rho) for rho in weights),
        *(fwlab.WeightedUsunier(rho) for rho in weights),
    ]


def in_fractions(array):
    return [[Fraction(float(v)) for v in row] for row in array]


def exact_gap(problem, entry, W, A):
    """Return P(W) - D(A') in fractions, from the definition of the loss."""
    n, lam = problem.n_samples, Fraction(problem.lam)
    X, W, omega = in_fractions(problem.X), in_fractions(W), problem.sample_weight
    primal = lam / 2 * sum(v * v for row in W for v in row)
    V = [[Fraction(0)] * len(X[0]) for _ in W]
    linear = Fraction(0)
    for i, a in enumerate(repaired(problem, A)):
        loss, y = entry.reference.for_sample(i), int(problem.y[i])
        scores = [exact.inner(w, X[i]) for w in W]
        primal += Fraction(float(omega[i])) * exact.value(loss, scores, y) / n
        linear += sum(v * Fraction(d) for v, d in zip(a, loss.delta(M, y), strict=True)) / n
        for j, v in enumerate(a):
            V[j] = [old + v * x / (lam * n) for old, x in zip(V[j], X[i], strict=True)]
    return primal + lam / 2 * sum(v * v for row in V for v in row) + linear


@pytest.mark.parametrize("scale", [-6, -2, 0, 2, 6])
def test_gap_and_bound_in_fractions_by_conditioning(scale):
    """The exact gap lies in verify's enclosure, and within gap_error of the computed gap."""
    _, X, y = drawn(3, scale)
    for place, entry in enumerate(binary_entries(y)):
        problem = fwlab.Problem(X, y, entry.loss, 10.0 ** (place % 5 - 2), n_classes=M)
        result = fwlab.solve(problem, tol=1e-10, max_iter=place % 7 + 1)
        gap = exact_gap(problem, entry, result.W, result.A)
        low, high = fwlab.verify(problem, result).gap
        assert Fraction(low) <= gap <= Fraction(high), entry
        assert abs(gap - Fraction(result.gap)) <= Fraction(result.gap_error), entry


FORMS = [
    {},
    {"smoothing": 0.1},
    {"smoothing": 1e-9},
    {"kernel": "linear"},
    {"kernel": "precomputed"},
    {"kernel": "precomputed", "regularizer": fwlab.LpNorm(3.0)},
    {"regularizer": fwlab.LpNorm(1.5)},
    {"regularizer": fwlab.LpNorm(1.0)},
    {"storage": "float32"},
]


@pytest.mark.turns
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_bound_holds_in_every_form_of_a_problem(form):
    rng, X, y = drawn(4)
    X = X @ X.T if form.get("kernel") == "precomputed" else X
    for entry in entries(M, y):
        weights = rng.random(len(y)) * (rng.random(len(y)) < 0.8)
        weights[0] = 1.0
        problem = fwlab.Problem(X, y, entry.loss, 0.05, n_classes=M, sample_weight=weights, **form)
        method = "direct" if "regularizer" in form else "ascent"
        result = fwlab.solve(problem, method, tol=1e-9, max_iter=5)
        low, high = fwlab.verify(problem, result).gap
        assert max(result.gap - low, high - result.gap) <= result.gap_error, entry


def test_the_bound_follows_a_dual_point_that_is_off():
    """A is 1e-10 away from its domain: the dual moves with A', and the bound says how far."""
    _, X, y = drawn(5)
    problem = fwlab.Problem(X, y, fwlab.TopK(2), 0.05, n_classes=M)
    A = fwlab.solve(problem, tol=1e-6).A.copy()
    A[np.arange(len(y)), y] += 1e-10
    certificate = certificate_of(problem, A)
    W = problem.weights(A)
    result = replace(fwlab.solve(problem, max_iter=0), A=A, W=W)
    low, high = fwlab.verify(problem, result).gap
    error = max(certificate.gap - low, high - certificate.gap)
    assert 1e-12 < error <= certificate.gap_error < 1000 * error


def test_sums_in_parts_keep_the_bound_small():
    """gamma_n of n = 200 000 samples alone would be 2e-11."""
    rng = np.random.default_rng(0)
    n = 200_000
    problem = fwlab.Problem(rng.normal(size=(n, 2)), rng.integers(0, 3, n), fwlab.MaxHinge(), 1.0)
    A = problem.loss.lmo(rng.normal(size=(n, 3)), problem.y)
    certificate = certificate_of(problem, A)
    assert certificate.gap_error < 4e-12 * max(certificate.primal, abs(certificate.dual))


def test_a_linear_kernel_is_certified_at_the_data():
    """The Gram matrix has rounding errors of its own; rows of 1e8 with close products show them."""
    _, X, y = drawn(6)
    X = 1e8 + X
    problem = fwlab.Problem(X, y, fwlab.TopK(2), 1e6, n_classes=M, kernel="linear")
    at_data = fwlab.Problem(X, y, fwlab.TopK(2), 1e6, n_classes=M)
    result = fwlab.solve(problem, max_iter=3)
    certificate = certificate_of(at_data, result.A)
    assert_array_equal(
        [result.primal, result.dual, result.gap],
        [certificate.primal, certificate.dual, certificate.gap],
    )
    assert problem.gap(result.A) == result.gap


# ---------------------------------------------------------------- the smallest numbers


@pytest.mark.parametrize("size", [1e-20, 1e-22, 1e-26])
@pytest.mark.parametrize("p", [2.0, 1.5])
def test_products_of_a_kernel_that_vanish_count(size, p):
    """Costs of 1e-170 and quotients by lam n = 3e150 leave numbers without digits."""
    lam = 1e150
    K = size * np.array([[5.0, 0, 1], [0, 5, 1], [1, 1, 3]])
    costs = size / lam * (1 - np.eye(2))
    problem = fwlab.Problem(
        K,
        np.array([0, 1, 0]),
        fwlab.StructuredHinge(costs),
        lam,
        kernel="precomputed",
        regularizer=fwlab.LpNorm(p),
    )
    result = fwlab.solve(problem, "direct", tol=1e-3 * costs.max(), max_iter=50)
    low, high = fwlab.verify(problem, result).gap
    assert result.status is not fwlab.Status.INCONSISTENT
    assert max(result.gap - low, high - result.gap) <= result.gap_error


def test_errors_far_beyond_the_norms_count_by_their_roots():
    """A quotient by the norm would leave the floats."""
    norm, zeros = fwlab.LpNorm(1), np.zeros((3, 3))
    problem = fwlab.Problem(
        np.eye(3), np.arange(3), fwlab.TopK(1), 2.0, kernel="precomputed", regularizer=norm
    )
    error = _norm_error(problem, zeros, zeros, np.full(3, 1e20), norm.square_norm)
    assert error == pytest.approx(norm.square_norm(np.full(3, 1e20)), rel=0.02)


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
def test_squares_that_vanish_count(p):
    X = 1e-8 * np.array([[1.0, 2.0], [2.0, -1.0], [0.5, 0.3]])
    costs = 1e-166 * (1 - np.eye(2))
    problem = fwlab.Problem(
        X, np.array([0, 1, 0]), fwlab.StructuredHinge(costs), 1e150, regularizer=fwlab.LpNorm(p)
    )
    result = fwlab.solve(problem, "direct", tol=1e-170, max_iter=20)
    low, high = fwlab.verify(problem, result).gap
    assert result.status is not fwlab.Status.INCONSISTENT
    assert max(result.gap - low, high - result.gap) <= result.gap_error
    assert result.distance > 0


def test_a_loss_that_is_0_with_its_vertices_has_errors_of_scores():
    """All margins are negative where they are computed; the true loss is 0.4."""
    problem = fwlab.Problem(np.ones((1, 3)), np.array([0]), GivenHinge(), 1e-40, n_classes=2)
    W = np.array([[1e16, 1.5, -1e16], [0.0, 0.9, 0.0]])
    assert certificate_of(problem, np.zeros((1, 2)), W).gap_error >= 0.4
