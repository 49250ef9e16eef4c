"""Names of curves: readable where there is room, and the caller is told where there is none."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from figures.kit.plot_labels import ink, label_curves, luminance

X = np.arange(1, 101)


def panel(height: float = 3.0) -> Any:
    ax = Figure(figsize=(5.0, height), layout="constrained").add_subplot()
    ax.set(xscale="log", yscale="log")
    return ax


def boxes(ax: Any) -> list[Any]:
    """The boxes of the names."""
    return [text.get_window_extent() for text in ax.texts if text.get_text()]


@settings(max_examples=10)
@given(st.lists(st.floats(0.1, 3.0), min_size=1, max_size=7))
def test_names_stand_apart_inside_the_panel(powers: list[float]) -> None:
    ax = panel()
    for number, power in enumerate(powers):
        ax.plot(X, X**-power, label=f"method {number}")
    assert label_curves([ax])
    found = boxes(ax)
    assert len(found) == len(powers)
    for box in found:
        assert box.x0 >= ax.bbox.x0 - 1 and box.x1 <= ax.bbox.x1 + 3
        assert box.y0 >= ax.bbox.y0 - 1 and box.y1 <= ax.bbox.y1 + 3
    for one, two in combinations(found, 2):
        wide = min(one.x1, two.x1) - max(one.x0, two.x0)
        high = min(one.y1, two.y1) - max(one.y0, two.y0)
        assert min(wide, high) < 0.5


def test_a_name_stands_at_the_end_of_its_curve() -> None:
    ax = panel()
    ax.plot(X, 1 / X, label="fast")
    ax.plot(X, X**-0.2, label="slow")
    assert label_curves([ax])
    for box, line in zip(boxes(ax), ax.lines, strict=True):
        x, y = ax.transData.transform(line.get_xydata()[-1])
        assert 0 < box.x0 - x < 10 and abs((box.y0 + box.y1) / 2 - y) < 10


def test_too_many_names_for_a_panel_are_told() -> None:
    ax = panel(height=1.2)
    for number in range(30):
        ax.plot(X, 1 / X, label=f"method {number}")
    assert not label_curves([ax])


def test_the_axis_gets_room_but_no_new_ticks() -> None:
    ax = panel()
    ax.plot(X, 1 / X, label="a long name of a method")
    before = ax.get_xlim()[1]
    label_curves([ax])
    assert ax.get_xlim()[1] > before
    assert max(*ax.get_xticks(), *ax.get_xticks(minor=True)) <= before


def test_lines_without_a_name_have_none() -> None:
    ax = panel()
    ax.plot(X, 1 / X)
    assert label_curves([ax])
    assert boxes(ax) == []


@pytest.mark.parametrize("color", ["#e69f00", "#ffffff", "#000000", "#1294fe"])
def test_letters_can_be_read_on_white(color: str) -> None:
    assert 1.05 / (luminance(np.array(ink(color))) + 0.05) >= 4.5
