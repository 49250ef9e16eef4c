"""T20 Figure 1: objective error and gap against iterations, without the Moreau envelope."""

from pathlib import Path
from typing import Any

from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.tajima2020 import convergence

SECONDS = {"quick": 2, "standard": 80, "full": 300}


def run(study: Study) -> None:
    study.compute(convergence.cells(study.size, (0.0,)))


def plot(study: Study) -> list[Path]:
    return convergence.plot(study, 0.0, caption)


def caption(values: dict[str, Any], size: str) -> Caption:
    return Caption(
        title=convergence.titled(1, "convergence without the Moreau envelope", size),
        shows=convergence.SHOWS,
        settings=convergence.settings(values, size, 0.0),
        agreement=(
            "The paper sees LSFW far ahead of both others where there are many features, and all "
            "three alike on Caltech101 and News20. Here "
            f"{convergence.told_errors(values, size, 0.0)}."
        ),
    )
