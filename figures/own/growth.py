"""Our own: how a pass of `ascent` grows with n, d, m and k, beside the product X W^T.

The exponents of n, d and m are measured in the last decade, where the products are most of a pass
and the array that grows is larger than the caches.
"""

from pathlib import Path
from typing import Any

from figures.benchmarks.growth import (
    BETWEEN,
    FIXED,
    GROWING,
    SEPARATION,
    TIMED,
    decades,
    exponents,
    pass_costs,
    sizes,
)
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import legend_below, log_axes, new_figure, series, state
from figures.kit.tables import Table
from fwlab.experiments import Cell

# the sizes in which the time of a pass should grow linearly
LINEAR = ("n", "d", "m")
NEAR = 0.1
PASSES = ("first", "later")
LABELS = {
    "first": "pass from A = 0",
    "later": "later pass",
    "X W^T": "X W^T by BLAS",
}
REPEATS = {"quick": 3, "standard": 9, "full": 25}
SECONDS = {"quick": 10, "standard": 200, "full": 500}
ALONE = True  # times are compared


def cells(size: str) -> list[Cell]:
    return [
        Cell(f"{name}|{value}", pass_costs, {**sizes(name, value), "repeats": REPEATS[size]})
        for name, values in GROWING.items()
        for value in (values[:2] if size == "quick" else values)
    ]


def plot(study: Study) -> list[Path]:
    """Draw a panel for each size that grows, and mark the last decade."""
    stored = {name: costs_by_value(study.values, name) for name in GROWING}
    figure = new_figure(6.8)
    for ax, name in zip(figure.subplots(2, 2).flat, GROWING, strict=True):
        draw(ax, name, stored[name])
    for ax in figure.axes[::2]:
        ax.set_ylabel("CPU milliseconds")
    last = {name: exponents(stored[name], decades(list(stored[name]))[-1]) for name in LINEAR}
    powers = ", ".join(f"{name}^{found['later'][0]:.2f}" for name, found in last.items())
    state(figure, f"In the grey decades a later pass of ascent grows like {powers}")
    legend_below(figure, figure.axes[0], len(TIMED))
    caption = caption_of(stored, REPEATS[study.size])
    return [
        *study.save_figure(figure, caption),
        *study.save_table(table_of(stored), caption, "table"),
    ]


def costs_by_value(values: dict[str, Any], name: str) -> dict[int, dict[str, float]]:
    """Return {value: costs} of the cells in which one size grows."""
    return {int(c.split("|")[1]): v for c, v in values.items() if c.startswith(f"{name}|")}


def draw(ax: Any, name: str, costs: dict[int, dict[str, float]]) -> None:
    """Draw the costs against one size, with a grey background for the last decade of n, d and m."""
    values = list(costs)
    log_axes(ax, name)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter("")
    for index, what in enumerate(TIMED):
        ax.plot(
            values, [cost[what] for cost in costs.values()], **series(index), label=LABELS[what]
        )
    if name in LINEAR:
        last = values[decades(values)[-1]]
        ax.axvspan(last[0], last[-1], color="#eeeeee", zorder=0)
    ax.set_title(f"{name} grows")


def table_of(stored: dict[str, dict[int, dict[str, float]]]) -> Table:
    """Return the exponents in each decade, and the changes per row at its ends."""
    rows = []
    for name, costs in stored.items():
        for places in decades(list(costs)):
            ends = list(costs)[places][0], list(costs)[places][-1]
            found = exponents(costs, places).values()
            rows.append(
                [
                    name,
                    " to ".join(map(str, ends)),
                    *(f"{slope:.2f} \N{PLUS-MINUS SIGN} {half:.2f}" for slope, half in found),
                    *(changes(costs, what, ends) for what in PASSES),
                ]
            )
    names = [f"changes in a row, {what} pass" for what in PASSES]
    return Table(["grows", "from, to", "first pass", "later pass", "X W^T", *names], rows)


def changes(costs: dict[int, dict[str, float]], what: str, ends: tuple[int, int]) -> str:
    """Return the number of entries per row that a pass changes at both ends of a decade."""
    return " to ".join(f"{costs[end][f'{what} changes']:.1f}" for end in ends)


def caption_of(stored: dict[str, dict[int, dict[str, float]]], repeats: int) -> Caption:
    fixed = "; ".join(
        f"{name} grows with {', '.join(f'{key} = {value}' for key, value in others.items())}"
        for name, others in FIXED.items()
    )
    return Caption(
        title="Growth of a pass with n, d, m and k (synthetic data)",
        shows=(
            "CPU milliseconds of a pass of ascent and of the product X W^T, one size growing and "
            "the others fixed. From A = 0 almost every row moves in a pass; in a later one the "
            "number of changes depends on the data. Exponents are slopes of least-squares lines, "
            "in the table with half their 95% intervals. The last decade of n, d and m is grey: "
            "there products with X are most of a pass, and the array that grows (X with n and d, W "
            "with m) takes at least 16 MB. Below it, a part of each row's cost does not grow, and "
            "where an array leaves a cache the time grows faster. k has no such "
            "decade, as it enters only the projection and the number of changes."
        ),
        settings=(
            f"{fixed}; lam = 1/n, unit rows, class means {SEPARATION} N(0, I), seed 0; medians "
            f"of {repeats} passes in turn with X W^T, one thread; later passes follow {BETWEEN} "
            "others."
        ),
        agreement=f"No paper has this figure. {told(stored)}",
    )


def told(stored: dict[str, dict[int, dict[str, float]]]) -> str:
    """Return sentences on the exponents in the last decades and their ranges over all decades."""
    decade = {name: decades(list(costs)) for name, costs in stored.items()}
    last = {name: exponents(costs, decade[name][-1]) for name, costs in stored.items()}
    parts = [
        f"{LABELS[what]}: {', '.join(f'{name} {one[what][0]:.2f}' for name, one in last.items())}"
        for what in TIMED
    ]
    sentences = [f"Exponents in the last decades, {'; '.join(parts)}."]
    for what in PASSES:
        slopes = [last[name][what][0] for name in LINEAR]
        near = sum(abs(slope - 1) <= NEAR for slope in slopes)
        below = sum(slope < 1 - NEAR for slope in slopes)
        sentences.append(
            f"Of those of n, d and m, {near} of {len(LINEAR)} in a {what} pass lie within "
            f"1 \N{PLUS-MINUS SIGN} {NEAR}, and {below} below."
        )
    spans, changed = [], []
    for name in LINEAR:
        costs = stored[name]
        slopes = [exponents(costs, places)["first"][0] for places in decade[name]]
        spans.append(f"{name} {min(slopes):.2f} to {max(slopes):.2f}")
        at = list(costs)[decade[name][-1]]
        changed.append(f"{changes(costs, 'later', (at[0], at[-1]))} as {name} grows")
    return " ".join(
        [
            *sentences,
            f"Over all decades, from A = 0: {', '.join(spans)}.",
            f"In a row a later pass changes {', '.join(changed)}.",
        ]
    )
