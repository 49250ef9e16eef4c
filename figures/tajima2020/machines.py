"""What the figures and tables of T20 share: data sets, loss and methods.

Unit rows: T20 states no preprocessing.
"""

import fwlab
from fwlab.experiments import DataName

METHODS = {"PG": "subgradient", "StdFW": "fw-open-loop", "LSFW": "fw"}
# (2.8) with rho_j = max(0, 6 - j) / 15
LOSS = fwlab.WeightedUsunier(fwlab.weights.linear(5))
HERE = {
    "Caltech101": DataName("caltech101_sil16_derived", "unit", join_valid=True),
    "News20": DataName("news20_svd1024", "unit"),
}
NOT_TO_BE_HAD = ("CUB200", "Flower102", "Indoor67")
DIGITS = {"digits": DataName("digits", "unit", rows=200)}
LACKING = f"The VGG16 features of {', '.join(NOT_TO_BE_HAD)} are not to be had here."
DERIVED = (
    "Caltech101 is a 16 x 16 reduction of the Silhouettes with 6364 rows, where the paper has 6339."
)

REMADE = (
    "News20 is made anew from the raw messages, with SVD features of unit rows, where the paper "
    "names no scaling."
)


def data(size: str) -> dict[str, DataName]:
    """The paper's sets that are at hand; a few digits in the quick size."""
    return DIGITS if size == "quick" else HERE
