"""Run Frank-Wolfe on the whole dual variable, one pass over X per iteration.

The LMO splits by sample, so each chunk finds its rows of the vertex U. When all chunks have done
so, one exact line search moves A towards U. The scores are computed from W in each pass, because
(n, m) numbers would not fit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwlab.arrays import Floats
from fwlab.distributed.packed import significant
from fwlab.distributed.problem import ChunkProblem, OutOfCoreProblem, ProblemInParts
from fwlab.distributed.state import OutOfCoreState
from fwlab.kernels.steps.exact_step import exact_step
from fwlab.operators.sums import square_in_parts
from fwlab.solvers.method import Method


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
