"""Runs out of core give the answers of runs in memory."""

import os
import re
import signal

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from out_of_core import RowChunks, out_of_core, runs_of
from solvers.solver_table import LOSSES, Case

import fwlab
from fwlab import Status, distributed
from fwlab.distributed import OutOfCoreProblem, PackedResult

pytestmark = pytest.mark.small

# every kind of loss, dense and sparse in turn, and weighted with smoothing in turn
CASES = [
    Case(loss, form=("dense", "sparse")[i % 2], smoothing=i // 2 % 2 / 2, weighted=bool(i // 2 % 2))
    for i, loss in enumerate(LOSSES)
]


@pytest.mark.turns
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("method", ["ascent", "bcfw"])
def test_one_chunk_gives_the_same_numbers_as_memory(case, method):
    _, inside, outside = runs_of(case, case.n, method, tol=0.0, max_iter=5, rng=3)
    assert_array_equal(inside.W, outside.W)
    assert_array_equal(inside.A, outside.A.toarray())
    assert_allclose([inside.primal, inside.dual], [outside.primal, outside.dual], rtol=1e-14)
    assert 0.9 * inside.gap_error <= outside.gap_error <= 1.2 * inside.gap_error
    assert_allclose(outside.distance, inside.distance, rtol=1e-6)
    if case.smoothing:
        augmented = [result.trace.augmented_gap for result in (inside, outside)]
        assert_allclose(*augmented, rtol=1e-12)


@pytest.mark.turns
@pytest.mark.parametrize("case", CASES, ids=str)
def test_several_chunks_reach_the_same_optimum(case):
    _, inside, outside = runs_of(case, 5, "ascent", tol=1e-6, max_iter=500)
    assert inside.success and outside.success
    assert abs(inside.dual - outside.dual) <= 1e-6
    assert outside.primal >= inside.dual - inside.gap_error


def test_block_frank_wolfe_reaches_the_same_optimum():
    _, inside, outside = runs_of(Case(), 5, "bcfw", tol=1e-2, max_iter=1000)
    assert inside.success and outside.success
    assert abs(inside.dual - outside.dual) <= 1e-2


@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_frank_wolfe_takes_the_same_steps_whatever_the_chunks(case):
    _, inside, outside = runs_of(case, 5, "fw", tol=0.0, max_iter=20, check_every=1)
    assert_allclose(outside.trace.dual, inside.trace.dual, rtol=0, atol=1e-10)
    assert_allclose(outside.trace.step, inside.trace.step, rtol=1e-8)
    assert_allclose(outside.A.toarray(), inside.A, atol=1e-9)


@pytest.mark.turns
@pytest.mark.parametrize("order", ["uniform", "cyclic", "gap"])
def test_other_orders_converge(order):
    case = Case()
    _, inside, outside = runs_of(case, 5, "ascent", tol=1e-6, max_iter=5000, order=order)
    assert outside.success and abs(inside.dual - outside.dual) <= 1e-6


@pytest.mark.parametrize("method", ["ascent", "bcfw", "fw"])
def test_the_dual_never_falls(method):
    run = runs_of(Case(n=40), 7, method, tol=0.0, max_iter=10, check_every=1)[2]
    assert (np.diff(run.trace.dual) >= -1e-14).all()


def test_the_same_chunks_repeat_a_run_bit_for_bit():
    problem = Case(n=40).problem()
    W = [
        distributed.solve(out_of_core(problem, rows, X), max_iter=3, tol=0.0, order=order).W
        for order in ("permutation", "cyclic")
        for rows, X in [(7, None), (7, None), (1, RowChunks(problem.X, 7)), (8, None)]
    ]
    for first in (0, 4):
        assert_array_equal(W[first], W[first + 1])
        assert (W[first] != W[first + 3]).any()
    # an iterable gives its chunks in its own order
    assert_array_equal(W[4], W[6])
    assert (W[0] != W[2]).any()


def test_each_pass_visits_each_chunk_once_in_a_fresh_order():
    outside, seen = out_of_core(Case(n=40).problem(), 5), []
    chunks = outside.chunks
    outside.chunks = lambda order=None: seen.append(order) or chunks(order)
    distributed.solve(outside, max_iter=3, tol=0.0, check_every=3)
    orders = [order for order in seen if order is not None]
    assert len(orders) == len(set(orders)) == 3
    assert all(sorted(order) == list(range(8)) for order in orders)


def test_a_warm_start_begins_where_another_run_ended():
    problem = Case(n=40).problem()
    outside = out_of_core(problem, 7)
    first = distributed.solve(outside, max_iter=4, tol=0.0)
    for A0 in (first.A, first.A.toarray()):
        again = distributed.solve(outside, max_iter=0, A0=A0)
        assert (again.dual, again.gap) == (first.dual, first.gap)
        assert_array_equal(again.W, first.W)


@pytest.mark.parametrize("A0, sentence", [
    (np.zeros((3, 4)), r"A0 must be \(n, m\) = \(12, 4\); got shape \(3, 4\)"),
    (np.ones((12, 4)), "A0 must be feasible; a row from 0 to 4 is not"),
    (np.eye(12, 4, -6), "A0 must be feasible; a row from 5 to 9 is not"),
    (np.full((12, 4), np.nan), "A0 must be finite"),
    (scipy.sparse.csr_array(np.full((12, 4), np.nan)), "A0 must be finite"),
])  # fmt: skip
def test_a_start_must_be_feasible(A0, sentence):
    with pytest.raises(ValueError, match=sentence):
        distributed.solve(out_of_core(Case().problem(), 5), A0=A0)


@pytest.mark.parametrize("method, error, sentence", [
    ("afw", ValueError, 'method must be "ascent", "bcfw" with compiled steps'),
    ("fw-open-loop", ValueError, 'method must be "ascent", .* or "fw" with exact steps'),
    (fwlab.BlockFrankWolfe(averaging=True), ValueError, '"bcfw" .* without averaging'),
    (fwlab.BlockFrankWolfe(step="open-loop"), ValueError, '"bcfw" with compiled steps'),
    ("asent", ValueError, "Did you mean 'ascent'"),
])  # fmt: skip
def test_other_methods_are_refused(method, error, sentence):
    with pytest.raises(error, match=sentence):
        distributed.solve(out_of_core(Case().problem(), 5), method)


def test_a_problem_in_memory_is_refused():
    with pytest.raises(
        TypeError, match="problem must be an OutOfCoreProblem or a DaskProblem; got Problem"
    ):
        distributed.solve(Case().problem())


def test_a_callback_sees_the_iterate_and_ends_the_run():
    seen = []

    def stop(progress):
        seen.append(progress)
        assert progress.A.shape == (12, 4) and not progress.W.flags.writeable
        if progress.iteration == 2:
            raise StopIteration

    result = distributed.solve(out_of_core(Case().problem(), 5), callback=stop, check_every=1)
    assert result.status is Status.STOPPED_BY_CALLBACK and result.nit == 2
    assert_allclose(seen[-1].gap, result.gap, atol=1e-12)


class PressesCtrlC(RowChunks):
    """Chunks that press Ctrl-C before the third of one pass."""

    passes = 0
    interrupted = 0

    def __iter__(self):
        self.passes += 1
        for place, chunk in enumerate(super().__iter__()):
            if place == 2 and self.passes == self.interrupted:
                os.kill(os.getpid(), signal.SIGINT)
            yield chunk


@pytest.mark.parametrize("method", ["ascent", "fw"])
def test_ctrl_c_keeps_the_iterate_so_far_with_its_certificate(method):
    problem = Case(n=40).problem()
    X = PressesCtrlC(problem.X, 4)
    outside = out_of_core(problem, 4, X)
    X.interrupted = X.passes + 4
    result = distributed.solve(outside, method, tol=0.0, max_iter=50, check_every=50)
    assert result.status is Status.INTERRUPTED and not result.success
    assert "The last iteration ended early, after" in result.message
    assert 0 < result.gap < 1
    assert_allclose(problem.gap(result.A.toarray()), result.gap, atol=1e-12)
    assert_allclose(problem.weights(result.A.toarray()), result.W, atol=1e-12)


def test_a_time_limit_ends_after_a_pass():
    result = distributed.solve(out_of_core(Case().problem(), 5), tol=0.0, time_limit=0.0)
    assert result.status is Status.TIME_LIMIT


def test_a_time_limit_leaves_time_for_five_judgements():
    predicted = []

    def ask(progress):
        predicted.append(progress.state.seconds_to_certify(2.0))

    distributed.solve(out_of_core(Case().problem(), 5), tol=0.0, max_iter=1, callback=ask)
    assert predicted == [10.0, 10.0]


def test_a_result_is_saved_and_read_back(tmp_path):
    problem = Case().problem()
    result = distributed.solve(out_of_core(problem, 5), tol=1e-6)
    result.save(tmp_path / "run.npz", model={"model_W": result.W})
    read = PackedResult.load(tmp_path / "run.npz")
    assert (read.gap, read.status, read.message) == (result.gap, result.status, result.message)
    assert_array_equal(read.A.toarray(), result.A.toarray())
    assert_array_equal(read.trace.gap, result.trace.gap)
    assert_array_equal(read.predict(problem.X), result.predict(problem.X))
    with pytest.raises(ValueError, match=r"a file that PackedResult\.save wrote"):
        fwlab.solve(problem, max_iter=1).save(tmp_path / "other.npz")
        PackedResult.load(tmp_path / "other.npz")


def test_a_result_predicts_and_proves_labels_of_any_kind():
    rng = np.random.default_rng(0)
    y = np.array(["cat", "dog", "owl"])[rng.integers(0, 3, 60)]
    X = rng.normal(size=(60, 4)) + 3 * (y[:, None] == np.array(["cat", "dog", "owl", "?"]))
    problem = OutOfCoreProblem(X, y, fwlab.MaxHinge(), C=1.0, chunk_rows=16)
    result = distributed.solve(problem, tol=1e-8)
    inside = fwlab.solve(fwlab.Problem(X, y, fwlab.MaxHinge(), C=1.0), tol=1e-8)
    assert_array_equal(result.predict(X), inside.predict(X))
    assert result.proved(X).mean() > 0.9
    assert "n = 60" in repr(problem) and "60 x 3" in repr(result)


def test_a_loss_with_costs_of_samples_is_cut_into_chunks():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 4
    costs = rng.uniform(0.5, 2.0, (12, 4))
    costs[np.arange(12), y] = 0.0
    problem = fwlab.Problem(X, y, fwlab.StructuredHinge(costs, per_sample=True), 0.1)
    result = distributed.solve(out_of_core(problem, 5), tol=1e-8)
    assert_allclose(result.dual, fwlab.solve(problem, tol=1e-8).dual, atol=1e-8)


def test_progress_is_shown(capsys, monkeypatch):
    monkeypatch.setattr("fwlab.distributed.problem.SECONDS_BETWEEN_LINES", 0.0)
    distributed.solve(out_of_core(Case().problem(), 5), verbose=1, tol=0.0, max_iter=1)
    lines = capsys.readouterr().err.splitlines()
    assert any(re.fullmatch(r"pass 1: (17|42)% of X, \d s left", line) for line in lines)
    assert any(line.startswith("certificate: 100% of X") for line in lines)
    assert any("gap" in line for line in lines)
