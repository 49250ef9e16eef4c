"""Newton systems: both kinds solve the system as it is written, over twenty decades of D."""

import numpy as np
import pytest

from fwlab.ranking import PatMat, TopPush, TopPushK
from fwlab.ranking.interior_point import equalities
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


def system_parts(seed, rows):
    """Rows of a factor L, and right sides."""
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
    for system in (StoredSystem(L @ L.T, A), FactorSystem(L, A)):
        system.factorise(D)
        x, v = system.solve(f, g)
        assert np.concatenate([x, v]) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        assert system.product(f) == pytest.approx(L @ (L.T @ f))


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_the_factor_keeps_every_row_over_twenty_decades(seed, rows):
    rng, L, A, f, g = system_parts(seed, rows)
    D = 10.0 ** rng.uniform(-10, 10, len(L))
    system = FactorSystem(L, A)
    system.factorise(D)
    x, v = system.solve(f, g)
    Qx = L @ (L.T @ x)
    terms = np.abs(f) + np.abs(L) @ np.abs(L.T @ x) + np.abs(D * x) + np.abs(A.T) @ np.abs(v)
    assert (np.abs(Qx + D * x + A.T @ v - f) <= 1e-11 * terms).all()
    assert (np.abs(A @ x - g) <= 1e-11 * (np.abs(g) + np.abs(A) @ np.abs(x))).all()


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
