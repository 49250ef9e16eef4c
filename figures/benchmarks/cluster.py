"""Passes, bytes and seconds of ascent on a Dask cluster here, by workers and partitions.

B is synthetic-b with unit rows, to a gap of 1e-5; the larger set has 200 000 x 1024 float32
features of 100 classes in a file, and goes to a gap of 2e-2. Top-3, lam = 1/n; each worker is a
process with one thread. "serial" is ascent in memory, without shrinking. All runs are judged after
each pass. Bytes are what the driver and the workers send each other after X is in place: W, the
directions, the rows of A that the driver keeps, and certificates. Seconds are wall time, with
judging and the certificate, after a first run of one pass.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.benchmarks.timing import print_line
from fwlab import distributed

SIZES = ((1, 2), (2, 2), (2, 4), (2, 8))
QUICK_SIZES = ((1, 2), (2, 2))
# not reachable from other machines
HERE = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
HEADER = ("data", "workers", "partitions", "passes", "gap", "MB sent", "seconds", "dual")


@contextmanager
def sets(quick: bool) -> Iterator[dict[str, tuple[Any, Any, float]]]:
    """Provide X, or the file that holds it, labels, and the gap to reach."""
    n = 2_000 if quick else 200_000
    with tempfile.TemporaryDirectory() as folder:
        data = fwlab.datasets.load("synthetic-b", normalize="unit")
        found = {"B": (data.X_train, data.y_train, 1e-2 if quick else 1e-5)}
        data = fwlab.datasets.synthetic(n, 1024, 100, 0.1, rng=0, normalize="unit")
        file = Path(folder) / "features.npy"
        np.save(file, data.X_train.astype(np.float32))
        found[f"{n} x 1024 x 100"] = file, data.y_train, 2e-2
        del data
        yield found


def serial(name: str, X: Any, y: Any, gap: float) -> list[str]:
    """Return the line of a run in memory."""
    X, storage = (np.load(X), "float32") if isinstance(X, Path) else (X, "float64")
    problem = fwlab.Problem(X, y, fwlab.TopK(3), 1 / len(y), storage=storage)
    options = {"shrink": False, "check_every": 1, "max_gram_memory": 0}
    fwlab.solve(problem, max_iter=1, **options)
    run = fwlab.solve(problem, tol=gap, max_iter=300, **options)
    return line(name, "serial", "", run, "")


def on_cluster(
    client: Any, name: str, X: Any, y: Any, gap: float, workers: int, partitions: int
) -> list[str]:
    """Return the line of a run on a cluster."""
    problem = distributed.DaskProblem(
        X, y, fwlab.TopK(3), 1 / len(y), client=client, n_partitions=partitions
    )
    distributed.solve(problem, max_iter=1)
    states: list[Any] = []
    run = distributed.solve(
        problem, tol=gap, check_every=1, max_iter=300, callback=lambda p: states.append(p.state)
    )
    return line(name, workers, partitions, run, f"{1e-6 * states[0].driver.bytes_sent:.0f}")


def line(name: str, workers: Any, partitions: Any, run: fwlab.Result, sent: str) -> list[str]:
    cells = name, workers, partitions, run.nit, f"{run.gap:.1e}", sent
    return [*map(str, cells), f"{run.wall_seconds:.1f}", f"{run.dual:.6f}"]


def run(quick: bool) -> None:
    """Print the table in Markdown, line by line."""
    from distributed import Client, LocalCluster

    print_line(HEADER)
    print_line("---" for _ in HEADER)
    with sets(quick) as found:
        for name, data in found.items():
            print_line(serial(name, *data))
            for workers, partitions in QUICK_SIZES if quick else SIZES:
                with (
                    LocalCluster(n_workers=workers, threads_per_worker=1, **HERE) as cluster,
                    Client(cluster) as client,
                ):
                    print_line(on_cluster(client, name, *data, workers, partitions))
