"""K19 Table 3: top-k accuracies of weighted top-k SVMs and SDCA on Caltech101."""

from pathlib import Path

from figures.kato2019 import tables
from figures.kit.study import Study

DATA = "Caltech101"
SECONDS = tables.SECONDS


def run(study: Study) -> None:
    tables.run(study, [DATA])


def plot(study: Study) -> list[Path]:
    return tables.plot_one(study, DATA)
