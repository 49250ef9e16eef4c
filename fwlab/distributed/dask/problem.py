"""Define the training problem whose X lies on the workers of a Dask cluster."""

from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from fwlab.arrays import cut
from fwlab.distributed.dask.partitions import Placement, checked_client, partitions_of, survey
from fwlab.distributed.dask.worker import Setup
from fwlab.distributed.memory import CHUNK_BYTES, LEAST_ROWS
from fwlab.distributed.problem import ChunkProblem, ProblemInParts
from fwlab.distributed.same_chunks import KnownRows
from fwlab.distributed.sources import labels_of
from fwlab.identity import digest
from fwlab.losses import Loss
from fwlab.problem_input import checked_lam, conversion_notes
from fwlab.text import in_brackets, problem_facts


class DaskProblem(ProblemInParts):
    """The problem min_W lam/2 |W|^2 + mean loss, with partitions of X on the workers of a cluster.

    Making it brings X to the workers, where it stays, and checks every number there. A run sends W
    to the workers and sums of their rows back. It raises ValueError if X has changed at its start,
    at a judgement, in the certificate, or when a worker replaces another one; a file that is read
    already may change. Later changes of the given y, sample_weight and loss have no effect.

    Parameters
    ----------
    X : dask array, path of a .npy file, array or scipy.sparse matrix (n, d)
        The row chunks of a dask array are the partitions, and stay on the workers that hold them.
        A file is read by the workers, which must all find it under this path. Other rows are sent
        once. X stays float32 if that holds all its numbers, and the certificate belongs to the
        stored numbers.
    y : array or dask array (n,), or path
        Labels of any kind, or a .npy file of them that the driver reads; `problem.classes` holds
        their distinct values in ascending order.
    loss : Loss
        A loss of fwlab, or your own subclass of fwlab.Loss that the workers can import.
    lam, C : float
        The regularisation constant, positive. C may be given instead: lam = 1 / (C n).
    smoothing : float
        Constant of the Moreau envelope, at least 0.
    n_classes : int, optional
        Number of classes, if y holds integers 0 .. m-1 and not all of them.
    sample_weight : array (n,), optional
        Non-negative weights omega; 1 by default.
    client : distributed.Client, optional
        The client of the cluster; by default the one opened last.
    n_partitions : int, optional
        Number of partitions, by default the number of threads of all workers; None for a dask
        array. A run is the same, bit for bit, for the same partitions on any number of workers
        with the same processor.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        With one sentence, if an argument is not as described.
    ImportError
        If the package distributed is not installed.
    OSError
        If the scheduler does not answer.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        lam: float | None = None,
        smoothing: float = 0.0,
        n_classes: int | None = None,
        sample_weight: Any = None,
        C: float | None = None,
        client: Any = None,
        n_partitions: int | None = None,
    ) -> None:
        self._take_loss(loss, smoothing)
        self.client = checked_client(client)
        rows = partitions_of(X, n_partitions, self.client)
        self.partitions = [slice(*ends) for ends in pairwise(rows.cuts)]
        n, self.dtype = rows.cuts[-1], rows.dtype
        y, sample_weight = (in_memory(v, self.client) for v in (labels_of("y", y), sample_weight))
        self._take_samples(y, n, n_classes, sample_weight)
        lam = checked_lam(lam, C, n)
        self.placement = Placement(self.client, rows)
        self._survey()
        self._take_lam(lam)

    def __repr__(self) -> str:
        facts = [*problem_facts(self), f"{len(self.partitions)} partitions"]
        return in_brackets("DaskProblem", facts)

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each thing that a user should know of X."""
        partitions = f"X lay in {len(self.partitions)} partitions on a Dask cluster."
        return partitions, *conversion_notes(None, self.parts[0].storage)

    def setups(self) -> list[Setup]:
        """Return what the workers must know of each partition besides X."""
        setups, parts = [], iter(self.parts)
        for place, known in enumerate(self.known):
            count = len(self._pieces(known.rows))
            setups.append(Setup(place, tuple(sendable(next(parts)) for _ in range(count)), known))
        return setups

    def _survey(self) -> None:
        """Let the workers check X, and cut the partitions into parts."""
        placement = self.placement
        data = zip(placement.data, placement.homes, strict=True)
        futures = [
            self.client.submit(survey, rows, workers=[home], pure=False) for rows, home in data
        ]
        found = self.client.gather(futures)
        self.n_features, is_sparse = found[0].n_features, found[0].is_sparse
        for place, partition in enumerate(found):
            if (partition.n_features, partition.is_sparse) != (self.n_features, is_sparse):
                raise ValueError(
                    f"chunk {place} of X must have {self.n_features} columns and be "
                    f"{'sparse' if is_sparse else 'dense'}, as the chunks before it."
                )
        self.squares = np.concatenate([partition.squares for partition in found])
        self.fingerprint = digest(*(partition.fingerprint for partition in found))
        self.known = [
            KnownRows(placement.rows.demand, rows, partition.checksum)
            for rows, partition in zip(self.partitions, found, strict=True)
        ]
        self.cuts = [(piece, is_sparse) for rows in self.partitions for piece in self._pieces(rows)]

    def _pieces(self, rows: slice) -> list[slice]:
        """Cut the rows of a partition so that dense rows of A take CHUNK_BYTES at most."""
        return cut(rows, max(LEAST_ROWS, CHUNK_BYTES // (8 * self.n_classes)))


def in_memory(values: Any, client: Any) -> Any:
    """Return what a dask collection holds, and anything else as it is."""
    if not hasattr(values, "__dask_graph__"):
        return values
    return client.compute(values, sync=True)


def sendable(part: ChunkProblem) -> ChunkProblem:
    """Return a part with only the costs of its own rows."""
    part, polytopes = copy(part), part.row_polytopes
    used, cost_rows = np.unique(polytopes.cost_rows, return_inverse=True)
    if len(used) < len(polytopes.costs):
        part.polytopes = replace(polytopes, costs=polytopes.costs[used], cost_rows=cost_rows)
    # it may hold the costs of all rows
    del part.loss
    return part
