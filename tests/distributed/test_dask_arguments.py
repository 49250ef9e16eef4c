"""A run on a Dask cluster refuses what it cannot take with one clear sentence."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from on_cluster import client_of, on_cluster
from out_of_core import saved
from solvers.solver_table import Case

import fwlab
from fwlab import distributed
from fwlab.distributed import DaskProblem
from fwlab.distributed.dask import partitions

pytestmark = pytest.mark.filterwarnings("ignore")

PROBLEM = Case(n=40).problem()


def dask_array(chunks, X=PROBLEM.X):
    return pytest.importorskip("dask.array").from_array(X, chunks=chunks)


def with_nan():
    X = PROBLEM.X.copy()
    X[25, 1] = np.nan
    return X


def of_unknown_sizes():
    whole = dask_array((10, -1))
    return whole[whole[:, 0] > -1e9]


REFUSED = {
    "no partition": (lambda _: PROBLEM.X, 0, ValueError, "n_partitions must be at least 1; got 0"),
    "a fraction": (lambda _: PROBLEM.X, 1.5, TypeError, "n_partitions must be an integer"),
    "more partitions than rows": (
        lambda _: PROBLEM.X, 41, ValueError, "no partition without rows; got 41 for 40 rows"
    ),
    "partitions of partitions": (
        lambda _: dask_array((10, -1)), 3, ValueError, "n_partitions must be None for a dask array"
    ),
    "chunks of columns": (
        lambda _: dask_array((10, 2)), None, ValueError, "must have all columns in one chunk.*got 3"
    ),
    "a chunk without rows": (
        lambda _: dask_array(((20, 0, 20), -1)), None, ValueError, "each chunk; chunk 1 has none"
    ),
    "unknown sizes": (
        lambda _: of_unknown_sizes(), None, ValueError, r"call X.compute_chunk_sizes\(\)"
    ),
    "1-D": (
        lambda _: dask_array(10, PROBLEM.X[:, 0]), None, ValueError, r"X must be 2-D.*\(40,\)"
    ),
    "NaN in a chunk": (
        lambda _: dask_array((20, -1), with_nan()), None, ValueError, "chunk 1 of X must be finite"
    ),
    "NaN in a file": (
        lambda f: saved(f, with_nan()), 2, ValueError, r"X\[20:40\] must be finite"
    ),
    "a missing file": (
        lambda f: f / "no.npy", 2, FileNotFoundError, "X must name an existing .npy file"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_cut_is_named(name, client, tmp_path):
    make, n_partitions, error, sentence = REFUSED[name]
    with pytest.raises(error, match=sentence) as caught:
        on_cluster(PROBLEM, client, n_partitions, make(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given, error, sentence", [
    ("tcp://here:8786", TypeError, "client must be a distributed.Client; got 'tcp://here:8786'"),
    (None, ValueError, "client must be a distributed.Client if no Client is open"),
])  # fmt: skip
def test_a_client_of_another_type_is_refused(given, error, sentence, client, monkeypatch):
    monkeypatch.setattr("distributed.client._get_global_client", lambda: None)
    with pytest.raises(error, match=sentence):
        on_cluster(PROBLEM, given, 2)


def test_the_open_client_is_taken_by_default(client):
    with client.as_current():
        assert on_cluster(PROBLEM, None, 2).client is client


@pytest.mark.parametrize("options, error, sentence", [
    ({"y": PROBLEM.y[1:]}, ValueError, "y must have one label per row of X, 40; got 39"),
    ({"loss": "topk"}, TypeError, "loss must be a fwlab.Loss where .* got 'topk'"),
    ({"lam": -1.0}, ValueError, "lam must be finite and > 0"),
])  # fmt: skip
def test_other_arguments_are_checked(options, error, sentence, client):
    options = {"y": PROBLEM.y, "loss": PROBLEM.loss, "lam": 0.1, **options}
    with pytest.raises(error, match=sentence):
        DaskProblem(PROBLEM.X, client=client, n_partitions=2, **options)


@pytest.mark.parametrize("method, options", [
    ("bcfw", {}), ("fw-open-loop", {}),
    ("ascent", {"order": "cyclic"}), ("ascent", {"block_size": 2}),
])  # fmt: skip
def test_other_methods_are_refused(method, options, client):
    cluster = on_cluster(PROBLEM, client, 2)
    with pytest.raises(ValueError, match='method must be "ascent" with its own order, or "fw"'):
        distributed.solve(cluster, method, **options)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(partitions, "SECONDS_TO_ANSWER", 0.5)
    with client_of(1) as client:
        cluster = on_cluster(PROBLEM, client, 2)
        client.close()
        for call in (lambda: on_cluster(PROBLEM, client, 2), lambda: distributed.solve(cluster)):
            with pytest.raises(OSError, match="no dask scheduler answers at"):
                call()


def test_a_cluster_without_workers_is_named(monkeypatch):
    monkeypatch.setattr(partitions, "SECONDS_TO_REPLACE", 0.2)
    with client_of(0) as client:
        with pytest.raises(ValueError, match=r"client must have workers; .* has none"):
            on_cluster(PROBLEM, client, 2)
        client.cluster.scale(1)
        client.wait_for_workers(1)
        cluster = on_cluster(PROBLEM, client, 2)
        client.cluster.scale(0)
        while client.nthreads():
            time.sleep(0.05)
        with pytest.raises(OSError, match="no worker is left at"):
            distributed.solve(cluster)


def test_without_distributed_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'fwlab\[dask\]'"):
        on_cluster(PROBLEM, None, 2)


def test_the_package_does_not_import_dask():
    code = "import sys, fwlab.distributed; print({'dask', 'distributed'} & set(sys.modules))"
    root = Path(fwlab.__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert run.stdout.strip() == "set()"
