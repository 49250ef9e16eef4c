"""Define the training problem whose X stays outside memory, and its part on one chunk."""

import time
from collections.abc import Generator, Iterator
from contextlib import closing
from copy import copy
from itertools import zip_longest
from typing import Any, Self

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_features, as_integer, as_real, checked_sample_weight
from fwlab.cross_entropy import EntropyLoss
from fwlab.distributed.memory import EntropyMemory, Memory, as_bytes
from fwlab.distributed.same_chunks import SameChunks, arrays_of
from fwlab.distributed.sources import Order, labels_of, source_of
from fwlab.identity import digest
from fwlab.losses import Loss
from fwlab.lp_norm import LpNorm
from fwlab.operators.features import features_of
from fwlab.primal_dual import PrimalDual
from fwlab.problem_input import (
    check_scales,
    check_smoothing,
    checked_labels,
    checked_lam,
    conversion_notes,
)
from fwlab.streams import stderr
from fwlab.text import duration, in_brackets, problem_facts

SECONDS_BETWEEN_LINES = 5.0


class ProblemInParts:
    """A problem min_W lam/2 |W|^2 + mean loss whose sums are taken part by part.

    Attributes
    ----------
    squares : array (n,)
        |x_i|^2.
    fingerprint : str
        A hash of the numbers of X.
    cuts : list of pairs
        The rows of each part, and whether their X is sparse.
    parts : list of ChunkProblem
        The parts, without X.
    """

    loss: Any
    smoothing: float
    lam: float
    dtype: Any
    y: Integers
    classes: np.ndarray
    sample_weight: Floats
    polytopes: Any
    n_features: int
    squares: Floats
    fingerprint: str
    cuts: list[tuple[slice, bool]]
    kernel = None
    regularizer = LpNorm(2)
    # the classes of losses that are taken
    losses: tuple[type, ...] = (Loss,)

    @property
    def has_entropy(self) -> bool:
        """Whether the loss is CrossEntropy or TopKEntropy, of whose dual point only W is held."""
        return isinstance(self.loss, EntropyLoss)

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes m."""
        return len(self.classes)

    @property
    def lam_n(self) -> float:
        """lam times n."""
        return self.lam * self.n_samples

    @property
    def is_sparse(self) -> bool:
        """Whether X is sparse."""
        return self.parts[0].is_sparse

    def with_lam(self, lam: float) -> Self:
        """Return this problem with another lam, without reading X; both share the data."""
        other = copy(self)
        other._take_lam(as_real("lam", lam, positive=True))
        return other

    def _take_loss(self, loss: Any, smoothing: Any) -> None:
        """Check the loss and its smoothing constant."""
        if not isinstance(loss, self.losses):
            entropies = EntropyLoss in self.losses
            raise TypeError(
                f"loss must be a fwlab.Loss{' or an entropy' if entropies else ''} where X is read "
                f"in parts; got {loss!r}."
            )
        self.loss, self.smoothing = loss, as_real("smoothing", smoothing, positive=False)

    def _take_samples(self, y: Any, n: int | None, n_classes: Any, sample_weight: Any) -> None:
        """Check the labels, n of them if that is known, and the weights of the samples."""
        self.y, self.classes = checked_labels(y, np.size(y) if n is None else n, n_classes)
        self.sample_weight = checked_sample_weight(sample_weight, self.n_samples)
        self.polytopes = self.loss.polytopes(self.y, self.n_classes)

    def _take_lam(self, lam: float) -> None:
        """Set lam, and everything that depends on it."""
        self.lam = lam
        check_scales(self.squares, self.lam_n, self.sample_weight, self.polytopes.scale)
        self.curvatures = self.squares / self.lam_n
        self.parts = [ChunkProblem(self, *cut) for cut in self.cuts]


class OutOfCoreProblem(ProblemInParts):
    """The problem min_W lam/2 |W|^2 + mean loss, with an X that is read chunk by chunk.

    Making it reads X once, checks every number and keeps a checksum of each chunk. Each later read
    is compared with its checksum, and a run raises ValueError if X has changed. If an X in memory
    changes after the comparison but before the work on the chunk ends, the next read detects it.
    Later changes of the given y, sample_weight and loss have no effect.

    Parameters
    ----------
    X : path, memory map, CsrFiles, iterable, array or scipy.sparse matrix (n, d)
        A .npy file or a memory map is read with plain reads, so that no page of it counts as
        memory of the process. An iterable gives arrays or scipy.sparse matrices, the rows of X in
        the same chunks each time; a thread advances it. X stays float32 if that holds all its
        numbers, and the certificate belongs to the stored numbers.
    y : array (n,) or path
        Labels of any kind, or a .npy file of them; `problem.classes` holds their distinct values in
        ascending order.
    loss : Loss, CrossEntropy or TopKEntropy
        A loss of fwlab, or your own subclass of fwlab.Loss.
    lam, C : float
        The regularisation constant, positive. C may be given instead: lam = 1 / (C n).
    smoothing : float
        Constant of the Moreau envelope, at least 0; 0 for CrossEntropy and TopKEntropy.
    n_classes : int, optional
        Number of classes, if y holds integers 0 .. m-1 and not all of them.
    sample_weight : array (n,), optional
        Non-negative weights omega; 1 by default.
    max_memory : int or str
        The bytes that a run may take beside the interpreter and the packed dual variable, such as
        500_000_000, "500MB" or "2GiB". An X in memory is not counted.
    chunk_rows : int, optional
        Rows per chunk; by default chosen by max_memory, at most 32 MiB. It has no effect on an
        iterable. A run is the same, bit for bit, for the same chunks; but an iterable gives them in
        its own order, and anything else in a random one.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        With one sentence, if an argument is not as described.
    """

    losses = (Loss, EntropyLoss)

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss | EntropyLoss,
        lam: float | None = None,
        smoothing: float = 0.0,
        n_classes: int | None = None,
        sample_weight: Any = None,
        C: float | None = None,
        max_memory: int | str = "1GB",
        chunk_rows: int | None = None,
    ) -> None:
        self._take_loss(loss, smoothing)
        self.source = source_of(X)
        self._take_samples(labels_of("y", y), self.source.n_samples, n_classes, sample_weight)
        check_smoothing(loss, self.polytopes, self.smoothing)
        self.max_memory = as_bytes("max_memory", max_memory)
        self.n_features = self.source.n_features or 0
        self.chunk_rows = self._checked_chunk_rows(chunk_rows)
        lam = checked_lam(lam, C, self.n_samples)
        self.same_chunks = SameChunks(self.source, self.chunk_rows)
        self.squares, self.row_terms = np.empty(self.n_samples), 0
        self.cuts, self.dtype = self._survey(), self.source.dtype
        self._take_lam(lam)

    def __repr__(self) -> str:
        return in_brackets("OutOfCoreProblem", self.facts)

    @property
    def facts(self) -> list[str]:
        """Loss, sizes and every constant of the objective, each as a short text."""
        own: Any = self  # has what problem_facts reads
        return [*problem_facts(own), f"{len(self.parts)} chunks"]

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each thing that a user should know of X."""
        longest = max(part.n_samples for part in self.parts)
        chunks = f"X was read at most {longest} rows at a time."
        return chunks, *conversion_notes(None, self.parts[0].storage)

    def first_part(self) -> "ChunkProblem":
        """Return the part of the first chunk, with its rows of X."""
        with closing(self.chunks()) as parts:
            return next(parts)

    def chunks(self, order: Order | None = None) -> Generator["ChunkProblem"]:
        """Yield the part of each chunk, with its rows of X, which the next one may overwrite.

        `order` holds the places of the chunks to read, if the source takes them in any order.
        """
        parts = self.parts if order is None else [self.parts[place] for place in order]
        with closing(self.same_chunks.read(order)) as read:
            for part, X in zip_longest(parts, read):
                if part is None or X is None or X.shape != (part.n_samples, self.n_features):
                    raise ValueError(
                        "X must give the same chunks of rows each time; it gave others."
                    )
                yield part.holding(X)

    def chunks_shown(
        self, work: str, shows: bool, order: Order | None = None
    ) -> Iterator[tuple[int, "ChunkProblem"]]:
        """Yield the place and the part of each chunk, or of those in `order`, as `chunks` does.

        If `shows`, lines on stderr say how far a long pass is, and `work` names it.
        """
        began = shown = time.monotonic()
        places = range(len(self.parts)) if order is None else order
        left = sum(self.parts[place].n_samples for place in places)
        before = self.n_samples - left
        for place, part in zip(places, self.chunks(order), strict=True):
            yield place, part
            left, now = left - part.n_samples, time.monotonic()
            if shows and now >= shown + SECONDS_BETWEEN_LINES:
                shown, done = now, self.n_samples - left
                rest = duration((now - began) * left / (done - before))
                share = done / self.n_samples
                print(f"{work}: {share:.0%} of X, {rest} left", file=stderr(), flush=True)

    def _survey(self) -> list[tuple[slice, bool]]:
        """Read X once and check it; return each chunk's rows and whether they are sparse."""
        stop, cuts, fingerprints = 0, [], []
        with closing(self.same_chunks.read()) as read:
            for X in read:
                start, stop = stop, stop + X.shape[0]
                if stop > self.n_samples:
                    break
                checked = self._checked_chunk(X, start, stop)
                features: Any = features_of(checked, None)
                self.squares[start:stop] = features.square_norms()
                self.row_terms = max(self.row_terms, int(np.max(features.row_terms())))
                fingerprints.append(digest(*arrays_of(checked)))
                cuts.append((slice(start, stop), scipy.sparse.issparse(X)))
        if stop != self.n_samples:
            more = "or more" if stop > self.n_samples else "in all"
            raise ValueError(
                f"y must have one label per row of X, {stop} {more}; got {self.n_samples}."
            )
        self.fingerprint = digest(*fingerprints)
        return cuts

    def _checked_chunk(self, X: Any, start: int, stop: int) -> Any:
        """Return rows start to stop - 1 of X, the same rows that later passes give."""
        X = as_features(f"X[{start}:{stop}]", X, self.source.dtype or np.float64)
        self.n_features = self.n_features or X.shape[1]
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X[{start}:{stop}] must have {self.n_features} columns, as the rows before it; "
                f"got {X.shape[1]}."
            )
        self._memory(scipy.sparse.issparse(X)).check(X.shape[0], bytes_of(X))
        return X

    def _checked_chunk_rows(self, chunk_rows: int | None) -> int:
        """Return the rows per chunk; for an iterable, whose chunks are its own, any number."""
        rows = self.n_samples if chunk_rows is None else as_integer("chunk_rows", chunk_rows, low=1)
        if not self.n_features:
            return rows
        memory = self._memory(self.source.is_sparse)
        if chunk_rows is None:
            return memory.rows_per_chunk(self.source)
        rows = min(rows, self.n_samples)
        memory.check(rows, self.source.chunk_bytes(rows))
        return rows

    def _memory(self, is_sparse: bool) -> Memory:
        sizes = self.max_memory, self.n_samples, self.n_features, self.n_classes
        return EntropyMemory(*sizes, is_sparse) if self.has_entropy else Memory(*sizes)


class ChunkProblem(PrimalDual):
    """The problem on the rows of one chunk: their share of the sums, with lam n of the whole.

    It holds X only within `OutOfCoreProblem.chunks`.
    """

    def __init__(self, whole: ProblemInParts, rows: slice, is_sparse: bool) -> None:
        self.is_sparse = is_sparse
        self.loss, self.smoothing, self.regularizer = whole.loss, whole.smoothing, whole.regularizer
        self.kernel, self.gram_shift, self.notes = None, 0.0, ()
        self.storage = np.dtype(whole.dtype).name
        self.y, self.classes, self.n_classes = whole.y[rows], whole.classes, whole.n_classes
        # lam n of the whole, and exactly lam if the chunk is the whole
        self.lam = whole.lam * (whole.n_samples / len(self.y))
        self.sample_weight = whole.sample_weight[rows]
        self.polytopes = whole.polytopes.take(rows)
        self.curvatures = whole.curvatures[rows]

    @property
    def has_tensors(self) -> bool:
        """Whether X is a tensor: no, and X need not be there to say so."""
        return False

    def holding(self, X: Any) -> "ChunkProblem":
        """Return this part with its rows of X."""
        part = copy(self)
        part.X, part.features = X, features_of(X, None)
        return part


def bytes_of(X: Any) -> int:
    """Return the memory that an array or a CSR matrix takes."""
    return sum(int(array.nbytes) for array in arrays_of(X))
