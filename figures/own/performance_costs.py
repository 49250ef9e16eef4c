"""Our own: the memory of a run of each method, and what projections cost as rows grow.

Memory is shown in arrays of A's size beyond the data, projections beside one np.partition.
"""

import tracemalloc
from pathlib import Path
from typing import Any

import fwlab
from figures.benchmarks.projections import batch, contenders, microseconds
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


def memory(method: str, n: int, d: int, m: int) -> dict[str, float]:
    """The peak of a short run beyond X, in arrays of A's size."""
    data = fwlab.datasets.synthetic(n, d, m, 0.5, rng=0, normalize="unit")
    given = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(3), 1 / n, n_classes=m)
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
    return peaks + projections


def plot(study: Study) -> list[Path]:
    values = study.values
    figure = new_figure(10.4)
    memory_axes, *axes = figure.subplots(3, 1)
    draw_memory(memory_axes, values)
    for ax, regime in zip(axes, ("sum", "cone"), strict=True):
        draw_projections(ax, values, regime)
    return study.save_figure(figure, caption(study.size))


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


def caption(size: str) -> Caption:
    return Caption(
        title="Costs of a run and of a projection (synthetic data)",
        shows="Above, memory of a run; below, CPU microseconds of the projections.",
        settings=(
            "memory of top-3, lam = 1/n, unit rows; projections with bias 1 and r = 1, medians of "
            f"{REPEATS[size]} interleaved repeats, one thread."
        ),
        agreement="No paper has this figure.",
    )
