"""Data sets, readings of the rows, loss and methods of the figures and tables of T20.

T20 names no scaling of the rows: "pixel intensities" and "word counts" are taken as they are, or
each row is scaled to length 1.
"""

from collections.abc import Mapping
from dataclasses import replace

import fwlab
from figures.kit.pixels import BlackAndWhite
from figures.kit.readings import Reading
from fwlab.experiments import DataName

METHODS = {"PG": "subgradient", "StdFW": "fw-open-loop", "LSFW": "fw"}
# (2.8) with rho_j = max(0, 6 - j) / 15
LOSS = fwlab.WeightedUsunier(fwlab.weights.linear(5))
HERE = {
    "Caltech101": DataName("caltech101_sil16_derived", "unit", join_valid=True),
    "News20": DataName("news20_svd1024", "unit"),
}
UNIT = Reading("rows of length 1", {"normalize": "unit"})
RAW = Reading(
    "rows as they are, pixels in [0, 1]", {"normalize": None}, "T20 section 3.1, the features"
)
READINGS = (RAW, UNIT)
# the published pixels are black and white, those of HERE are grey
CALTECH, BLACK_AND_WHITE = "Caltech101", "Caltech101 in black and white"
# the stored pixels are 0..255: features s x with lam are the machine of x with lam / s^2
PIXEL = dict.fromkeys((CALTECH, BLACK_AND_WHITE), 1 / 255)
UNAVAILABLE = ("CUB200", "Flower102", "Indoor67")
DIGITS = {"digits": DataName("digits", "unit", rows=200)}
LACKING = f"The VGG16 features of {', '.join(UNAVAILABLE)} are unavailable here."
DERIVED = (
    "Caltech101 is a 16 x 16 reduction of the Silhouettes with 6364 rows, where the paper has 6339."
)

REMADE = (
    "News20 is made anew from the raw messages, with SVD features of unit rows, where the paper "
    "names no scaling."
)


def data(size: str) -> dict[str, DataName]:
    """Return the paper's sets that can be loaded; a few digits in the quick size."""
    return DIGITS if size == "quick" else HERE


def black_and_white(size: str) -> dict[str, BlackAndWhite]:
    """Return Caltech101 with thresholded pixels as the text has its rows; none in the quick size.

    It is no reading: it shows whether grey pixels are why a result differs.
    """
    if size == "quick":
        return {}
    return {BLACK_AND_WHITE: BlackAndWhite(under(RAW, HERE)[CALTECH])}


def under(reading: Reading, sets: Mapping[str, DataName]) -> dict[str, DataName]:
    """Return the data sets with their rows scaled as the reading has them."""
    normalize = reading.settings["normalize"]
    return {name: replace(source, normalize=normalize) for name, source in sets.items()}


def weight(reading: Reading, name: str, C: float = 1.0) -> float:
    """Return the C of the stored features that stands for C of the features as read."""
    return C if reading == UNIT else C * PIXEL.get(name, 1.0) ** 2
