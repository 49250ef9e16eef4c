"""The fits on Fashion-MNIST that M20's Figures 1 and 2 draw; on digits in the quick size."""

from typing import Any

from figures.macha2020 import fits
from fwlab.experiments import Cell

SIGMA = 0.01
KERNELS = {"linear": "linear kernel", "rbf": f"Gaussian kernel, sigma = {SIGMA}"}
SECONDS = {"quick": 5, "standard": 190, "full": 20 * 3600}


def data_name(size: str) -> str:
    """Return the name of the data set."""
    return fits.DIGITS if size == "quick" else fits.FASHION


def rows(size: str) -> str:
    """Return the description of the data in a finding."""
    count = fits.FASHION_ROWS.get(size)
    return data_name(size) if count is None else f"{count} rows of {data_name(size)}"


def cells(size: str) -> list[Cell]:
    """Return the cells of all fits; the Gaussian kernel has only the width SIGMA."""
    return fits.cells(data_name(size), size, (SIGMA,))


def chosen(
    values: dict[str, Any], size: str, preprocessing: str, machine: str, kernel: str
) -> dict[str, Any]:
    """Return the fit whose C the validation part prefers."""
    return fits.chosen(values, data_name(size), preprocessing, machine, kernel, size, (SIGMA,))


def settings(values: dict[str, Any], size: str) -> str:
    """Return the description of the fits in a caption."""
    return f"sigma = {SIGMA}; {fits.shown_settings(values, size)}"
