"""Rows on which sums lose digits, selections are long, or Newton's method gives up."""

from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fwlab import project_knapsack, project_topk_cone, project_topk_simplex
from fwlab.kernels.domains.selection import INSERTION_LENGTH, RADIX_LENGTH, sort_ascending
from fwlab.kernels.simplices import topk_simplex

pytestmark = pytest.mark.small
EPS = np.finfo(float).eps


@pytest.mark.parametrize("d", [129, 1000, 5000])
@pytest.mark.parametrize("bias", [1.0, 1e150])
@pytest.mark.parametrize("c", [0.1, 0.7])
def test_bias_of_equal_entries(d, bias, c):
    """x = c - t with t = bias sum x."""
    x = project_knapsack(np.full(d, c), 1e6, 1.0, bias=bias)
    assert_allclose(x, c / (1.0 + bias * d), rtol=0, atol=4 * EPS * c)


@pytest.mark.parametrize("seed", range(6))
def test_sum_of_two_values(seed):
    """x = a + 1 - mean a; some of these rows are sorted, others end by Newton's method."""
    a = np.random.default_rng(seed).choice([0.0, 1.0], 2049)
    x = project_knapsack(a, 2049.0, 2.995614035087719, equality=True)
    exact = a + float(1 - Fraction(int(a.sum()), 2049))
    assert_allclose(x, exact, rtol=0, atol=8 * EPS)


def test_rest_of_full_entries():
    """499 entries are at 3.3, and the last one takes what they leave."""
    a, upper = np.r_[np.full(499, 4.0), 0.0], 3.3
    r = 499 * upper + 1.0
    x = project_knapsack(a, r, upper, equality=True)
    rest = float(Fraction(r) - 499 * Fraction(upper))
    assert_array_equal(x[:-1], upper)
    assert_allclose(x[-1], rest, rtol=0, atol=8 * EPS)


@pytest.mark.parametrize("k", [20_000, 19_999])
def test_mean_of_the_largest_beside_a_negative_spike(k):
    """All of the k largest are at their mean."""
    a = np.full(20_000, 0.1)
    a[7] = -1.0 if k == len(a) else -1e3
    u = max(fsum(np.sort(a)[-k:]), 0.0) / k
    x = project_topk_cone(a, k)
    assert_allclose(np.sort(x)[-k:], u, rtol=4 * EPS)


@pytest.mark.parametrize("length", [INSERTION_LENGTH, RADIX_LENGTH, RADIX_LENGTH + 1, 3000])
def test_numbers_of_all_kinds_are_sorted(length):
    rng = np.random.default_rng(length)
    signs = rng.choice([-1.0, 1.0], length)
    for row in (
        signs * 10.0 ** rng.uniform(-320, 150, length),
        signs * rng.integers(0, 9, length) * 5e-324,
        1.0 + rng.integers(-9, 10, length) * EPS,
        np.where(signs > 0, 0.0, -0.0),
        np.full(length, -1.5),
        np.arange(length)[::-1] * 1.0,
        signs * np.inf,
    ):
        found = row.copy()
        sort_ascending(found)
        assert_array_equal(found, np.sort(row))


def test_large_entries_in_few_lanes_are_no_reason_to_sort_the_row(monkeypatch):
    """Every second entry is large, so that 50 of the 64 lanes reach small ones alone."""
    d = 6400
    a = np.arange(d) * 1.0
    a[1::2] += d
    lengths = []
    sort = topk_simplex.sort_ascending
    monkeypatch.setattr(
        topk_simplex, "sort_ascending", lambda values: lengths.append(len(values)) or sort(values)
    )
    kernel = topk_simplex.project_topk_rows
    out = np.zeros((1, d))
    getattr(kernel, "py_func", kernel)(a[None, :], 1e150, 50, 1.0, 0.0, out)
    assert_array_equal(out[0], project_topk_simplex(a, 50))
    assert max(lengths, default=0) < 100
