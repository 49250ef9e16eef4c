"""Problems on a Dask cluster for the tests."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from local_cluster import NO_PUBLIC_PORT

import fwlab
from fwlab.distributed import DaskProblem
from fwlab.distributed.dask.driver import Driver
from fwlab.distributed.dask.worker import Opening, Request, Stale, answer, open_block


@contextmanager
def client_of(n_workers: int, **options: Any) -> Iterator[Any]:
    """Provide the client of a new cluster, whose workers are threads of this process by default."""
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    options = {"threads_per_worker": 1, "processes": False, **NO_PUBLIC_PORT, **options}
    options |= {"silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(n_workers=n_workers, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


class DriverHere(Driver):
    """Asks blocks in this thread, which takes less time than a cluster."""

    def ask(self, request: Request) -> list[Any]:
        if not self._blocks:
            kept = zip(self.setups, self.kept, strict=True)
            openings = [Opening(setup, rows, self.kept_version) for setup, rows in kept]
            X = self.client.gather(self.placement.data)
            pairs = enumerate(zip(X, openings, strict=True))
            self._blocks = {place: (open_block(*pair), pair[0]) for place, pair in pairs}
        answers = [answer(block, X, request) for block, X in self._blocks.values()]
        assert not any(isinstance(found, Stale) for found in answers)
        return answers


def on_cluster(problem: fwlab.Problem, client: Any, n_partitions: Any, X: Any = None) -> Any:
    """Return a problem on a cluster; X, its own by default, holds the same numbers."""
    return DaskProblem(
        problem.X if X is None else X,
        problem.y,
        problem.loss,
        problem.lam,
        smoothing=problem.smoothing,
        n_classes=problem.n_classes,
        sample_weight=problem.sample_weight,
        client=client,
        n_partitions=n_partitions,
    )
