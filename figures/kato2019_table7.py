"""K19 Table 7: top-k accuracies of weighted top-k SVMs and SDCA on News20."""

from pathlib import Path

from figures import _kato2019_tables as tables
from figures._study import Study

DATA = "News20"
SECONDS = tables.SECONDS


def run(study: Study) -> None:
    tables.run(study, [DATA])


def plot(study: Study) -> list[Path]:
    return tables.plot_one(study, DATA)
