"""Decide when a run is judged: at fixed intervals, or by counted work and progress.

A checkpoint costs at most one iteration. With check_every="auto" the next one is due when

- the gap, if it has fallen as the method's progress has since the last checkpoint, meets tol;
- or the progress has fallen so far that this prediction is no longer worth much;
- or the iterations since then have cost ten times a checkpoint, counted in products with X.

A method that reports no progress is judged again after a tenth more iterations. The clock never
decides, so that a run can be repeated.
"""

from dataclasses import dataclass
from math import ceil

# the work between two checkpoints, in units of a checkpoint
WORK_BETWEEN = 10
# the gap is about proportional to the progress over this factor, but the proportion drifts
TRUSTED = 100.0


@dataclass(eq=False)
class Schedule:
    """The next checkpoint. `every` is the number of iterations between two, None for "auto".

    The other fields describe the last checkpoint: its iteration; the method's progress there; the
    factor `excess` by which the gap missed tol; and the most iterations until the next one.
    """

    every: int | None
    iteration: int = 0
    progress: float | None = None
    excess: float = float("inf")
    longest: int = 1

    def note(self, iteration: int, progress: float | None, excess: float, cost: float) -> None:
        """Note a checkpoint, whose cost is given in iterations."""
        self.iteration, self.progress, self.excess = iteration, progress, excess
        self.longest = max(1, ceil(WORK_BETWEEN * cost))

    def is_due(self, iteration: int, progress: float | None) -> bool:
        """Return whether a checkpoint is due after this iteration."""
        since = iteration - self.iteration
        if self.every is not None:
            return since >= self.every
        if progress == 0.0 or since >= self.longest:
            return True
        if not progress or not self.progress:
            return since >= max(1, self.iteration // 10)
        predicted = self.excess * (progress / self.progress)
        return predicted <= 1.0 or progress * TRUSTED <= self.progress
