"""Projections against quadratic programs written from the definitions, and certified intervals.

No solver is trusted. A set is {x: rows x <= bounds, fixed sum or none}; for any point z convexity
gives f(x*) >= f(z) - <g, z> + min <g, v> with g = grad f(z), and a point drawn into the set gives
f(x*) <= f. A solver's answer z makes this interval small or fails. The minimum over the set comes
from its vertices, and HiGHS confirms that it is the one over the rows and bounds.
"""

import itertools
import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
from projection_sets import (
    excess,
    half_gradient,
    is_majorised,
    smallest_on_knapsack,
    smallest_on_permutahedron,
    smallest_on_topk_simplex,
)
from scipy.optimize import linprog

import fwlab

SEEDS = range(8)


@dataclass(frozen=True)
class Polytope:
    """{x in R^d: rows x <= bounds, sum x = total unless None}, with a point strictly inside."""

    rows: np.ndarray
    bounds: np.ndarray
    center: np.ndarray
    total: float | None = None

    def linear_program(self, g: np.ndarray) -> float:
        ones, fixed = np.ones((1, len(g))), self.total is not None
        answer = linprog(
            g,
            A_ub=self.rows,
            b_ub=self.bounds,
            A_eq=ones if fixed else None,
            b_eq=[self.total] if fixed else None,
            bounds=(None, None),
            method="highs",
        )
        assert answer.success, answer.message
        return answer.fun

    def draw_in(self, z: np.ndarray) -> np.ndarray:
        """Return the point of the set nearest to z on the segment from z to the center."""
        if self.total is not None:
            z = z + (self.total - z.sum()) / len(z)
        beyond = self.rows @ z > self.bounds
        too_much = (self.rows @ z - self.bounds)[beyond]
        room = (self.bounds - self.rows @ self.center)[beyond]
        share = (too_much / (too_much + room)).max(initial=0.0)
        return z + share * (self.center - z)


def topk_polytope(d, k, r):
    """Return the set of all x >= 0 with k x_i <= sum x and sum x <= r, for k < d."""
    rows = np.vstack([-np.eye(d), k * np.eye(d) - 1, np.ones((1, d))])
    return Polytope(rows, np.r_[np.zeros(2 * d), r], np.full(d, r / (2 * d)))


def knapsack_polytope(d, r, upper, equality):
    rows = np.vstack([-np.eye(d), np.eye(d), np.ones((1, d))])
    bounds = np.r_[np.zeros(d), np.full(d, upper), np.inf if equality else r]
    if equality:
        return Polytope(rows[:-1], bounds[:-1], np.full(d, r / d), r)
    return Polytope(rows, bounds, np.full(d, min(r / d, upper) / 2))


def permutahedron_polytope(rho):
    """Return the set of all x in which no j entries sum to more than the j largest weights."""
    d = len(rho)
    sums = np.cumsum(np.sort(rho)[::-1])
    rows = np.array([s for s in itertools.product([0.0, 1.0], repeat=d) if 0 < sum(s) < d])
    return Polytope(
        rows.reshape(-1, d),
        sums[rows.sum(axis=1).astype(int) - 1],
        np.full(d, rho.mean()),
        sums[-1],
    )


def objective(a, x, bias):
    return ((a - x) ** 2).sum() + bias * x.sum() ** 2


def solve_qp(a, bias, polytope, solver):
    """Return a solver's answer, however accurate: the certificate judges it."""
    x = cp.Variable(len(a))
    constraints = [polytope.rows @ x <= polytope.bounds]
    if polytope.total is not None:
        constraints.append(cp.sum(x) == polytope.total)
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(a - x) + bias * cp.square(cp.sum(x))), constraints
    )
    options = {
        "OSQP": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 20000},
        "CLARABEL": {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=solver, **options[solver])
    return x.value


def assert_optimal(a, x, bias, polytope, smallest, *options):
    """Assert that x is in the set, its objective is in both intervals, and it certifies itself."""
    scale = 1 + np.abs(a).max() + np.abs(polytope.center).max()
    assert (polytope.rows @ x <= polytope.bounds + 1e-13 * len(a) * scale).all()
    assert polytope.total is None or abs(x.sum() - polytope.total) <= 1e-13 * len(a) * scale
    for solver in ("OSQP", "CLARABEL"):
        z = solve_qp(a, bias, polytope, solver)
        g = 2 * np.array(half_gradient(a, z, bias))
        low = objective(a, z, bias) - g @ z + smallest(g, *options)
        high = objective(a, polytope.draw_in(z), bias)
        assert -1e-12 * scale**2 <= high - low <= 1e-6 * scale**2, f"{solver} certifies nothing"
        rounding = 1e-12 * scale**2
        assert low - rounding <= objective(a, x, bias) <= high + rounding
    g = 2 * np.array(half_gradient(a, x, bias))
    assert g @ x - smallest(g, *options) <= 1e-12 * scale**2


def draw(seed, smallest=1):
    """Return a point, with ties for odd seeds, and a bias."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(rng.integers(smallest, 8)) * rng.choice([0.3, 1.0, 8.0])
    a = np.round(a * 2) / 2 if seed % 2 else a
    return rng, a, rng.choice([0.0, 0.5, 1.0, 6.0])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("r", [0.3, 1.0, 9.0])
def test_topk_simplex(seed, r):
    rng, a, bias = draw(seed, smallest=2)
    k = int(rng.integers(1, len(a)))
    x = fwlab.project_topk_simplex(a, k, r, bias)
    polytope = topk_polytope(len(a), k, r)
    assert_optimal(a, x, bias, polytope, smallest_on_topk_simplex, k, r)


@pytest.mark.parametrize("seed", SEEDS)
def test_topk_cone(seed):
    """The solution is no longer than a, so that its sum is below sqrt(d) |a|."""
    rng, a, bias = draw(seed, smallest=2)
    a = a + rng.choice([0.0, 1.0])
    k = int(rng.integers(1, len(a)))
    r = 1 + np.sqrt(len(a)) * np.linalg.norm(a)
    x = fwlab.project_topk_cone(a, k, bias)
    polytope = topk_polytope(len(a), k, r)
    assert_optimal(a, x, bias, polytope, smallest_on_topk_simplex, k, r)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("equality", [False, True])
@pytest.mark.parametrize("upper", [0.4, 3.0])
def test_knapsack(seed, equality, upper):
    rng, a, bias = draw(seed)
    r = min(rng.choice([0.3, 1.0, 5.0]), 0.9 * upper * len(a))
    x = fwlab.project_knapsack(a, r, upper, equality, bias)
    polytope = knapsack_polytope(len(a), r, upper, equality)
    assert_optimal(a, x, bias, polytope, smallest_on_knapsack, r, upper, equality)


@pytest.mark.parametrize("seed", SEEDS)
def test_permutahedron(seed):
    rng, a, _ = draw(seed, smallest=2)
    rho = np.arange(len(a)) + rng.random(len(a))
    x = fwlab.project_permutahedron(a, rho)
    assert_optimal(a, x, 0.0, permutahedron_polytope(rho), smallest_on_permutahedron, rho)


@pytest.mark.parametrize("seed", SEEDS)
def test_minima_over_the_sets_are_those_of_linear_programs(seed):
    rng, g, _ = draw(seed, smallest=3)
    d, r, upper = len(g), 1.5, 0.6
    for k in range(1, d):
        found = smallest_on_topk_simplex(g, k, r)
        assert found == pytest.approx(topk_polytope(d, k, r).linear_program(g), abs=1e-12)
    for equality in (False, True):
        found = smallest_on_knapsack(g, r, upper, equality)
        linear = knapsack_polytope(d, r, upper, equality).linear_program(g)
        assert found == pytest.approx(linear, abs=1e-12)
    rho = rng.integers(0, 5, d).astype(float)
    found = smallest_on_permutahedron(g, rho)
    assert found == pytest.approx(permutahedron_polytope(rho).linear_program(g), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("d", [50, 400])
def test_larger_points_by_the_closed_forms(seed, d):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(d) * rng.choice([0.1, 1.0, 5.0])
    k, r, bias = int(rng.integers(1, 30)), rng.choice([0.5, 20.0]), rng.choice([0.0, 1.0])
    tolerance = 1e-13 * d * (1 + np.abs(a).max()) ** 2
    x = fwlab.project_topk_simplex(a, k, r, bias)
    assert x.min() >= 0 and k * x.max() <= x.sum() + tolerance and x.sum() <= r + tolerance
    g = half_gradient(a, x, bias)
    assert excess(g, x, smallest_on_topk_simplex(g, k, r)) <= tolerance
    for equality in (False, True):
        x = fwlab.project_knapsack(a, r, r / k, equality, bias)
        assert x.min() >= 0 and x.max() <= r / k and x.sum() <= r + tolerance
        assert not equality or abs(x.sum() - r) <= tolerance
        g = half_gradient(a, x, bias)
        assert excess(g, x, smallest_on_knapsack(g, r, r / k, equality)) <= tolerance
    rho = np.sort(rng.random(d))[::-1]
    x = fwlab.project_permutahedron(a, rho)
    assert is_majorised(x, rho, tolerance)
    g = half_gradient(a, x, 0.0)
    assert excess(g, x, smallest_on_permutahedron(g, rho)) <= tolerance
