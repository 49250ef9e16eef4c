"""LP15 Table 1: classes, rows and attributes of the data sets, ours and the paper's."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding, nothing_to_compute
from figures.kit.judge import judge
from figures.kit.own_files import available, missing
from figures.kit.readings import Reading, Tried
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table
from fwlab.experiments import Cell, DataName

NEWS = "News 20"
COLUMNS = ("classes", "training rows", "test rows", "attributes")
PRINTED = {
    "Sector": (105, 6_412, 3_207, 55_197),
    NEWS: (20, 15_935, 3_993, 62_060),
    "Rcv1": (53, 15_564, 518_571, 47_236),
}
SECONDS = {"quick": 1, "standard": 3, "full": 3}


def cells(size: str) -> list[Cell]:
    """Return a cell per data set that can be loaded."""
    news = DataName("digits" if size == "quick" else "news20")
    sources = available({NEWS: news}, PRINTED, size)
    return [Cell(name, sizes, {"data": data}) for name, data in sources.items()]


def sizes(data: DataName) -> list[int]:
    """Return the sizes in the order of COLUMNS."""
    part = data.load()
    return [part.n_classes, len(part.y_train), len(part.y_test), part.X_train.shape[1]]


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding; News 20, which is rebuilt, is not the paper's data."""
    cells = {
        f"{data}: {column}": float(abs(ours - theirs))
        for data, numbers in values.items()
        if data != NEWS
        for column, ours, theirs in zip(COLUMNS, numbers, PRINTED[data], strict=True)
    }
    same = sum(a == b for a, b in zip(values[NEWS], PRINTED[NEWS], strict=True))
    told = f"{same} of {len(COLUMNS)} numbers of a rebuilt News 20 are the printed ones"
    if not cells:
        return replace(nothing_to_compute(), measured=told)
    one = Tried(Reading("", source="LP15 Table 1"), cells)
    return judge([one], 0.0, f"numbers are the printed ones; {told}")


def plot(study: Study) -> list[Path]:
    rows: list[list[Entry]] = []
    for data, printed in PRINTED.items():
        ours = study.values.get(data, [None] * len(COLUMNS))
        numbers = zip(ours, printed, strict=True)
        rows.append([data, *(Compared(own, theirs, ".0f") for own, theirs in numbers)])
    lacking = [data for data in PRINTED if data not in study.values]
    caption = Caption(
        title="LP15 Table 1: the data sets" + (" (digits alone)" * (study.size == "quick")),
        shows=f"Ours (the paper's, difference). {missing(lacking)}",
        settings="word counts as stored.",
        agreement="News 20 is rebuilt from the raw messages.",
    )
    return study.save_table(Table(["data", *COLUMNS], rows), caption)
