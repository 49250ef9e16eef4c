"""Draw certified gaps on logarithmic axes, one style per method, and write PNG and PDF files.

Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fwlab.arrays import Floats
from fwlab.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Style = tuple[str, Any, Any]
LONG, DASH_DOT_DOT = (0, (8, 2)), (0, (6, 1.5, 1.2, 1.5, 1.2, 1.5))
# (colour, marker, line), fixed so that a method looks the same in every figure. Hues tell families
# apart where they can: grey and green for steps of all rows at once, blue for blocks and bent
# paths, red and brown for methods that end exactly, pink for the pseudo top-k. A search found
# colours with the largest CIEDE2000 distances in normal vision, protanopia, deuteranopia and
# tritanopia. Lines that share dashes are farthest apart. Markers and dashes tell the methods apart
# in greyscale too.
STYLES: dict[str, Style] = {
    "fw": ("#706c7d", "^", "--"),
    "fw-open-loop": ("#5a464e", "v", "-"),
    "afw": ("#009c84", "D", LONG),
    "pfw": ("#1b370c", "P", "--"),
    "blended-pairwise": ("#0f5af0", "$\\clubsuit$", DASH_DOT_DOT),
    "fcfw": ("#3c001e", (8, 1, 0), ":"),
    "bafw": ("#0300f0", "d", "-."),
    "bpfw": ("#41293b", "X", LONG),
    "bcfw": ("#0072b2", "s", "-"),
    "bcafw": ("#3f0b87", "<", DASH_DOT_DOT),
    "bcpfw": ("#9c8fad", ">", DASH_DOT_DOT),
    "bbpfw": ("#1294fe", "$\\spadesuit$", "--"),
    "dicg": ("#30576d", "H", ":"),
    "ascent": ("#d55e00", "o", "-"),
    "alternate": ("#683935", (3, 1, 0), DASH_DOT_DOT),
    "direct": ("#a52d07", (6, 1, 0), ":"),
    "newton": ("#96675a", "8", "-."),
    "auto": ("#000000", (4, 1, 0), "-"),
    "subgradient": ("#b58d62", "*", "--"),
    "sdca-lapin": ("#f53ff8", "h", ":"),
    "sdca-chu-newton": ("#571051", "p", "-."),
    "sdca-chu-fixing": ("#c523b6", (4, 1, 45), LONG),
}
OTHER = ("#000000", "+", "-")
# methods without a style of their own, in the order in which a figure meets them
OTHERS = (
    OTHER,
    ("#1b9e77", "o", "--"),
    ("#7570b3", "s", ":"),
    ("#e7298a", "^", "-."),
    ("#a6761d", "D", "--"),
    ("#386cb0", "v", ":"),
    ("#66a61e", "P", "-."),
)

MARKERS_PER_LINE = 8
GAP = "certified gap (primal \N{MINUS SIGN} dual)"
ACCURACY, SHADE = "validation accuracy", "#d9d9d9"
SECONDS = "seconds (one thread, judging excluded)"


class Gaps(NamedTuple):
    """The columns of a trace that a curve of gaps needs, each of shape (checkpoints,)."""

    iteration: Any
    seconds: Any
    primal: Any
    dual: Any
    gap: Any


def styles(methods: Iterable[str]) -> dict[str, Style]:
    """Return the style of each method; those without one of their own get different ones."""
    others = cycle(OTHERS)
    return {method: STYLES.get(method) or next(others) for method in methods}


def plot_gaps(gaps: Gaps, ax: Any = None) -> Any:
    """Draw the gap against seconds on `ax`, or on new axes if it is None, and return the axes."""
    ax = new_axes() if ax is None else ax
    log_axes(ax, SECONDS)
    ax.set_ylabel(GAP)
    draw_gaps(ax, gaps, gaps.seconds, OTHER)
    return ax


class Bounds(NamedTuple):
    """The arrays and numbers of a figure of a proved choice of C.

    `edges` (stretches + 1,) are the ends of the stretches of C, `bounds` (stretches,) the upper
    bounds of the accuracy on them, `knots` and `accuracies` the solved C with their accuracies, C
    and `accuracy` the chosen one, and `limit` the accuracy that no C is to exceed.
    """

    edges: Any
    bounds: Any
    knots: Any
    accuracies: Any
    C: float
    accuracy: float
    limit: float


def plot_bounds(bounds: Bounds, ax: Any = None) -> Any:
    """Draw the bounds of accuracies over C on `ax`, or on new axes if it is None; return the axes.

    Stretches whose bound exceeds the limit are shaded.
    """
    ax = new_axes() if ax is None else ax
    log_axes(ax, "C")
    ax.set_yscale("linear")
    ax.set_ylabel(ACCURACY)
    low, top = float(bounds.accuracies.min()), max(bounds.limit, float(bounds.accuracies.max()))
    room = max(0.15 * (top - low), 0.005)
    above = bounds.bounds > bounds.limit
    for first, last in zip(bounds.edges[:-1][above], bounds.edges[1:][above], strict=True):
        ax.axvspan(first, last, color=SHADE, linewidth=0)
    if above.any():
        ax.fill_between([], [], color=SHADE, label="not proved")
    upper, solved = STYLES["ascent"][0], STYLES["bcfw"][0]
    ax.stairs(bounds.bounds, bounds.edges, baseline=None, color=upper, linewidth=1.4)
    ax.plot([], [], color=upper, linewidth=1.4, label="no C is better (proved)")
    line = {"color": OTHER[0], "linewidth": 0.9, "linestyle": "--"}
    ax.axhline(bounds.limit, **line, label="chosen + slack")
    ax.plot(bounds.knots, bounds.accuracies, ".", color=solved, label="solved")
    ax.plot([bounds.C], [bounds.accuracy], "*", color=OTHER[0], markersize=12, label="chosen")
    ax.set_xlim(bounds.edges[0], bounds.edges[-1])
    ax.set_ylim(low - room, top + room)
    ax.legend(loc="lower right", frameon=False)
    return ax


def new_axes() -> Any:
    """Return the axes of a new figure of pyplot, which a notebook shows."""
    from matplotlib import pyplot

    return pyplot.figure(layout="constrained").add_subplot()


def save_figure(figure: Figure, path: Path) -> tuple[Path, Path]:
    """Write path.png and path.pdf, and return both paths.

    `path` may end in .png or .pdf, or in neither. Both files name the figure's title.
    """
    from matplotlib import rc_context

    stem = path.with_suffix("") if path.suffix.lower() in (".png", ".pdf") else path
    png, pdf = (stem.with_name(stem.name + ending) for ending in (".png", ".pdf"))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # both files keep the layout computed above
    about = {"Title": figure.get_suptitle().replace("\n", " ")}
    write_atomically(png, lambda file: figure.savefig(file, format="png", dpi=200, metadata=about))
    # Without a date the same comparison gives the same bytes. With font type 42, text in the PDF
    # stays text.
    with rc_context({"pdf.fonttype": 42}):
        write_atomically(
            pdf,
            lambda file: figure.savefig(
                file, format="pdf", metadata={"CreationDate": None, **about}
            ),
        )
    return png, pdf


def log_axes(ax: Any, xlabel: str) -> None:
    """Make both axes logarithmic, with a grid behind the data."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel(xlabel)
    ax.grid(True, color="#e6e6e6", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def draw_gaps(ax: Any, gaps: Gaps, x: Any, style: Style) -> bool:
    """Draw the gaps of one run from iteration 1 on.

    The floor is one unit of rounding of the objectives. A gap below it, which rounding can make
    zero or negative, is drawn at the floor as a hollow triangle.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    gaps : Gaps
        The columns of the run's trace.
    x : array (checkpoints,)
        Abscissa of each checkpoint, for example gaps.seconds. Only positive ones are drawn.
    style : Style
        (colour, marker, line), see STYLES.

    Returns
    -------
    bool
        Whether a gap lies at the floor.
    """
    drawn = (gaps.iteration > 0) & (x > 0)
    floor = rounding_floor(gaps.primal, gaps.dual)
    return draw_run(ax, x[drawn], gaps.gap[drawn], floor[drawn], line_style(style))


def rounding_floor(primal: Floats, dual: Floats) -> Floats:
    """Return one unit of rounding of the objectives, below which a gap is no more than rounding."""
    objective = np.maximum(np.abs(primal), np.abs(dual))
    return np.asarray(np.maximum(np.finfo(float).eps * objective, np.finfo(float).tiny))


def draw_run(ax: Any, x: Floats, y: Floats, floor: Floats, line: dict[str, Any]) -> bool:
    """Draw every checkpoint faint and the smallest value so far bold, none below the floor.

    x, y and floor are (checkpoints,); line holds keyword arguments of the bold line. Returns
    whether a value lies at the floor.
    """
    at_floor = y <= floor
    y = np.maximum(y, floor)
    color = line["color"]
    ax.plot(x, y, color=color, linewidth=0.7, alpha=0.35)
    ax.plot(x, np.minimum.accumulate(y), **line, markevery=marked(x))
    if at_floor.any():
        hollow = {"markerfacecolor": "white", "markersize": 6, "linestyle": "none"}
        ax.plot(x[at_floor], floor[at_floor], "v", color=color, **hollow)
    return bool(at_floor.any())


def line_style(style: Style) -> dict[str, Any]:
    """Return keyword arguments of matplotlib's `plot` for a (colour, marker, line) of STYLES."""
    color, marker, line = style
    return {
        "color": color,
        "marker": marker,
        "linestyle": line,
        "linewidth": 1.6,
        "markersize": 6,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
    }


def marked(x: Floats, shift: float = 0.0) -> list[int]:
    """Return the indices of markers, evenly spread on a logarithmic axis, with the last point.

    `shift` moves all but the last, as a part of the way to the next one: coincident curves with
    different shifts show the markers of all.
    """
    if len(x) == 0:
        return []
    last = len(x) - 1
    parts = (np.arange(MARKERS_PER_LINE) + shift) / (MARKERS_PER_LINE - 1)
    places = x[0] * (x[last] / x[0]) ** parts[parts <= 1]
    return sorted({*np.searchsorted(x, places).clip(max=last).tolist(), last})
