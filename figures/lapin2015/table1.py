"""L15 Table 1, Caltech 101 and Indoor 67: top-k accuracies of the top-k SVMs and two baselines."""

from pathlib import Path

from figures.kit.study import Study
from figures.lapin2015 import tables
from fwlab.experiments.cells import Cell

NAMES = (tables.CALTECH, "Indoor67")
SECONDS = {"quick": 6, "standard": 240, "full": 5 * 3600}


def cells(size: str) -> list[Cell]:
    return tables.cells(NAMES, size)


def run(study: Study) -> None:
    study.compute(cells(study.size))


def plot(study: Study) -> list[Path]:
    """Caltech 101, and a part for Indoor 67."""
    return [
        *tables.plot(study, tables.CALTECH, 1),
        *tables.plot(study, "Indoor67", 1, "indoor67"),
    ]
