"""Pictures in the dark theme: the filter of site.css keeps their colours apart.

The filter is computed here as browsers do (W3C, Filter Effects 1), colour blindness as in Machado,
Oliveira and Fernandes (2009).
"""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from figures.kit.plot_labels import luminance
from figures.kit.style import SERIES
from figures.own.certified_gaps import SHOWN
from fwlab.plot import STYLES

STYLE = Path(__file__).parents[2] / "fwlab" / "docs" / "static" / "site.css"
FILTER = re.compile(r"--turned: invert\((\S+)\) hue-rotate\(180deg\) saturate\((\S+)\);")
GREY = np.array([[0.213, 0.715, 0.072]] * 3)
BLIND = {
    "none": np.eye(3),
    "deuteranopia": np.array(
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    ),
    "protanopia": np.array(
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    ),
    "tritanopia": np.array(
        [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])
PALETTES = {
    "series": [colour for colour, *_ in SERIES],
    "methods": [STYLES[method][0] for method in SHOWN],
}
# CIELAB units between the nearest two colours, and contrast with the ground (WCAG 2, graphics)
APART, CONTRAST = 12.0, 3.0


def turned(rgb):
    """Return a colour as the dark theme shows it."""
    invert, saturate = (
        float(number) for number in FILTER.search(STYLE.read_text("utf-8")).groups()
    )
    rgb = rgb * (1 - 2 * invert) + invert
    rgb = np.clip((2 * GREY - np.eye(3)) @ rgb, 0, 1)
    return np.clip((GREY + saturate * (np.eye(3) - GREY)) @ rgb, 0, 1)


def distance(one, other, blind: str) -> float:
    """Return the CIELAB distance of two colours to an eye."""

    def lab(rgb):
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        xyz = TO_XYZ @ np.clip(BLIND[blind] @ linear, 0, 1) / WHITE
        f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    return float(np.linalg.norm(lab(one) - lab(other)))


def colours(palette: str):
    return [
        np.array([int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]) for code in PALETTES[palette]
    ]


@pytest.mark.parametrize("blind", BLIND)
@pytest.mark.parametrize("palette", PALETTES)
def test_colours_stay_apart(palette, blind):
    found = [turned(rgb) for rgb in colours(palette)]
    assert min(distance(one, other, blind) for one, other in combinations(found, 2)) >= APART


@pytest.mark.parametrize("palette", PALETTES)
def test_curves_stand_out_from_the_ground(palette):
    ground = luminance(turned(np.ones(3))) + 0.05
    assert ground < 0.06
    assert min((luminance(turned(rgb)) + 0.05) / ground for rgb in colours(palette)) >= CONTRAST


def test_hues_stay():
    blue, orange = turned(colours("series")[0]), turned(colours("series")[1])
    assert np.argmax(blue) == 2 and np.argmax(orange) == 0


def test_both_ways_into_the_dark_have_the_filter():
    assert len(FILTER.findall(STYLE.read_text("utf-8"))) == 2
