"""Our own: the memory of a run of each method, and the cost of projections of growing rows.

Memory is shown in arrays of A's size beyond the data, and projections beside one np.partition.
"""

import tracemalloc
from pathlib import Path
from typing import Any

import fwlab
from figures.benchmarks.projections import batch, contenders, microseconds
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import label_curves, log_axes, method_line, new_figure, series, state
from fwlab.experiments import Cell

MEMORY_METHODS = ("fw", "afw", "pfw", "bafw", "bpfw", "bcfw", "bcpfw", "ascent")
LENGTHS = {"quick": (100, 1000), "standard": (100, 1000, 10_000, 100_000)}
LENGTHS["full"] = LENGTHS["standard"]
SELECTED = 5
REGIMES = {"sum": "entries N(0, 1)", "cone": "about 20 positive entries"}
REPEATS = {"quick": 3, "standard": 9, "full": 25}
SECONDS = {"quick": 10, "standard": 120, "full": 400}
ALONE = True  # times are compared


def memory(method: str, n: int, d: int, m: int) -> dict[str, float]:
    """Return the peak memory of a short run beyond X, in arrays of A's size."""
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
    """Return the microseconds per vector of every projection and of one np.partition."""
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
        for regime in REGIMES
        for d in LENGTHS[size]
    ]
    return peaks + projections


def plot(study: Study) -> list[Path]:
    values = study.values
    figure = new_figure(3.6)
    draw_memory(figure, values)
    files = study.save_figure(figure, caption(study.size), "memory")
    figure = new_figure(7.2)
    draw_projections(figure, values)
    return [*files, *study.save_figure(figure, caption(study.size), "projections")]


def draw_memory(figure: Any, values: dict[str, Any]) -> None:
    """Draw one bar per method."""
    arrays = {c.split("|")[1]: v["arrays"] for c, v in values.items() if c.startswith("memory|")}
    least, most = (choose(arrays, key=arrays.__getitem__) for choose in (min, max))
    state(
        figure,
        f"{least} holds {arrays[least]:.1f} arrays of A's size, "
        f"{most} {arrays[most] / arrays[least]:.1f} times as much",
    )
    ax = figure.add_subplot()
    for place, (method, count) in enumerate(arrays.items()):
        ax.barh(place, count, color=method_line(method)["color"])
        ax.annotate(f"{count:.1f}", (count, place), (4, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(arrays)), list(arrays))
    ax.invert_yaxis()
    ax.set_xlabel("largest memory of 30 iterations beyond the data, in arrays of A's size")
    ax.spines[["top", "right"]].set_visible(False)


def draw_projections(figure: Any, values: dict[str, Any]) -> None:
    """Draw a panel per regime."""
    axes, ratios = figure.subplots(len(REGIMES), 1, sharex=True), []
    for ax, (regime, meaning) in zip(axes, REGIMES.items(), strict=True):
        prefix = f"projection|{regime}|"
        stored = {int(c.removeprefix(prefix)): v for c, v in values.items() if c.startswith(prefix)}
        log_axes(ax, "")
        ax.set_title(f"{meaning}, k = {SELECTED}", fontsize="medium")
        ax.set_ylabel("microseconds per vector")
        for index, name in enumerate(next(iter(stored.values()))):
            y = [value[name] for value in stored.values()]
            label = f"np.{name}" if name in ("partition", "argsort") else name
            ax.plot(list(stored), y, **series(index), label=label)
        ratios += [v["top-k simplex"] / v["partition"] for v in stored.values()]
    axes[-1].set_xlabel("length of the vector")
    state(
        figure,
        f"A projection onto the top-k simplex costs {min(ratios):.1f} to {max(ratios):.1f} times "
        "one np.partition",
    )
    label_curves(axes, fontsize=7.5)


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
