"""The bent path: its first maximum against the dual itself, evaluated piece by piece along it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from solvers.active_set_table import BENT_PATH, active_set, begin, each_case, gradient, start_point
from solvers.solver_table import FORMS, Case, M, in_form

import fwlab
from fwlab.solvers.bent_path import Directions, follow_bent_path
from fwlab.solvers.method import State

pytestmark = pytest.mark.small


def dual(problem, A):
    """Return the dual with no regard to its domain."""
    return problem.certificate(A).dual


def first_maximum_by_pieces(problem, A, D, limits):
    """Return the first maximum of eta -> D(A + min(eta, limits) D), each piece a parabola through
    three of its values, and the dual there.
    """
    breaks = np.concatenate([[0.0], np.unique(limits[limits > 0])])
    # weights that one step changed alike are equal to rounding, and no parabola fits between
    breaks = breaks[np.append(True, np.diff(breaks) > 1e-12 * breaks[1:])]

    def value(eta):
        return dual(problem, A + np.minimum(eta, limits)[:, None] * D)

    for left, right in pairwise(breaks):
        at_left, middle, at_right = value(left), value((left + right) / 2), value(right)
        rise = (4 * middle - 3 * at_left - at_right) / (right - left)
        bend = 4 * (2 * middle - at_left - at_right) / (right - left) ** 2
        if rise <= 0:
            return left, at_left
        if rise < bend * (right - left):
            return left + rise / bend, value(left + rise / bend)
    return breaks[-1], value(breaks[-1])


# ---------------------------------------------------------------- any directions, any bounds


def random_path(problem, rng):
    """Return directions of ascent with bounds that are often equal; feasibility does not matter."""
    n = problem.n_samples
    A = rng.normal(size=(n, M)) * (problem.sample_weight > 0)[:, None]
    D = rng.normal(size=(n, M)) * rng.choice([0.1, 1.0, 3.0], (n, 1))
    D[rng.random((n, M)) < 0.4] = 0.0
    D[(problem.sample_weight == 0) | (rng.random(n) < 0.1)] = 0.0
    slopes = -(gradient(problem, A) * D).sum(axis=1)
    D *= np.sign(slopes)[:, None]
    limits = rng.choice([0.01, 0.05, 0.05, 0.2, 1.0, 4.0], n) * (slopes != 0)
    return A, Directions(D, np.empty((n, 2), dtype=np.int64), np.abs(slopes), limits)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(FORMS),
    st.sampled_from([0.0, 0.5]),
    st.booleans(),
    st.sampled_from([0.002, 0.05, 1.0]),
)
def test_the_first_maximum_is_that_of_the_dual(seed, form, smoothing, weighted, lam):
    case = Case(form=form, smoothing=smoothing, weighted=weighted, n=9, lam=lam, seed=seed % 50)
    problem, rng = case.problem(), np.random.default_rng(seed)
    A, path = random_path(problem, rng)
    state = State(problem, A, rng)
    step = follow_bent_path(state, path)
    expected, highest = first_maximum_by_pieces(problem, A, path.D, path.limits)
    reached = A + np.minimum(step, path.limits)[:, None] * path.D
    size = abs(dual(problem, A)) + abs(highest)
    assert dual(problem, reached) == pytest.approx(highest, abs=1e-12 * size)
    assert step == pytest.approx(expected, rel=1e-5)
    assert_allclose(state.link, problem.link(reached), atol=1e-12 * np.abs(state.link).max())


@pytest.mark.turns
@pytest.mark.long
def test_the_path_is_bent_and_the_maximum_the_first():
    """Of random paths many end at a bound, within a piece, at the end; and some rise again."""
    counts = dict.fromkeys(("at a bound", "within a piece", "at the end", "not the highest"), 0)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        problem = Case(n=6, lam=float(rng.choice([0.005, 0.05, 1.0]))).problem()
        A, path = random_path(problem, rng)
        step = follow_bent_path(State(problem, A, rng), path)
        bounds = np.unique(path.limits[path.limits > 0])
        kind = "at a bound" if step in bounds else "within a piece"
        counts["at the end" if step == bounds[-1] else kind] += 1
        etas = np.linspace(0, bounds[-1], 400)[:, None, None]
        points = A + np.minimum(etas, path.limits[:, None]) * path.D
        duals = np.array([dual(problem, point) for point in points])
        reached = dual(problem, A + np.minimum(step, path.limits)[:, None] * path.D)
        before = duals[etas[:, 0, 0] <= step]
        assert np.diff(before).min(initial=0.0) >= -1e-12 * np.abs(duals).max()
        assert reached >= before[-1] - 1e-12 * np.abs(duals).max()
        counts["not the highest"] += duals.max() > reached + 1e-6
    assert min(counts.values()) >= 5, counts


@pytest.mark.parametrize("form", FORMS)
def test_blocks_whose_bounds_are_equal_leave_together(form):
    """At their bound block 0 has slope 2, block 1 has -2 and block 2 has 0.8: without block 0 alone
    the path would end there, without both it goes on to 0.5."""
    X, kernel = in_form(np.diag([0.0, 15.0, 1.0]) ** 0.5, form)
    problem = fwlab.Problem(X, [0, 0, 1], fwlab.MaxHinge(), 1 / 3, kernel=kernel)
    D = np.array([[2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]])
    for nearly in (1.0, 1.0 + 3e-16):
        limits = np.array([0.1, 0.1 * nearly, 1.0])
        state = State(problem, np.zeros((3, 2)), np.random.default_rng(0))
        path = Directions(D, np.empty((3, 2), dtype=np.int64), np.array([2.0, 1.0, 1.0]), limits)
        assert follow_bent_path(state, path) == pytest.approx(0.5, abs=1e-12)
        steps = np.minimum(0.5, limits)[:, None]
        assert_allclose(state.link, problem.link(steps * D), atol=1e-14)


def test_no_ascent_is_no_step():
    problem = Case(n=4).problem()
    D, nothing = np.zeros((4, M)), np.zeros(4)
    state = State(problem, np.zeros((4, M)), np.random.default_rng(0))
    path = Directions(D, np.empty((4, 2), dtype=np.int64), nothing, nothing)
    assert follow_bent_path(state, path) == 0.0
    assert not state.link.any()


# ---------------------------------------------------------------- the paths of the methods


@pytest.mark.grid
@each_case
@pytest.mark.parametrize("method", BENT_PATH)
@pytest.mark.parametrize("start", ["zero", "inside"])
def test_every_step_of_a_run_is_the_first_maximum(method, start, case):
    """From 0 all bounds of the first step are equal."""
    problem = case.problem()
    solver, state, workspace = begin(problem, method, start_point(case, start))
    for iteration in range(15):
        held = active_set(workspace)
        held.reserve(np.arange(case.n))
        found, A = solver.choose(state, held), state.A.copy()
        expected, highest = first_maximum_by_pieces(problem, A, found.D, found.limits)
        solver.iterate(state, workspace)
        assert dual(problem, state.A) == pytest.approx(highest, abs=1e-13)
        if highest - dual(problem, A) > 1e-8:
            assert state.step == pytest.approx(expected, rel=1e-5)
        if iteration == 0 and start == "zero":
            assert set(found.limits[case.omega > 0]) == {1.0}


@pytest.mark.parametrize("method", BENT_PATH)
def test_some_steps_are_beyond_the_bounds_of_many_blocks(method):
    """The point of the path: a step is not held by the smallest weight."""
    problem = Case(n=30, d=10, lam=0.02).problem()
    solver, state, workspace = begin(problem, method, np.zeros((30, M)))
    left = []
    for _ in range(40):
        held = active_set(workspace)
        held.reserve(np.arange(30))
        found = solver.choose(state, held)
        solver.iterate(state, workspace)
        left.append(np.sum((found.slopes > 0) & (found.limits <= state.step)))
    assert max(left) >= 3
