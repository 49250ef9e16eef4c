"""dicg: each block goes from the best vertex of its smallest face to the LMO's vertex, as far as
the dual rises or the domain reaches; no atoms, and no rounding that builds up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from solvers.active_set_table import STARTS, all_vertices, begin, each_case, gradient, start_point
from solvers.solver_table import Case, M

import fwlab
from fwlab.kernels.domains.sorting import COUNTING_LENGTH

pytestmark = pytest.mark.small


def in_domain(case, i, a, tol):
    """Return whether row i may be a; tol is a fraction of the size of the domain."""
    if case.omega[i] == 0:
        return not a.any()
    loss = case.entry.loss
    if case.entry.kind == "StructuredHinge":
        loss = type(loss)(np.ones((M, M)) - np.eye(M))  # costs do not enter the domain
    return bool(loss.in_domain(-a / case.omega[i], int(case.y[i]), tol=tol))


@pytest.mark.grid
@each_case
@pytest.mark.parametrize("start", ["zero", "inside"])
def test_one_block_takes_the_best_step(start, case):
    """With orthogonal samples each row sees the gradient at the start of the pass. The row moves
    along u - v, with u the lowest vertex and v the highest one that the row can move away from.
    """
    problem = case.orthogonal()
    solver, state, workspace = begin(problem, "dicg", start_point(case, start))
    curvatures, moved = problem.curvatures + problem.ridge()[:, 0], 0
    for _ in range(4):
        A, g = state.A.copy(), gradient(problem, state.A)
        solver.iterate(state, workspace)
        for i in range(0, case.n, 4):
            vertices, change = all_vertices(case, i), state.A[i] - A[i]
            away = [v for v in vertices if in_domain(case, i, A[i] + 1e-6 * (A[i] - v), 1e-10)]
            lowest, highest = (vertices @ g[i]).min(), max(v @ g[i] for v in away)
            lows = [u for u in vertices if u @ g[i] <= lowest + 1e-10]
            worst = [v for v in away if v @ g[i] >= highest - 1e-10]
            gain = -g[i] @ change - curvatures[i] / 2 * change @ change
            pairs = ((u, v) for u in lows for v in worst)
            gains = (best_gain(case, i, A[i], u - v, g[i], curvatures[i]) for u, v in pairs)
            assert any(abs(expected - gain) <= 1e-8 for expected in gains)
            moved += gain > 1e-6
    assert moved >= 2


def best_gain(case, i, a, direction, g, curvature):
    """Return the gain of the exact step along a direction, within the domain by bisection."""
    rise, bend = -direction @ g, curvature * direction @ direction
    if rise <= 1e-9:
        return 0.0
    low, high = 0.0, min(rise / bend, 2.0)
    if in_domain(case, i, a + high * direction, 1e-12):
        low = high
    for _ in range(36):
        middle = (low + high) / 2
        inside = in_domain(case, i, a + middle * direction, 1e-12)
        low, high = (middle, high) if inside else (low, middle)
    return low * rise - low**2 * bend / 2


@pytest.mark.turns
@pytest.mark.parametrize("loss", ["TopK-1", "PseudoTopK-2", "Usunier-3", "WeightedTopK-7"])
def test_rounding_does_not_build_up(loss):
    """In the state itself; the result is projected."""
    problem = Case(loss, n=20, weighted=True).problem()
    solver, state, workspace = begin(problem, "dicg", np.zeros((20, M)))
    for _ in range(300):
        solver.iterate(state, workspace)
    assert problem.infeasibility(state.A) <= 2e-14
    assert_allclose(state.A.sum(axis=1), 0.0, atol=1e-14)
    assert state.active == 0


@pytest.mark.parametrize("loss", ["TopK-1", "Usunier-3"])
def test_a_start_outside_by_rounding_does_not_stop_it(loss):
    case = Case(loss)
    A0 = (1 + 1e-10) * start_point(case, "vertex")
    assert fwlab.solve(case.problem(), "dicg", tol=1e-7, max_iter=3000, A0=A0).success


@pytest.mark.turns
@each_case
def test_it_reaches_the_optimum_from_every_start(case):
    problem = case.problem()
    best = fwlab.solve(problem, "ascent", tol=1e-12, max_iter=3000, check_every=1)
    for start in STARTS:
        result = fwlab.solve(
            problem, "dicg", tol=1e-7, max_iter=3000, A0=start_point(case, start), check_every=1
        )
        assert result.success
        assert result.dual <= best.primal + 1e-13
        assert np.diff(result.trace.dual).min() >= -1e-14


@pytest.mark.long
@pytest.mark.deep
def test_many_classes():
    """Longer rows are sorted by another function, which takes half a minute to compile here."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), rng.integers(0, 80, 60)
    for loss in (fwlab.TopK(5), fwlab.Usunier(3), fwlab.WeightedTopK([3.0, 2.0, 1.0])):
        problem = fwlab.Problem(X, y, loss, 0.05, n_classes=80)
        result = fwlab.solve(problem, "dicg", tol=1e-5, max_iter=3000)
        assert result.success
        assert result.infeasibility <= 1e-13


@pytest.mark.parametrize("loss", [fwlab.TopK(3), fwlab.Usunier(3)], ids=repr)
def test_more_classes_than_are_sorted_by_counting(loss):
    """The sort of long rows once read one entry past its end."""
    rng, m = np.random.default_rng(5), COUNTING_LENGTH + 8
    problem = fwlab.Problem(rng.normal(size=(m, 4)), np.arange(m), loss, C=1.0)
    result = fwlab.solve(problem, "dicg", tol=0.0, max_iter=6)
    assert problem.is_feasible(result.A)
    assert (np.diff(result.trace.dual) >= -1e-14).all()
    assert result.dual > fwlab.solve(problem, "dicg", tol=0.0, max_iter=1).dual
