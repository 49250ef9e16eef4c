"""K19 Table 2: top-k accuracies of weighted top-k SVMs and SDCA on ALOI.

The features are not to be had here: printed numbers, and ours for the reader's own file.
"""

from pathlib import Path

from figures.kato2019 import tables
from figures.kit.study import Study

DATA = "ALOI"
SECONDS = {"quick": 1, "standard": 1, "full": 1}


def run(study: Study) -> None:
    tables.run(study, [DATA])


def plot(study: Study) -> list[Path]:
    return tables.plot_one(study, DATA)
