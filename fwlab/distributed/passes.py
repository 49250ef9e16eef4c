"""Run a block method over one chunk of rows after the other.

Each pass visits the chunks in a fresh random order, and the method orders the rows within a chunk;
with "cyclic", or an X that is an iterable, the chunks come in the order of X. All chunks share W.
With a single chunk a pass is the method's own iteration.

On 125 000 x 1024 samples of 100 classes, in 32 chunks, four passes of ascent leave a gap of 1.56e-2
in random order and 1.92e-2 in the order of X; in memory they leave 1.58e-2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fwlab.distributed.problem import ChunkProblem, OutOfCoreProblem
from fwlab.distributed.state import ChunkState, OutOfCoreState
from fwlab.solvers.blocks import BlockMethod, BlockWorkspace
from fwlab.solvers.method import Method

# the parts of a BlockWorkspace that a checkpoint holds
KEPT = ("moves", "gaps", "estimates", "moving", "passes")


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
