"""Our own: what a pass of `ascent`, a run's memory and a projection cost as the sizes grow.

The pass is shown beside the two BLAS products X W^T and A^T X of the same sizes, memory in arrays
of A's size beyond the data, projections beside one np.partition.
"""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.benchmarks.growth import GROWING, problem, sizes
from figures.benchmarks.projections import batch, contenders, microseconds
from figures.benchmarks.timing import iteration, milliseconds, products
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import log_axes, method_line, new_figure, series
from fwlab.experiments import Cell

MEMORY_METHODS = ("fw", "afw", "pfw", "bafw", "bpfw", "bcfw", "bcpfw", "ascent")
LENGTHS = {"quick": (100, 1000), "standard": (100, 1000, 10_000, 100_000)}
LENGTHS["full"] = LENGTHS["standard"]
SELECTED = 5
REPEATS = {"quick": 3, "standard": 9, "full": 25}
SECONDS = {"quick": 10, "standard": 120, "full": 400}
ALONE = True  # times are compared


def pass_times(n: int, d: int, m: int, k: int, repeats: int) -> dict[str, float]:
    """Milliseconds of one pass and of the two products, interleaved in one run."""
    given = problem(n, d, m, k)
    times = milliseconds(
        {"pass": iteration(given, "ascent", shrink=False), **products(given)}, repeats
    )
    return {"pass": times["pass"], "products": times["X W^T"] + times["A^T X"]}


def memory(method: str, n: int, d: int, m: int) -> dict[str, float]:
    """The peak of a short run beyond X, in arrays of A's size."""
    given = problem(n, d, m, 3)
    fwlab.solve(given, method, tol=0, max_iter=2)
    tracemalloc.start()
    try:
        result = fwlab.solve(given, method, tol=0, max_iter=30)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return {"arrays": peak / result.A.nbytes}


def projection_times(d: int, regime: str, quick: bool, repeats: int) -> dict[str, float]:
    """Microseconds a vector of every projection and of one np.partition."""
    calls = contenders(batch(d, regime, quick), SELECTED, 1.0)
    return dict(zip(calls, microseconds(calls, repeats), strict=True))


def cells(size: str) -> list[Cell]:
    quick, repeats = size == "quick", REPEATS[size]
    passes = [
        Cell(f"pass|{name}|{value}", pass_times, {**sizes(name, value), "repeats": repeats})
        for name, values in GROWING.items()
        for value in (values[:2] if quick else values)
    ]
    shape = {"n": 500 if quick else 5000, "d": 50, "m": 20}
    peaks = [Cell(f"memory|{m}", memory, {"method": m, **shape}) for m in MEMORY_METHODS]
    projections = [
        Cell(
            f"projection|{regime}|{d}",
            projection_times,
            {"d": d, "regime": regime, "quick": quick, "repeats": repeats},
        )
        for regime in ("sum", "cone")
        for d in LENGTHS[size]
    ]
    return passes + peaks + projections


def plot(study: Study) -> list[Path]:
    values = study.values
    figure = new_figure(17.0)
    grid = figure.add_gridspec(5, 2)
    axes = [figure.add_subplot(grid[place // 2, place % 2]) for place in range(len(GROWING))]
    growths = [draw_growth(ax, values, name) for ax, name in zip(axes, GROWING, strict=True)]
    for ax in axes[::2]:
        ax.set_ylabel("milliseconds")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    draw_memory(figure.add_subplot(grid[2, :]), values)
    for row, regime in enumerate(("sum", "cone"), 3):
        draw_projections(figure.add_subplot(grid[row, :]), values, regime)
    return study.save_figure(figure, caption(values, growths, study.size))


def draw_growth(ax: Any, values: dict[str, Any], name: str) -> str:
    """A pass and the products against one size; returns the fitted exponents."""
    stored = {c.split("|")[2]: v for c, v in values.items() if c.startswith(f"pass|{name}|")}
    x = np.array([float(value) for value in stored])
    log_axes(ax, name)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter("")
    ax.set_title(f"as {name} grows")
    told = []
    for index, (key, label) in enumerate(
        (("pass", "pass of ascent"), ("products", "X W^T and A^T X by BLAS"))
    ):
        y = np.array([value[key] for value in stored.values()])
        ax.plot(x, y, **series(index), label=label)
        told.append(f"{np.polyfit(np.log(x), np.log(y), 1)[0]:.2f}")
    return f"{name} {told[0]} ({told[1]})"


def draw_memory(ax: Any, values: dict[str, Any]) -> None:
    arrays = {c.split("|")[1]: v["arrays"] for c, v in values.items() if c.startswith("memory|")}
    for place, (method, count) in enumerate(arrays.items()):
        ax.barh(place, count, color=method_line(method)["color"])
        ax.annotate(f"{count:.1f}", (count, place), (4, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(arrays)), list(arrays))
    ax.invert_yaxis()
    ax.set_xlabel("largest memory of 30 iterations beyond the data, in arrays of A's size")
    ax.set_title("memory")
    ax.spines[["top", "right"]].set_visible(False)


def draw_projections(ax: Any, values: dict[str, Any], regime: str) -> None:
    prefix = f"projection|{regime}|"
    stored = {int(c.removeprefix(prefix)): v for c, v in values.items() if c.startswith(prefix)}
    log_axes(ax, "length of the vector")
    meaning = {"sum": "N(0, 1)", "cone": "about 20 positive entries"}[regime]
    ax.set_title(f"projections, {meaning}, k = {SELECTED}")
    ax.set_ylabel("microseconds a vector")
    for index, name in enumerate(next(iter(stored.values()))):
        y = [value[name] for value in stored.values()]
        ax.plot(list(stored), y, **series(index), label=f"np.{name}" if index == 0 else name)
    ax.legend(fontsize="small")


def caption(values: dict[str, Any], growths: list[str], size: str) -> Caption:
    ratios = [v["pass"] / v["products"] for c, v in values.items() if c.startswith("pass|")]
    return Caption(
        title="Costs of a pass, a run and a projection (synthetic data)",
        shows=(
            "Above, CPU milliseconds of one pass of ascent and of the two BLAS products of the "
            "same sizes, one size growing and the others fixed; in the middle, memory; below, CPU "
            "microseconds of the projections."
        ),
        settings=(
            f"top-3 (k where it grows), lam = 1/n, unit rows, medians of {REPEATS[size]} "
            "interleaved repeats, one thread; the projections have bias 1 and r = 1."
        ),
        agreement=(
            f"No paper has this figure. A pass takes {min(ratios):.2f} to {max(ratios):.2f} of the "
            f"two products; exponents of the pass (of the products): {', '.join(growths)}."
        ),
    )
