"""T20 Figure 2: objective error and gap against iterations, with the Moreau envelope."""

from pathlib import Path
from typing import Any

from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.tajima2020 import convergence
from figures.tajima2020.convergence import ENVELOPE

SECONDS = {"quick": 2, "standard": 80, "full": 300}


def run(study: Study) -> None:
    study.compute(convergence.cells(study.size, (ENVELOPE, 0.0)))


def plot(study: Study) -> list[Path]:
    return convergence.plot(study, ENVELOPE, caption)


def caption(values: dict[str, Any], size: str) -> Caption:
    changes, faster = [], []
    for name in convergence.sets(size):
        plain, smooth = (
            min(values[convergence.cell_name(name, "LSFW", s)]["gap"]) for s in (0.0, ENVELOPE)
        )
        changes.append(f"{name} {plain:.1e} to {smooth:.1e}")
        if smooth < plain / 2:
            faster.append(name)
    return Caption(
        title=convergence.titled(2, f"convergence with the envelope, smoothing {ENVELOPE}", size),
        shows=convergence.SHOWS,
        settings=convergence.settings(values, size, ENVELOPE),
        agreement=(
            "The paper: the envelope makes LSFW faster on Caltech101 and News20, and not where "
            "there are many features. Smallest gap of LSFW without and with it: "
            f"{'; '.join(changes)}; less than half on {', '.join(faster) or 'no set'}. Also "
            f"{convergence.told_errors(values, size, ENVELOPE)}."
        ),
    )
