"""Steps on faces: exact steps with fewer classes, which leave the other classes at 0."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from solvers.face_visits import FacePasses, faces_of, visit_faces

import fwlab
from fwlab.kernels.layouts import Faces
from fwlab.kernels.steps.ascent_passes import (
    MOST_COST,
    MOST_COST_OF_ONE,
    relative_cost,
    share_of_steps,
)
from fwlab.kernels.steps.face_passes import gain_of_pass
from fwlab.kernels.steps.orders import shuffle
from fwlab.solvers.method import State
from fwlab.solvers.registry import build

pytestmark = pytest.mark.small
N, M = 30, 8
COSTS = 2 * np.random.default_rng(7).random((M, M))
np.fill_diagonal(COSTS, 0.0)
LOSSES = [
    fwlab.MaxHinge(),
    fwlab.StructuredHinge(COSTS),
    fwlab.TopK(3),
    fwlab.Usunier(3),
    fwlab.PseudoTopK(2),
    fwlab.WeightedUsunier((0.5, 0.3, 0.2)),
]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
each_form = pytest.mark.parametrize("as_form", [np.asarray, scipy.sparse.csr_array])


def problem_of(loss, as_form=np.asarray, smoothing=0.0, lam=0.02):
    """Return a problem with a row of zeros and two samples of weight 0."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((N, 5)), np.arange(N) % M
    X[3] = 0.0
    weight = np.where(np.isin(np.arange(N), (5, 9)), 0.0, rng.random(N) + 0.5)
    return fwlab.Problem(as_form(X), y, loss, lam, smoothing, sample_weight=weight)


def state_of(problem, passes=2):
    """Return the state after some passes over all rows in their order."""
    state = State(problem, np.zeros((problem.n_samples, M)), np.random.default_rng(0))
    method = build("ascent", {"shrink": False, "order": "cyclic"})
    workspace = method.start(state)
    for _ in range(passes):
        method.iterate(state, workspace)
    return state


def all_faces(problem):
    """Return the whole domain of each block with a weight, as a face."""
    rows = np.flatnonzero(problem.sample_weight)
    classes = [np.roll(np.arange(M), -y) for y in problem.y[rows]]
    return Faces(rows, np.arange(len(rows) + 1) * M, np.concatenate(classes))


@pytest.mark.turns
@each_loss
@each_form
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_on_the_face_of_all_classes_the_step_is_the_exact_one(loss, as_form, smoothing):
    problem = problem_of(loss, as_form, smoothing)
    whole, on_faces = state_of(problem, 3), state_of(problem, 2)
    passes = FacePasses(on_faces, all_faces(problem))
    passes.visit(np.arange(len(passes.moves)))
    rows = passes.faces.rows
    # a row of zeros has no curvature, so that its maximiser is a vertex; face steps do not move it
    other = np.setdiff1d(np.arange(N), [3] if smoothing == 0.0 else [])
    assert_allclose(on_faces.A[other], whole.A[other], atol=1e-12)
    assert_allclose(on_faces.link, problem.link(on_faces.A), atol=1e-12)
    moved = np.abs(on_faces.A - state_of(problem, 2).A).sum(axis=1)
    assert_allclose(passes.moves, moved[rows], atol=1e-12)


@pytest.mark.turns
@each_loss
@each_form
def test_a_step_goes_to_the_best_point_of_the_face(loss, as_form):
    problem = problem_of(loss, as_form, 0.3)
    state, rng = state_of(problem), np.random.default_rng(2)
    faces = faces_of(state, np.arange(N))
    assert len(faces.rows) > N / 2
    passes = FacePasses(state, faces)
    for place, i in enumerate(faces.rows):
        held = faces.classes[faces.starts[place] : faces.starts[place + 1]]
        off = np.setdiff1d(np.arange(M), held)
        before, dual = state.A.copy(), problem.dual(state.A)
        passes.visit(np.array([place]))
        assert_array_equal(np.delete(state.A, i, 0), np.delete(before, i, 0))
        assert not state.A[i, off].any()
        best = problem.dual(state.A)
        assert best >= dual - 1e-13
        for _ in range(20):
            # large entries project to 0
            target = np.where(np.isin(np.arange(M), off), 1e3, rng.standard_normal(M))
            other, A = problem.polytopes.take(np.array([i])).project(target[None]), state.A.copy()
            A[i] = problem.sample_weight[i] * other
            if not A[i, off].any():
                assert problem.dual(A) <= best + 1e-12


@each_loss
def test_a_face_has_its_true_class_first_and_enough_others(loss):
    state = state_of(problem_of(loss))
    y, least = state.problem.y, state.problem.row_polytopes.weights.n_lower
    state.A[:2] = 0.0
    state.A[1, [y[1], y[1] - 1]] = 1.0, -1.0
    faces = faces_of(state, np.arange(N))
    assert 0 not in faces.rows
    assert (1 in faces.rows) == (least <= 1)
    assert_array_equal(faces.classes[faces.starts[:-1]], y[faces.rows])
    for place, i in enumerate(faces.rows):
        others = faces.classes[faces.starts[place] + 1 : faces.starts[place + 1]]
        assert_array_equal(others, np.setdiff1d(np.flatnonzero(state.A[i]), y[i]))
        assert len(others) >= max(1, least)


def test_no_block_that_can_move_is_left_out():
    state = state_of(problem_of(fwlab.MaxHinge()))
    wrong = state.A != 0.0
    wrong[np.arange(N), state.problem.y] = False
    assert_array_equal(faces_of(state, np.arange(N)).rows, np.flatnonzero(wrong.any(axis=1)))


def test_the_cost_of_a_pass_over_faces_by_hand():
    """A class of a face costs 1.5 classes of a whole row, and a row costs ten in each pass."""
    assert relative_cost(3, 7, N, M) == (1.5 * 7 + 10 * 3) / (N * (M + 10))


def test_the_steps_of_an_iteration_are_a_small_part_of_it_for_few_rows():
    """Python's part of an iteration costs as much as 8000 classes of rows."""
    assert share_of_steps(N, M) == N * (M + 10) / (N * (M + 10) + 8000)
    assert 0.99 < share_of_steps(100_000, M) < 1.0


def test_no_face_is_visited_if_a_pass_over_all_costs_too_much():
    state = state_of(problem_of(fwlab.MaxHinge()))
    classes = faces_of(state, np.arange(N)).classes
    cost = (1.5 * len(classes) + 10.0 * (N - 2)) / (N * (M + 10.0))
    assert MOST_COST_OF_ONE < cost < MOST_COST
    before = state.A.copy()
    assert visit_faces(state, np.arange(N), 0.0) == (0, 0.0)
    assert_array_equal(state.A, before)


def test_visits_end_before_they_cost_too_much():
    rng = np.random.default_rng(3)
    X = 1.0 + 0.1 * rng.standard_normal((1000, 5))  # the blocks hinder each other
    problem = fwlab.Problem(X, np.arange(1000) % M, fwlab.MaxHinge(), 0.01)
    for few in (150, 300, 450):
        assert 1.5 < visit_faces(state_of(problem), np.arange(few), 0.0)[1] <= MOST_COST


def test_visits_go_on_for_an_iteration_of_few_rows():
    """Their steps cost less than another iteration, most of which is Python's part."""
    X = 1.0 + 0.1 * np.random.default_rng(3).standard_normal((N, 5))
    problem = fwlab.Problem(X, np.arange(N) % M, fwlab.MaxHinge(), 0.01)
    passes, cost = visit_faces(state_of(problem), np.arange(14), 0.0)
    assert passes == 50 and cost < MOST_COST < cost / share_of_steps(N, M)


def test_few_rows_are_visited_a_few_times():
    """Two rows that hinder each other among many at rest move less and less, but go on."""
    X = np.zeros((5000, 3))
    X[:2, :2] = [1.0, 0.0], [1.0, 0.01]
    problem = fwlab.Problem(X, np.arange(5000) % 2, fwlab.MaxHinge(), 1e-6)
    state = State(problem, np.zeros((5000, 2)), np.random.default_rng(0))
    state.A[:2] = [[0.5, -0.5], [-0.5, 0.5]]
    state.refresh()
    assert visit_faces(state, np.arange(2), 0.0)[0] == 50


def test_visits_end_when_they_gain_less_than_a_pass_over_all_rows():
    problem, rows = problem_of(fwlab.MaxHinge()), np.arange(8)
    start = state_of(problem)
    passes = FacePasses(start, faces_of(start, rows))
    count = len(passes.moves)
    passes.visit(np.arange(count))
    gained = gain_of_pass(passes.moves, problem.curvatures[passes.faces.rows])
    once, cost = visit_faces(state_of(problem), rows, 1e300)
    assert once == 1
    assert visit_faces(state_of(problem), rows, 1.01 * gained / cost)[0] == 1
    assert visit_faces(state_of(problem), rows, 0.99 * gained / cost)[0] > 1


def test_visits_end_when_nothing_moves():
    """The third row is 0 and its block stays, while a pass over all rows gained nothing either."""
    state = state_of(problem_of(fwlab.MaxHinge()))
    assert visit_faces(state, np.array([3]), 0.0)[0] == 1


@each_form
def test_faces_are_shuffled_before_each_pass(as_form):
    """The order that is left is as drawn; passes in these orders lead to the same iterates."""
    problem, state = problem_of(fwlab.MaxHinge(), as_form), np.array([7], dtype=np.uint64)
    together, alone = state_of(problem), state_of(problem)
    faces = faces_of(together, np.arange(N))
    order, drawn = np.arange(len(faces.rows)), np.arange(len(faces.rows))
    assert FacePasses(together, faces).visit(order, 2, 0.0, state.copy()) == 2
    one_by_one = FacePasses(alone, faces)
    for _ in range(2):
        shuffle(drawn, state)
        assert one_by_one.visit(drawn) == 1
    assert_array_equal(order, drawn)
    assert (order != np.arange(len(order))).any()
    assert_array_equal(together.A, alone.A)


@each_form
def test_passes_over_faces_end_when_they_gain_too_little(as_form):
    problem = problem_of(fwlab.MaxHinge(), as_form)
    start = state_of(problem)
    faces = faces_of(start, np.arange(N))
    passes, order = FacePasses(start, faces), np.arange(len(faces.rows))
    passes.visit(order)
    gained = gain_of_pass(passes.moves, problem.curvatures[faces.rows])
    for least, count in ((1.001 * gained, 1), (0.999 * gained, 2)):
        assert FacePasses(state_of(problem), faces).visit(order, 2, least) == count


@pytest.mark.parametrize("lam", [0.02, 0.3])
def test_gains_are_those_of_the_dual_up_to_a_factor(lam):
    """With two classes a step by (t, -t) to a maximum adds t^2 curvature / n."""
    problem = fwlab.Problem(np.diag([1.0, 3.0]), [0, 1], fwlab.MaxHinge(), lam)
    state = State(problem, np.array([[0.01, -0.01], [-0.02, 0.02]]), np.random.default_rng(0))
    state.refresh()
    passes = FacePasses(state, faces_of(state, np.arange(2)))
    for place in range(2):
        before = problem.dual(state.A)
        passes.visit(np.array([place]))
        moves = np.where(np.arange(2) == place, passes.moves, 0.0)
        added = problem.dual(state.A) - before
        assert gain_of_pass(moves, problem.curvatures) == pytest.approx(4 * 2 * added)


def test_a_block_without_curvature_stays():
    problem = problem_of(fwlab.MaxHinge())
    state = state_of(problem)
    before = state.A.copy()
    assert before[3].any()
    passes = FacePasses(state, faces_of(state, np.array([3])))
    passes.visit(np.zeros(1, dtype=np.int64))
    assert_array_equal(state.A, before)
    assert passes.moves == 0.0


@pytest.mark.turns
@each_loss
def test_dense_and_sparse_data_give_the_same_iterates(loss):
    runs = [
        fwlab.solve(problem_of(loss, as_form, lam=0.2), tol=0.0, max_iter=15, order="cyclic")
        for as_form in (np.asarray, scipy.sparse.csr_array)
    ]
    assert_allclose(runs[0].A, runs[1].A, atol=1e-10)
    assert_array_equal(runs[0].trace.n_steps, runs[1].trace.n_steps)
    assert runs[0].trace.n_steps[-1] > 15 * N


@pytest.mark.turns
@pytest.mark.long
@each_loss
@each_form
def test_runs_with_and_without_face_steps_end_at_one_optimum(loss, as_form):
    problem = problem_of(loss, as_form)
    runs = [
        fwlab.solve(problem, "ascent", tol=1e-10, max_iter=20_000, shrink=shrink)
        for shrink in (True, False)
    ]
    assert all(run.success for run in runs)
    assert abs(runs[0].dual - runs[1].dual) <= 2e-10
    assert runs[0].nit < runs[1].nit
