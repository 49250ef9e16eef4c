"""M20 Figure 2: densities of the test scores of positives and negatives on Fashion-MNIST."""

from pathlib import Path
from typing import Any

import numpy as np

from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Tried, told_failures, truth_distance
from figures.kit.study import Study
from figures.kit.style import SERIES, label_curves, light_grid, new_figure, state
from figures.macha2020 import fashion
from figures.macha2020.fashion import KERNELS
from figures.macha2020.fits import PREPROCESSING, READINGS

MACHINES = ("TopPush", "TopPushK, K = 5", "Pat&Mat, tau = 0.05")
SECONDS = fashion.SECONDS
cells = fashion.cells


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: TopPush and TopPushK choose the features, Pat&Mat confirms them."""
    tried = []
    for preprocessing, reading in READINGS.items():
        parts: tuple[dict[str, float], dict[str, float]] = {}, {}
        for machine, (linear, gauss) in overlaps(values, size, preprocessing).items():
            parts[machine.startswith("Pat")][machine] = truth_distance(gauss < linear)
        tried.append(Tried(reading, *parts))
    what = f"machines on {fashion.rows(size)} overlap less with the Gaussian kernel"
    return judge(tried, 0.0, what, told_failures(tried, 0.0))


def overlaps(values: dict[str, Any], size: str, preprocessing: str) -> dict[str, list[float]]:
    """Return the overlap of each machine with the linear and with the Gaussian kernel."""
    return {
        machine: [
            overlap(fashion.chosen(values, size, preprocessing, machine, kernel)["density"])
            for kernel in KERNELS
        ]
        for machine in MACHINES
    }


def plot(study: Study) -> list[Path]:
    """Draw one figure per preprocessing, with one row per machine and one column per kernel."""
    values, size = study.values, study.size
    files = []
    for preprocessing in PREPROCESSING:
        figure = new_figure(2.3 * len(MACHINES) + 0.8)
        axes = figure.subplots(len(MACHINES), len(KERNELS), squeeze=False)
        for row, machine in zip(axes, MACHINES, strict=True):
            for ax, (kernel, title) in zip(row, KERNELS.items(), strict=True):
                fit = fashion.chosen(values, size, preprocessing, machine, kernel)
                draw(ax, fit["density"])
                ax.set_title(f"{machine}\n{title}", fontsize="medium")
            row[0].set_ylabel("density")
        for ax in axes[-1]:
            ax.set_xlabel("score minus threshold")
        less = [linear > rbf for linear, rbf in overlaps(values, size, preprocessing).values()]
        state(
            figure,
            f"{preprocessing.capitalize()} features: with the Gaussian kernel the classes overlap "
            f"less for {sum(less)} of {len(less)} machines",
        )
        label_curves(axes.flat, fontsize=7.0)
        files += study.save_figure(figure, caption(values, size, preprocessing), preprocessing)
    return files


def draw(ax: Any, density: dict[str, Any]) -> None:
    light_grid(ax)
    for index, name in enumerate(("negative", "positive")):
        colour, _, style = SERIES[index]
        ax.plot(density["score"], density[name], color=colour, linestyle=style, label=f"{name}s")
        ax.fill_between(density["score"], density[name], color=colour, alpha=0.2, linewidth=0)
    ax.axvline(density["top"], color="black", linewidth=1.2, label="top 5% of all scores")
    ax.set_ylim(bottom=0)


def overlap(density: dict[str, Any]) -> float:
    """Return the area below both densities: 0 for separate classes, 1 for equal ones."""
    least = np.minimum(density["positive"], density["negative"])
    return float(np.trapezoid(least, density["score"]))


def caption(values: dict[str, Any], size: str, preprocessing: str) -> Caption:
    found = overlaps(values, size, preprocessing)
    shown = "; ".join(f"{m} {linear:.3f} and {rbf:.3f}" for m, (linear, rbf) in found.items())
    better = sum(rbf < linear for linear, rbf in found.values())
    return Caption(
        title=(
            f"M20 Figure 2: densities of test scores on {fashion.data_name(size)}, "
            f"{preprocessing} features"
        ),
        shows=(
            "Gaussian kernel density estimates (Scott's rule) of the scores of both classes, less "
            "the threshold; the vertical line is the top 5% quantile of all test scores."
        ),
        settings=fashion.settings(values, size),
        agreement=(
            "The paper: the classes overlap less with the Gaussian kernel. Area below both "
            f"densities, linear and Gaussian: {shown}; less for {better} of {len(found)} machines."
        ),
    )
