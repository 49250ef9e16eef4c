"""Shrinking in ascent: the same optimum, all rows seen again, rows at rest left alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.face_visits import visit_faces
from solvers.solver_table import FORMS, GRID, Case, in_form

import fwlab
from fwlab.kernels.steps.ascent_passes import MOST_COST, share_of_steps
from fwlab.kernels.steps.face_passes import gain_of_pass
from fwlab.operators.features import features_of
from fwlab.solvers.method import State
from fwlab.solvers.registry import build

pytestmark = pytest.mark.small


def easy(form="dense", n=60):
    """Return a problem most of whose rows end at a vertex."""
    return Case(form=form, n=n, d=3, lam=0.5).problem()


@pytest.mark.long
@pytest.mark.parametrize("case", GRID, ids=str)
def test_the_optimum_is_the_same(case):
    problem = case.problem()
    results = [
        fwlab.solve(problem, "ascent", tol=1e-9, max_iter=5000, shrink=shrink)
        for shrink in (True, False)
    ]
    assert all(result.success for result in results)
    assert_allclose(results[0].dual, results[1].dual, atol=2e-9)


@pytest.mark.parametrize("form", FORMS)
def test_steps_on_some_rows_move_no_other(form):
    problem = easy(form)
    state = State(problem, np.zeros((60, problem.n_classes)), np.random.default_rng(0))
    method = build("ascent", {})
    workspace, moved, visited = method.start(state), 0, 0
    most = 1.0 + MOST_COST / share_of_steps(*state.A.shape)
    for _ in range(15):
        work, steps = workspace.work, state.n_steps
        method.iterate(state, workspace)
        assert_allclose(state.link, problem.link(state.A), atol=1e-12)
        assert 1.0 <= workspace.work - work <= most
        assert (workspace.work - work > 1.0) == (state.n_steps > steps + 60)
        visited += workspace.work - work > 1.0
        before = state.A.copy()
        cost = visit_moving(method, workspace, state)
        assert 0.0 <= cost <= 2.0
        rows = np.flatnonzero((state.A != before).any(axis=1))
        assert set(rows) <= set(workspace.moving)
        assert cost > 0.0 or len(rows) == 0
        moved += len(rows)
        assert_allclose(state.link, problem.link(state.A), atol=1e-12)
    assert moved > 10
    assert visited > 0


def visit_moving(method, workspace, state):
    """Step on the rows that moved last, alone; return the cost in passes over all rows."""
    if state.problem.kernel is not None:
        return method.visit_part_of_gram(workspace.moving, state)
    gained = gain_of_pass(workspace.moves, state.problem.curvatures)
    return visit_faces(state, workspace.moving, gained)[1]


def test_rows_that_rest_are_left_out_and_seen_again():
    problem = easy()
    plain = fwlab.solve(problem, tol=1e-9, max_iter=20000, shrink=False)
    shrunken = fwlab.solve(problem, tol=1e-9, max_iter=20000)
    assert shrunken.success and plain.success
    assert 2 * shrunken.nit < plain.nit


def test_what_moves_is_measured_by_the_weight_of_its_row():
    case = Case(n=60, d=3, lam=0.5)
    weight = 1e-13
    problem = fwlab.Problem(
        case.X, case.y, fwlab.TopK(2), 0.5 * weight, sample_weight=np.full(60, weight)
    )
    trace = fwlab.solve(problem, tol=0.0, max_iter=30, check_every=1).trace
    assert trace.n_steps[-1] > 60 * 31


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_part_of_what_is_read_only_is_read_only(form):
    X = in_form(Case().X.copy(), form)[0]
    values = X if form == "dense" else X.data
    for writeable in (True, False):
        values.flags.writeable = writeable
        part = features_of(X, None).rows(np.arange(3)).X
        assert (part if form == "dense" else part.data).flags.writeable is writeable


@pytest.mark.parametrize("options", [{"shrink": False}, {"order": "gap"}], ids=str)
def test_without_shrinking_every_iteration_is_a_pass(options):
    trace = fwlab.solve(easy(), tol=0.0, max_iter=20, **options, check_every=1).trace
    assert_array_equal(trace.n_steps, 60 * trace.iteration)


def test_shrink_is_a_flag_of_ascent_alone():
    with pytest.raises(TypeError, match="shrink"):
        fwlab.solve(easy(), shrink="no")
    with pytest.raises(TypeError, match="takes"):
        fwlab.solve(easy(), "bcfw", shrink=False)
