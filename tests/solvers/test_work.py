"""The work in the trace is the work that was done, and the clocks count nothing else."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.solver_table import BLOCK_METHODS

import fwlab
from fwlab.operators.domains import RowPolytopes
from fwlab.operators.features import DenseFeatures
from fwlab.solvers.method import Method
from fwlab.solvers.proximal_hessian import ProximalHessian
from fwlab.solvers.stopwatch import Stopwatch

pytestmark = pytest.mark.small

N, M_CLASSES = 24, 4
WHOLE = ("fw", "fw-open-loop", "afw", "pfw", "blended-pairwise", "fcfw", "subgradient", "newton")


def problem(loss=None, **options):
    X = np.random.default_rng(3).normal(size=(N, 5))
    return fwlab.Problem(X, np.arange(N) % M_CLASSES, loss or fwlab.TopK(2), 0.02, **options)


@dataclass
class Counted:
    """Counts of the work that a method did while the clock ran."""

    rows: int = 0
    projections: int = 0
    runs: bool = False


@pytest.fixture
def counted(monkeypatch):
    """Provide the rows of scores and the projections of the method, counted where they are made."""
    counts = Counted()
    run, writer = Stopwatch.run, DenseFeatures.score_writer
    product, project = ProximalHessian.product, RowPolytopes.project

    def timed(clock, work, *arguments):
        counts.runs = True
        try:
            return run(clock, work, *arguments)
        finally:
            counts.runs = False

    def score_writer(features, W):
        write = writer(features, W)

        def noted(rows, out):
            counts.rows += counts.runs * len(out)
            write(rows, out)

        return noted

    def hessian_product(hessian, V):
        counts.rows += counts.runs * len(hessian.index)
        return product(hessian, V)

    def projected(polytopes, points):
        counts.projections += counts.runs * len(points)
        return project(polytopes, points)

    monkeypatch.setattr(Stopwatch, "run", timed)
    monkeypatch.setattr(DenseFeatures, "score_writer", score_writer)
    monkeypatch.setattr(ProximalHessian, "product", hessian_product)
    monkeypatch.setattr(RowPolytopes, "project", projected)
    return counts


@pytest.mark.parametrize("method", WHOLE)
def test_rows_of_scores_are_those_that_were_computed(counted, monkeypatch, method):
    monkeypatch.setattr("fwlab.solvers.proximal_hessian.MOST_UNKNOWNS", 0)
    options = {"passes": 2} if method == "newton" else {}
    result = fwlab.solve(problem(), method, tol=0.0, max_iter=12, check_every=1, **options)
    by_passes = 2 * N if method == "newton" else 0  # which compiled functions make
    assert result.trace.n_rows[-1] >= result.nit * N - by_passes
    assert result.trace.n_rows[-1] == counted.rows + by_passes


def test_a_point_that_is_combined_again_takes_another_pass(counted, monkeypatch):
    monkeypatch.setattr("fwlab.solvers.away_steps.ROUNDING", 0.0)
    trace = fwlab.solve(problem(), "pfw", tol=0.0, max_iter=3, check_every=1).trace
    assert trace.n_rows.tolist() == [0, 2 * N, 4 * N, 6 * N] and counted.rows == 6 * N


def test_projections_of_newton_steps_are_those_that_were_made(counted):
    result = fwlab.solve(problem(), "newton", tol=0.0, max_iter=12, check_every=1, passes=2)
    assert result.trace.n_projections[-1] == counted.projections + 2 * N > 10 * N


def test_evaluations_of_lbfgs_are_rows_and_projections(counted):
    result = fwlab.solve(problem(fwlab.CrossEntropy()), "lbfgs", tol=0.0, max_iter=8)
    assert result.trace.n_rows[-1] == counted.rows + N  # the start, whose W is 0, has no product
    assert_array_equal(result.trace.n_rows, result.trace.n_projections)


@pytest.mark.parametrize("method", BLOCK_METHODS)
def test_a_pass_sees_each_row_once(method):
    trace = fwlab.solve(problem(), method, tol=0.0, max_iter=4, check_every=1).trace
    if method == "ascent":
        assert_array_equal(trace.n_projections, trace.n_steps)
        return
    assert_array_equal(trace.n_rows, trace.n_steps)
    is_projected = method.startswith("sdca")
    assert_array_equal(trace.n_projections, trace.n_steps if is_projected else 0 * trace.n_steps)
    assert (trace.n_lmo[-1] == 0) == is_projected


@pytest.mark.parametrize("method", ["afw", "pfw", "blended-pairwise"])
def test_a_step_between_vertices_calls_the_oracle_once_a_row(method):
    trace = fwlab.solve(problem(), method, tol=0.0, max_iter=4, check_every=1).trace
    assert_array_equal(trace.n_lmo, N * np.arange(5))


def test_faces_count_by_their_classes():
    n, m = 20, 10
    X = np.random.default_rng(3).normal(size=(n, 3))
    given = fwlab.Problem(X, np.arange(n) % m, fwlab.MaxHinge(), 0.5)
    trace = fwlab.solve(given, "ascent", tol=0.0, max_iter=9, check_every=1).trace
    steps, rows = (column - n * trace.iteration for column in (trace.n_steps, trace.n_rows))
    assert steps[-1] > 0
    assert_array_equal(trace.n_projections, trace.n_steps)
    # a face holds at least two of the ten classes, and not all of them in the mean
    assert 2 / m * steps[-1] <= rows[-1] < steps[-1]
    plain = fwlab.solve(given, "ascent", tol=0.0, max_iter=5, check_every=1, shrink=False).trace
    assert_array_equal(plain.n_rows, n * plain.iteration)


def test_exact_gaps_of_blocks_are_rows_too():
    trace = fwlab.solve(problem(), "bcfw", tol=0.0, max_iter=6, check_every=1, order="gap").trace
    assert trace.n_rows.tolist() == [0, 2 * N, 3 * N, 4 * N, 5 * N, 6 * N, 8 * N]
    assert_array_equal(trace.n_rows, trace.n_lmo)


def test_blocks_at_their_bounds_count_two_products_a_class():
    """At a large lam every block ends at its vertex, and there reaches its bound of 1."""
    trace = fwlab.solve(problem().with_lam(1e3), "bafw", tol=0.0, max_iter=1, check_every=1).trace
    # 0 to the vertex of TopK(2): the label and two other classes, 3 of 4 entries
    assert trace.n_rows.tolist() == [0, N + 2 * N * 3 / 4]


@pytest.mark.parametrize(("smoothing", "is_lmo"), [(0.0, True), (0.5, False)])
def test_subgradients_are_answers_of_one_oracle(smoothing, is_lmo):
    trace = fwlab.solve(
        problem(smoothing=smoothing), "subgradient", tol=0.0, max_iter=3, batch=10, check_every=1
    ).trace
    oracle, none = (trace.n_lmo, trace.n_projections)[:: 1 if is_lmo else -1]
    assert oracle.tolist() == trace.n_rows.tolist() == [0, N, 2 * N, 3 * N]
    assert not none.any()


def test_an_extrapolation_projects_all_rows():
    given = problem(regularizer=fwlab.LpNorm(1.5))
    trace = fwlab.solve(given, "direct", tol=0.0, max_iter=3, check_every=1).trace
    assert trace.n_projections.tolist() == [0, N, 2 * N, 4 * N]
    assert trace.n_rows.tolist() == [0, N, 2 * N, 3 * N]


def test_calls_are_answers_of_both_oracles():
    trace = fwlab.solve(problem(), "fw", max_iter=2, check_every=1).trace
    both = replace(trace, n_projections=trace.n_lmo + 1)
    assert_array_equal(both.calls, 2 * trace.n_lmo + 1)
    assert replace(trace, n_projections=None).calls is None


# ---------------------------------------------------------------- the clocks


@dataclass
class Hands:
    """The hands of both clocks, which stand still except when they are moved."""

    wall: float = 0.0
    cpu: float = 0.0

    def move(self, wall, cpu):
        self.wall, self.cpu = self.wall + wall, self.cpu + cpu


@pytest.fixture
def hands(monkeypatch):
    hands = Hands()
    monkeypatch.setattr("time.perf_counter", lambda: hands.wall)
    monkeypatch.setattr("time.process_time", lambda: hands.cpu)
    return hands


@dataclass(frozen=True)
class Slow(Method):
    """Computes for 2 s, after a start of 10 s, and waits for 3 s more."""

    hands: Hands

    def start(self, state):
        self.hands.move(11.0, 10.0)

    def iterate(self, state, workspace):
        self.hands.move(5.0, 2.0)


def test_the_trace_has_both_clocks_without_judging(hands, monkeypatch):
    def judge(state):
        hands.move(100.0, 50.0)
        return state.certify()

    monkeypatch.setattr("fwlab.solvers.method.State.judge", judge)
    monkeypatch.setattr("fwlab.solvers.solve.warm_up", lambda *_: hands.move(7.0, 7.0))
    result = fwlab.solve(problem(), Slow(hands), tol=0.0, max_iter=3, check_every=1)
    assert result.trace.seconds.tolist() == [11.0, 16.0, 21.0, 26.0]
    assert result.trace.cpu_seconds.tolist() == [10.0, 12.0, 14.0, 16.0]
    assert (result.seconds, result.cpu_seconds) == (26.0, 16.0)


def test_a_clock_adds_up(hands):
    clock = Stopwatch()
    assert clock.run(lambda value: value + 1, 4) == 5
    for wall in (1.0, 4.0):
        clock.resume()
        clock.run(hands.move, wall, 0.5)
        clock.pause()
        hands.move(9.0, 9.0)
    assert (clock.times, clock.last) == ((5.0, 1.0), 4.0)


def test_a_clock_leaves_work_out_whether_it_runs_or_not(hands):
    clock = Stopwatch()
    for _ in range(2):
        clock.resume()
        hands.move(1.0, 1.0)
        clock.leave_out(hands.move, 4.0, 4.0)
        clock.pause()
        clock.leave_out(hands.move, 16.0, 16.0)
    assert clock.cpu == 2.0


def test_a_predicted_certificate_takes_neither_clock(hands, monkeypatch):
    def seconds_to_certify(state, judgement):
        hands.move(100.0, 50.0)
        return 1.0

    monkeypatch.setattr("fwlab.solvers.method.State.seconds_to_certify", seconds_to_certify)
    monkeypatch.setattr("fwlab.solvers.solve.warm_up", lambda *_: None)
    limits = {"max_iter": 9, "time_limit": 150.0}
    result = fwlab.solve(problem(), Slow(hands), tol=0.0, check_every="auto", **limits)
    assert result.nit > 0 and hands.cpu > 50.0
    assert (result.seconds, result.cpu_seconds) == (
        11.0 + 5.0 * result.nit,
        10.0 + 2.0 * result.nit,
    )


def test_old_traces_have_no_clock_of_the_processor(tmp_path):
    trace = fwlab.solve(problem(), "fw", max_iter=2, check_every=1).trace
    old = replace(trace, cpu_seconds=None, n_projections=None, n_rows=None)
    old.save(tmp_path / "old.npz")
    found = fwlab.Trace.load(tmp_path / "old.npz")
    assert found.cpu_seconds is None and found.calls is None
    assert_allclose(found.gap, trace.gap)
