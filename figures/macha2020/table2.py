"""M20 Table 2: sizes and shares of positives of the data sets, ours and the paper's."""

from pathlib import Path
from typing import Any

from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried, told_failures, truth_distance
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table
from figures.macha2020 import fits as macha
from figures.macha2020.printed import TABLE_2
from fwlab.experiments import Cell, DataName

PARTS = ("train", "valid", "test")
SECONDS = {"quick": 1, "standard": 15, "full": 15}


def sizes(data: DataName) -> dict[str, Any]:
    """Return the features, and (rows, percentage of positives) of each part."""
    found = macha.parts(data)
    return {
        "d": found["train"].X.shape[1],
        **{name: (len(part.positive), 100 * part.positive.mean()) for name, part in found.items()},
    }


def cells(size: str) -> list[Cell]:
    """Return the cells: the whole sets in both larger sizes."""
    whole = size if size == "quick" else "full"
    return [
        Cell(name, sizes, {"data": macha.source(name, "raw", whole)}) for name in macha.names(size)
    ]


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: the numbers are the printed ones to the last digit."""
    cells = {
        f"{row[0]}, entry {j}": truth_distance(
            format(entry.ours, entry.spec) == format(entry.printed, entry.spec)
        )
        for row in rows(values)
        for j, entry in enumerate(row)
        if isinstance(entry, Compared) and entry.printed is not None
    }
    one = [Tried(Reading("", source="M20 Table 2"), cells)]
    return judge(one, 0.0, "numbers are the printed ones", told_failures(one, 0.0))


def rows(values: dict[str, Any]) -> list[list[Entry]]:
    """Return a row per data set."""
    made: list[list[Entry]] = []
    for name, found in values.items():
        printed = TABLE_2.get(name, (None, *[(None, None)] * len(PARTS)))
        entries: list[Entry] = [Compared(found["d"], printed[0], ".0f")]
        for part, theirs in zip(PARTS, printed[1:], strict=True):
            for ours, number, spec in zip(found[part], theirs, (".0f", ".1f"), strict=True):
                entries.append(Compared(ours, number, spec))
        made.append([name, *entries])
    return made


def plot(study: Study) -> list[Path]:
    header = [text for part in PARTS for text in (f"{part}: n", f"{part}: % positive")]
    table = Table(["data", "d", *header], rows(study.values))
    return study.save_table(table, _caption(study.size))


def _caption(size: str) -> Caption:
    return Caption(
        title="M20 Table 2: the data sets" + (" (digits alone)" if size == "quick" else ""),
        shows="Features, rows and positives of each part, ours (the paper's, difference).",
        settings=(
            "the UCI sets are split 50/25/25 and stratified, seed 0; 10000 rows of "
            "Fashion-MNIST's training part, stratified, seed 0, are the validation "
            "part."
        ),
    )
