"""Iterations of ascent in which threads visit groups of panels at the same time."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

import fwlab
from fwlab.kernels.layouts import DenseBlocks, Faces, PanelSteps, StepRecord
from fwlab.kernels.steps.ascent_passes import CLASSES, FACES, PASSES, faces_of
from fwlab.kernels.steps.panels import PANEL_ROWS, move_link, sweep_faces, sweep_rows
from fwlab.kernels.steps.passes import dense_pass
from fwlab.kernels.steps.rules import EXACT, TYPES
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.method import State
from fwlab.solvers.panel_groups import (
    AGREE,
    FEWEST_PANELS,
    LEAST_CLASSES,
    LEAST_GROUPS,
    MOST_PANELS,
    PanelGroups,
    data_of,
    faces_in_parts,
    fewer,
    move_group,
    panel_groups,
    suits_groups,
)
from fwlab.threads import run_threads

N, D, M = 4 * PANEL_ROWS * LEAST_GROUPS, 128, LEAST_CLASSES
TOP_3 = fwlab.TopK(3)
COSTS = 2 * np.random.default_rng(7).random((M, M))
np.fill_diagonal(COSTS, 0.0)


def problem_of(loss=TOP_3, n=N, alike=0.0, smoothing=0.0, storage="float64", C=1.0, labels=M):
    """Return a problem with rows of length 1; the larger `alike` is, the more alike they are."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, D)) / np.sqrt(D)
    X[:, 0] += alike
    X /= np.linalg.norm(X, axis=1)[:, None]
    X = X.astype(storage)
    y, weight = rng.integers(0, labels, n), rng.integers(0, 3, n).astype(float)
    return fwlab.Problem(
        X,
        y,
        loss,
        C=C,
        smoothing=smoothing,
        storage=storage,
        sample_weight=weight,
        n_classes=M,
    )


class Group:
    """The rows of a problem as one group of panels, after some passes by one thread."""

    def __init__(self, problem, passes=0, sizes=(5, 48, 7)):
        self.state = state = State(
            problem, np.zeros((problem.n_samples, M)), np.random.default_rng(0)
        )
        self.workspace = workspace = Ascent(EXACT).start(state)
        for _ in range(passes):
            Ascent(EXACT, shrink=False).iterate(state, workspace)
        self.problem, self.dual = problem, workspace.dual(problem)
        self.record = StepRecord(workspace.moves, workspace.active_sets.arrays, workspace.estimates)
        self.data = data_of(problem.X, state.link, state.A, self.dual, single=False)
        self.bounds = np.cumsum([0, *sizes])
        self.places = np.random.default_rng(1).permutation(problem.n_samples)[: self.bounds[-1]]

    @property
    def W(self):
        return self.data.links.W[:, :D]

    def steps(self, rows=None):
        count = len(self.places)
        entries = np.zeros(count * M, np.int32), np.zeros(count * M)
        numbers = np.zeros(count, np.int64), np.zeros(count, np.int64)
        rows = self.places if rows is None else rows
        return PanelSteps(
            self.bounds, self.places, rows, *numbers, *entries, np.zeros(count), np.zeros(count)
        )

    def sweep_rows(self, panels, steps):
        X, links, A, dual, _ = self.data
        sweep_rows(TYPES[EXACT], panels, steps, X, links, A, dual, self.record)


LOSSES = [TOP_3, fwlab.StructuredHinge(COSTS), fwlab.MaxHinge()]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
each_smoothing = pytest.mark.parametrize("smoothing", [0.0, 0.3])


# ---------------------------------------------------------------- one panel, one group


@pytest.mark.small
@each_loss
@each_smoothing
def test_one_panel_makes_the_steps_of_one_thread(loss, smoothing):
    problem = problem_of(loss, 60, smoothing=smoothing)
    group = Group(problem, 1, sizes=(40,))
    A, W = group.state.A.copy(), group.W.copy()
    data = DenseBlocks(problem.X, problem.features.block_grams(1), False, False)
    dense_pass(TYPES[EXACT], group.places, data, W, A, group.dual, group.record)
    moves = group.record.moves[group.places].copy()
    assert move_group(group.sweep_rows, group.steps(), group.data)
    assert_allclose(group.data.A, A, atol=1e-13)
    assert_allclose(group.W, W, atol=1e-13)
    assert_allclose(group.record.moves[group.places], moves, atol=1e-13)


@pytest.mark.turns
@each_loss
@each_smoothing
@pytest.mark.parametrize("storage", ["float64", "float32"])
def test_panels_start_from_one_link(loss, smoothing, storage):
    """Each panel does what it does alone; all arrays of the link follow."""
    problem = problem_of(loss, 60, smoothing=smoothing, storage=storage)
    together = Group(problem, 1)
    before = together.state.A.copy()
    steps = together.steps()
    together.sweep_rows((1, 3), steps)
    together.sweep_rows((0, 1), steps)
    for panel in range(3):
        alone = Group(problem, 1)
        alone.sweep_rows((panel, panel + 1), alone.steps())
        rows = alone.places[alone.bounds[panel] : alone.bounds[panel + 1]]
        assert_array_equal(alone.state.A[rows], together.state.A[rows])
        others = np.setdiff1d(np.arange(60), rows)
        assert_array_equal(alone.state.A[others], before[others])


@each_loss
@each_smoothing
@pytest.mark.parametrize("labels", [2, M])
@pytest.mark.parametrize("passes", [1, 0])
def test_a_group_moves_whole_or_not_at_all(loss, smoothing, labels, passes):
    """The best common step follows from the dual of the problem, not from the kernels."""
    problem = problem_of(loss, 60, 0.3, smoothing, C=20.0, labels=labels)
    whole, taken = Group(problem, passes), Group(problem, passes)
    before, W = whole.state.A.copy(), whole.W.copy()
    whole.sweep_rows((0, 3), whole.steps())
    direction = whole.state.A - before
    agree = move_group(taken.sweep_rows, taken.steps(), taken.data)

    def dual(t):
        A = before + t * direction
        return problem.certificate(A, problem.link(A)).dual

    # a parabola through three points
    below, middle, above = dual(0.0), dual(0.5), dual(1.0)
    second = 4.0 * (below - 2.0 * middle + above)
    best = 0.5 - (above - below) / second
    assert abs(best - AGREE) > 1e-3
    assert agree == (best > AGREE)
    A = before + direction if agree else before
    assert_allclose(taken.data.A, A, atol=1e-13)
    assert_allclose(taken.W, problem.link(A), atol=1e-13 * (1.0 + np.abs(W).max()))
    assert not agree or above > below


@each_loss
@each_smoothing
def test_the_terms_of_a_group_are_those_of_the_dual(loss, smoothing):
    """With all terms, the parabola of slope and curvature goes through the dual after the group."""
    problem = problem_of(loss, 60, 0.3, smoothing, C=20.0, labels=2)
    for passes in (0, 1):
        group = Group(problem, passes)
        below = problem.certificate(group.state.A, problem.link(group.state.A)).dual
        steps, W, lam_n = group.steps(), group.W.copy(), problem.lam_n
        group.sweep_rows((0, 3), steps)
        X, links, A, _, change = group.data
        move_link((0, M), steps, X, links, change)
        V = group.W - W
        assert_allclose(change.squares.sum(), np.sum(V * V), rtol=1e-9)
        assert_allclose(change.products.sum(), np.sum(W * V), rtol=1e-9, atol=1e-12)
        slope = steps.slopes.sum() - lam_n * change.products.sum()
        curvature = lam_n * change.squares.sum() + steps.ridges.sum()
        risen = problem.certificate(A, problem.link(A)).dual - below
        assert_allclose((slope - curvature / 2) / len(A), risen, rtol=1e-8)


@pytest.mark.small
def test_groups_are_undone_where_rows_pull_at_the_same_classes():
    agree = {}
    for labels in (2, M):
        group = Group(problem_of(n=60, alike=0.3, labels=labels))
        agree[labels] = move_group(group.sweep_rows, group.steps(), group.data)
    assert agree == {2: False, M: True}


@pytest.mark.turns
@pytest.mark.small
@each_smoothing
@pytest.mark.parametrize("storage", ["float64", "float32"])
def test_on_the_face_of_all_classes_a_panel_does_the_same(smoothing, storage):
    problem = problem_of(n=60, smoothing=smoothing, storage=storage)
    rows, faces = Group(problem, 1), Group(problem, 1)
    places = np.arange(60)
    classes = np.concatenate([np.roll(np.arange(M), -y) for y in problem.y])
    whole = Faces(places, np.arange(61) * M, classes)
    moves = np.zeros(60)

    def sweep(panels, steps):
        X, links, A, dual, _ = faces.data
        sweep_faces(panels, steps, whole, X, links, A, dual, moves)

    assert move_group(rows.sweep_rows, rows.steps(), rows.data)
    assert move_group(sweep, faces.steps(), faces.data)
    assert_allclose(faces.data.A, rows.data.A, atol=1e-12)
    assert_allclose(faces.W, rows.W, atol=1e-12)
    assert_allclose(moves[faces.places], rows.record.moves[faces.places], atol=1e-12)


@pytest.mark.small
def test_scores_in_float32_follow_the_link():
    problem = problem_of(n=60, storage="float32")
    group = Group(problem, 1)
    data = data_of(problem.X, group.state.link, group.state.A, group.dual, single=True)
    group.data = data
    before = data.links.rounded[:, :D].copy()
    move_group(group.sweep_rows, group.steps(), data)
    assert_array_equal(data.links.rounded[:, :D], group.W.astype(np.float32))
    assert np.any(before != data.links.rounded[:, :D])


# ---------------------------------------------------------------- faces


@pytest.mark.small
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("loss", [fwlab.MaxHinge(), TOP_3])
def test_faces_in_parts_are_the_faces(n_threads, loss):
    dual, rng = Group(problem_of(loss, 60)).dual, np.random.default_rng(0)
    A = rng.standard_normal((60, M)) * (rng.random((60, M)) < 2 / M)
    for index in (np.arange(60), np.arange(50, 4, -3), np.arange(1), np.arange(0)):
        with run_threads(n_threads):
            found = faces_in_parts(A, index, dual)
        for expected, part in zip(faces_of(A, index, dual, np.inf), found, strict=True):
            assert_array_equal(part, expected)


# ---------------------------------------------------------------- runs


@pytest.mark.turns
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"storage": "float32"},
        {"smoothing": 0.2},
        {"loss": fwlab.StructuredHinge(COSTS)},
        {"C": 30.0},
        {"loss": fwlab.MaxHinge(), "alike": 1.0, "labels": 2},
    ],
    ids=str,
)
def test_runs_with_threads_share_their_bits_and_the_optimum(options):
    problem = problem_of(**options)
    runs = [
        fwlab.solve(problem, "ascent", tol=1e-7, check_every=1, n_threads=count)
        for count in (1, 2, 3, 7)
    ]
    one, two, *others = runs
    assert all(run.success for run in runs)
    for run in others:
        assert_array_equal(run.A, two.A)
        assert_array_equal(run.trace.dual, two.trace.dual)
        assert_array_equal(run.trace.n_steps, two.trace.n_steps)
    assert np.any(one.A != two.A)
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) + 1e-12
    # up to the rounding errors of two values of the dual
    assert np.diff(two.trace.dual).min() >= -2e-15 * max(1.0, two.primal)


@pytest.mark.parametrize("options", [{"shrink": False}, {"order": "cyclic"}])
def test_options_of_ascent_hold_with_threads(options):
    problem = problem_of()
    two = fwlab.solve(problem, "ascent", tol=1e-6, n_threads=2, **options)
    one = fwlab.solve(problem, "ascent", tol=1e-6, **options)
    assert two.success
    assert two.dual <= one.primal
    assert options != {"shrink": False} or two.trace.n_steps[-1] == two.nit * N


def test_visits_of_faces_are_counted():
    problem = problem_of(C=30.0)
    state = State(problem, np.zeros((N, M)), np.random.default_rng(0))
    with run_threads(2):
        method = Ascent(EXACT)
        workspace = method.start(state)
        for _ in range(4):
            method.iterate(state, workspace)
        counts = workspace.visit(problem).counts
    assert counts[PASSES] > 0
    assert counts[FACES] > 0
    assert counts[CLASSES] > counts[FACES]
    assert state.n_steps > 4 * N
    assert workspace.work > 4.0
    assert_allclose(state.link, problem.link(state.A), atol=1e-12)


def visited(problem, passes, panels, face_panels=0):
    """Return the state and the workspace after passes with groups of these sizes."""
    state = State(problem, np.zeros((problem.n_samples, M)), np.random.default_rng(0))
    workspace = Ascent(EXACT).start(state)
    workspace.groups = PanelGroups(panels, face_panels)
    for _ in range(passes):
        Ascent(EXACT).iterate(state, workspace)
    return state, workspace


def conflicting():
    return problem_of(TOP_3, 8 * PANEL_ROWS + 5, alike=1.0, labels=2)


def test_moves_are_the_sizes_of_the_changes():
    problem = conflicting()
    state, workspace = visited(problem, 1, 2 * FEWEST_PANELS)
    sizes = np.abs(state.A).sum(axis=1)
    assert workspace.groups.panels == FEWEST_PANELS  # the first group was undone
    assert_allclose(workspace.moves, sizes, atol=1e-13)
    assert_array_equal(workspace.moving, np.flatnonzero(sizes > 1e-9))
    assert_allclose(state.link, problem.link(state.A), atol=1e-12)


def test_groups_that_are_undone_cost_no_pass():
    """Panels are then visited one after the other, and make exact steps."""
    problem = conflicting()
    apart, together = visited(problem, 1, 0), visited(problem, 1, FEWEST_PANELS)
    assert together[1].groups.panels == 0
    duals = [problem.certificate(state.A, state.link).dual for state, _ in (apart, together)]
    assert duals[1] >= 0.8 * duals[0]
    moved = [np.count_nonzero(workspace.moves > 1e-9) for _, workspace in (apart, together)]
    assert moved[1] >= 0.9 * moved[0]
    held = [np.count_nonzero(state.A) for state, _ in (apart, together)]
    assert held[1] <= 1.1 * held[0]


def test_faces_and_rows_have_groups_of_their_own():
    rng = np.random.default_rng(0)
    n, hard = 16 * PANEL_ROWS, 6 * PANEL_ROWS
    X = np.zeros((n, D))
    X[:hard] = rng.standard_normal(D) + 0.1 * rng.standard_normal((hard, D))
    X[:hard] /= np.linalg.norm(X[:hard], axis=1)[:, None]
    problem = fwlab.Problem(X, rng.integers(0, M, n), TOP_3, C=1.0, n_classes=M)
    _, workspace = visited(problem, 2, 16, 8)
    assert workspace.groups.face_panels == 0
    assert workspace.groups.panels > 0


def test_groups_shrink_until_rows_are_visited_one_by_one():
    assert fewer(4 * FEWEST_PANELS + 2) == 2 * FEWEST_PANELS + 1
    assert fewer(2 * FEWEST_PANELS) == FEWEST_PANELS
    assert fewer(2 * FEWEST_PANELS - 1) == fewer(FEWEST_PANELS) == fewer(0) == 0


def test_groups_where_threads_pay():
    problem = problem_of()
    assert panel_groups(problem).panels == 0
    with run_threads(2):
        assert panel_groups(problem).panels == 4
        assert panel_groups(problem).face_panels == 4
        few = problem_of(n=FEWEST_PANELS * LEAST_GROUPS * PANEL_ROWS - 1)
        assert (suits_groups(few), panel_groups(few).panels) == (True, 0)
        X, y = problem.X, problem.y
        for other in (
            fwlab.Problem(scipy.sparse.csr_array(X), y, fwlab.TopK(2), 1.0),
            fwlab.Problem(X[:, :-1], y, fwlab.TopK(2), 1.0),
            fwlab.Problem(X, y % (M - 1), fwlab.TopK(2), 1.0),
            fwlab.Problem(X[:M] @ X[:M].T, y[:M], fwlab.TopK(2), 1.0, kernel="precomputed"),
        ):
            assert not suits_groups(other)
        rows = MOST_PANELS * PANEL_ROWS * LEAST_GROUPS
        many = fwlab.Problem(
            np.zeros((2 * rows, D), np.float32),
            np.arange(2 * rows) % M,
            fwlab.TopK(2),
            1.0,
            storage="float32",
        )
        assert panel_groups(many).panels == MOST_PANELS
