"""The look of each method: colours, markers and dashes apart, for the colour-blind too."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import fwlab
from figures.kit.plot_labels import luminance
from fwlab.plot import OTHER, STYLES
from tests.colour import ciede2000, distance

# the smallest distances of any two methods, of two that are compared in one panel, of two with the
# same dashes, and of variants of one method, which most figures show side by side
ANY, COMPARED, SAME_DASHES, VARIANTS = 7.0, 10.0, 18.0, 22.0
PANELS = (
    ("fw", "fw-open-loop", "afw", "pfw", "blended-pairwise", "fcfw", "subgradient"),
    ("bafw", "bpfw", "bcfw", "bcafw", "bcpfw", "bbpfw", "dicg"),
    ("ascent", "newton", "auto", "direct", "alternate", "fw", "bcpfw"),
    ("sdca-lapin", "sdca-chu-newton", "sdca-chu-fixing", "fw", "ascent", "auto"),
    ("fw", "afw", "pfw", "bafw", "bpfw", "auto"),
    ("fw", "afw", "pfw", "bcfw", "bcafw", "bcpfw", "ascent", "newton", "auto", "sdca-lapin"),
    ("fw-open-loop", "pfw", "sdca-chu-newton"),
)


# from the test data of Sharma, Wu and Dalal (2005)
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
        ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0009), 7.1792),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_distance_of_colours(first: tuple, second: tuple, expected: float) -> None:
    assert ciede2000(np.array(first), np.array(second)) == pytest.approx(expected, abs=5e-5)


def test_every_method_has_its_own_look() -> None:
    assert len(set(fwlab.methods()) - set(STYLES)) <= 1  # that one alone looks like OTHER
    assert OTHER not in STYLES.values()
    assert len({color for color, _, _ in STYLES.values()}) == len(STYLES)
    assert len({marker for _, marker, _ in STYLES.values()}) == len(STYLES)


def test_colours_are_apart_for_the_colour_blind() -> None:
    compared = {frozenset(pair) for panel in PANELS for pair in combinations(panel, 2)}
    for first, second in combinations(STYLES, 2):
        least = COMPARED if frozenset((first, second)) in compared else ANY
        (one, _, dashes), (two, _, other_dashes) = STYLES[first], STYLES[second]
        least = max(least, SAME_DASHES) if dashes == other_dashes else least
        least = VARIANTS if {first, second} == {"afw", "pfw"} else least
        assert distance(one, two) >= least, (first, second)


def test_colours_stand_out_from_white() -> None:
    for method, (color, _, _) in STYLES.items():
        contrast = 1.05 / (luminance(np.array(to_rgb(color))) + 0.05)
        assert contrast >= 3, method  # WCAG 2, for graphics
