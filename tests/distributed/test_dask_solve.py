"""Runs on a Dask cluster give the answers of runs in memory, whatever the number of workers."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from on_cluster import client_of, on_cluster
from out_of_core import dense, saved
from solvers.solver_table import LOSSES, Case
from threadpoolctl import threadpool_info, threadpool_limits

import fwlab
from fwlab import Status, distributed
from fwlab.distributed.dask.proposals import QuarterPass

pytestmark = pytest.mark.filterwarnings("ignore")

# every kind of loss, dense and sparse in turn, and weighted with smoothing in turn
CASES = [
    Case(
        loss,
        form=("dense", "sparse")[i % 2],
        smoothing=i // 2 % 2 / 2,
        weighted=bool(i // 2 % 2),
        n=40,
    )
    for i, loss in enumerate(LOSSES)
]


@pytest.mark.turns
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_any_number_of_workers_gives_the_same_bits(form):
    problem, results = Case(form=form, n=40).problem(), {}
    for n_workers in (1, 2, 4):
        with client_of(n_workers) as client:
            cluster = on_cluster(problem, client, 4)
            assert len(set(cluster.placement.homes)) == n_workers
            for method in ("ascent", "fw"):
                run = distributed.solve(cluster, method, tol=0.0, max_iter=3, rng=3)
                first = results.setdefault(method, run)
                assert_array_equal(run.W, first.W)
                assert_array_equal(run.A.toarray(), first.A.toarray())
                assert (run.gap, run.gap_error) == (first.gap, first.gap_error)


@pytest.mark.turns
@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_frank_wolfe_takes_the_same_steps_whatever_the_partitions(case, client, driver_here):
    problem = case.problem()
    inside = fwlab.solve(problem, "fw", tol=0.0, max_iter=20, check_every=1)
    for n_partitions in (1, 2, 5):
        cluster = on_cluster(problem, client, n_partitions)
        run = distributed.solve(cluster, "fw", tol=0.0, max_iter=20, check_every=1)
        assert_allclose(run.trace.dual, inside.trace.dual, rtol=0, atol=1e-10)
        assert_allclose(run.trace.step, inside.trace.step, rtol=1e-7)
        assert_allclose(run.A.toarray(), inside.A, atol=1e-9)


@pytest.mark.turns
@pytest.mark.parametrize("case", CASES[2::5], ids=str)
def test_ascent_nears_the_same_optimum_and_the_dual_never_falls(case, client, driver_here):
    problem = case.problem()
    inside = fwlab.solve(problem, tol=1e-8)
    cluster = on_cluster(problem, client, 3)
    run = distributed.solve(cluster, tol=2e-2, max_iter=100, check_every=4)
    assert run.success and inside.dual - 2e-2 <= run.dual <= inside.dual + 1e-8
    assert (np.diff(run.trace.dual) >= -1e-13).all()
    assert_allclose(problem.weights(run.A.toarray()), run.W, atol=1e-12)
    assert problem.is_feasible(run.A.toarray())
    assert_allclose(problem.gap(run.A.toarray()), run.gap, atol=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_a_round_of_ascent_steps_to_the_maximum_on_its_segment(smoothing, client, driver_here):
    """The dual is a parabola along the segment; where the step is below 1 its top is the end."""
    problem, seen = Case(n=40, lam=0.01, smoothing=smoothing, weighted=True).problem(), []
    cluster = on_cluster(problem, client, 8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fwlab.distributed.dask.rounds.ROUNDS_PER_PASS", 1)
        distributed.solve(
            cluster,
            tol=0.0,
            max_iter=12,
            check_every=1,
            callback=lambda progress: seen.append((progress.A.toarray(), progress.state.step)),
        )
    inside = [(A, B) for (A, _), (B, step) in pairwise(seen) if 0 < step < 1]
    assert inside
    for A, B in inside:
        start, before, end = (problem.dual(A + t * (B - A)) for t in (0.0, 0.5, 1.0))
        assert end > start
        assert_allclose(before - start, 0.75 * (end - start), rtol=1e-6)


def test_four_turns_visit_each_row_once():
    for n, size in [(1, 1), (3, 8), (40, 8), (41, 4)]:
        for first in (0, 4):
            turns = [QuarterPass(7, first + turn)._order(2, 1, n, size) for turn in range(4)]
            assert_array_equal(np.sort(np.concatenate(turns)), np.arange(n))
    again = [QuarterPass(seed, 4)._order(2, 1, 40, 8).tolist() for seed in (7, 7, 8)]
    assert again[0] == again[1] != again[2]


@pytest.mark.turns
@pytest.mark.parametrize("form", ["file", "dask", "dask float32", "sparse"])
def test_each_form_of_x_stays_on_the_workers(form, client, tmp_path):
    problem = Case(n=40).problem()
    X, n_partitions = problem.X, 4
    if form == "file":
        X = saved(tmp_path, problem.X)
    elif form == "sparse":
        problem = Case(n=40, form="sparse").problem()
        X = problem.X
    elif form.startswith("dask"):
        array = pytest.importorskip("dask.array")
        rows = problem.X.astype("float32") if "32" in form else problem.X
        X, n_partitions = array.from_array(rows, chunks=(10, -1)), None
    cluster = on_cluster(problem, client, n_partitions, X)
    homes = list(cluster.placement.homes)
    run = distributed.solve(cluster, "fw", tol=0.0, max_iter=3)
    if "32" in form:
        stored = fwlab.Problem(rows, problem.y, problem.loss, problem.lam, n_classes=4)
        assert_allclose(stored.gap(run.A.toarray()), run.gap, atol=1e-12)
        assert "certificate is that of the stored X" in run.message
    else:
        whole = on_cluster(problem, client, 4)
        assert_array_equal(run.W, distributed.solve(whole, "fw", tol=0.0, max_iter=3).W)
    holders = client.who_has(cluster.placement.data)
    assert [{*holders[rows.key]} for rows in cluster.placement.data] == [{home} for home in homes]
    assert cluster.placement.homes == homes


def test_labels_and_weights_may_be_dask_arrays(client):
    array = pytest.importorskip("dask.array")
    case = Case(n=40, weighted=True)
    problem = case.problem()
    y, weight = (array.from_array(v, chunks=10) for v in (problem.y, problem.sample_weight))
    cluster = distributed.DaskProblem(
        problem.X, y, problem.loss, problem.lam, sample_weight=weight, client=client, n_partitions=2
    )
    assert_array_equal(cluster.y, problem.y)
    assert_array_equal(cluster.sample_weight, problem.sample_weight)
    assert "2 partitions" in repr(cluster)


def test_costs_of_samples_go_to_the_workers_that_need_them(client, driver_here):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 4
    costs = rng.uniform(0.5, 2.0, (12, 4))
    costs[np.arange(12), y] = 0.0
    problem = fwlab.Problem(X, y, fwlab.StructuredHinge(costs, per_sample=True), 0.1)
    cluster = on_cluster(problem, client, 2)
    for setup in cluster.setups():
        assert all(len(part.polytopes.costs) == part.n_samples <= 5 for part in setup.parts)
    run = distributed.solve(cluster, tol=1e-3, max_iter=100)
    assert run.success
    assert_allclose(run.dual, fwlab.solve(problem, tol=1e-8).dual, atol=1e-3)


@pytest.mark.parametrize("method", ["ascent", "fw"])
@pytest.mark.parametrize("case", CASES[1::4], ids=str)
def test_the_exact_gap_lies_within_its_error(case, method, client, driver_here):
    pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")
    problem = case.problem()
    run = distributed.solve(on_cluster(problem, client, 3), method, tol=0.0, max_iter=2)
    exact = fwlab.verify(problem, dense(run))
    assert run.gap - run.gap_error <= exact.gap[0] <= exact.gap[1] <= run.gap + run.gap_error


def test_a_warm_start_begins_where_another_run_ended(client, driver_here):
    cluster = on_cluster(Case(n=40).problem(), client, 3)
    first = distributed.solve(cluster, max_iter=4, tol=0.0)
    again = distributed.solve(cluster, max_iter=0, A0=first.A)
    assert (again.dual, again.gap) == (first.dual, first.gap)
    assert_array_equal(again.W, first.W)
    other = distributed.solve(cluster.with_lam(2 * cluster.lam), tol=1e-2, A0=first.A)
    assert other.success and other.lam_n == 2 * first.lam_n


def test_a_callback_sees_the_iterate_and_ends_the_run(client):
    problem, seen = Case(n=40).problem(), []

    def stop(progress):
        assert_allclose(problem.weights(progress.A.toarray()), progress.W, atol=1e-12)
        seen.append((progress.gap, progress.state.driver.run, progress.state.driver.bytes_sent))
        if progress.iteration == 3:
            raise StopIteration

    cluster = on_cluster(problem, client, 3)
    run = distributed.solve(cluster, tol=0.0, callback=stop, check_every=1)
    assert run.status is Status.STOPPED_BY_CALLBACK and run.nit == 3
    assert_allclose(seen[-1][0], run.gap, atol=1e-12)
    assert seen[0][2] < seen[-1][2]
    distributed.solve(cluster, tol=0.0, callback=stop, check_every=1)
    assert len({run for _, run, _ in seen}) == 2, "each fit has a run id of its own"


def blas_pools():
    return {lib["filepath"]: lib["num_threads"] for lib in threadpool_info()}


def test_a_cluster_in_this_process_leaves_blas_as_it_was(client):
    with threadpool_limits(2, user_api="blas"):
        before = blas_pools()
        distributed.solve(on_cluster(Case(n=40).problem(), client, 4), "fw", tol=0.0, max_iter=2)
        assert blas_pools() == before
