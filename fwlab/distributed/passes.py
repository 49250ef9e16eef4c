"""Run a block method over one chunk of rows after the other.

The chunks come in the order of X, and the method orders the rows within a chunk. All chunks share
W. With a single chunk a pass is the method's own iteration.
"""

from dataclasses import dataclass, field

from fwlab.distributed.state import OutOfCoreState
from fwlab.solvers.blocks import BlockMethod, BlockWorkspace
from fwlab.solvers.method import Method


@dataclass(eq=False)
class Workspaces:
    """The workspace and the progress of the method on each chunk visited so far."""

    chunks: dict[int, BlockWorkspace] = field(default_factory=dict)
    progress: dict[int, float] = field(default_factory=dict)
    passes: int = 0


@dataclass(frozen=True)
class ChunkPasses(Method):
    """Visits the chunks of X with a block method, all of them in each iteration."""

    method: BlockMethod

    def start(self, state: OutOfCoreState) -> Workspaces:
        return Workspaces()

    def iterate(self, state: OutOfCoreState, workspace: Workspaces) -> None:
        workspace.passes += 1
        for place, part in state.chunks(f"pass {workspace.passes}"):
            chunk = state.chunk_state(place, part)
            if place not in workspace.chunks:
                workspace.chunks[place] = self.method.start(chunk)
            held = workspace.chunks[place]
            self.method.iterate(chunk, held)
            workspace.progress[place] = self.method.progress(chunk, held)
            state.pack(place, chunk.A)
            state.n_steps += chunk.n_steps
            state.n_lmo += chunk.n_lmo
            if state.interrupt.pressed:
                state.cut_short = place + 1
                return

    def progress(self, state: OutOfCoreState, workspace: Workspaces) -> float:
        return sum(workspace.progress.values())
