"""The projections without a sort against the same thresholds from a sorted row."""

import os
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fwlab.kernels.domains.selection import (
    BISECTED_LENGTH,
    LANES,
    guess_below,
    kth_largest,
    kth_of_row,
)
from fwlab.kernels.simplices.knapsack import project_knapsack_rows, sorted_threshold
from fwlab.kernels.simplices.topk_simplex import (
    pivot_and_width,
    project_topk_rows,
    sorted_thresholds,
)

pytestmark = pytest.mark.small
DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
ROWS, SEEDS = (100, 100) if DEEP else (5, 12)
EPS = np.finfo(float).eps


def rows_of(kind, d, rng):
    """Return rows that make a selection or Newton's method fail if anything does, (ROWS, d)."""
    a = rng.normal(size=(ROWS, d))
    if kind == "ties":
        return np.round(2 * a) / 2
    if kind == "few positive":
        a = -np.abs(a)
        a[:, : min(20, d)] *= -1
        return rng.permuted(a, axis=1)
    if kind == "spikes":
        spikes = rng.random((ROWS, d)) < 0.02
        return np.where(spikes, 1e3 * np.abs(a), np.round(a) / 1e3)
    if kind == "sorted":
        return np.sort(a, axis=1)
    if kind == "period of the sample":
        a[:, :: max(1, d // LANES)] += 5
        return a
    if kind == "equal":
        return np.full((ROWS, d), rng.normal())
    return a


KINDS = ("normal", "ties", "few positive", "spikes", "sorted", "period of the sample", "equal")
each_kind = pytest.mark.parametrize("kind", KINDS)


def sizes(rng):
    d = int(rng.choice([3, 65, 100, 200, 700, 3000]))
    return d, int(rng.choice([1, min(d, 10), min(d, 65), d // 3 + 1, d - 1, d]))


def assert_clipped(a, out, thresholds, exact=None, room=0.0):
    """Assert that the rows of `out` are min(max(a - shift - t, 0), u), by (t, u, shift) of each.

    8 ulp are allowed, of the row's largest entry or of u, and `room`. A row that is further away is
    compared with its exact thresholds, if there are any: the thresholds of the sorted row have
    rounding errors, too.
    """
    for row, x in zip(a, out, strict=True):
        t, u, shift = thresholds(row)
        expected, ulp = np.clip((row - shift) - t, 0.0, u), EPS * max(np.abs(row).max(), u)
        if exact is not None and np.abs(x - expected).max() > 8 * ulp:
            t, u, shift = exact(row)
            expected = [float(min(max(Fraction(entry) - shift - t, 0), u)) for entry in row]
        assert_allclose(x, expected, rtol=0, atol=8 * ulp + room)


def exact_thresholds(row, k, r, bias):
    """Solve the equations of kernels.simplices.topk_simplex in fractions, trying all pieces."""
    entries = sorted(map(Fraction, row), reverse=True)
    bias, pivot = Fraction(bias), entries[k - 1]
    cap = Fraction(r) / k if r < np.inf else None
    sums = [Fraction(0), *accumulate(entries)]
    u = max(Fraction(0), sums[k] / (k + bias * k * k))
    u = u if cap is None else min(u, cap)
    if k == len(row) or pivot - entries[k] >= u:
        return -u, u, pivot
    for full in range(k, -1, -1):
        for moving in range(max(k - full, 1), len(row) - full + 1):
            # `full` entries at u, `moving` more above t: u = v - t, sum = k u
            middle, rest = sums[full + moving] - sums[full], k - full
            free = (sums[full] + middle * rest / moving) / (
                full + bias * k * k + Fraction(rest * rest) / moving
            )
            u = free if cap is None else min(free, cap)
            t = (middle - rest * u) / moving
            above = full == 0 or entries[full - 1] >= t + u
            between = entries[full] <= t + u and entries[full + moving - 1] >= t
            below = full + moving == len(row) or entries[full + moving] <= t
            if u >= 0 and above and between and below:
                return t - pivot, u, pivot
    raise AssertionError("no piece solves the equations")


@pytest.mark.grid
@each_kind
@pytest.mark.parametrize("seed", range(SEEDS))
def test_thresholds_are_those_of_the_sorted_row(kind, seed):
    rng = np.random.default_rng(seed)
    d, k = sizes(rng)
    a, out = rows_of(kind, d, rng), np.zeros((ROWS, d))
    r, bias = rng.choice([np.inf, 100.0, 1.0, 1e-3]), rng.choice([0.0, 0.0, 0.3, 10.0])
    assert project_topk_rows(a, 1e150, k, r, bias, out) == -1
    assert_clipped(
        a,
        out,
        lambda row: sorted_thresholds(np.sort(row), k, r, bias),
        lambda row: exact_thresholds(row, k, r, bias),
    )


@pytest.mark.parametrize("bias", [0.0, 0.25])
@pytest.mark.parametrize("r", [1.0, np.inf])
def test_exact_thresholds_are_those_of_the_sorted_row(r, bias):
    rng = np.random.default_rng(0)
    for k in (1, 3, 5):
        row = rng.integers(-8, 9, 9) / 8
        found = np.clip(row - sum(exact_thresholds(row, k, r, bias)[::2]), 0, None)
        t, u, shift = sorted_thresholds(np.sort(row), k, r, bias)
        u_exact = float(exact_thresholds(row, k, r, bias)[1])
        expected = np.clip((row - shift) - t, 0.0, u)
        assert_allclose(np.minimum(found.astype(float), u_exact), expected, atol=1e-15)


@pytest.mark.grid
@each_kind
@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_knapsack_is_that_of_the_sorted_row(kind, seed):
    rng = np.random.default_rng(seed)
    d, k = sizes(rng)
    a, out = rows_of(kind, d, rng), np.zeros((ROWS, d))
    equality, bias, upper = bool(rng.random() < 0.5), rng.choice([0.0, 0.3]), 1.0 / k

    def thresholds(row):
        if not equality and bias == 0.0 and np.clip(row, 0.0, upper).sum() <= 1.0:
            return 0.0, upper, 0.0
        t, shift = sorted_threshold(row.copy(), 1.0, upper, bias, equality)
        return t, upper, shift

    assert project_knapsack_rows(a, 1e150, 1.0, upper, bias, equality, out) == -1
    # with k = d the sum of all bounds is 1 up to its rounding, which a single entry may take
    assert_clipped(a, out, thresholds, room=EPS if k == d else 0.0)


@each_kind
@pytest.mark.parametrize("d", [1, 64, 65, 600, BISECTED_LENGTH + 4])
def test_the_largest_are_selected(kind, d):
    rng = np.random.default_rng(d)
    for row in rows_of(kind, d, rng):
        for k in {1, d // 10 + 1, d // 2 + 1, d}:
            ordered, values = np.sort(row), row.copy()
            assert kth_largest(values, k) == ordered[d - k]
            assert np.array_equal(np.sort(values[d - k :]), ordered[d - k :])
            index, sample = np.empty(d, np.int64), np.empty(LANES)
            found = np.empty(d)
            assert kth_of_row(row, k, index, found, sample) == ordered[d - k]


def test_the_guess_is_rarely_above():
    rng, sample = np.random.default_rng(0), np.empty(LANES)
    rows = rng.normal(size=(200, 2000))
    above = sum(guess_below(row, 300, sample) > np.sort(row)[-300] for row in rows)
    assert above < 10


def test_the_width_of_equal_entries_by_hand():
    """S_1 = 1 is rounded up twice, by 4 eps each: (1 + 4 eps)^2 is 1 + 8 eps in floats."""
    d = 3 * LANES
    scratch = np.empty(d, np.int64), np.empty(d), np.empty(LANES)
    assert pivot_and_width(np.ones(d), 1, np.inf, 0.0, *scratch) == (1.0, 1 + 8 * EPS)
    assert pivot_and_width(np.ones(d), 1, 0.5, 0.0, *scratch) == (1.0, 0.5)
