"""A run whose workers are killed ends with the same bits, in processes as in threads."""

import os
import signal

import pytest
from numpy.testing import assert_array_equal
from on_cluster import client_of, on_cluster
from solvers.solver_table import Case
from threadpoolctl import threadpool_info

from fwlab import distributed
from fwlab.distributed.calls import Calls

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def processes():
    """A client with two workers, each a process."""
    with client_of(2, processes=True) as client:
        yield client


def kill_a_home(cluster):
    """Kill the process that keeps the first partition, and return its address."""
    address = cluster.placement.homes[0]
    os.kill(cluster.client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
    return address


def test_a_worker_killed_between_rounds_is_replaced(processes, client):
    problem = Case(n=40).problem()
    options = {"method": "fw", "tol": 0.0, "max_iter": 3, "check_every": 1}
    plain = distributed.solve(on_cluster(problem, client, 3), **options)
    cluster, killed = on_cluster(problem, processes, 3), []

    def kill(progress):
        if progress.iteration == 2:
            killed.append(kill_a_home(cluster))

    run = distributed.solve(cluster, callback=kill, **options)
    assert killed[0] not in cluster.placement.homes
    assert_array_equal(run.W, plain.W)
    assert_array_equal(run.A.toarray(), plain.A.toarray())


def test_a_worker_killed_in_a_round_is_replaced(processes, client, monkeypatch):
    array = pytest.importorskip("dask.array")
    problem = Case(n=40).problem()
    whole = on_cluster(problem, client, 4)
    plain = distributed.solve(whole, tol=0.0, max_iter=3)
    cluster = on_cluster(problem, processes, None, array.from_array(problem.X, chunks=(10, -1)))
    wait, waits = Calls._wait, []

    def kill_and_wait(calls, futures):
        waits.append(len(futures))
        if len(waits) == 6:
            kill_a_home(cluster)
        wait(calls, futures)

    monkeypatch.setattr(Calls, "_wait", kill_and_wait)
    run = distributed.solve(cluster, tol=0.0, max_iter=3)
    assert any(asked < 4 for asked in waits), "what was answered is not asked again"
    assert_array_equal(run.W, plain.W)
    assert_array_equal(run.A.toarray(), plain.A.toarray())


def test_blas_has_one_thread_per_worker(processes):
    cluster = on_cluster(Case(n=40).problem(), processes, 2)
    distributed.solve(cluster, "fw", tol=0.0, max_iter=1)
    for pools in processes.run(threadpool_info).values():
        assert {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"} == {1}
