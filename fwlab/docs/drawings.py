"""Small drawings as SVG: curves, bars, shapes and rows of a table, read at the size of a card.

Their colours are classes of the site's style, so that they follow the theme.
"""

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

WIDTH, HEIGHT = 240, 132
# of the frame; a line of letters, and the width of a letter
TOP, BOTTOM, LEFT, LINE, LETTER = 20, HEIGHT - 18, 6, 15, 8.2
COLOURS = 3
Points = Sequence[tuple[float, float]]


def curves(named: Mapping[str, Points], x: str, y: str, logarithmic: str = "xy") -> str:
    """Return curves with their names at their ends.

    Parameters
    ----------
    named : dict of str to sequence of (x, y)
        The curves. Points that a logarithm does not take are left out.
    x, y : str
        What the axes are.
    logarithmic : str
        The axes that are logarithmic: "xy", "x", "y" or "".
    """
    scaled = {name: _scaled(points, logarithmic) for name, points in named.items()}
    room = LETTER * max(map(len, named)) + 8
    placed = _placed(scaled, (LEFT + 2, WIDTH - room), (BOTTOM - 4, TOP + 4))
    ends = _apart([points[-1][1] for points in placed.values()])
    last = max(points[-1][0] for points in placed.values())
    parts = [_frame(WIDTH - room + 2, x, y)]
    for i, (name, points) in enumerate(placed.items()):
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline class="c{i % COLOURS}" points="{path}"/>')
        # a name beside the end of its curve, or beside all curves if others end near it
        side = points[-1][0] if points[-1][0] < 0.8 * last else last
        parts.append(_text(side + 6, ends[i] + 4, name, f"c{i % COLOURS}"))
    return _svg(parts)


def bars(lengths: Mapping[str, float], unit: str = "") -> str:
    """Return a bar per name, with its length written behind it."""
    step = min((HEIGHT - 8) / len(lengths), 34)
    start = LETTER * max(map(len, lengths)) + 10
    texts = [f"{length:g}{unit}" for length in lengths.values()]
    scale = (WIDTH - start - LETTER * max(map(len, texts)) - 6) / max(lengths.values())
    parts = []
    for i, (name, length) in enumerate(lengths.items()):
        y = 4 + i * step
        parts.append(_text(start - 6, y + step / 2 + 4, name, "end"))
        size = f'y="{y + 3:.1f}" width="{scale * length:.1f}" height="{step - 6:.1f}"'
        parts.append(f'<rect class="c0" x="{start:.1f}" {size}/>')
        parts.append(_text(start + scale * length + 5, y + step / 2 + 4, texts[i]))
    return _svg(parts)


def shapes(named: Mapping[str, Points]) -> str:
    """Return closed shapes in the plane, with their names on the right."""
    side = BOTTOM - TOP
    placed = _placed(named, (LEFT + 8, LEFT + 8 + side), (BOTTOM, TOP - 6))
    parts = []
    for i, (name, points) in enumerate(placed.items()):
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polygon class="c{i % COLOURS}" points="{path}"/>')
        parts.append(_text(LEFT + side + 26, TOP + 14 + 2 * LINE * i, name, f"c{i % COLOURS}"))
    return _svg(parts)


def rows(lines: Sequence[Sequence[str]]) -> str:
    """Return rows of a table, the last cell of each in a colour."""
    width = (WIDTH - 2 * LEFT) / (len(lines[0]) + 1)
    parts = []
    for i, line in enumerate(lines):
        y = 24 + i * 1.5 * LINE
        parts += [_text(LEFT + j * width, y, cell) for j, cell in enumerate(line[:-1])]
        parts.append(_text(LEFT + (len(line) - 1) * width, y, line[-1], f"c{i % COLOURS}"))
    return _svg(parts)


def _scaled(points: Points, logarithmic: str) -> Points:
    """Return the points with logarithms in place of the coordinates that have them."""
    for place, axis in enumerate("xy"):
        if axis in logarithmic:
            points = [
                (log10(p[0]), p[1]) if place == 0 else (p[0], log10(p[1]))
                for p in points
                if p[place] > 0
            ]
    return points


def _placed(
    named: Mapping[str, Points], x: tuple[float, float], y: tuple[float, float]
) -> dict[str, Points]:
    """Return the points moved into a frame with these sides."""
    every = [point for points in named.values() for point in points]
    low, high = ([f(p[i] for p in every) for i in (0, 1)] for f in (min, max))

    def moved(value: float, i: int, side: tuple[float, float]) -> float:
        return side[0] + (value - low[i]) / ((high[i] - low[i]) or 1) * (side[1] - side[0])

    return {
        name: [(moved(a, 0, x), moved(b, 1, y)) for a, b in points]
        for name, points in named.items()
    }


def _apart(heights: Sequence[float]) -> list[float]:
    """Return heights near the given ones that are a line of letters apart."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    found, lowest = list(heights), TOP + 2.0
    for i in order:
        found[i] = lowest = max(found[i], lowest)
        lowest += LINE
    over = max(0.0, found[order[-1]] - BOTTOM + 9)
    return [height - over for height in found]


def _frame(right: float, x: str, y: str) -> str:
    """Return two axes with their names."""
    path = f'<path class="axis" d="M{LEFT} {TOP - 6}V{BOTTOM}H{right:.1f}"/>'
    return path + _text(LEFT, 11, y, "dim") + _text(right, HEIGHT - 4, x, "dim end")


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _svg(parts: Sequence[str]) -> str:
    """Return a drawing, which the words beside it describe."""
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg class="drawing" {size} aria-hidden="true">{"".join(parts)}</svg>'
