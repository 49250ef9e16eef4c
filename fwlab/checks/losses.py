"""Check what a loss of the family says of its polytope. Each error is one sentence."""

from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import SMALLEST, as_floats


def checked_weights(loss: str, weights: Any, m: int) -> tuple[Floats, Floats]:
    """Return the weight vectors (upper, lower) of a polytope for m classes, each (m - 1,).

    Raises TypeError or ValueError unless upper >= lower >= 0, both non-increasing and upper not 0.
    """
    source = f"polytope_weights of {loss}"
    try:
        pair = tuple(weights)
    except TypeError:
        pair = ()
    if len(pair) != 2:
        raise TypeError(f"{source} must return the pair (upper, lower); got {weights!r}.")
    upper, lower = (
        as_floats(f"{name} in {source}", array, ndims=(1,))
        for name, array in zip(("upper", "lower"), pair, strict=True)
    )
    for name, array in (("upper", upper), ("lower", lower)):
        if len(array) != m - 1:
            raise ValueError(
                f"{name} in {source} must have m - 1 = {m - 1} entries; got {len(array)}."
            )
        rising = np.flatnonzero(np.diff(array) > 0)
        if len(rising):
            j = int(rising[0])
            raise ValueError(
                f"{name} in {source} must be non-increasing; got {array[j]} followed by "
                f"{array[j + 1]}."
            )
    above = np.flatnonzero(lower > upper)
    if len(above):
        j = int(above[0])
        raise ValueError(
            f"lower in {source} must be at most upper; got {lower[j]} and {upper[j]} at entry {j}."
        )
    if lower.min() < 0:
        raise ValueError(f"lower in {source} must be non-negative; got {lower.min()}.")
    if upper[0] == 0:
        raise ValueError(f"upper in {source} must not be all zero; got {m - 1} zeros.")
    if upper[0] < SMALLEST:
        raise ValueError(f"upper in {source} must start with at least {SMALLEST}; got {upper[0]}.")
    return upper, lower


def checked_costs(loss: str, given: Any, y: Integers, m: int) -> tuple[Floats, Integers]:
    """Return the table of costs (r, m) and the row of each sample, (n,).

    Costs may be negative. Raises TypeError or ValueError unless the table is a finite matrix with m
    columns and there is one number of an existing row per label in y (n,).
    """
    source = f"cost_table of {loss}"
    try:
        table, rows = given
    except (TypeError, ValueError):
        raise TypeError(f"{source} must return the pair (table, rows); got {given!r}.") from None
    table = as_floats(f"table in {source}", table, ndims=(2,))
    rows = np.asarray(rows)
    if table.shape[1] != m:
        raise ValueError(f"table in {source} must have m = {m} columns; got {table.shape[1]}.")
    if rows.shape != y.shape or rows.dtype.kind not in "iu":
        raise ValueError(
            f"rows in {source} must be ({len(y)},) integers; got shape {rows.shape} of "
            f"{rows.dtype}."
        )
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(table):
        raise ValueError(
            f"rows in {source} must be in 0..{len(table) - 1}; got {rows.min()} to {rows.max()}."
        )
    return table, rows.astype(np.int64)
