"""M20 Table 2: sizes and shares of positives of the data sets, ours beside theirs."""

from pathlib import Path
from typing import Any

from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table
from figures.macha2020 import fits as macha
from figures.macha2020.printed import TABLE_2
from fwlab.experiments import Cell, DataName

PARTS = ("train", "valid", "test")
SECONDS = {"quick": 1, "standard": 15, "full": 15}


def sizes(data: DataName) -> dict[str, Any]:
    """Features, and (rows, percentage of positives) of each part."""
    found = macha.parts(data)
    return {
        "d": found["train"].X.shape[1],
        **{name: (len(part.positive), 100 * part.positive.mean()) for name, part in found.items()},
    }


def cells(size: str) -> list[Cell]:
    """The whole sets in both larger sizes."""
    whole = size if size == "quick" else "full"
    return [
        Cell(name, sizes, {"data": macha.source(name, "raw", whole)}) for name in macha.names(size)
    ]


def plot(study: Study) -> list[Path]:
    rows: list[list[Entry]] = []
    for name, found in study.values.items():
        printed = TABLE_2.get(name, (None, *[(None, None)] * len(PARTS)))
        entries: list[Entry] = [Compared(found["d"], printed[0], ".0f")]
        for part, theirs in zip(PARTS, printed[1:], strict=True):
            for ours, number, spec in zip(found[part], theirs, (".0f", ".1f"), strict=True):
                entries.append(Compared(ours, number, spec))
        rows.append([name, *entries])
    header = [text for part in PARTS for text in (f"{part}: n", f"{part}: % positive")]
    table = Table(["data", "d", *header], rows)
    return study.save_table(table, _caption(study.size, rows))


def _caption(size: str, rows: list[list[Entry]]) -> Caption:
    compared = [e for row in rows for e in row if isinstance(e, Compared) and e.printed is not None]
    same = sum(format(e.ours, e.spec) == format(e.printed, e.spec) for e in compared)
    return Caption(
        title="M20 Table 2: the data sets" + (" (digits alone)" if size == "quick" else ""),
        shows="Features, rows and positives of each part, ours (the paper's, difference).",
        settings=(
            "the UCI sets are cut 50/25/25 and stratified, seed 0; 10000 rows of Fashion-MNIST's "
            "training part, stratified, seed 0, validate."
        ),
        agreement="No number is compared."
        if size == "quick"
        else f"{same} of {len(compared)} numbers are the printed ones to the last digit.",
    )
