"""Workers in processes give the bits of one worker, also when a process is killed in a run."""

import os
import signal

import pytest
from numpy.testing import assert_array_equal
from on_cluster import client_of, on_cluster
from solvers.solver_table import Case
from threadpoolctl import threadpool_info

from fwlab import distributed
from fwlab.distributed.dask.driver import Driver

pytestmark = pytest.mark.filterwarnings("ignore")


PROBLEM = Case(n=40).problem()
OPTIONS = {"tol": 0.0, "max_iter": 3, "check_every": 1, "rng": 3}

DEEP = [pytest.param(n_workers, marks=pytest.mark.deep) for n_workers in (1, 4)]


@pytest.fixture(scope="module", params=[2, *DEEP])
def processes(request):
    """A client whose workers are processes, and their number."""
    with client_of(request.param, processes=True) as client:
        yield client, request.param


@pytest.fixture(scope="module")
def plain():
    """The runs of the two methods with one worker, by method."""
    with client_of(1) as client:
        cluster = on_cluster(PROBLEM, client, 4)
        return {name: distributed.solve(cluster, name, **OPTIONS) for name in ("ascent", "fw")}


def assert_same(run, other):
    assert_array_equal(run.W, other.W)
    assert_array_equal(run.A.toarray(), other.A.toarray())
    assert (run.gap, run.gap_error) == (other.gap, other.gap_error)


def kill_a_home(cluster):
    """Kill the process that keeps the first partition, and return its address."""
    address = cluster.placement.homes[0]
    os.kill(cluster.client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
    return address


@pytest.mark.turns
@pytest.mark.parametrize("method", ["ascent", "fw"])
def test_processes_give_the_bits_of_one_worker(method, processes, plain):
    client, n_workers = processes
    cluster = on_cluster(PROBLEM, client, 4)
    pids = client.run(os.getpid, workers=cluster.placement.homes)
    assert len({os.getpid(), *pids.values()}) == 1 + n_workers
    assert_same(distributed.solve(cluster, method, **OPTIONS), plain[method])


@pytest.mark.turns
@pytest.mark.parametrize("method", ["ascent", "fw"])
def test_a_worker_killed_between_rounds_is_replaced(method, processes, plain):
    cluster, killed = on_cluster(PROBLEM, processes[0], 4), []

    def kill(progress):
        if not killed and len(progress.state.driver.past) > 1:  # rounds to be made again
            killed.append(kill_a_home(cluster))

    run = distributed.solve(cluster, method, callback=kill, **OPTIONS)
    assert killed[0] not in cluster.placement.homes
    assert_same(run, plain[method])


@pytest.mark.turns
@pytest.mark.parametrize("method, form", [("ascent", "sent"), ("fw", "dask")])
def test_a_worker_killed_in_a_round_is_replaced(method, form, processes, plain, monkeypatch):
    cluster = on_cluster(PROBLEM, processes[0], 4)
    if form == "dask":
        array = pytest.importorskip("dask.array").from_array(PROBLEM.X, chunks=(10, -1))
        cluster = on_cluster(PROBLEM, processes[0], None, array)
    homes, wait, waits = list(cluster.placement.homes), Driver._wait, []

    def kill_and_wait(calls, futures):
        waits.append(len(futures))
        if len(waits) == 6:
            kill_a_home(cluster)
        wait(calls, futures)

    monkeypatch.setattr(Driver, "_wait", kill_and_wait)
    run = distributed.solve(cluster, method, **OPTIONS)
    again = next(filter(None, waits[6:]))
    assert again == homes.count(homes[0]), "only what was lost is asked again"
    assert_same(run, plain[method])


@pytest.mark.turns
def test_blas_has_one_thread_per_worker(processes):
    client, n_workers = processes
    distributed.solve(on_cluster(PROBLEM, client, n_workers), "fw", tol=0.0, max_iter=1)
    for pools in client.run(threadpool_info).values():
        assert {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"} == {1}
