"""Measured exponents: how a time grows with one size, the others fixed."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import linregress, t

CONFIDENCE = 0.95


def exponent(sizes: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """Slope of the least squares line through the logarithms, and half the width of its 95%
    confidence interval (Student's t with len(sizes) - 2 degrees of freedom; inf for two sizes)."""
    fit = linregress(np.log(sizes), np.log(times))
    freedom = len(sizes) - 2
    if freedom < 1:
        return float(fit.slope), float("inf")
    return float(fit.slope), float(t.ppf((1 + CONFIDENCE) / 2, freedom) * fit.stderr)
