"""Active sets: at any time they are the iterate, without ghosts, twins or negative weights; the
atom to leave and the vertex to go to are the extreme ones of the whole set; drops are exact."""

from itertools import islice, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.active_set_table import (
    ALL,
    BENT_PATH,
    BETWEEN_TWO_ENDS,
    ONE_BLOCK,
    STARTS,
    WHOLE_MATRIX,
    active_set,
    all_vertices,
    begin,
    best_slope,
    each_case,
    exact_gains,
    gradient,
    iterates,
    start_point,
    written_out,
)
from solvers.solver_table import Case, M

import fwlab
from fwlab.kernels.steps.active_sets import move_row
from fwlab.kernels.steps.pairwise_rule import POINT, largest_step
from fwlab.operators.vertices import atom_of
from fwlab.solvers.atoms import ActiveSet
from fwlab.solvers.blocks import ORDERS
from fwlab.solvers.row_active_sets import RowActiveSets

pytestmark = pytest.mark.small
each_start = pytest.mark.parametrize("start", STARTS)
ITERATIONS = 12


# ---------------------------------------------------------------- at any time


@pytest.mark.grid
@each_case
@each_start
@pytest.mark.parametrize("method", ALL)
def test_the_active_set_is_the_iterate(method, start, case):
    for state, held in iterates(case, method, start, ITERATIONS):
        sets = written_out(held, case.y)
        combined = [np.tensordot(weights, atoms, 1) for weights, atoms in sets]
        assert_allclose(np.concatenate(combined), state.A, rtol=0, atol=1e-12)
        assert_allclose(state.link, state.problem.link(state.A), rtol=0, atol=1e-12)
        for weights, _ in sets:
            assert weights.min() > 1e-15
            assert weights.sum() == pytest.approx(1.0, abs=1e-14)
        assert state.active == sum(len(weights) for weights, _ in sets)


@pytest.mark.grid
@each_case
@each_start
@pytest.mark.parametrize("method", ALL)
def test_atoms_are_vertices_and_no_two_are_equal(method, start, case):
    A0 = start_point(case, start)
    vertices = [np.vstack([all_vertices(case, i), A0[i]]) for i in range(case.n)]
    for _, held in iterates(case, method, start, ITERATIONS):
        for first, (_, atoms) in enumerate(written_out(held, case.y)):
            for row in range(atoms.shape[1]):
                differences = np.abs(atoms[:, row, None] - vertices[first + row])
                assert differences.max(axis=2).min(axis=1).max() < 1e-14
            twins = np.abs(atoms[:, None] - atoms).max(axis=(2, 3)) + np.eye(len(atoms))
            # a row without weight has one point
            assert len(atoms) == 1 or twins.min() > 1e-6


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_few_vertices_are_few_atoms(method, smoothing):
    """Three classes and two samples: no more atoms than vertices, however long the run."""
    X, y = np.array([[1.0, 0.5], [0.5, -1.0]]), np.array([0, 2])
    for loss in (fwlab.TopK(2), fwlab.Usunier(2), fwlab.WeightedTopK([0.5, 0.25, 0.25])):
        problem = fwlab.Problem(X, y, loss, 0.05, smoothing=smoothing, n_classes=3)
        _, state, workspace = result = begin(problem, method, np.zeros((2, 3)))
        for _ in range(60):
            result[0].iterate(state, workspace)
        counts = [len(loss.vertices(3, int(label))) for label in y]
        assert state.active <= (np.prod(counts) if method in WHOLE_MATRIX else sum(counts))


@pytest.mark.turns
@pytest.mark.long
@pytest.mark.parametrize("method", ALL)
def test_rounding_does_not_build_up(method):
    """After a long run."""
    case = Case("TopK-1", n=20)
    *_, (state, held) = iterates(case, method, "zero", 1500)
    for weights, _ in written_out(held, case.y):
        assert abs(weights.sum() - 1.0) <= 4e-16
    combined = [np.tensordot(weights, atoms, 1) for weights, atoms in written_out(held, case.y)]
    assert_allclose(np.concatenate(combined), state.A, rtol=0, atol=1e-12)
    link = state.problem.link(state.A)
    assert_allclose(state.link, link, rtol=0, atol=1e-12 * np.abs(link).max())


@pytest.mark.parametrize("method", WHOLE_MATRIX)
def test_errors_of_a_whole_matrix_heal(method):
    """Away steps multiply what rounding has done to A: it is combined again before that matters."""
    case = Case("TopK-1")
    run = iterates(case, method, "zero", 100)
    *_, (state, held) = islice(run, 20)
    state.A[0] += (1e-6, -1e-6, 0.0, 0.0)
    state.refresh()
    *_, (state, held) = run
    [(weights, atoms)] = written_out(held, case.y)
    assert_allclose(np.tensordot(weights, atoms, 1), state.A, rtol=0, atol=1e-12)
    assert_allclose(state.scores, case.X @ state.problem.weights(state.A).T, atol=1e-12)


# ---------------------------------------------------------------- extreme atoms


@pytest.mark.grid
@each_case
@each_start
@pytest.mark.parametrize("method", BETWEEN_TWO_ENDS)
def test_whole_matrix_steps_go_from_the_worst_atom_of_all(method, start, case):
    """The slope of the step that was taken against all vertices and all atoms; at its end the dual
    is flat along it, unless it ends at a limit."""
    problem = case.problem()
    solver, state, workspace = begin(problem, method, start_point(case, start))
    seen = 0
    for _ in range(ITERATIONS):
        A, g = state.A.copy(), gradient(problem, state.A)
        weights, atoms = written_out(active_set(workspace), case.y)[0]
        lowest = sum((all_vertices(case, i) @ g[i]).min() for i in range(case.n))
        highest, mean = (atoms * g).sum(axis=(1, 2)).max(), (A * g).sum()
        solver.iterate(state, workspace)
        if state.step > 1e-3:
            within = highest - (atoms * g).sum(axis=(1, 2)).min()
            slope = {
                "pfw": highest - lowest,
                "afw": max(mean - lowest, highest - mean),
                "blended-pairwise": within if within >= mean - lowest else mean - lowest,
            }[method]
            taken = (g * (A - state.A)).sum() / state.step
            assert taken == pytest.approx(slope, rel=1e-9)
            left = (gradient(problem, state.A) * (A - state.A)).sum() / state.step
            limits = np.concatenate([[1.0], weights, weights / np.maximum(1 - weights, 1e-9)])
            inside = np.abs(limits - state.step).min() > 1e-9
            assert left >= -1e-9 * slope
            assert not inside or left <= 1e-9 * slope
            seen += 1
    assert seen > 3


@pytest.mark.grid
@each_case
@each_start
@pytest.mark.parametrize("method", BENT_PATH)
def test_bent_directions_leave_the_worst_atom_of_each_row(method, start, case):
    problem = case.problem()
    solver, state, workspace = begin(problem, method, start_point(case, start))
    for _ in range(ITERATIONS):
        held, g = active_set(workspace), gradient(problem, state.A)
        held.reserve(np.arange(case.n))
        found = solver.choose(state, held)
        assert_allclose((-g * found.D).sum(axis=1), found.slopes, rtol=0, atol=1e-11)
        for i, (weights, atoms) in enumerate(written_out(held, case.y)):
            slope, limits = best_slope(method, g[i], state.A[i], weights, atoms[:, 0], case, i)
            assert found.slopes[i] == pytest.approx(slope, abs=1e-11)
            if slope > 1e-9:
                assert np.abs(limits - found.limits[i]).min() <= 1e-9 * (1 + found.limits[i])
        solver.iterate(state, workspace)


@pytest.mark.grid
@each_case
@each_start
@pytest.mark.parametrize("method", ONE_BLOCK)
def test_one_block_takes_the_exact_step(method, start, case):
    """With orthogonal samples each row sees the gradient at the start of the pass: the row's own
    dual rises by what the best direction and the exact step within its limit give.
    """
    problem = case.orthogonal()
    solver, state, workspace = begin(problem, method, start_point(case, start))
    curvatures = problem.curvatures + problem.ridge()[:, 0]
    for _ in range(6):
        A, g = state.A.copy(), gradient(problem, state.A)
        sets = written_out(active_set(workspace), case.y)
        solver.iterate(state, workspace)
        change = state.A - A
        gains = -(g * change).sum(axis=1) - curvatures / 2 * (change**2).sum(axis=1)
        for i, (weights, atoms) in enumerate(sets):
            expected = exact_gains(method, g[i], A[i], weights, atoms[:, 0], curvatures[i], case, i)
            assert np.abs(expected - gains[i]).min() <= 1e-10


# ---------------------------------------------------------------- drops


@each_case
@pytest.mark.parametrize("method", BENT_PATH)
def test_a_block_at_its_limit_drops_its_atom_exactly(method, case):
    """It is not among the atoms any more, and the row no longer contains it."""
    problem, dropped = case.problem(), 0
    solver, state, workspace = begin(problem, method, start_point(case, "inside"))
    for _ in range(3 * ITERATIONS):
        held = active_set(workspace)
        held.reserve(np.arange(case.n))
        found, before = solver.choose(state, held), written_out(held, case.y)
        solver.iterate(state, workspace)
        after = written_out(active_set(workspace), case.y)
        for i in np.flatnonzero((found.slopes > 0) & (found.limits <= state.step)):
            slot = found.slots[i, 1]
            gone = before[i][1][slot] if slot >= 0 else before[i][1]
            towards = found.slots[i, 0]
            if slot < 0 and towards < len(before[i][1]):
                gone = np.delete(before[i][1], towards, axis=0)
            distances = np.abs(after[i][1] - np.reshape(gone, (-1, 1, 1, M))).max(axis=(2, 3))
            assert distances.size == 0 or distances.min() > 1e-9
            dropped += 1
    assert dropped > 3


@pytest.mark.grid
@each_case
@pytest.mark.parametrize("method", BETWEEN_TWO_ENDS)
def test_a_step_at_its_limit_drops_one_atom(method, case):
    """The weight of the away atom; for afw what makes that weight 0."""
    problem, drops = case.problem(), 0
    solver, state, workspace = begin(problem, method, start_point(case, "inside"))
    for _ in range(8 * ITERATIONS):
        weights, before = written_out(active_set(workspace), case.y)[0]
        away = (before * gradient(problem, state.A)).sum(axis=(1, 2)).argmax()
        solver.iterate(state, workspace)
        others = np.delete(weights, away).sum()
        limit = weights[away] if method != "afw" or others == 0 else weights[away] / others
        if others > 0 and abs(state.step - limit) <= 1e-13 * limit:
            _, after = written_out(active_set(workspace), case.y)[0]
            assert np.abs(after - before[away]).max(axis=(1, 2)).min() > 1e-9
            drops += 1
    assert drops > 0


@pytest.mark.parametrize("heavy", [0.75, 0.9999, 1 - 1e-9])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_heavy_atom_leaves_exactly(heavy, share):
    """Steps up to w / (1 - w) may lose digits of the weights: at the limit the atom goes all the
    same, and the rest is scaled to sum 1."""
    light = 1 - heavy + 1.1e-16  # the sum is 1 to rounding, as after any step
    problem = fwlab.Problem(np.eye(2), [0, 1], fwlab.MaxHinge(), 1.0)
    rows, whole = RowActiveSets.holding(problem, np.zeros((2, 2))), np.zeros((2, 2))
    other = problem.lowest(np.zeros((2, 2)))[0].atom()
    held = ActiveSet(
        [atom_of(problem.polytopes, np.zeros((2, 2))), other], np.array([heavy, light])
    )
    limit = held.largest_step(POINT, 0)
    held.move(POINT, 0, share * limit, limit)
    held.combine(whole)
    rows.classes[0, 1], rows.entries[0, 1] = other.classes[0], other.entries[0]
    rows.atom_weights[0, :2], rows.counts[0] = (heavy, light), 2
    assert largest_step(rows.atom_weights[0, :2], POINT, 0) == limit
    A = np.zeros((2, 2))
    move_row(rows.arrays, 0, POINT, 0, share * limit, limit, 0, A[0])
    count = 1 if share == 1.0 else 2
    assert rows.counts[0] == len(held.atom_weights) == count
    for weights in (rows.atom_weights[0, :count], held.atom_weights):
        assert abs(weights.sum() - 1.0) <= 3e-16
        assert weights[-1] == pytest.approx(light * (1 + share * limit), rel=1e-6)
    assert_array_equal(A[0], whole[0])


@pytest.mark.parametrize("method", ALL)
def test_a_full_step_leaves_one_atom(method):
    """With a large lam the dual rises all the way to the vertex."""
    case = Case(lam=1e4)
    *_, (state, held) = iterates(case, method, "zero", 1)
    for weights, atoms in written_out(held, case.y):
        assert_array_equal(weights, [1.0])
        assert_allclose(atoms[0].max(axis=1), 1.0)
    assert state.step == 1.0 or method in ONE_BLOCK


# ---------------------------------------------------------------- starts


@pytest.mark.turns
@each_case
@pytest.mark.parametrize("method", ALL)
def test_a_start_is_one_atom_a_set(method, case):
    for start in STARTS:
        trace = fwlab.solve(
            case.problem(),
            method,
            tol=0.0,
            max_iter=1,
            A0=start_point(case, start),
            check_every=1,
        ).trace
        assert trace.active[0] == (1 if method in WHOLE_MATRIX else case.n)
        assert trace.dual[1] > trace.dual[0]


@pytest.mark.turns
@pytest.mark.long
@each_case
@pytest.mark.parametrize("method", ALL)
def test_an_optimal_start_stays(method, case):
    problem = case.problem()
    best = fwlab.solve(problem, "ascent", tol=1e-14, max_iter=3000, check_every=1)
    assert best.gap < 1e-9
    result = fwlab.solve(problem, method, tol=0.0, max_iter=5, A0=best.A, check_every=1)
    assert np.isfinite(result.A).all()
    assert result.infeasibility <= 1e-12
    assert result.trace.dual.min() >= best.dual - 1e-14
    steps = result.trace.step[1:]
    assert np.isfinite(steps).all() or method in ONE_BLOCK


@pytest.mark.parametrize("method", ALL)
def test_no_direction_is_no_step(method):
    """Samples of zeros: the first step solves the problem, and then nothing moves."""
    y = np.array([0, 1, 2])
    problem = fwlab.Problem(np.zeros((3, 2)), y, fwlab.TopK(2), 1.0)
    duals, active = [], []
    solver, state, workspace = begin(problem, method, np.zeros((3, 3)))
    for _ in range(4):
        solver.iterate(state, workspace)
        duals.append(problem.dual(state.A))
        active.append(state.active)
    assert duals == [duals[0]] * 4
    assert problem.gap(state.A) == 0.0
    assert active == [1 if method in WHOLE_MATRIX else 3] * 4
    assert state.step == 0.0 or method in ONE_BLOCK


@pytest.mark.parametrize("method", (*WHOLE_MATRIX, *BENT_PATH))
@pytest.mark.parametrize("loss", ["TopK-3", "Usunier-3"])
def test_rounding_is_no_slope(method, loss):
    """With a large lam the first step ends at the optimum, a vertex: the slopes there are the
    rounding of sums taken in different orders."""
    case = Case(loss, n=60, d=7, lam=300.0)
    (*_, (state, _)) = iterates(case, method, "zero", 1)
    assert state.step == 1.0
    assert state.problem.gap(state.A) <= 1e-14
    (*_, (state, _)) = iterates(case, method, "zero", 2)
    assert state.step == 0.0


@pytest.mark.long
@pytest.mark.parametrize("method", ALL)
def test_the_dual_never_falls_from_any_start(method):
    for case in (Case("TopK-1", n=20), Case("Usunier-3", n=20, smoothing=0.01, weighted=True)):
        for start in STARTS:
            result = fwlab.solve(
                case.problem(),
                method,
                tol=0.0,
                max_iter=60,
                A0=start_point(case, start),
                check_every=1,
            )
            assert all(b >= a - 1e-14 for a, b in pairwise(result.trace.dual))


@pytest.mark.turns
@pytest.mark.parametrize("method", ONE_BLOCK)
@pytest.mark.parametrize("order", ORDERS)
def test_rows_visited_often_find_room(method, order):
    """Capacity grows with the visits of a pass, all of one row included."""
    case = Case("TopK-1")
    for state, held in iterates(case, method, "zero", 6, order=order):
        combined = [np.tensordot(weights, atoms, 1) for weights, atoms in written_out(held, case.y)]
        assert_allclose(np.concatenate(combined), state.A, rtol=0, atol=1e-12)
    held.reserve(np.zeros(50, dtype=np.int64))
    assert held.atom_weights.shape[1] >= held.counts[0] + 50
    assert held.atom_weights.shape == held.classes.shape[:2] == held.entries.shape[:2]
