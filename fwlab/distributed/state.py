"""Hold the state of a run out of core: W, and A packed chunk by chunk.

Every certificate compares the W that a method tracks with the W of its A. A step that replaces a
row a_i by b_i adds (b_i - a_i) x_i^T / (lam n) to W. The norm of W, and the norm of each change of
W, is at most

    S = 4 / (lam n) sum_i omega_i R |x_i|,

where R is the largest sum of the entries of a vertex without the label's. After T steps and a sum
over n rows, rounding errors explain a distance of 8 gamma_(T + n) S. This bound also covers the
entries of A that `packed.significant` drops: a round makes at least one step, and the entries that
it drops change W by less than 2^-54 S.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from fwlab.arrays import Floats
from fwlab.certificate import certificate_of_parts, terms_of_part
from fwlab.distributed.checkpoint import Checkpoint, CheckpointFile
from fwlab.distributed.journal import CERTIFIED, JUDGED, Journal
from fwlab.distributed.packed import packed
from fwlab.distributed.problem import ChunkProblem, OutOfCoreProblem, ProblemInParts
from fwlab.distributed.sources import Order
from fwlab.operators.scores import row_slices, rows_of_part
from fwlab.operators.sums import gamma
from fwlab.parts import (
    Whole,
    add_products,
    norms_of_rows,
    values_at,
    values_of_part,
    values_of_parts,
)
from fwlab.result import Certificate
from fwlab.solvers.interrupt import Interrupt
from fwlab.solvers.method import State
from fwlab.solvers.run_state import RunState

# the time of a certificate in judgements, at most
CERTIFICATE = 5.0
COUNTERS = ("n_lmo", "n_steps", "active", "step")


class DriftError(RuntimeError):
    """W is not the W of A, or the gap is negative, and rounding errors do not explain it.

    X, W or A changed during the run, in memory or in a checkpoint. A file or an iterable that
    changed is named before that: each read of X is compared with the first one.
    """


def drift_bound(problem: ProblemInParts, steps: int) -> float:
    """Return the largest distance |W - A^T X / (lam n)| that rounding errors explain."""
    lam_n, reach = problem.lam_n, float(problem.polytopes.upper.sum())
    norms = np.sqrt(problem.curvatures * lam_n)
    size = 4.0 / lam_n * reach * float(problem.sample_weight @ norms)
    return 8.0 * float(gamma(steps + problem.n_samples)) * size


def require_no_drift(tracked: Floats, link: Floats, bound: float) -> None:
    """Raise DriftError if the tracked W is farther from the W of A than the bound."""
    distance = float(np.linalg.norm(tracked - link))
    if not distance <= bound:
        raise DriftError(
            f"W is {distance:.3g} away from A^T X / (lam n), and rounding explains no more than "
            f"{bound:.3g}: X, W or A changed in memory or in a checkpoint while the run used it."
        )


class Rounding(NamedTuple):
    """How far rows of A are from their domain once rounding errors were taken out of them."""

    infeasibility: float
    changed: bool
    moved: float  # sum_i |d_i| |x_i| for the changes d_i of the rows

    @classmethod
    def of_all(cls, roundings: Iterable["Rounding"]) -> "Rounding":
        """Return the rounding of all rows from the roundings of their parts."""
        off, changed, moved = zip(*roundings, strict=True)
        return cls(max(off), any(changed), sum(moved))


@dataclass(eq=False)
class ChunkState(State):
    """The state of a method on one chunk. Its link is the whole link, which is not recomputed."""

    whole_link: Floats = field(kw_only=True)

    def refresh(self) -> None:
        self.link = self.whole_link

    def put_back(self) -> Rounding:
        """Project the rows of A that miss the domain by rounding errors that show."""
        before, part = self.A.copy(), self.problem
        self.round_to_domain()
        change = np.linalg.norm(self.A - before, axis=1)
        moved = float(change @ np.sqrt(part.curvatures * part.lam_n))
        off = part.infeasibility(self.A) if self.infeasibility is None else self.infeasibility
        return Rounding(off, bool(change.any()), moved)


@dataclass(eq=False)
class OutOfCoreState(RunState):
    """The state of a run, which the method changes in place.

    Attributes
    ----------
    problem : OutOfCoreProblem
    packed : list of csr_array
        The rows of A of each chunk; the list changes in place, so that no other copy of A lives.
    rng : Generator
        The source of all random choices.
    interrupt : Interrupt
        Says whether Ctrl-C was pressed: a pass then ends after the current chunk.
    shows_progress : bool
        Whether a long pass prints how far it is to stderr.
    checkpoint_file : CheckpointFile or None
        Writes the checkpoints.
    journal : Journal
        What the loop was told so far.
    resumed : Checkpoint or None
        The checkpoint that the run goes on from, without its A and W.
    iteration : int
        The number of finished iterations.
    workspace : object
        The workspace of the method.
    certificate : Certificate or None
        The last one that was computed from scratch in this process.
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
    checkpoint_file: CheckpointFile | None = None
    journal: Journal = field(default_factory=Journal)
    resumed: Checkpoint | None = field(init=False, default=None)
    iteration: int = field(init=False, default=0)
    workspace: Any = field(init=False, default=None)
    certificate: Certificate | None = field(init=False, default=None)
    seconds: float = field(init=False, default=0.0)
    began: float | None = field(init=False, default=None)
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

    @property
    def made_by(self) -> dict[str, str]:
        """The checkpoint that the run went on from, if there was one."""
        return {} if self.resumed is None else {"resumed": f"iteration {self.resumed.iteration}"}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user."""
        found = []
        if self.cut_short is not None:
            visited = f"{self.cut_short} of {len(self.problem.parts)} chunks"
            found.append(f"The last iteration ended early, after {visited}.")
        found += [f"Resumed after {iteration}." for iteration in self.made_by.values()]
        return tuple(found)

    def ball(self, certificate: Certificate) -> dict[str, Any]:
        """Return no fields: the ball that holds the exact optimum is the one around W."""
        return {}

    def chunks(self, work: str, order: Order | None = None) -> Iterator[tuple[int, ChunkProblem]]:
        """Return the place and the part of each chunk, or of those in `order`, one by one.

        `work` names the pass for the user.
        """
        return self.problem.chunks_shown(work, self.shows_progress, order)

    def chunk_state(self, place: int, part: ChunkProblem) -> ChunkState:
        """Return the state of a block method on one chunk, with its rows of A dense."""
        A = self.packed[place].toarray()
        return ChunkState(part, A, self.rng, whole_link=self.link)

    def pack(self, place: int, A: Floats) -> None:
        """Keep the rows of A of one chunk, given as (rows, m)."""
        self.packed[place] = packed(A)

    def weights(self) -> Floats:
        """Return the primal point, (m, d)."""
        return self.link

    def judge(self) -> Certificate:
        """Return the certificate at the link that the method tracks."""
        found: Certificate = self.journal.answer(JUDGED, self.iteration, self._judged)
        return found

    def certify(self) -> Certificate:
        """Return the certificate of A, with the link recomputed from it.

        Raises DriftError if rounding does not explain how far the tracked link is from it, or if
        it does not explain a negative gap.
        """
        found: Certificate = self.journal.answer(CERTIFIED, self.iteration, self.certify_now)
        return found

    @property
    def checkpoint_cost(self) -> float:
        """One pass."""
        return 1.0

    def seconds_to_certify(self, judgement: float) -> float:
        """Predict the seconds of `certify`, which reads X once more and bounds rounding errors."""
        return CERTIFICATE * judgement

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the seconds of a `with` block as seconds of the method."""
        self.began = time.perf_counter()
        yield
        self.seconds, self.began = self.spent, None

    @property
    def spent(self) -> float:
        """Seconds of the method so far, of earlier processes too."""
        running = 0.0 if self.began is None else time.perf_counter() - self.began
        return self.seconds + running

    def keep(self, now: bool = False) -> None:
        """Write a checkpoint if there is a file for it and it is time, or if it must be `now`."""
        repeating = self.iteration < self.journal.iterations
        if self.checkpoint_file is None or repeating or self.cut_short is not None:
            return
        if not (now or self.checkpoint_file.is_due):
            return
        counters = {name: getattr(self, name) for name in COUNTERS}
        self.checkpoint_file.write(
            packed=self.packed,
            iteration=self.iteration,
            link=self.link,
            arrays=self.workspace.as_arrays(self.problem),
            notes={
                "rng": self.rng.bit_generator.state,
                "seconds": self.spent,
                "journal": self.journal.as_notes(),
                **counters,
            },
        )

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint with feasible rows of A.

        Raises DriftError if its link cannot be the link of its A.
        """
        self.packed[:], notes = checkpoint.packed, checkpoint.notes
        self.link = self._link_from_scratch()
        for name in COUNTERS:
            setattr(self, name, notes[name])
        self.rng.bit_generator.state = notes["rng"]
        self.seconds = notes["seconds"]
        self.journal = Journal.from_notes(notes["journal"], checkpoint.iteration, self.seconds)
        self.resumed = replace(checkpoint, packed=[], link=np.empty((0, 0)))
        require_no_drift(checkpoint.link, self.link, self._drift_bound(checkpoint.iteration))
        self.link = checkpoint.link

    def _drift_bound(self, iterations: int) -> float:
        """Return the drift of W that rounding explains; an iteration adds each row at most once."""
        steps = self.n_steps + (iterations + 1) * self.problem.n_samples
        return drift_bound(self.problem, steps)

    def _judged(self) -> Certificate:
        """Return the certificate at the tracked link, without a bound of its error."""
        if self.is_zero:
            return certificate_of_zero(self.problem)
        values = self._of_parts("judging", values_at, self.problem.n_samples)
        return values_of_parts(self.problem, values, self.link).certificate()

    def certify_now(self) -> Certificate:
        """Return the certificate of A as it is, whatever the journal holds."""
        self.keep(now=True)
        moved = self._round_to_domain()
        link = self._link_from_scratch()
        require_no_drift(self.link, link, self._drift_bound(self.iteration) + moved)
        self.link = link
        self.certificate = self._certificate()
        if found := self.certificate.contradiction:
            raise DriftError(f"Nothing is certified: {found}")
        return self.certificate

    def _certificate(self) -> Certificate:
        problem, V = self.problem, self.link
        whole = Whole(problem.n_samples, len(problem.parts), norms_of_rows(V))
        terms = self._of_parts("certificate", terms_of_part, whole)
        return certificate_of_parts(problem, terms, V)

    def _of_parts(self, work: str, question: Callable[..., Any], *more: Any) -> list[Any]:
        """Return question(part, A, W, *more) of all parts, in their order."""
        return [question(part, A, self.link, *more) for part, A in self._rows(work)]

    def _rows(self, work: str) -> Iterator[tuple[ChunkProblem, Floats]]:
        """Yield the part of each chunk and its rows of A."""
        for place, part in self.chunks(work):
            yield part, self.packed[place].toarray()

    def _round_to_domain(self) -> float:
        """Project the rows of A that miss the domain by rounding errors that show.

        Returns a bound of the change of W.
        """
        roundings = []
        for place, part in enumerate(self.problem.parts):
            state = self.chunk_state(place, part)
            roundings.append(state.put_back())
            if roundings[-1].changed:
                self.pack(place, state.A)
        return self._after(roundings)

    def _after(self, roundings: Iterable[Rounding]) -> float:
        """Note how far A is from its domain; return a bound of the change of W."""
        self.infeasibility, _, moved = Rounding.of_all(roundings)
        return moved / self.problem.lam_n

    def _link_of_zero(self) -> Floats:
        """Return 0, (m, d), stored by rows for a dense X and by columns for a sparse one."""
        shape = self.problem.n_classes, self.problem.n_features
        return np.zeros(shape[::-1]).T if self.problem.is_sparse else np.zeros(shape)

    def _link_from_scratch(self) -> Floats:
        """Return W(A), (m, d)."""
        link = self._product(self._link_of_zero())
        link /= self.problem.lam_n
        return link

    def _product(self, total: Floats) -> Floats:
        """Return the total with A^T X added, (m, d)."""
        return add_products(total, self._rows("weights"))


def certificate_of_zero(problem: ProblemInParts) -> Certificate:
    """Return the certificate of A = 0 and W = 0, which needs no X."""
    values = []
    for part in problem.parts:
        n, m = part.n_samples, part.n_classes
        zeros = np.zeros((rows_of_part(m), m))
        scores = ((rows, zeros[: rows.stop - rows.start]) for rows in row_slices(n, m))
        A = np.broadcast_to(0.0, (n, m))
        values.append(values_of_part(part, A, scores, problem.n_samples))
    return values_of_parts(problem, values, np.zeros((problem.n_classes, 1))).certificate()
