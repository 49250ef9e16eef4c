"""Measure accuracies on validation samples that stay outside memory, chunk by chunk."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_features
from fwlab.checks.labels import codes_of
from fwlab.distributed.problem import OutOfCoreProblem
from fwlab.distributed.same_chunks import SameChunks
from fwlab.distributed.sources import labels_of, source_of
from fwlab.metrics import topk_hits
from fwlab.proved import proved_accuracy


@dataclass(frozen=True)
class Accuracy:
    """The top-k accuracy of a machine, and an interval that holds the exact optimum's."""

    k: int
    share: float
    low: float
    high: float


class ValidationSet:
    """Samples X (n, d) and their labels y (n,), read as OutOfCoreProblem reads its own.

    X must stay what it was on the first read, which the first accuracy makes. A label that the
    problem does not have counts as wrong. Raises TypeError, ValueError or FileNotFoundError with
    one sentence if X and y do not fit the problem, or if it has none of y.
    """

    def __init__(self, X: Any, y: Any, problem: OutOfCoreProblem) -> None:
        source = source_of(X)
        self.same_chunks = SameChunks(source, problem.chunk_rows)
        self.codes: Integers = codes_of(labels_of("y", y), problem.classes)
        if not len(self.codes):
            raise ValueError("validation must have at least one label; got none.")
        n, d = source.n_samples, source.n_features
        if n not in (None, len(self.codes)):
            raise ValueError(
                f"validation must have one label per row of X, {n}; got {len(self.codes)}."
            )
        if d not in (None, problem.n_features):
            raise ValueError(f"validation must have {problem.n_features} features; got {d}.")

    def accuracy(self, W: Floats, k: int) -> float:
        """Return the share of samples whose class is among the k best scores."""
        return self._mean(lambda X, codes: (topk_hits(codes, np.asarray(X @ W.T), k).mean(),))[0]

    def proved(self, W: Floats, distance: float, k: int) -> Accuracy:
        """Return the accuracy of W and the interval, for |W - W*| <= distance."""
        low, high = self._mean(lambda X, codes: proved_accuracy(W, distance, X, codes, k))
        return Accuracy(k, self.accuracy(W, k), low, high)

    def _mean(self, measure: Callable[[Any, Integers], tuple[float, ...]]) -> tuple[float, ...]:
        """Return means over all samples of the means over a chunk, which `measure` returns."""
        totals = [len(codes) * np.array(measure(X, codes)) for X, codes in self._chunks()]
        return tuple((np.sum(totals, axis=0) / len(self.codes)).tolist())

    def _chunks(self) -> Iterator[tuple[Any, Integers]]:
        stop = 0
        with closing(self.same_chunks.read()) as read:
            for given in read:
                X = as_features("validation", given)
                start, stop = stop, stop + X.shape[0]
                yield X, self.codes[start:stop]
