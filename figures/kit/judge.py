"""The judge of readings and causes: the outcome of a figure follows from distances.

To choose the best of several readings manufactures agreement. The chosen reading therefore has to
hold on cells that had no part in the choice. A cause has to hold against a control without it.
"""

from collections.abc import Callable, Mapping, Sequence

from figures.kit.causes import Cause
from figures.kit.findings import FigureFinding, FigureOutcome
from figures.kit.readings import Tried, distance, within

PARTS = ("choose", "confirm")


def judge(
    tried: Sequence[Tried],
    tolerance: float,
    what: str = "",
    because: str | Callable[[Tried], str] = "",
    claims: tuple[str, ...] = (),
    causes: Sequence[Cause] | Callable[[Tried], Sequence[Cause]] = (),
    together: str = "",
) -> FigureFinding:
    """Return what follows from the distances of one or more readings.

    The reading whose choosing cells lie nearest is chosen; of equally near ones the first that the
    text allows, then the first of a program. It comes out if nine of ten of those cells, of all
    cells, and of the cells without part in the choice lie within the tolerance; with a single
    reading all cells confirm. The figure agrees if the text allows the reading that comes out, and
    agrees with the program if the program does so. Otherwise it is explained if one of the causes
    holds against its control, and not explained if none does.

    Parameters
    ----------
    tried
        The readings, each with the same cells.
    tolerance
        Largest distance of a cell that agrees.
    what
        Plural of a cell that agrees; "cells within {tolerance}" if not given.
    because
        The script's own account, computed, of what was tried, in case nothing explains the figure;
        or a function that makes it from the chosen reading.
    claims
        Ids of the ledger's rows about this figure.
    causes
        What the script declares as causes of the difference, in the order in which they are tested;
        or a function that makes them from the chosen reading.
    together
        Name of the reading, if several figures have chosen it together.

    Raises
    ------
    ValueError
        If there is no cell to choose by, the readings have different cells or equal names, or a
        cause changes cells that they do not have.
    """
    _check(tried)
    named = {one.reading.name: one for one in tried}
    chosen = named[together] if together else nearest(tried)
    others = chosen.confirm if len(tried) > 1 else chosen.cells
    measured = _count(chosen.cells, tolerance, what or f"cells within {tolerance:g}")
    if len(tried) > 1:
        measured += f"; {_count(others, tolerance, 'on numbers not used to choose the reading')}"
    declared = causes(chosen) if callable(causes) else causes
    holding = [cause for cause in declared if cause.bears_out(chosen.cells, tolerance)]
    program = chosen.reading.program
    if _comes_out(chosen, others, tolerance) and chosen.reading.source:
        outcome, why = FigureOutcome.AGREES, ""
    elif _comes_out(chosen, others, tolerance) and program:
        outcome = FigureOutcome.AGREES_WITH_PROGRAM
        why = f"so does {program.file}, where the text says otherwise: {program.text}"
    elif holding:
        outcome, why = FigureOutcome.EXPLAINED, holding[0].told(tolerance)
    else:
        outcome, why = FigureOutcome.NOT_EXPLAINED, _attempts(tried, declared, tolerance)
        told = because(chosen) if callable(because) else because
        why += f"; {told or _doubt(chosen, others, tolerance)}"
    return FigureFinding(
        outcome, measured, why, chosen.reading.name, tuple(tried), tolerance, claims
    )


def nearest(tried: Sequence[Tried]) -> Tried:
    """Return the reading whose choosing cells are nearest; of equally near ones the text's."""
    return min(tried, key=lambda one: (distance(_choosing(one)), one.reading.rank))


def _choosing(one: Tried) -> Mapping[str, float]:
    return one.choose or one.cells


def _comes_out(chosen: Tried, others: Mapping[str, float], tolerance: float) -> bool:
    """Return whether the cells that chose, all cells, and at least one other cell are near."""
    near = max(distance(_choosing(chosen)), distance(chosen.cells)) <= tolerance
    return near and bool(others) and distance(others) <= tolerance


def _attempts(tried: Sequence[Tried], causes: Sequence[Cause], tolerance: float) -> str:
    """Return what was tried in vain: the number of readings, and each cause with its control."""
    names = "1 reading" if len(tried) == 1 else f"{len(tried)} readings"
    return "; ".join([f"tried {names}", *(f"not {one.told(tolerance)}" for one in causes)])


def _doubt(chosen: Tried, others: Mapping[str, float], tolerance: float) -> str:
    """Return why the chosen reading is not known to be what the authors did."""
    if (far := max(distance(_choosing(chosen)), distance(chosen.cells))) > tolerance:
        return f"nine of ten are at a distance of at most {far:.2g}"
    doubts = []
    if chosen.reading.rank == 2:
        doubts.append("neither the paper nor a program of its authors says so")
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
