"""LP15 Table 1: classes, rows and attributes of the data sets, ours beside theirs."""

from pathlib import Path

from figures._captions import Caption
from figures._study import Study
from figures._tables import NOT_HERE, Compared, Entry, Table
from fwlab.cells import Cell, DataName

DATA = {"quick": DataName("digits"), "standard": DataName("news20"), "full": DataName("news20")}
COLUMNS = ("classes", "training rows", "test rows", "attributes")
PRINTED = {
    "Sector": (105, 6_412, 3_207, 55_197),
    "News 20": (20, 15_935, 3_993, 62_060),
    "Rcv1": (53, 15_564, 518_571, 47_236),
}
SECONDS = {"quick": 1, "standard": 3, "full": 3}


def cells(size: str) -> list[Cell]:
    return [Cell("News 20", sizes, {"data": DATA[size]})]


def run(study: Study) -> None:
    study.compute(cells(study.size))


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
    compared = [e for e in rows[list(PRINTED).index("News 20")] if isinstance(e, Compared)]
    other = [c for c, e in zip(COLUMNS, compared, strict=True) if e.difference]
    same = f"{len(COLUMNS) - len(other)} of {len(COLUMNS)} numbers of News 20 are the printed ones"
    why = f"; {' and '.join(other)} differ, as the corpus is made anew from the raw messages"
    caption = Caption(
        title="LP15 Table 1: the data sets" + (" (digits alone)" * (study.size == "quick")),
        shows=f"Ours (the paper's, difference). Sector and Rcv1 are {NOT_HERE}.",
        settings="word counts as stored.",
        agreement=same + (why if other else "") + ".",
    )
    return study.save_table(Table(["data", *COLUMNS], rows), caption)
