"""Run a block method over one chunk of rows after the other.

The chunks come in the order of X, and the method orders the rows within a chunk. All chunks share
W. With a single chunk a pass is the method's own iteration.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fwlab.distributed.problem import OutOfCoreProblem
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
    following : int
        The place of the chunk that the pass visits next; 0 between two passes.
    stored : dict
        What a checkpoint holds of the chunks that this process has not visited yet.
    """

    chunks: dict[int, BlockWorkspace] = field(default_factory=dict)
    progress: dict[int, float] = field(default_factory=dict)
    passes: int = 0
    following: int = 0
    stored: dict[int, dict[str, Any]] = field(default_factory=dict)

    def as_arrays(self, problem: OutOfCoreProblem) -> dict[str, Any]:
        """Return everything but the products of rows, which a chunk gives again, as arrays."""
        arrays: dict[str, Any] = {"passes": self.passes, "following": self.following}
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
        return cls({}, progress, int(arrays["passes"]), int(arrays["following"]), stored)

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
        if workspace.following == 0:
            workspace.passes += 1
        for place, part in state.chunks(f"pass {workspace.passes}"):
            if place < workspace.following:
                continue
            chunk = state.chunk_state(place, part)
            held = workspace.of(place, chunk, self.method)
            self.method.iterate(chunk, held)
            workspace.progress[place] = self.method.progress(chunk, held)
            state.pack(place, chunk.A)
            state.n_steps += chunk.n_steps
            state.n_lmo += chunk.n_lmo
            workspace.following = place + 1
            state.keep(now=state.interrupt.pressed)
            if state.interrupt.pressed:
                state.cut_short = place + 1
                return
        workspace.following = 0

    def progress(self, state: OutOfCoreState, workspace: Workspaces) -> float:
        return sum(workspace.progress.values())
