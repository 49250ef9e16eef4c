"""Define the trace of a run: what was recorded at its checkpoints, as columns."""

from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from fwlab.arrays import Floats, Integers
from fwlab.npz import Saved, saved_arrays, write_arrays
from fwlab.plot import Gaps, plot_gaps
from fwlab.text import in_brackets


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The checkpoints of a run: every column is an array with one entry per checkpoint.

    Attributes
    ----------
    iteration : array
        Iterations so far.
    seconds : array
        Time of the method, without judging.
    primal, dual, gap : array
        The values of the certificate.
    n_lmo : array
        Calls of the LMO, counted per sample.
    n_steps : array
        Steps, of one block or of the whole matrix.
    active : array
        Atoms held; 0 for methods that hold none.
    step : array
        The last step size; nan if there is none.
    augmented_gap : array or None
        The augmented gap; None without smoothing.
    own_gap : array or None
        The gap of the problem that the method solves; None if that is the given problem.
    cpu_seconds : array or None
        The processor's seconds of the method, without judging; None for runs out of core.
    n_projections, n_rows : array or None
        Projections of one row of A, and rows of scores: fwlab.solvers.run_state defines them. None
        for rankings and for runs out of core.

    The last three are None, too, in files of earlier versions.
    """

    iteration: Integers
    seconds: Floats
    primal: Floats
    dual: Floats
    gap: Floats
    n_lmo: Integers
    n_steps: Integers
    active: Integers
    step: Floats
    augmented_gap: Floats | None = None
    own_gap: Floats | None = None
    cpu_seconds: Floats | None = None
    n_projections: Integers | None = None
    n_rows: Floats | None = None

    def __repr__(self) -> str:
        names = ", ".join(self.as_dict())
        return in_brackets("Trace", [f"{len(self.iteration)} checkpoints of {names}"])

    def as_dict(self) -> dict[str, Any]:
        """Return the columns that this run has, by name."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in columns.items() if column is not None}

    def save(self, path: str | Path) -> None:
        """Write the columns to an .npz file."""
        write_arrays(path, self.as_dict(), compress=False)

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read a file that `save` wrote. Raises ValueError for any other file."""
        with saved_arrays(path, "Trace", TRACE) as columns:
            return cls(**columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw gap against seconds, both logarithmic, and return the axes. Needs matplotlib."""
        return plot_gaps(self.gaps, ax)

    @property
    def calls(self) -> Integers | None:
        """Answers of an LMO and projections, each of one sample; None if they are not counted."""
        return None if self.n_projections is None else self.n_lmo + self.n_projections

    @property
    def gaps(self) -> Gaps:
        """Columns that a curve of gaps needs."""
        return Gaps(self.iteration, self.seconds, self.primal, self.dual, self.gap)


# what the arrays of a file must be
TRACE = {
    column.name: Saved("iuf", ("checkpoints",), required=column.default is MISSING)
    for column in fields(Trace)
}
