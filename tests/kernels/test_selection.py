"""The selection kernels against plain numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fwlab.kernels.domains.selection import (
    INSERTION_LENGTH,
    LANES,
    collect_from,
    lane_maxima,
    reached_by,
    sort_ascending,
    split_sums,
)

pytestmark = pytest.mark.small
SIZES = [1, 2, 63, 64, 65, 127, 128, 200]


def row_of(d, ties=False):
    row = np.random.default_rng(d).standard_normal(d)
    return np.round(row) if ties else row


@pytest.mark.parametrize("d", SIZES)
def test_lane_maxima(d):
    row, lanes = row_of(d), np.empty(LANES)
    assert lane_maxima(row, 1e150, lanes) == 0
    expected = [row[lane::LANES].max(initial=-np.inf) for lane in range(LANES)]
    assert_array_equal(lanes, expected)


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 5.0, -5.0])
def test_lane_maxima_count_what_is_refused(d, bad):
    lanes = np.empty(LANES)
    for position in range(d):
        row = np.zeros(d)
        row[position] = bad
        assert lane_maxima(row, 4.0, lanes) == 1
    assert lane_maxima(np.full(d, 4.0), 4.0, lanes) == 0


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("count", [1, 2, 10, 64])
def test_reached_by_at_least_k_and_not_many_more(count, ties):
    lanes = row_of(count, ties)
    for k in range(1, count + 1):
        reached, largest = reached_by(lanes, k)
        assert largest == lanes.max()
        assert np.sum(lanes >= reached) >= k
        kth = np.sort(lanes)[count - k]
        assert np.sum(lanes >= reached) == k or reached <= kth <= reached + np.ptp(lanes) / 200


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("d", SIZES)
def test_collect_from(d, ties):
    row = row_of(d, ties)
    for bound in (-np.inf, -1.0, 0.0, 1.0, row.max(), 9.0):
        index, values = np.full(d, -1), np.full(d, np.nan)
        count = collect_from(row, bound, index, values)
        assert_array_equal(index[:count], np.flatnonzero(row >= bound))
        assert_array_equal(values[:count], row[row >= bound])


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("d", [0, 1, 2, 30, INSERTION_LENGTH, INSERTION_LENGTH + 1, 300])
def test_sort_ascending(d, ties):
    values = row_of(d, ties)
    expected = np.sort(values)
    sort_ascending(values)
    assert_array_equal(values, expected)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("d", SIZES)
def test_split_sums(d, ties):
    row, shift, t, v = row_of(d, ties), 0.5, -0.5, 0.5
    difference = row - shift
    full, moving = difference >= v, (difference > t) & (difference < v)
    found = split_sums(row, shift, t, v)
    assert found[:2] == (full.sum(), moving.sum())
    expected = (difference[full].sum(), difference[moving].sum())
    assert_allclose(found[2:], expected, rtol=0, atol=1e-13)
