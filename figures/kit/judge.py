"""The judge of readings: which is chosen, and whether the paper's figure agrees under it.

To choose the best of several readings manufactures agreement. The chosen reading therefore has to
hold on cells that had no part in the choice.
"""

from collections.abc import Mapping, Sequence

from figures.kit.findings import Agreement, FigureFinding
from figures.kit.readings import Tried, distance, within

PARTS = ("choose", "confirm")


def judge(
    tried: Sequence[Tried],
    tolerance: float,
    what: str = "",
    because: str = "",
    claims: tuple[str, ...] = (),
) -> FigureFinding:
    """Return what follows from the distances of one or more readings.

    The reading whose choosing cells lie nearest is chosen; of two equally near ones the first that
    the text allows. The figure disagrees if less than nine of ten of those cells, or of all cells,
    lie within the tolerance. It agrees if the text allows the reading and nine of ten of the other
    cells confirm it; otherwise it could agree. With a single reading all cells confirm.

    Parameters
    ----------
    tried
        The readings, each with the same cells.
    tolerance
        Largest distance of a cell that agrees.
    what
        Plural of a cell that agrees; "cells within {tolerance}" if not given.
    because
        The script's own reason, computed, in case the figure disagrees.
    claims
        Ids of the ledger's rows about this figure.

    Raises
    ------
    ValueError
        If there is no cell to choose by, or the readings have different cells or equal names.
    """
    _check(tried)
    chosen = min(tried, key=lambda one: (distance(_choosing(one)), not one.reading.source))
    others = chosen.confirm if len(tried) > 1 else chosen.cells
    outcome = _outcome(chosen, others, tolerance)
    measured = _count(chosen.cells, tolerance, what or f"cells within {tolerance:g}")
    if len(tried) > 1:
        measured += f"; {_count(others, tolerance, 'of those without part in the choice')}"
    reasons = {
        Agreement.AGREES: "",
        Agreement.COULD_AGREE: _doubt(chosen, others, tolerance),
        Agreement.DISAGREES: because
        or f"nine of ten are at a distance of at most {distance(chosen.cells):.2g}",
    }
    return FigureFinding(
        outcome, measured, reasons[outcome], chosen.reading.name, tuple(tried), tolerance, claims
    )


def _choosing(one: Tried) -> Mapping[str, float]:
    return one.choose or one.cells


def _outcome(chosen: Tried, others: Mapping[str, float], tolerance: float) -> Agreement:
    if max(distance(_choosing(chosen)), distance(chosen.cells)) > tolerance:
        return Agreement.DISAGREES
    if chosen.reading.source and others and distance(others) <= tolerance:
        return Agreement.AGREES
    return Agreement.COULD_AGREE


def _doubt(chosen: Tried, others: Mapping[str, float], tolerance: float) -> str:
    """Return why a reading that comes near is not known to be the paper's."""
    doubts = []
    if not chosen.reading.source:
        doubts.append("the paper does not say that it did so")
    if not others:
        doubts.append("no cell is left to confirm the choice")
    elif distance(others) > tolerance:
        doubts.append(f"only {_count(others, tolerance, 'other cells')} confirm it")
    return " and ".join(doubts)


def _count(cells: Mapping[str, float], tolerance: float, what: str) -> str:
    return f"{within(cells, tolerance)} of {len(cells)} {what}"


def _check(tried: Sequence[Tried]) -> None:
    if not tried or not all(one.cells for one in tried):
        raise ValueError("there must be a reading, and each must have cells; one has none.")
    names = [one.reading.name for one in tried]
    if len(set(names)) < len(names):
        raise ValueError(f"readings must have different names; got {names}.")
    if len(tried) > 1 and not all(one.choose for one in tried):
        raise ValueError("one of several readings is chosen by cells; there are none to choose by.")
    for one in tried[1:]:
        if any(getattr(one, part).keys() != getattr(tried[0], part).keys() for part in PARTS):
            raise ValueError(
                f"all readings must have the same cells; {one.reading.name!r} has others than "
                f"{names[0]!r}."
            )
