"""Hold the state of a run out of core: W, and A packed chunk by chunk."""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array, vstack

from fwlab.arrays import Floats
from fwlab.distributed.certificate import certificate, start_certificate
from fwlab.distributed.packed import packed
from fwlab.distributed.problem import ChunkProblem, OutOfCoreProblem
from fwlab.result import Certificate
from fwlab.solvers.interrupt import Interrupt
from fwlab.solvers.method import RunState, State
from fwlab.text import duration

SECONDS_BETWEEN_LINES = 5.0


@dataclass(eq=False)
class ChunkState(State):
    """The state of a method on one chunk. Its link is the whole link, which is not recomputed."""

    whole_link: Floats = field(kw_only=True)

    def refresh(self) -> None:
        self.link = self.whole_link


@dataclass(eq=False)
class OutOfCoreState(RunState):
    """The state of a run, which the method changes in place.

    Attributes
    ----------
    problem : OutOfCoreProblem
    packed : list of csr_array
        The rows of A of each chunk.
    rng : Generator
        The source of all random choices.
    interrupt : Interrupt
        Says whether Ctrl-C was pressed: a pass then ends after the current chunk.
    shows_progress : bool
        Whether a long pass prints how far it is to stderr.
    link : array (m, d)
        W(A), which follows every step.
    cut_short : int or None
        The number of chunks of the last pass, if it did not visit all of them.
    infeasibility : float
        The largest distance of an entry of A from its domain, when A was last certified.
    """

    problem: OutOfCoreProblem
    packed: list[csr_array]
    rng: np.random.Generator
    interrupt: Interrupt = field(default_factory=Interrupt)
    shows_progress: bool = False
    link: Floats = field(init=False)
    cut_short: int | None = field(init=False, default=None)
    infeasibility: float = field(init=False, default=np.nan)

    def __post_init__(self) -> None:
        self.link = self._link_of_zero() if self.is_zero else self._link_from_scratch()

    @property
    def is_zero(self) -> bool:
        """Whether A is 0."""
        return not any(rows.nnz for rows in self.packed)

    @property
    def A(self) -> csr_array:
        """The dual point, (n, m)."""
        return csr_array(vstack(self.packed, format="csr"))

    def chunks(self, work: str) -> Iterator[tuple[int, ChunkProblem]]:
        """Yield the place and the part of each chunk. `work` names the pass for the user."""
        began = shown = time.monotonic()
        done, n = 0, self.problem.n_samples
        for place, part in enumerate(self.problem.chunks()):
            yield place, part
            done, now = done + part.n_samples, time.monotonic()
            if self.shows_progress and now >= shown + SECONDS_BETWEEN_LINES:
                shown, left = now, duration((now - began) * (n - done) / done)
                print(f"{work}: {done / n:.0%} of X, {left} left", file=sys.stderr, flush=True)

    def chunk_state(self, place: int, part: ChunkProblem) -> ChunkState:
        """Return the state of a block method on one chunk, with its rows of A dense."""
        A = self.packed[place].toarray()
        return ChunkState(part, A, self.rng, whole_link=self.link)

    def pack(self, place: int, A: Floats) -> None:
        """Keep the rows of A of one chunk, given as (rows, m)."""
        self.packed[place] = packed(A)

    def judge(self) -> Certificate:
        """Return the certificate at the link that the method tracks."""
        if self.is_zero:
            return start_certificate(self.problem)
        return self._certificate("judging", from_scratch=False)

    def certify(self) -> Certificate:
        """Return the certificate of A, with the link recomputed from it."""
        self._round_to_domain()
        self.link = self._link_from_scratch()
        return self._certificate("certificate", from_scratch=True)

    @property
    def checkpoint_cost(self) -> float:
        """One pass."""
        return 1.0

    def _certificate(self, work: str, from_scratch: bool) -> Certificate:
        rows = ((part, self.packed[place].toarray()) for place, part in self.chunks(work))
        return certificate(self.problem, rows, self.link, from_scratch)

    def _round_to_domain(self) -> None:
        """Project the rows of A that miss the domain by rounding errors that show."""
        worst = 0.0
        for place, part in enumerate(self.problem.parts):
            state = self.chunk_state(place, part)
            state.round_to_domain()
            off = state.infeasibility
            if off is None:
                off = part.infeasibility(state.A)
                self.pack(place, state.A)
            worst = max(worst, off)
        self.infeasibility = worst

    def _link_of_zero(self) -> Floats:
        """Return 0, (m, d), stored by rows for a dense X and by columns for a sparse one."""
        shape = self.problem.n_classes, self.problem.n_features
        return np.zeros(shape[::-1]).T if self.problem.is_sparse else np.zeros(shape)

    def _link_from_scratch(self) -> Floats:
        link = self._link_of_zero()
        for place, part in self.chunks("weights"):
            link += part.features.transposed_product(self.packed[place].toarray())
        link /= self.problem.lam_n
        return link
