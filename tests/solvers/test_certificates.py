"""Test every method on every problem: valid bounds, a rising dual, a feasible A, a certificate.

Anyone can compute the certificate again from A.

Values of losses are the reference's formulas; primal, dual and the Frank-Wolfe gap are written out
again here in plain numpy.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.solver_table import (
    BLOCK_METHODS,
    FORMS,
    GRID,
    LOSSES,
    METHODS,
    OWN_W,
    PAIRS,
    RANDOM_FIRST,
    SMOOTHINGS,
    Case,
    M,
    in_form,
    loss_entry,
    random_feasible,
)

import fwlab
from fwlab.solvers.blocks import ORDERS

pytestmark = [pytest.mark.small, pytest.mark.grid]
each_method = pytest.mark.parametrize("method", METHODS)
each_block_method = pytest.mark.parametrize("method", BLOCK_METHODS)
each_case = pytest.mark.parametrize("case", GRID, ids=str)
each_pair = pytest.mark.parametrize("method, case", PAIRS, ids=str)

NOT_MONOTONE = {"fw-open-loop", "subgradient"}
# rounding decides what an exact step leaves tied: for fcfw the vertices of a row in which alone its
# atoms differ, for dicg the ends of a row's step if an order visits the row twice in succession
TIED = {"fcfw", "dicg"}
ITERATIONS = 8


@cache
def solved(method: str, case: Case, form: str = "dense", **options: Any) -> fwlab.Result:
    """Return a run of a few iterations, with a certificate at each."""
    problem, options = replace(case, form=form).problem(), {"rng": 3, **options}
    return fwlab.solve(problem, method, tol=0.0, max_iter=ITERATIONS, check_every=1, **options)


def costs(case: Case) -> np.ndarray:
    """Return delta, (n, m)."""
    loss = case.entry.reference
    return np.array([loss.for_sample(i).delta(M, y) for i, y in enumerate(case.y)], dtype=float)


def ridge(case: Case) -> np.ndarray:
    """Return smoothing / omega_i, (n, 1); 0 where omega_i = 0."""
    safe = np.where(case.omega > 0, case.omega, np.inf)
    return (case.smoothing / safe)[:, None]


def values(case: Case, scores: np.ndarray) -> np.ndarray:
    """Return losses of the rows without smoothing."""
    loss = case.entry.reference
    rows = enumerate(zip(scores, case.y, strict=True))
    return np.array([float(loss.for_sample(i).value(s, y)) for i, (s, y) in rows])


def dual_by_hand(case: Case, A: np.ndarray) -> float:
    W = A.T @ case.X / (case.lam * case.n)
    conjugates = (costs(case) * A).sum(axis=1) + (ridge(case) * A**2).sum(axis=1) / 2
    return -case.lam / 2 * (W**2).sum() - conjugates.mean()


def primal_by_hand(case: Case, W: np.ndarray) -> float:
    scores = case.X @ W.T
    if case.smoothing:
        losses, _ = case.entry.loss.moreau(scores, case.y, case.smoothing)
    else:
        losses = values(case, scores)
    return case.lam / 2 * (W**2).sum() + (case.omega * losses).mean()


def block_gaps(case: Case, A: np.ndarray) -> np.ndarray:
    """Return (1/n) max <n grad_i D(A), u - a_i>, u in omega_i times the negated domain."""
    W = A.T @ case.X / (case.lam * case.n)
    gradient = case.X @ W.T + costs(case) + ridge(case) * A
    vertices = case.omega[:, None] * case.entry.loss.lmo(gradient, case.y)
    return (gradient * (A - vertices)).sum(axis=1) / case.n


# ---------------------------------------------------------------- at every checkpoint


@pytest.mark.turns
@each_pair
def test_every_primal_is_above_every_dual(method, case):
    trace = solved(method, case).trace
    assert trace.primal.min() >= trace.dual.max() - 1e-13
    assert trace.gap.min() >= -1e-13
    assert_array_equal(trace.gap, trace.primal - trace.dual)


@pytest.mark.parametrize(
    "method, case", [pair for pair in PAIRS if pair[0] not in NOT_MONOTONE], ids=str
)
def test_the_dual_never_falls(method, case):
    trace = solved(method, case).trace
    assert np.diff(trace.dual).min() >= -1e-14
    assert trace.dual[-1] > trace.dual[0] + 0.01


@pytest.mark.turns
@each_pair
def test_checkpoints_tell_the_gap_of_their_iterate(method, case):
    problem, checkpoints = case.problem(), []

    def compare(progress):
        checkpoints.append(progress.iteration)
        primal, dual = problem.primal(progress.W), problem.dual(progress.A)
        seen = (progress.primal, progress.dual, progress.gap)
        assert_allclose(seen, (primal, dual, primal - dual), atol=1e-13)
        if method not in OWN_W:
            assert_allclose(progress.W, problem.weights(progress.A), atol=1e-13)

    fwlab.solve(problem, method, tol=0.0, max_iter=4, callback=compare, check_every=1)
    assert checkpoints == [0, 1, 2, 3, 4]


@each_pair
def test_the_smoothed_gap_is_below_the_augmented_one(method, case):
    trace = solved(method, case).trace
    if case.smoothing == 0:
        assert trace.augmented_gap is None
        return
    assert len(trace.augmented_gap) == len(trace.gap)
    assert (trace.gap <= trace.augmented_gap + 1e-13).all()
    assert (trace.gap < trace.augmented_gap - 1e-6).any()


# ---------------------------------------------------------------- at the end


@each_pair
def test_the_final_dual_point_is_feasible(method, case):
    result = solved(method, case)
    A, weighed = result.A, case.omega > 0
    assert result.infeasibility <= 1e-13
    assert not A[~weighed].any()
    inside = case.entry.loss.in_domain(
        -A / np.where(weighed, case.omega, 1.0)[:, None], case.y, tol=1e-12
    )
    assert inside.all()


@pytest.mark.turns
@each_pair
def test_the_final_certificate_by_hand(method, case):
    result = solved(method, case)
    A = result.A
    if method not in OWN_W:
        assert_allclose(result.W, A.T @ case.X / (case.lam * case.n), atol=1e-14)
    assert result.primal == pytest.approx(primal_by_hand(case, result.W), abs=1e-12)
    assert result.dual == pytest.approx(dual_by_hand(case, A), abs=1e-12)
    assert result.gap == result.primal - result.dual
    trace = result.trace
    assert (trace.primal[-1], trace.dual[-1]) == (result.primal, result.dual)


@pytest.mark.turns
@each_pair
def test_the_result_is_what_the_problem_says(method, case):
    result, problem = solved(method, case), case.problem()
    assert result.primal == pytest.approx(problem.primal(result.W), abs=1e-14)
    assert result.dual == pytest.approx(problem.dual(result.A), abs=1e-14)
    if method not in OWN_W:
        assert_array_equal(result.W, problem.weights(result.A))
        assert result.gap == pytest.approx(problem.gap(result.A), abs=1e-14)


@each_case
def test_the_gap_is_the_sum_of_block_gaps(case):
    problem, rng = case.problem(), np.random.default_rng(5)
    points = [np.zeros((case.n, M)), random_feasible(case, rng), solved("fw", case).A]
    for A in points:
        blocks = block_gaps(case, A)
        assert blocks.min() >= -1e-14
        assert problem.augmented_gap(A) == pytest.approx(blocks.sum(), abs=1e-12)
        assert problem.gap(A) == pytest.approx(
            problem.primal(problem.weights(A)) - problem.dual(A), abs=1e-12
        )
        if case.smoothing == 0:
            assert problem.gap(A) == pytest.approx(blocks.sum(), abs=1e-12)


@each_case
def test_gaps_are_infinite_outside_the_domain(case):
    problem = case.problem()
    A = random_feasible(case, np.random.default_rng(6))
    assert np.isfinite(problem.dual(A))
    outside = [-A, 4 * A / np.abs(A).max()]
    outside.append(A + np.eye(M)[case.y] * 1e-3)  # a row of the domain sums to 0
    for point in outside:
        assert problem.dual(point) == -np.inf
        assert problem.gap(point) == problem.augmented_gap(point) == np.inf


# ---------------------------------------------------------------- steps


@pytest.mark.turns
@pytest.mark.long
@pytest.mark.parametrize(
    "method, case", [pair for pair in PAIRS if pair[0] not in RANDOM_FIRST | TIED], ids=str
)
def test_forms_of_the_data_give_the_same_iterates(method, case):
    # between two passes ascent steps on faces, or with a Gram matrix over all classes
    options: dict[str, Any] = {"shrink": False} if method == "ascent" else {}
    dense = solved(method, case, **options)
    for form in ("linear", "precomputed"):
        assert_allclose(solved(method, case, form, **options).A, dense.A, atol=1e-10)
    if method in BLOCK_METHODS:
        options["order"] = "cyclic"
    results = [
        fwlab.solve(
            replace(case, form=form).problem(),
            method,
            tol=0.0,
            max_iter=5,
            **options,
            check_every=1,
        )
        for form in FORMS
    ]
    for result in results[1:]:
        assert_allclose(result.A, results[0].A, atol=1e-10)
        assert_allclose(result.trace.gap, results[0].trace.gap, atol=1e-10)


@pytest.mark.turns
@each_block_method
@pytest.mark.parametrize("order", ORDERS)
def test_row_by_row_orders_do_not_depend_on_the_form(method, order):
    options = {"order": order, "block_size": 1, "rng": 7, "tol": 0.0, "max_iter": 4}
    results = [fwlab.solve(Case(form=form).problem(), method, **options) for form in FORMS]
    for result in results[1:]:
        assert_allclose(result.A, results[0].A, atol=1e-10)


@each_block_method
@pytest.mark.parametrize("block_size", [2, 5, 8, 100])
def test_block_size_does_not_change_the_steps(method, block_size):
    problem = Case(n=20, d=6).problem()
    one, many = (
        fwlab.solve(problem, method, tol=0.0, max_iter=4, order="cyclic", block_size=size)
        for size in (1, block_size)
    )
    assert_allclose(many.A, one.A, atol=1e-12)


@each_method
@pytest.mark.parametrize("form", FORMS)
def test_a_seed_fixes_every_bit(method, form):
    problem = Case(form=form, smoothing=0.1, weighted=True).problem()
    options = {"tol": 0.0, "max_iter": 5}
    one = fwlab.solve(problem, method, rng=11, **options, check_every=1)
    two = fwlab.solve(problem, method, rng=np.random.default_rng(11), **options, check_every=1)
    assert_array_equal(one.A, two.A)
    assert one.trace.as_dict().keys() == two.trace.as_dict().keys()
    for name, column in one.trace.as_dict().items():
        if name not in ("seconds", "cpu_seconds"):
            assert_array_equal(column, two.trace.as_dict()[name], err_msg=name)
    other = fwlab.solve(problem, method, rng=12, **options, check_every=1)
    assert np.array_equal(one.A, other.A) == (
        method not in BLOCK_METHODS and method not in RANDOM_FIRST
    )


@each_block_method
@pytest.mark.parametrize("block_size", [1, 6], ids=["groups", "rows of a group"])
def test_the_default_order_is_random(method, block_size):
    problem = Case(n=6).problem()
    results = [
        fwlab.solve(problem, method, tol=0.0, max_iter=1, block_size=block_size, rng=seed)
        for seed in range(3)
    ]
    assert len({result.dual for result in results}) == 3


@each_block_method
@pytest.mark.parametrize("order", [order for order in ORDERS if order != "gap"])
def test_a_pass_visits_rows_as_its_order_says(method, order):
    """Every row that was visited has left 0; order "gap" has tests of its own."""
    case = Case(n=12, lam=1.0)
    result = fwlab.solve(case.problem(), method, tol=0.0, max_iter=1, order=order, rng=2)
    visited = set(np.flatnonzero(result.A.any(axis=1)))
    drawn = np.random.default_rng(2).integers(0, case.n, case.n)
    assert visited == (set(drawn) if order == "uniform" else set(range(case.n)))
    assert len(set(drawn)) < case.n


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", FORMS)
def test_ascent_solves_orthogonal_samples_in_one_pass(loss, smoothing, form):
    """Blocks that do not meet: the exact maximiser of each is the maximiser of all."""
    y = np.arange(12) % M
    X, kernel = in_form(np.diag(np.linspace(0.5, 3.0, 12)), form)
    problem = fwlab.Problem(
        X,
        y,
        loss_entry(loss, y).loss,
        0.05,
        smoothing=smoothing,
        kernel=kernel,
        sample_weight=np.linspace(0.5, 1.5, 12),
    )
    result = fwlab.solve(problem, "ascent", tol=0.0, max_iter=1, check_every=1)
    assert problem.gap(np.zeros((12, M))) > 0.1
    assert result.gap <= 1e-14
    if smoothing:
        assert result.trace.augmented_gap[-1] <= 1e-14


@each_case
def test_exact_line_search_leaves_no_slope(case):
    """At the end of a step inside (0, 1) the dual is flat along the step's direction."""
    problem, iterates = case.problem(), []
    result = fwlab.solve(
        problem,
        "fw",
        tol=0.0,
        max_iter=6,
        callback=lambda state: iterates.append(state.A.copy()),
        check_every=1,
    )
    for step, before, after in zip(result.trace.step[1:], iterates, iterates[1:], strict=False):
        assert 0.0 < step <= 1.0
        move = 1e-3 * (after - before) / step
        if step < 1.0:
            assert abs(dual_by_hand(case, after + move) - dual_by_hand(case, after - move)) < 1e-13


@pytest.mark.parametrize("method", ["fw", *(m for m in BLOCK_METHODS if m in METHODS)])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_steps_end_at_the_vertex(method, smoothing):
    """With a large lam the dual still rises beyond the vertices: all steps are full ones."""
    case = Case(lam=100.0, smoothing=smoothing / 100)
    problem = case.problem()
    result = fwlab.solve(problem, method, tol=0.0, max_iter=1)
    assert_allclose(result.A[np.arange(case.n), case.y], 1.0, atol=1e-14)
    assert result.infeasibility <= 1e-14
    assert dual_by_hand(case, 1.5 * result.A) > result.dual + 0.1


def test_open_loop_steps():
    trace = solved("fw-open-loop", Case()).trace
    assert_array_equal(trace.step[1:], 2.0 / (np.arange(1, ITERATIONS + 1) + 1.0))


# ---------------------------------------------------------------- the trace


@each_method
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_the_trace_has_its_columns(method, smoothing):
    case = Case(smoothing=smoothing)
    result = solved(method, case)
    trace, columns = result.trace, result.trace.as_dict()
    always = {"iteration", "seconds", "cpu_seconds", "primal", "dual", "gap"}
    always |= {"n_lmo", "n_projections", "n_rows", "n_steps", "active", "step"}
    assert set(columns) == always | ({"augmented_gap"} if smoothing else set())
    for name, column in columns.items():
        assert column.shape == (ITERATIONS + 1,)
        assert getattr(trace, name) is column
    assert trace.own_gap is None
    assert_array_equal(trace.iteration, np.arange(ITERATIONS + 1))
    assert result.nit == ITERATIONS
    assert trace.seconds[0] >= 0.0
    assert (np.diff(trace.seconds) >= 0.0).all()
    assert result.seconds == trace.seconds[-1]
    assert np.isnan(trace.step[0])


@pytest.mark.parametrize(
    "method, lmo_calls, steps",
    [("fw", 12, 1), ("fw-open-loop", 12, 1), ("bcfw", 12, 12), ("ascent", 0, 12)],
)
def test_the_trace_counts_work(method, lmo_calls, steps):
    trace = solved(method, Case()).trace
    assert_array_equal(trace.n_lmo, lmo_calls * trace.iteration)
    assert_array_equal(trace.n_steps, steps * trace.iteration)
