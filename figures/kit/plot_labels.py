"""Write the names of curves beside them, in place of a legend.

Each name is placed where it hides least: at the end of its curve if there is room, otherwise along
the curve, or above or below its end with a thin line leading to it. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# pixels between the points at which a curve is tested, and from a curve to its name
STEP, DISTANCE = 3.0, 5.0
# the share of a name's box that other curves may cross if the name is to count as readable
CROSSED = 0.3
# the cost of curves crossing a whole name, in units of moving the name away by its height
CROSSING = 40.0
# the largest share of a panel's width that is kept free on its right
MOST_ROOM = 0.4
# the least contrast of letters with white (WCAG 2, level AA)
CONTRAST = 4.5
# places of a name: which point of its box is near the curve, from 0 (left, bottom) to 1
SIDES = np.array(
    [(0, 0.5), (0, 0), (0, 1), (0.5, 0), (0.5, 1), (1, 0), (1, 1), (1, 0.5)], dtype=float
)
# how far a name at an end may move up or down, in heights of its box
SHIFTS = tuple(
    sign * shift for shift in (0.6, 1, 1.5, 2, 2.6, 3.2, 4, 5, 6, 7, 8) for sign in (1, -1)
)
# the cost of an unreadable place
UNREADABLE = 1000.0
# places along a curve, as fractions from its end, at which a name may be put
ALONG = np.linspace(1.0, 0.05, 25)


class Places(NamedTuple):
    """Candidate places of a name, in pixels.

    They are boxes (places, 4) as left, bottom, right, top; the points of the curve that they name
    (places, 2); a penalty for each; whether a thin line leads there.
    """

    boxes: Floats
    points: Floats
    penalties: Floats
    led: NDArray[np.bool_]


def label_curves(axes: Iterable[Any], fontsize: float = 8.0) -> bool:
    """Write the label of every labelled line beside it, in its colour.

    Call it after everything else is drawn. The x axis is made longer where a name needs room.

    Returns
    -------
    bool
        Whether every name can be read: no two overlap, and curves cross none of them.
    """
    axes = list(axes)
    figure = axes[0].figure.figure
    _lay_out(figure)
    named = {ax: [line for line in ax.lines if _is_named(line)] for ax in axes}
    texts = {ax: [_text(ax, line, fontsize) for line in lines] for ax, lines in named.items()}
    if any([_make_room(ax, lines, texts[ax]) for ax, lines in named.items()]):
        _lay_out(figure)
    return all([_place_all(ax, lines, texts[ax]) for ax, lines in named.items()])


def ink(color: Any) -> tuple[float, float, float]:
    """Return the colour, darkened until text in it is readable on white."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(color))
    while 1.05 / (luminance(rgb) + 0.05) < CONTRAST:
        rgb *= 0.96
    return tuple(rgb.tolist())


def luminance(rgb: Floats) -> float:
    """Return the relative luminance of an sRGB colour, 0 for black and 1 for white."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _lay_out(figure: Any) -> None:
    """Lay out all panels and set the limits that depend on their data."""
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    for ax in figure.axes:
        ax.get_xlim(), ax.get_ylim()


def _is_named(line: Any) -> bool:
    return not str(line.get_label()).startswith("_") and len(line.get_xdata()) > 0


def _text(ax: Any, line: Any, fontsize: float) -> Any:
    from matplotlib.patheffects import withStroke

    text = ax.annotate(
        line.get_label(),
        (0, 0),
        xycoords="axes fraction",
        fontsize=fontsize,
        color=ink(line.get_color()),
        zorder=6,
    )
    text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    text.set_in_layout(False)
    return text


def _make_room(ax: Any, lines: Sequence[Any], texts: Sequence[Any]) -> bool:
    """Lengthen the x axis until names to the right of the curves' ends fit into the panel.

    Returns whether it had to be lengthened.
    """
    left, width = ax.bbox.x0, ax.bbox.width
    shares = [
        (width - text.get_window_extent().width - 4 * DISTANCE) / (pixels[-1, 0] - left)
        for line, text in zip(lines, texts, strict=True)
        if len(pixels := _pixels(ax, line)) and pixels[-1, 0] > left
    ]
    share = max(min(shares, default=1.0), 1 - MOST_ROOM)
    if share < 1:
        before = ax.get_xlim()
        scale = ax.xaxis.get_transform()
        low, high = scale.transform(before)
        ax.set_xlim(right=float(scale.inverted().transform(low + (high - low) / share)))
        _keep_ticks(ax, before)
    return share < 1


def _keep_ticks(ax: Any, limits: tuple[float, float]) -> None:
    """Keep the ticks of the x axis within the original limits, so that none is below the names."""
    low, high = sorted(limits)
    for minor in (False, True):
        ticks = ax.get_xticks(minor=minor)
        ax.set_xticks(ticks[(ticks >= low) & (ticks <= high)], minor=minor)


def _pixels(ax: Any, line: Any) -> Floats:
    """Return the points of a line inside its panel, (points, 2), STEP pixels apart."""
    ends = line.get_transform().transform(np.asarray(line.get_xydata(), dtype=float))
    ends = ends[np.isfinite(ends).all(axis=1)]
    if len(ends) > 1:
        lengths = np.hypot(*np.diff(ends, axis=0).T)
        walked = np.concatenate([[0.0], np.cumsum(lengths)])
        places = np.linspace(0.0, walked[-1], 2 + int(min(walked[-1], 1e5) / STEP))
        ends = np.column_stack([np.interp(places, walked, column) for column in ends.T])
    low, high = ax.bbox.min - 1, ax.bbox.max + 1
    return np.asarray(ends[((ends >= low) & (ends <= high)).all(axis=1)])


def _place_all(ax: Any, lines: Sequence[Any], texts: Sequence[Any]) -> bool:
    """Place the names of a panel, the highest end first; return whether all can be read."""
    curves = [_pixels(ax, line) for line in lines]
    seen = [number for number, curve in enumerate(curves) if len(curve)]
    others = np.concatenate([_pixels(ax, line) for line in ax.lines] or [np.empty((0, 2))])
    taken = np.empty((0, 4))
    readable = True
    for number in sorted(seen, key=lambda i: -curves[i][-1, 1]):
        extent = texts[number].get_window_extent()
        places = _places(curves[number], extent.width, extent.height)
        costs = _costs(places, ax.bbox, taken, others)
        best = int(np.argmin(costs))
        taken = np.vstack([taken, places.boxes[best]])
        readable &= bool(costs[best] < UNREADABLE)
        _put(ax, texts[number], lines[number].get_color(), places, best)
    return readable


def _places(curve: Floats, width: float, height: float) -> Places:
    """Return the places of a name: around points of its curve, or off its end with a line."""
    along = curve[(ALONG * (len(curve) - 1)).round().astype(int)]
    away = DISTANCE * (1 - 2 * SIDES) * [[1, up != 0.5] for _, up in SIDES]
    corners = away - SIDES * (width, height)
    beside = (along[:, None] + corners).reshape(-1, 2)
    led = curve[-1] + [(3 * DISTANCE, (shift - 0.5) * height) for shift in SHIFTS]
    low = np.vstack([beside, led])
    points = np.vstack([np.repeat(along, len(SIDES), axis=0), np.tile(curve[-1], (len(led), 1))])
    penalties = 12 * (1 - ALONG)[:, None] + 0.4 * np.arange(len(SIDES))
    return Places(
        np.hstack([low, low + np.array([width, height])]),
        points,
        np.concatenate([penalties.ravel(), 0.6 + np.abs(SHIFTS)]),
        np.arange(len(low)) >= len(beside),
    )


def _costs(places: Places, panel: Any, taken: Floats, curves: Floats) -> Floats:
    """Return the cost of each place; at a cost of UNREADABLE or more the name cannot be read."""
    left, bottom, right, top = places.boxes.T[:, :, None]
    x, y = curves.T
    inside = ((x > left) & (x < right) & (y > bottom) & (y < top)).sum(axis=1)
    crossed = inside * STEP / (right - left)[:, 0]
    wide = np.minimum(right, taken[:, 2]) - np.maximum(left, taken[:, 0])
    high = np.minimum(top, taken[:, 3]) - np.maximum(bottom, taken[:, 1])
    overlaps = (wide.clip(min=0) * high.clip(min=0)).sum(axis=1)
    low, most = panel.min, panel.max + 2
    outside = ((places.boxes[:, :2] < low) | (places.boxes[:, 2:] > most)).any(axis=1)
    unreadable = UNREADABLE * ((crossed > CROSSED) + (overlaps > 0) + 100.0 * outside)
    return np.asarray(places.penalties + CROSSING * crossed + overlaps + unreadable)


def _put(ax: Any, text: Any, color: Any, places: Places, number: int) -> None:
    """Move a name to a place, as an offset from the point of its curve that it names."""
    to_points = 72 / ax.figure.dpi
    point, box = places.points[number], places.boxes[number]
    named = tuple(ax.transData.inverted().transform(point))
    corner = (box[:2] - point) * to_points
    text.xy, text.xycoords = named, "data"
    text.set_anncoords("offset points")
    text.set_position(tuple(corner))
    text.set_verticalalignment("bottom")
    if places.led[number]:
        middle = (box[3] - box[1]) / 2 * to_points
        ax.annotate(
            "",
            named,
            xytext=(corner[0] - 1, corner[1] + middle),
            textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.6},
            annotation_clip=False,
        ).set_in_layout(False)
