"""K19 Table 1: top-k accuracies on all data sets, the best k of each column.

Its cells are those of Tables 2 to 7.
"""

from pathlib import Path

from figures.kato2019 import tables
from figures.kit.study import Study

SECONDS = {"quick": 6, "standard": 720, "full": 2.2 * 3600}


def run(study: Study) -> None:
    tables.run(study, list(tables.NUMBERS))


def plot(study: Study) -> list[Path]:
    return tables.plot_best(study)
