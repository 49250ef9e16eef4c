"""M20 Figure 1: precision-recall curves of six machines on Fashion-MNIST, two kernels."""

from pathlib import Path
from typing import Any

import numpy as np

from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Tried, told_failures, truth_distance
from figures.kit.study import Study
from figures.kit.style import legend_below, light_grid, new_figure, series, state
from figures.macha2020 import fashion
from figures.macha2020.fashion import KERNELS
from figures.macha2020.fits import MACHINES, PREPROCESSING, READINGS

SECONDS = fashion.SECONDS
cells = fashion.cells


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding: TopPush and TopPushK choose the features, Pat&Mat confirms them."""
    tried = []
    for preprocessing, reading in READINGS.items():
        parts: tuple[dict[str, float], dict[str, float]] = {}, {}
        for machine in MACHINES:
            linear, gauss = (
                area(fashion.chosen(values, size, preprocessing, machine, kernel))
                for kernel in KERNELS
            )
            parts[machine.startswith("Pat")][machine] = truth_distance(gauss > linear)
        tried.append(Tried(reading, *parts))
    what = f"machines on {fashion.rows(size)} have the larger area with the Gaussian kernel"
    return judge(tried, 0.0, what, told_failures(tried, 0.0))


def plot(study: Study) -> list[Path]:
    """Draw one row of panels per preprocessing, and one column per kernel."""
    values = study.values
    figure = new_figure(7.0)
    axes = figure.subplots(len(PREPROCESSING), len(KERNELS), sharex=True, sharey=True)
    for row, preprocessing in zip(axes, PREPROCESSING, strict=True):
        for ax, (kernel, title) in zip(row, KERNELS.items(), strict=True):
            light_grid(ax)
            ax.set_title(f"{preprocessing},\n{title}", fontsize="medium")
            for index, machine in enumerate(MACHINES):
                fit = fashion.chosen(values, study.size, preprocessing, machine, kernel)
                found = fit["curve"]
                places = np.linspace(0, len(found["recall"]) - 1, 6).astype(int)
                # the first lines are wider, so they are visible below others
                wide = 3.4 - 0.45 * index
                style = {**series(index), "markevery": places.tolist(), "linewidth": wide}
                ax.plot(found["recall"], found["precision"], **style, label=machine)
    axes[0, 0].set_ylim(0.0, 1.03)
    for ax in axes[-1]:
        ax.set_xlabel("recall")
    for ax in axes[:, 0]:
        ax.set_ylabel("precision")
    state(figure, title_of(values, study.size))
    legend_below(figure, axes[0, 0], 2)
    return study.save_figure(figure, caption(values, study.size))


def title_of(values: dict[str, Any], size: str) -> str:
    """Return a title: for how many machines the Gaussian kernel is better, by preprocessing."""
    counts = []
    for preprocessing in PREPROCESSING:
        linear, rbf = (
            np.array(
                [area(fashion.chosen(values, size, preprocessing, m, kernel)) for m in MACHINES]
            )
            for kernel in ("linear", "rbf")
        )
        counts.append(f"{(rbf > linear).sum()} of {len(MACHINES)} machines on {preprocessing}")
    return f"The Gaussian kernel is better for {' and '.join(counts)} features"


def caption(values: dict[str, Any], size: str) -> Caption:
    told = []
    for preprocessing in PREPROCESSING:
        means = {
            kernel: [
                area(fashion.chosen(values, size, preprocessing, machine, kernel))
                for machine in MACHINES
            ]
            for kernel in KERNELS
        }
        better = sum(np.array(means["rbf"]) > np.array(means["linear"]))
        told.append(
            f"{preprocessing}: for {better} of {len(MACHINES)} machines (mean area "
            f"{np.mean(means['rbf']):.3f} against {np.mean(means['linear']):.3f})"
        )
    return Caption(
        title=f"M20 Figure 1: precision-recall curves on {fashion.data_name(size)}",
        shows=(
            "Precision against recall on the test part, at thresholds that are scores of positives."
        ),
        settings=fashion.settings(values, size),
        agreement=(
            "The paper: the Gaussian kernel is significantly better than the linear one. The area "
            f"under its curve is larger, {'; '.join(told)}."
        ),
    )


def area(fit: dict[str, Any]) -> float:
    """Return the area under the precision-recall curve, by trapezoids from the first recall on."""
    return float(np.trapezoid(fit["curve"]["precision"], fit["curve"]["recall"]))
