"""Cards of the examples: each example has one, and what is drawn fits the card and can be read."""

import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise

import pytest

from fwlab.docs import cards, drawings
from fwlab.docs.records import read_records

# pixels of the widest and of the highest letters at the size of the drawings' letters
WIDE, HIGH = 7.0, 11.0


@pytest.fixture(scope="module")
def records():
    return read_records()


def letters(svg: ElementTree.Element) -> list[tuple[float, float, float, float, str]]:
    """Return left, top, right, bottom and text of each text of a drawing."""
    found = []
    for text in svg.iter("text"):
        words = text.text or ""
        x, y, width = float(text.attrib["x"]), float(text.attrib["y"]), WIDE * len(words)
        left = x - width if "end" in text.attrib["class"] else x
        found.append((left, y - HIGH, left + width, y, words))
    return found


def points(svg: ElementTree.Element) -> list[tuple[float, float]]:
    """Return the points of all curves and shapes of a drawing."""
    lines = [one.attrib["points"] for one in svg.iter() if "points" in one.attrib]
    return [tuple(map(float, point.split(","))) for line in lines for point in line.split()]


def test_every_example_has_a_card_and_no_card_lacks_its_example():
    assert list(cards.WORDS) == cards.names()
    assert {*cards.FRONT} <= {*cards.WORDS}


@pytest.mark.parametrize("name", cards.names())
def test_a_drawing_fits_its_card(name, records):
    svg = ElementTree.fromstring(cards.drawing(name, records))
    shown = letters(svg)
    assert shown
    for left, top, right, bottom, text in shown:
        assert left >= 0 and top >= 0 and right <= drawings.WIDTH + 4, text
        assert bottom <= drawings.HEIGHT, text
    for one, two in combinations(shown, 2):
        wide = min(one[2], two[2]) - max(one[0], two[0])
        high = min(one[3], two[3]) - max(one[1], two[1])
        assert min(wide, high) <= 1, (one[4], two[4])
    for x, y in points(svg):
        assert 0 <= x <= drawings.WIDTH and 0 <= y <= drawings.HEIGHT


@pytest.mark.parametrize("name", cards.names())
def test_a_card_has_the_title_of_its_example_and_a_line(name, records):
    card = cards.cards([name], records, "gallery/")
    assert f'href="gallery/{name}.html"' in card
    assert f"<strong>{cards.title(name)}</strong>" in card
    assert 20 <= len(cards.WORDS[name]) <= 72


def test_an_example_without_a_title_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(cards, "EXAMPLES", tmp_path)
    (tmp_path / "plot_99.py").write_text("print()\n")
    with pytest.raises(ValueError, match=r"plot_99.py does not begin with a title"):
        cards.title("plot_99")


def test_a_logarithmic_axis_leaves_out_what_is_not_positive():
    svg = ElementTree.fromstring(drawings.curves({"a": [(0, 1), (1, 1), (10, 0), (10, 2)]}, "", ""))
    assert len(points(svg)) == 2


def test_a_curve_of_powers_is_straight_on_logarithmic_axes():
    powers = [(float(10**i), float(10 ** (-2 * i))) for i in range(4)]
    svg = ElementTree.fromstring(drawings.curves({"a": powers}, "", ""))
    found = points(svg)
    assert [x for x, _ in found] == sorted(x for x, _ in found)
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(found)]
    for x, y in steps:  # coordinates have one decimal
        assert abs(x - steps[0][0]) <= 0.2 and abs(y - steps[0][1]) <= 0.2
        assert y > 0  # a smaller value stands lower


def test_bars_are_as_long_as_their_numbers():
    svg = ElementTree.fromstring(drawings.bars({"a": 10.0, "b": 5.0}, " s"))
    first, second = (float(one.attrib["width"]) for one in svg.iter("rect"))
    assert abs(first - 2 * second) <= 0.2
    assert [text for *_, text in letters(svg)] == ["a", "10 s", "b", "5 s"]
