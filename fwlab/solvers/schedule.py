"""Decide when a run is judged: at fixed intervals, or by counted work and progress.

A checkpoint costs at most one iteration. With check_every="auto" the next one is due when

- the gap, if it has fallen as the method's progress has since the last checkpoint, meets tol;
- or the progress has fallen so far that this prediction is no longer worth much;
- or the iterations since then have cost ten times a checkpoint, counted in products with X.

A method that reports no progress is judged again after a tenth more iterations. The clock never
decides, so that a run can be repeated.

After its first iteration a run knows only the gap at its starting point, from which nothing can be
predicted. If the gap of a sample of the rows is then far above tol, the sample takes the place of a
checkpoint: the next checkpoint is predicted from it.

If the predicted gap meets tol, the loop computes the certificate at once, unless the last such
prediction was wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

# the work between two checkpoints, in units of a checkpoint
WORK_BETWEEN = 10
# the gap is about proportional to the progress over this factor, but the proportion drifts
TRUSTED = 100.0
# a sampled gap of more than this times tol is far above it
FAR = 2.0


@dataclass(eq=False)
class Schedule:
    """The next checkpoint. `every` is the number of iterations between two, None for "auto".

    The other fields describe the last checkpoint: its iteration; the method's progress there; the
    factor `excess` by which the gap missed tol; the most iterations until the next one; and whether
    its gap was wrongly predicted to meet tol.
    """

    every: int | None
    iteration: int = 0
    progress: float | None = None
    excess: float = float("inf")
    longest: int = 1
    misled: bool = False

    def note(self, iteration: int, progress: float | None, excess: float, cost: float) -> None:
        """Note a checkpoint that did not end the run, and its cost in iterations."""
        self.misled = self._predicted(progress) <= 1.0
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
        return self._predicted(progress) <= 1.0 or progress * TRUSTED <= self.progress

    def postpones(
        self, iteration: int, progress: float | None, sample: Callable[[], float | None]
    ) -> bool:
        """Return whether a sampled gap takes the place of a checkpoint; note it if so.

        sample() returns the factor by which that gap misses tol, or None.
        """
        if self.every is not None or not progress or self.progress:
            return False
        excess = sample()
        if excess is None or not FAR < excess < float("inf"):
            return False
        self.iteration, self.progress, self.excess = iteration, progress, excess
        return True

    def expects_end(self, progress: float | None) -> bool:
        """Return whether the gap should meet tol; always False with fixed intervals."""
        return self.every is None and not self.misled and self._predicted(progress) <= 1.0

    def _predicted(self, progress: float | None) -> float:
        """Return the factor by which the gap should miss tol, infinity without a prediction."""
        if not progress or not self.progress:
            return float("inf")
        return self.excess * (progress / self.progress)
