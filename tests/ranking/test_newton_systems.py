"""Newton systems: both kinds solve the system as it is written, over many decades of D."""

from fractions import Fraction

import numpy as np
import pytest

from fwlab.ranking import PatMat, TopPush, TopPushK
from fwlab.ranking.dual import equalities
from fwlab.ranking.newton_systems import (
    FactorSystem,
    StoredSystem,
    bytes_needed,
    newton_system,
)
from fwlab.ranking.problem import Problem

pytestmark = pytest.mark.small
P, Q, FEATURES = 4, 7, 3
Y = np.repeat([1, 0], [P, Q])
UNIT = Fraction(1, 2**53)  # of rounding to the nearest double
fractions = np.vectorize(Fraction, otypes=[object])


def system_parts(seed, rows):
    """Return rows of a factor L, and right sides."""
    rng = np.random.default_rng(seed)
    A, _ = equalities(P, Q, r_is_sum=rows == 2)
    n = P + Q
    return rng, rng.normal(size=(n, FEATURES)), A, rng.normal(size=n), rng.normal(size=len(A))


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_both_kinds_solve_the_system(seed, rows):
    rng, L, A, f, g = system_parts(seed, rows)
    D = 10.0 ** rng.uniform(-2, 2, len(L))
    M = np.block([[L @ L.T + np.diag(D), A.T], [A, np.zeros((rows, rows))]])
    wanted = np.linalg.solve(M, np.concatenate([f, g]))
    signs = np.repeat([1.0, -1.0], [P, Q])
    K = signs[:, None] * (L @ L.T) * signs
    for system in (StoredSystem(K, A, signs), FactorSystem(L, A)):
        system.factorise(D)
        x, v = system.solve(f, g)
        assert np.concatenate([x, v]) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        assert system.product(f) == pytest.approx(L @ (L.T @ f))


def row_error(L, A, D, f, g, x, v):
    """Return the largest error of a row, in units of its terms, as an exact fraction.

    The terms of Q x = L L^T x count four times: see error_bound.
    """
    L, A, D, f, g, x, v = map(fractions, (L, A, D, f, g, x, v))
    above = L @ (L.T @ x) + D * x + A.T @ v - f
    above_terms = 4 * abs(L) @ (abs(L.T) @ abs(x)) + D * abs(x) + abs(A.T) @ abs(v) + abs(f)
    below, below_terms = A @ x - g, abs(A) @ abs(x) + abs(g)
    return max(np.concatenate([abs(above) / above_terms, abs(below) / below_terms]))


def error_bound(n, width):
    """Return the error that refinement must reach on a system.

    The rows are D x + L u + A^T v = f, L^T x - u = 0, A x = g.

    Let e be the largest error of a row in units of its terms, eps the unit of rounding, and
    gamma = k eps/(1 - k eps). No term of a row passes more than k = max(n, width) + 2 roundings,
    so the computed e is within gamma of the true one (Higham 2002, section 3.1, for any order of
    the sums). A correction is to leave a quarter of e, far more than an accurate factor leaves;
    the residual it is for is wrong by gamma, the next one is measured to gamma, and the sum x + dx
    is rounded by eps. To first order, the computed errors obey

        e' <= e/4 + G,   G = 2 gamma + eps.

    Refinement ends at e <= 2 eps, or with the better of the last two at e' > e/2. Then
    e/2 < e/4 + G, so e < 4 G and e' < 2 G. The true error is at most 2 G + gamma. Without u,
    with |u| <= (1 + e)/(1 - e) |L^T| |x|, the error of Q x + D x + A^T v = f is at most e times
    |f| + D |x| + |A^T| |v| + 4 |L| |L^T| |x|.

    In units of |L| |L^T x| there is no such bound: to round the exact x changes L^T x by
    eps |L^T| |x|.
    """
    k = max(n, width) + 2
    gamma = k * UNIT / (1 - k * UNIT)
    return 2 * (2 * gamma + UNIT) + gamma


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("decades", [20, 40])
def test_the_factor_keeps_every_row_over_many_decades(decades, rows):
    for seed in range(100):
        rng, L, A, f, g = system_parts(seed, rows)
        D = 10.0 ** rng.uniform(-decades / 2, decades / 2, len(L))
        system = FactorSystem(L, A)
        system.factorise(D)
        x, v = system.solve(f, g)
        assert row_error(L, A, D, f, g, x, v) <= error_bound(len(L), FEATURES + rows), seed


@pytest.mark.parametrize("rows", [1, 2])
def test_the_normal_equations_serve_ordinary_systems(rows):
    """Without QR, over four decades of D; the second system has another D."""
    for seed in range(20):
        rng, L, A, f, g = system_parts(seed, rows)
        system = FactorSystem(L, A)
        for _ in range(2):
            D = 10.0 ** rng.uniform(-2, 2, len(L))
            system.factorise(D)
            x, v = system.solve(f, g)
            assert system.qr is None
            assert row_error(L, A, D, f, g, x, v) <= error_bound(len(L), FEATURES + rows), seed


def test_refinement_that_helps_no_more_ends(monkeypatch):
    """A correction that makes the error larger is not kept."""
    _, L, A, f, g = system_parts(0, 1)
    system = FactorSystem(L, A)
    system.factorise(np.ones(len(L)))
    system.cholesky = None
    x, v = system.solve(f, g)
    plain = system._solve_once
    calls = []

    def worse(f, h):
        calls.append(f)
        x, y = plain(f, h)
        return (x * (1 + 1e-6), y) if len(calls) == 1 else (x + 1, y)

    monkeypatch.setattr(system, "_solve_once", worse)
    kept = system.solve(f, g)
    assert len(calls) == 2
    assert np.concatenate(kept) == pytest.approx(np.concatenate([x * (1 + 1e-6), v]), rel=1e-12)


@pytest.mark.parametrize("objective", [TopPush(), TopPushK(3), PatMat(0.1)])
def test_the_kind_follows_the_shape_of_the_rows(objective):
    rng = np.random.default_rng(0)
    signs = np.repeat([1.0, -1.0], [P, Q])
    for width, kind, needed in ((3, FactorSystem, 0), (30, StoredSystem, 16 * (P + Q) ** 2)):
        X = rng.normal(size=(P + Q, width))
        problem = Problem(X, Y, objective, 1.0)
        system = newton_system(problem, equalities(P, Q, r_is_sum=False)[0], merged=False)
        x = rng.normal(size=P + Q)
        assert isinstance(system, kind) and bytes_needed(problem) == needed
        assert system.product(x) == pytest.approx(signs * (X @ (X.T @ (signs * x))))


def test_merged_negatives_are_their_mean():
    X = np.random.default_rng(1).normal(size=(P + Q, FEATURES))
    rows = np.vstack([X[:P], -X[P:].mean(axis=0)])
    A = equalities(P, 1, r_is_sum=False)[0]
    for kernel, data in (("linear", X), ("precomputed", X @ X.T)):
        system = newton_system(Problem(data, Y, TopPushK(Q), 1.0, kernel), A, merged=True)
        x = np.arange(P + 1.0)
        assert system.product(x) == pytest.approx(rows @ (rows.T @ x))
