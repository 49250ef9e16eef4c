"""Run methods of the library over one chunk of rows after the other.

A block method visits the chunks in a fresh random order in each pass, and orders the rows within a
chunk; with "cyclic", or an X that is an iterable, the chunks come in the order of X. All chunks
share W. With a single chunk a pass is the method's own iteration. On 125 000 x 1024 samples of 100
classes, in 32 chunks, four passes of ascent leave a gap of 1.56e-2 in random order and 1.92e-2 in
the order of X; in memory they leave 1.58e-2.

Frank-Wolfe on the whole dual variable makes one pass over X per iteration. The LMO splits by
sample, so each chunk finds its rows of the vertex U. When all chunks have done so, one exact line
search moves A towards U. The scores are computed from W in each pass, because (n, m) numbers would
not fit.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwlab.arrays import Floats
from fwlab.distributed.packed import significant
from fwlab.distributed.problem import ChunkProblem, OutOfCoreProblem, ProblemInParts
from fwlab.distributed.state import ChunkState, OutOfCoreState
from fwlab.kernels.steps.exact_step import exact_step
from fwlab.operators.sums import square_in_parts
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.block_frank_wolfe import BlockFrankWolfe
from fwlab.solvers.blocks import BlockMethod, BlockWorkspace
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.solvers.method import Method

# the parts of a BlockWorkspace that a checkpoint holds
KEPT = ("moves", "gaps", "estimates", "moving", "passes")


def chunked_method(name: str, solver: Method) -> Method:
    """Return the method that works chunk by chunk. Raises ValueError if there is none."""
    if isinstance(solver, Ascent):
        return ChunkPasses(solver)
    if isinstance(solver, BlockFrankWolfe) and not (solver.step_in_python or solver.averaging):
        return ChunkPasses(solver)
    if isinstance(solver, FrankWolfe) and solver.step == "exact":
        return WholeSteps()
    raise ValueError(
        'method must be "ascent", "bcfw" with compiled steps and without averaging, or "fw" with '
        f"exact steps, out of core; got {name!r}."
    )


# ------------------------------------------------------------------ block methods


@dataclass(eq=False)
class Workspaces:
    """The workspace and the progress of the method on each chunk visited so far.

    Attributes
    ----------
    chunks, progress : dict
        By the place of the chunk.
    passes : int
        The number of passes begun.
    order : list of int
        The chunks that the current pass has not visited yet; empty between two passes.
    stored : dict
        What a checkpoint holds of the chunks that this process has not visited yet.
    """

    chunks: dict[int, BlockWorkspace] = field(default_factory=dict)
    progress: dict[int, float] = field(default_factory=dict)
    passes: int = 0
    order: list[int] = field(default_factory=list)
    stored: dict[int, dict[str, Any]] = field(default_factory=dict)

    def as_arrays(self, problem: OutOfCoreProblem) -> dict[str, Any]:
        """Return everything but the products of rows, which a chunk gives again, as arrays."""
        arrays: dict[str, Any] = {"passes": self.passes, "order": np.array(self.order, int)}
        arrays["places"] = np.array([*self.progress], dtype=np.int64)
        arrays["progress"] = np.array([*self.progress.values()])
        for place in range(len(problem.parts)):
            for name, value in self._of_chunk(place).items():
                arrays[f"{name}{place}"] = value
        return arrays

    @classmethod
    def restored(cls, arrays: Mapping[str, Any]) -> "Workspaces":
        """Return the workspaces that gave these arrays."""
        places = arrays["places"].tolist()
        stored = {
            place: {n: arrays[f"{n}{place}"] for n in KEPT if f"{n}{place}" in arrays}
            for place in places
        }
        progress = dict(zip(places, arrays["progress"].tolist(), strict=True))
        return cls({}, progress, int(arrays["passes"]), arrays["order"].tolist(), stored)

    def of(self, place: int, chunk: ChunkState, method: BlockMethod) -> BlockWorkspace:
        """Return the workspace of a chunk, begun or restored if this is its first visit."""
        if place not in self.chunks:
            held = self.chunks[place] = method.start(chunk)
            for name, value in self.stored.pop(place, {}).items():
                setattr(held, name, int(value) if name == "passes" else value)
        return self.chunks[place]

    def _of_chunk(self, place: int) -> dict[str, Any]:
        """Return what a checkpoint holds of a chunk."""
        if place not in self.chunks:
            return self.stored.get(place, {})
        held = self.chunks[place]
        found = {name: getattr(held, name) for name in KEPT}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class ChunkPasses(Method):
    """Visits the chunks of X with a block method, all of them in each iteration."""

    method: BlockMethod

    def start(self, state: OutOfCoreState) -> Workspaces:
        return Workspaces() if state.resumed is None else Workspaces.restored(state.resumed.arrays)

    def iterate(self, state: OutOfCoreState, workspace: Workspaces) -> None:
        if not workspace.order:
            workspace.passes += 1
            workspace.order = self._order(state)
        for place, part in self._rest_of_pass(state, workspace):
            chunk = state.chunk_state(place, part)
            held = workspace.of(place, chunk, self.method)
            self.method.iterate(chunk, held)
            workspace.progress[place] = self.method.progress(chunk, held)
            state.pack(place, chunk.A)
            state.n_steps += chunk.n_steps
            state.n_lmo += chunk.n_lmo
            workspace.order.remove(place)
            if workspace.order:
                state.keep(now=state.interrupt.pressed)
                if state.interrupt.pressed:
                    state.cut_short = len(state.problem.parts) - len(workspace.order)
                    return

    def _order(self, state: OutOfCoreState) -> list[int]:
        """Return the chunks in the order of the next pass."""
        count = len(state.problem.parts)
        if count == 1 or self.method.order == "cyclic" or not state.problem.source.any_order:
            return list(range(count))
        order: list[int] = state.rng.permutation(count).tolist()
        return order

    def _rest_of_pass(
        self, state: OutOfCoreState, workspace: Workspaces
    ) -> Iterator[tuple[int, ChunkProblem]]:
        """Yield the chunks that the current pass has not visited yet."""
        work = f"pass {workspace.passes}"
        if state.problem.source.any_order:
            yield from state.chunks(work, tuple(workspace.order))
            return
        for place, part in state.chunks(work):
            if place in workspace.order:
                yield place, part

    def progress(self, state: OutOfCoreState, workspace: Workspaces) -> float:
        return sum(workspace.progress.values())


# ------------------------------------------------------------------ Frank-Wolfe


@dataclass(eq=False)
class LastGap:
    """The gap before the last step, with smoothing the augmented gap, and the number of passes."""

    gap: float = np.inf
    passes: int = 0

    def as_arrays(self, problem: OutOfCoreProblem) -> dict[str, Any]:
        """Return both numbers for a checkpoint."""
        return {"gap": self.gap, "passes": self.passes}

    @classmethod
    def restored(cls, arrays: Mapping[str, Any]) -> "LastGap":
        """Return the numbers that a checkpoint holds."""
        return cls(float(arrays["gap"]), int(arrays["passes"]))


class ChunkVertex(NamedTuple):
    """The vertex of one chunk, and its terms in the sums over all samples."""

    rows: csr_array
    product: Floats  # vertex^T X, (m, d)
    n_gap: float
    ridge: float  # sum_i r_i |u_i - a_i|^2


@dataclass(frozen=True)
class WholeSteps(Method):
    """A <- A + step (U - A) with the exact step   (K19 Algorithm 1, T20 3.1)."""

    def start(self, state: OutOfCoreState) -> LastGap:
        return LastGap() if state.resumed is None else LastGap.restored(state.resumed.arrays)

    def iterate(self, state: OutOfCoreState, last: LastGap) -> None:
        problem, vertices = state.problem, []
        direction = np.zeros_like(state.link)
        last.passes += 1
        for place, part in state.chunks(f"iteration {last.passes}"):
            A = state.packed[place].toarray()
            vertex = chunk_vertex(part, A, part.features.scores(state.link))
            direction += vertex.product
            vertices.append(vertex._replace(product=np.empty(0)))
            if state.interrupt.pressed:
                last.passes -= 1
                state.keep(now=True)
                state.cut_short = place + 1
                return
        direction /= problem.lam_n
        direction -= state.link
        last.gap = fsum(vertex.n_gap for vertex in vertices) / problem.n_samples
        ridges = [vertex.ridge for vertex in vertices]
        state.step = step = step_along(problem, direction, last.gap, ridges)
        for place, vertex in enumerate(vertices):
            rows = (1.0 - step) * state.packed[place] + step * vertex.rows
            state.packed[place] = significant(rows)
        state.link += step * direction
        state.n_steps += 1
        state.n_lmo += problem.n_samples

    def progress(self, state: OutOfCoreState, last: LastGap) -> float | None:
        return last.gap if np.isfinite(last.gap) else None


def step_along(
    problem: ProblemInParts, direction: Floats, slope: float, ridges: Iterable[float]
) -> float:
    """Return the exact step along a direction of W, at most 1; `ridges` has a term per part."""
    ridge = max(0.0, fsum(ridges)) / problem.n_samples
    curvature = problem.lam * square_in_parts(direction) + ridge
    return float(exact_step(slope, curvature, 1.0))


def chunk_vertex(part: ChunkProblem, A: Floats, scores: Floats) -> ChunkVertex:
    """Return the vertex that the LMO finds on one chunk; A and the scores are (rows, m)."""
    shifted = part.shifted_scores(A, scores)
    polytopes = part.row_polytopes
    columns, entries, losses = polytopes.compact_vertices(shifted)
    entries *= part.sample_weight[:, None]
    products: Any = np.vdot(shifted, A) + polytopes.cost_products(A).sum()
    n_gap = float(products + np.vdot(part.sample_weight, losses))
    product = part.features.transposed_vertex_product(columns, entries, part.n_classes)
    count = columns.shape[1]
    # sorts columns and entries in place
    rows = csr_array(
        (entries.ravel(), columns.ravel(), count * np.arange(len(A) + 1)), shape=A.shape
    )
    rows.sum_duplicates()
    rows.eliminate_zeros()
    ridge = 0.0
    if part.smoothing:
        ridge = float(np.vdot(part.ridge()[:, 0], _square_distances(rows, A)))
    return ChunkVertex(rows, product, n_gap, ridge)


def _square_distances(rows: csr_array, A: Floats) -> Floats:
    """Return |u_i - a_i|^2, (rows,)."""
    difference = rows.toarray() - A
    return np.asarray(np.einsum("ij,ij->i", difference, difference))
