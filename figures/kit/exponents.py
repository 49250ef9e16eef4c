"""Measured exponents: how a time grows with one size while the others are fixed; tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from scipy.stats import linregress, t

from figures.kit.tables import Compared, Entry, Table

CONFIDENCE = 0.95
# a stated exponent agrees if it is within this of the measured one, or in its interval
NEAR = 0.25


def exponent(sizes: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the least squares line through the logarithms, and its uncertainty.

    The second number is half the width of the slope's 95% confidence interval (Student's t with
    len(sizes) - 2 degrees of freedom; inf for two sizes).
    """
    fit = linregress(np.log(sizes), np.log(times))
    freedom = len(sizes) - 2
    if freedom < 1:
        return float(fit.slope), float("inf")
    return float(fit.slope), float(t.ppf((1 + CONFIDENCE) / 2, freedom) * fit.stderr)


@dataclass(frozen=True)
class FittedLine:
    """Times as a constant plus a multiple of the size, beside a power of the size.

    constant, per_size : float
        The line through the times, in their unit; both are nonnegative.
    left, left_by_power : float
        The residuals of the line and the power: root mean squares of fit/time - 1.
    """

    constant: float
    per_size: float
    left: float
    left_by_power: float


def line(sizes: Sequence[float], times: Sequence[float]) -> FittedLine:
    """Return the line with the least sum of squares of fit/time - 1, and its residual.

    The squares are relative because errors of times grow with the times. The power is the one that
    `exponent` fits.
    """
    n, seconds = np.asarray(sizes, float), np.asarray(times, float)
    (constant, per_size), norm = nnls(
        np.column_stack([1 / seconds, n / seconds]), np.ones(len(seconds))
    )
    fit = linregress(np.log(n), np.log(seconds))
    power = np.exp(fit.intercept + fit.slope * np.log(n))
    left = np.sqrt(np.mean((power / seconds - 1) ** 2))
    return FittedLine(float(constant), float(per_size), float(norm / np.sqrt(len(n))), float(left))


@dataclass(frozen=True)
class Growth:
    """Times of one part of an algorithm as each of some sizes grows, and the stated exponents.

    labels: the first entries of its row; stated and times have an entry per size that grows.
    """

    labels: tuple[str, ...]
    stated: Sequence[float]
    times: Sequence[Sequence[float]]


def bound_distances(
    axes: Sequence[str], factors: Sequence[float], growths: Sequence[Growth]
) -> dict[str, float]:
    """Return how far each measured exponent, less its interval, lies above the stated bound.

    An exponent below a bound O(n) does not violate it.
    """
    found = {}
    for growth in growths:
        for axis, stated, times in zip(axes, growth.stated, growth.times, strict=True):
            slope, half = exponent(factors, times)
            found[f"{', '.join(growth.labels)}: {axis}"] = max(0.0, slope - half - stated)
    return found


def exponent_table(
    header: Sequence[str], axes: Sequence[str], factors: Sequence[float], growths: Sequence[Growth]
) -> tuple[Table, str]:
    """Return a row per growth, and a sentence on the agreement with the stated exponents.

    Parameters
    ----------
    header
        Names of the columns of labels.
    axes
        Names of the sizes that grow.
    factors
        Values of each size, relative to its fixed one.
    growths
        Times in the order of `axes` and, for each, of `factors`.
    """
    rows: list[list[Entry]] = []
    compared = []
    for growth in growths:
        rows.append([*growth.labels])
        for stated, times in zip(growth.stated, growth.times, strict=True):
            slope, half = exponent(factors, times)
            rows[-1] += [Compared(slope, stated, ".2f"), f"{half:.2f}"]
            compared.append((slope - stated, max(NEAR, half)))
    near = sum(abs(difference) <= allowed for difference, allowed in compared)
    above = sum(difference > allowed for difference, allowed in compared)
    names = [
        name for axis in axes for name in (f"exponent of {axis}", f"{axis}: \N{PLUS-MINUS SIGN}")
    ]
    return Table([*header, *names], rows), (
        f"{near} of {len(compared)} stated exponents lie within {NEAR} of the measured one or "
        f"in its interval; of the others {above} are measured above, "
        f"{len(compared) - near - above} below, which violates no bound."
    )
