"""L15 Table 2: top-k accuracies on SUN 397, Places 205 and ImageNet 2012."""

from pathlib import Path

from figures.kit.study import Study
from figures.lapin2015 import tables
from fwlab.experiments.cells import Cell

NAMES = ("SUN397", "Places205", "ImageNet2012")
SECONDS = {"quick": 1, "standard": 1, "full": 1}


def cells(size: str) -> list[Cell]:
    return tables.cells(NAMES, size)


def run(study: Study) -> None:
    study.compute(cells(study.size))


def plot(study: Study) -> list[Path]:
    """A part for each data set."""
    return [file for name in NAMES for file in tables.plot(study, name, 2, name.lower())]
