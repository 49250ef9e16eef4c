"""Causes of a difference: each is measured with it, and in a control without it."""

from collections.abc import Mapping
from dataclasses import dataclass

from figures.kit.readings import Tried, distance, within


@dataclass(frozen=True)
class Cause:
    """Why a figure differs from the paper's, as a script declares it; the judge tests it.

    Parameters
    ----------
    what
        The cause as a clause: "the published pixels are black and white, ours are grey".
    number
        What was measured, computed from stored values: "4 of 4 errors within a factor of 2".
    present
        Distances from the paper of the cells that the cause changes, with the cause, by name.
    absent
        Distances of the same cells in the control, which differs by the cause alone.
    """

    what: str
    number: str
    present: Mapping[str, float]
    absent: Mapping[str, float]

    def __post_init__(self) -> None:
        if not self.what or not self.number:
            raise ValueError("a cause must say what it is, and have a measured number.")
        if not self.present or self.present.keys() != self.absent.keys():
            raise ValueError(
                f"{self.what}: the control must have the cells of the cause, at least one; got "
                f"{sorted(self.present)} and {sorted(self.absent)}."
            )

    def bears_out(self, cells: Mapping[str, float], tolerance: float) -> bool:
        """Return whether the figure comes out with the cause and does not in the control.

        Parameters
        ----------
        cells
            Distances of all cells of the figure; the cause changes some of them, and no others.
        tolerance
            Largest distance of a cell that agrees.

        Raises
        ------
        ValueError
            If the cause changes a cell that the figure does not have.
        """
        if unknown := self.present.keys() - cells.keys():
            raise ValueError(f"{self.what}: the figure has no cells {sorted(unknown)}.")
        with_it, control = {**cells, **self.present}, {**cells, **self.absent}
        near = distance(with_it) <= tolerance and distance(self.present) <= tolerance
        return near and distance(control) > tolerance

    def told(self, tolerance: float) -> str:
        """Return the cause, its number, and what the control shows."""
        n = len(self.present)
        return (
            f"{self.what}: {self.number}; {within(self.present, tolerance)} of {n} cells near with "
            f"it, {within(self.absent, tolerance)} of {n} in the control without it"
        )


def cause_of(what: str, number: str, present: Tried, control: Tried) -> Cause:
    """Return the cause that one reading has and another one, its control, lacks."""
    return Cause(what, number, present.cells, control.cells)
