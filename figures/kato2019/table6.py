"""K19 Table 6: top-k accuracies of weighted top-k SVMs and SDCA on Letter."""

from pathlib import Path

from figures.kato2019 import tables
from figures.kit.study import Study

DATA = "Letter"
SECONDS = {"quick": 2, "standard": 120, "full": 690}


def run(study: Study) -> None:
    tables.run(study, [DATA])


def plot(study: Study) -> list[Path]:
    return tables.plot_one(study, DATA)
