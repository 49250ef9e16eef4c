"""Recompute some stored cells; a result is stale if one of them differs.

A run that took the same steps to the same gap has the same numbers, up to the digits stored.
Different steps are not an error: another processor rounds differently, and a later release may be
faster. Such a run is compared by its certificate: its primal value and gap enclose the optimum, and
two enclosures of the same optimum must overlap. Times are not compared.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from figures.kit.kept import write_record
from figures.kit.script import script
from figures.kit.study import NotRun, Study
from fwlab.experiments import Cell

# the last of six stored digits may be rounded differently
RELATIVE, ABSOLUTE = 1.1e-5, 1e-9
# parts of a value that show whether two runs took the same steps
GAPS = ("gap", "own_gap", "optimum")
# parts that are times, or that describe the course of a run rather than its result
BESIDE = ("seconds", "reached", "gap", "own_gap", "iteration", "iterations", "status")


@dataclass(frozen=True)
class Replay:
    """A recomputed cell: its script, its name, and its first difference or "".

    has_data is False if the cell could not be computed because its data are not available.
    """

    script: str
    cell: str
    difference: str = ""
    has_data: bool = True

    def __str__(self) -> str:
        return f"{self.script}: {self.cell}: {self.difference or 'as stored'}"


def replays(studies: Sequence[Study], seconds: float | None, seed: int) -> Iterator[Replay]:
    """Recompute stored cells in random order until `seconds` are used up, and yield the replays.

    A cell uses the seconds that it takes, or was expected to take if that is more. Without
    `seconds`, all cells are computed. The record of the script notes each difference, and also each
    cell that agrees again. Scripts whose numbers are times are left out.
    """
    cells = [(study, cell, cost) for study in studies for cell, cost in stored_cells(study)]
    random.Random(seed).shuffle(cells)
    left = math.inf if seconds is None else seconds
    for study, cell, cost in cells:
        if cost > left:
            continue
        start = monotonic()
        try:
            fresh = cell.compute()
        except FileNotFoundError:
            left -= cost
            yield Replay(study.name, cell.name, has_data=False)
            continue
        left -= max(cost, monotonic() - start)
        found = difference(study.values[cell.name], fresh)
        note(study, cell.name, found)
        yield Replay(study.name, cell.name, found)


def stored_cells(study: Study) -> list[tuple[Cell, float]]:
    """Return the stored cells of a script, each with its estimated seconds."""
    one = script(study.name)
    try:
        values = study.values
    except NotRun:
        return []
    cells = [] if one.alone else [cell for cell in one.cells(study.size) if cell.name in values]
    total = sum(cell.cost for cell in cells)
    return [(cell, one.seconds[study.size] * cell.cost / total) for cell in cells]


def note(study: Study, cell: str, found: str) -> None:
    """Note in the record of a script whether the replay of a cell differs."""
    record = study.record
    before = record.get("differs", {})
    after = {name: text for name, text in {**before, cell: found}.items() if text}
    if after != before:
        write_record(study, {**record, "differs": after})


def difference(stored: Any, fresh: Any, name: str = "") -> str:
    """Return the first difference of two values of a cell in words, "" if there is none."""
    if isinstance(stored, Mapping) and isinstance(fresh, Mapping):
        gaps = [(stored[part], fresh.get(part)) for part in GAPS if part in stored]
        if any(difference(*pair) for pair in gaps):
            return _other_optimum(stored, fresh, name)
        if stored.keys() != fresh.keys():
            return f"{name or 'it'} has other parts"
        keys = [key for key in stored if key not in BESIDE]
        parts = ((f"{name} {key}".strip(), stored[key], fresh[key]) for key in keys)
    elif isinstance(stored, list) and isinstance(fresh, list):
        if len(stored) != len(fresh):
            return f"{name or 'it'} has {len(fresh)} entries, stored are {len(stored)}"
        parts = ((name, *pair) for pair in zip(stored, fresh, strict=True))
    else:
        return "" if _is_same(stored, fresh) else f"{name or 'it'} is {fresh}, stored is {stored}"
    found = (difference(old, new, key) for key, old, new in parts)
    return next(filter(None, found), "")


def _is_same(stored: Any, fresh: Any) -> bool:
    if isinstance(stored, float | int) and isinstance(fresh, float | int):
        return math.isclose(stored, fresh, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(stored == fresh)


def _other_optimum(stored: Mapping[str, Any], fresh: Mapping[str, Any], name: str) -> str:
    """Return a message if the enclosures of the optimum by two runs do not overlap."""
    one, other = _enclosure(stored), _enclosure(fresh)
    if one is None or other is None or (one[0] <= other[1] and other[0] <= one[1]):
        return ""
    there, here = (f"[{low:.9g}, {high:.9g}]" for low, high in (one, other))
    return f"{name} the optimum is in {here}, the stored run says {there}".strip()


def _enclosure(run: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return bounds of the optimum, widened by the rounding of stored digits.

    None if there are none.
    """
    if isinstance(run.get("optimum"), list):
        low, high = run["optimum"]
    elif {"primal", "gap"} <= run.keys():
        high, gap = (v[-1] if isinstance(v, list) else v for v in (run["primal"], run["gap"]))
        low = high - gap * (1.0 + RELATIVE)
    else:
        return None
    slack = 1e-11 * abs(high) if "optimum" not in run else RELATIVE * abs(high)
    return low - slack, high + slack
