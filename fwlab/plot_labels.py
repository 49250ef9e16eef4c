"""Write the names of curves beside them, in place of a legend.

Each name stands where it hides least: at the end of its curve if there is room, else along the
curve or above or below its end, with a thin line that leads to it. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fwlab.arrays import Floats

# pixels between the points at which a curve is tested, and from a curve to its name
STEP, DISTANCE = 3.0, 5.0
# of a name's box, what other curves may cross in a name that counts as readable
CROSSED = 0.3
# the largest part of a panel that is kept free on its right
MOST_ROOM = 0.4
# the least contrast of letters with white (WCAG 2, level AA)
CONTRAST = 4.5
# places of a name: which point of its box is near the curve, from 0 (left, bottom) to 1
SIDES = ((0, 0.5), (0, 0), (0, 1), (0.5, 0), (0.5, 1), (1, 0), (1, 1), (1, 0.5))
# heights of the box by which a name at an end may move up or down
SHIFTS = (0.6, -0.6, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 2.6, -2.6, 3.2, -3.2, 4.0, -4.0)
# parts of a curve, from its end, at which a name may stand
ALONG = np.linspace(1.0, 0.05, 25)


class Place(NamedTuple):
    """Where a name may stand: pixels of its box (x0, y0, x1, y1), of its anchor, and a penalty."""

    box: tuple[float, float, float, float]
    anchor: tuple[float, float]
    penalty: float
    leader: bool


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
    figure.draw_without_rendering()
    named = {ax: [line for line in ax.lines if _is_named(line)] for ax in axes}
    texts = {ax: [_text(ax, line, fontsize) for line in lines] for ax, lines in named.items()}
    for ax, lines in named.items():
        _make_room(ax, lines, texts[ax])
    figure.draw_without_rendering()
    return all([_place_all(ax, lines, texts[ax]) for ax, lines in named.items()])


def ink(color: Any) -> tuple[float, float, float]:
    """Return the colour, darkened until letters in it can be read on white."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(color))
    while 1.05 / (luminance(rgb) + 0.05) < CONTRAST:
        rgb *= 0.96
    return tuple(rgb.tolist())


def luminance(rgb: Floats) -> float:
    """Return the relative luminance of an sRGB colour, 0 for black and 1 for white."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


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


def _make_room(ax: Any, lines: Sequence[Any], texts: Sequence[Any]) -> None:
    """Lengthen the x axis until names to the right of the curves' ends fit into the panel."""
    left, width = ax.bbox.x0, ax.bbox.width
    shares = [
        (width - text.get_window_extent().width - 2 * DISTANCE) / (pixels[-1, 0] - left)
        for line, text in zip(lines, texts, strict=True)
        if len(pixels := _pixels(ax, line)) and pixels[-1, 0] > left
    ]
    share = max(min(shares, default=1.0), 1 - MOST_ROOM)
    if share < 1:
        scale = ax.xaxis.get_transform()
        low, high = scale.transform(ax.get_xlim())
        ax.set_xlim(right=float(scale.inverted().transform(low + (high - low) / share)))


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
    taken: list[tuple[float, float, float, float]] = []
    readable = True
    for number in sorted(seen, key=lambda i: -curves[i][-1, 1]):
        extent = texts[number].get_window_extent()
        places = list(_places(curves[number], extent.width, extent.height))
        costs = [_cost(place, ax.bbox, taken, others) for place in places]
        best = places[int(np.argmin(costs))]
        taken.append(best.box)
        readable &= min(costs) < 1000
        _put(ax, texts[number], best, lines[number].get_color())
    return readable


def _places(curve: Floats, width: float, height: float) -> Iterable[Place]:
    """Yield the places that a name may take, with what each costs in itself."""
    for part in ALONG:
        x, y = curve[round(part * (len(curve) - 1))]
        for rank, (across, up) in enumerate(SIDES):
            x0 = x + DISTANCE * (1 - 2 * across) - across * width
            y0 = y + DISTANCE * (1 - 2 * up) * (up != 0.5) - up * height
            box = (x0, y0, x0 + width, y0 + height)
            yield Place(box, (x, y), 0.4 * rank + 12 * (1 - part), False)
    x, y = curve[-1]
    for shift in SHIFTS:
        x0, y0 = x + 3 * DISTANCE, y + shift * height - height / 2
        yield Place((x0, y0, x0 + width, y0 + height), (x, y), 0.6 + abs(shift), True)


def _cost(place: Place, panel: Any, taken: Sequence[Any], curves: Floats) -> float:
    """Return how bad a place is; from 1000 on the name cannot be read."""
    x0, y0, x1, y1 = place.box
    if x0 < panel.x0 or x1 > panel.x1 + 2 or y0 < panel.y0 or y1 > panel.y1 + 2:
        return 1e6
    overlaps = sum(
        max(0.0, min(x1, right) - max(x0, left)) * max(0.0, min(y1, top) - max(y0, bottom))
        for left, bottom, right, top in taken
    )
    x, y = curves.T
    inside = int(((x > x0) & (x < x1) & (y > y0) & (y < y1)).sum())
    crossed = inside * STEP / (x1 - x0)
    return (
        place.penalty + 12 * crossed + 1000 * (crossed > CROSSED) + 1000 * (overlaps > 0) + overlaps
    )


def _put(ax: Any, text: Any, place: Place, color: Any) -> None:
    """Move a name to its place, as an offset from the point of its curve that it names."""
    to_points = 72 / ax.figure.dpi
    anchor = ax.transData.inverted().transform(place.anchor)
    corner = np.subtract(place.box[:2], place.anchor) * to_points
    text.xy, text.xycoords = tuple(anchor), "data"
    text.set_anncoords("offset points")
    text.set_position(tuple(corner))
    text.set_verticalalignment("bottom")
    if place.leader:
        middle = (place.box[3] - place.box[1]) / 2 * to_points
        ax.annotate(
            "",
            tuple(anchor),
            xytext=(corner[0] - 1, corner[1] + middle),
            textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.6},
            annotation_clip=False,
        ).set_in_layout(False)
