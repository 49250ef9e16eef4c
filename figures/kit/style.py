"""A common style for all figures: methods as in `fwlab.plot`, and series for everything else."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from figures.kit.plot_labels import ink, label_curves
from fwlab.plot import OTHER, STYLES, line_style, log_axes, marked

__all__ = [
    "SERIES",
    "curves",
    "ink",
    "label_curves",
    "legend_below",
    "light_grid",
    "line",
    "log_axes",
    "marked",
    "method_line",
    "new_figure",
    "note",
    "panels",
    "series",
    "state",
]

# inches: at this width 10-point letters can be read on a telephone, 390 pixels wide
WIDTH = 5.4
# points of a title and of remarks; 9 pixels are 5.9 points if the figure is 600 pixels wide
TITLE, SMALL = 11, 8
UNBROKEN_EQUALS = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
# bold letters of a title
LETTERS_PER_INCH = 10.3

# distinguished by marker and line if printed in grey; Okabe and Ito's colours
SERIES = (
    ("#0072b2", "o", "-"),
    ("#d55e00", "s", "--"),
    ("#009e73", "^", "-."),
    ("#cc79a7", "D", ":"),
    ("#56b4e9", "v", "-"),
    ("#e69f00", "P", "--"),
    ("#4d4d4d", "X", "-."),
    ("#000000", "*", ":"),
)


def method_line(method: str) -> dict[str, Any]:
    """Return keyword arguments of `plot` for a method, the same in every figure."""
    return line_style(STYLES.get(method, OTHER))


def series(index: int) -> dict[str, Any]:
    """Return keyword arguments of `plot` for a series of a figure that is not about methods."""
    return line_style(SERIES[index % len(SERIES)])


def line(ax: Any, x: Any, y: Any, style: dict[str, Any], label: str | None = None) -> None:
    """Draw a line with a few markers, evenly spread along a logarithmic x axis."""
    ax.plot(x, y, **style, markevery=marked(x), label=label)


def curves(ax: Any, drawn: Mapping[str, tuple[Any, Any, dict[str, Any]]]) -> None:
    """Draw {label: (x, y, style)} so that coinciding curves can be distinguished.

    Each curve is narrower than the one below it, and its markers are at different places.
    """
    for place, (label, (x, y, style)) in enumerate(drawn.items()):
        width = style["linewidth"] + 0.6 * (len(drawn) - 1 - place)
        every = marked(x, place / len(drawn))
        ax.plot(x, y, **{**style, "linewidth": width}, markevery=every, label=label)


def light_grid(ax: Any) -> None:
    """Give linear axes the grid of the logarithmic ones."""
    ax.grid(True, color="#e6e6e6", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def new_figure(height: float, *, width: float = WIDTH) -> Any:
    """Return an empty figure without opening a window; sizes are in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def state(figure: Any, finding: str) -> None:
    """Make the finding the figure's title, in lines of about the same length."""
    finding = finding.replace(" = ", UNBROKEN_EQUALS)
    letters = int(figure.get_size_inches()[0] * LETTERS_PER_INCH)
    lines = wrap(finding, letters, break_on_hyphens=False)
    while len(shorter := wrap(finding, letters - 1, break_on_hyphens=False)) == len(lines) > 1:
        letters, lines = letters - 1, shorter
    figure.suptitle("\n".join(lines), x=0.02, ha="left", fontsize=TITLE, fontweight="bold")


def note(ax: Any, text: str, **place: Any) -> None:
    """Write a remark in grey into a panel.

    `place` is as in `annotate`, by default the top right.
    """
    place = {"xy": (0.98, 0.97), "xycoords": "axes fraction", "ha": "right", "va": "top"} | place
    ax.annotate(text, fontsize=SMALL, color="#4d4d4d", **place)


def panels(
    names: Sequence[str],
    heights: tuple[float, float],
    x_label: str,
    y_label: str,
    *,
    shared: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """Return a figure and {name: axes} of logarithmic panels, one below the other.

    The heights are inches of each panel, and of the space above and below all of them; `shared`
    gives all panels the same axes.
    """
    each, below = heights
    figure = new_figure(each * len(names) + below)
    rows = figure.subplots(len(names), 1, squeeze=False, sharex=shared, sharey=shared)[:, 0]
    axes = dict(zip(names, rows, strict=True))
    for name, ax in axes.items():
        log_axes(ax, "" if shared and ax is not rows[-1] else x_label)
        ax.set_title(name, fontsize="medium")
        ax.set_ylabel(y_label)
    return figure, axes


def legend_below(figure: Any, ax: Any, ncols: int, title: str | None = None) -> None:
    """Put the legend of one panel below all of them."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles, labels, title=title, loc="outside lower center", ncols=ncols, frameon=False
    )
