"""LP15 Table 1: classes, rows and attributes of the data sets, ours beside theirs."""

from pathlib import Path

from figures.kit.captions import Caption
from figures.kit.own_files import available, missing
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
    """In the order of COLUMNS."""
    part = data.load()
    return [part.n_classes, len(part.y_train), len(part.y_test), part.X_train.shape[1]]


def plot(study: Study) -> list[Path]:
    rows: list[list[Entry]] = []
    for data, printed in PRINTED.items():
        ours = study.values.get(data, [None] * len(COLUMNS))
        numbers = zip(ours, printed, strict=True)
        rows.append([data, *(Compared(own, theirs, ".0f") for own, theirs in numbers)])
    news = zip(COLUMNS, study.values[NEWS], PRINTED[NEWS], strict=True)
    other = [column for column, ours, theirs in news if ours != theirs]
    same = f"{len(COLUMNS) - len(other)} of {len(COLUMNS)} numbers of News 20 are the printed ones"
    why = f"; {' and '.join(other)} differ, as the corpus is made anew from the raw messages"
    lacking = [data for data in PRINTED if data not in study.values]
    caption = Caption(
        title="LP15 Table 1: the data sets" + (" (digits alone)" * (study.size == "quick")),
        shows=f"Ours (the paper's, difference). {missing(lacking)}",
        settings="word counts as stored.",
        agreement=same + (why if other else "") + ".",
    )
    return study.save_table(Table(["data", *COLUMNS], rows), caption)
