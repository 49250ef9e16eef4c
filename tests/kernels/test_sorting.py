"""The orders that the kernels sort into: descending, ties by index, short rows and long ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwlab.kernels.domains.sorting import (
    COUNTING_LENGTH,
    select_largest,
    sort_descending,
    sort_long,
)

pytestmark = pytest.mark.small
LENGTHS = st.integers(1, COUNTING_LENGTH + 9)
tied = LENGTHS.flatmap(
    lambda n: arrays(np.float64, n, elements=st.integers(-3, 3).map(lambda i: i / 2))
)


def stable(values):
    return np.argsort(-values, kind="stable")


@given(tied, st.data())
def test_orders_are_stable(values, data):
    order = np.empty(len(values), dtype=np.int64)
    sort_descending(values, order)
    np.testing.assert_array_equal(order, stable(values))
    largest = np.empty(data.draw(st.integers(1, len(values))), dtype=np.int64)
    select_largest(values, largest)
    np.testing.assert_array_equal(largest, stable(values)[: len(largest)])


@pytest.mark.parametrize(
    "kind", ["normal", "few values", "rising", "falling", "zeros of both signs"]
)
def test_long_rows_are_sorted_as_by_numpy(kind):
    rng = np.random.default_rng(0)
    for n in (*range(1, 100), 159, 160, 161, 319, 321, 1000):
        values = {
            "normal": rng.normal(size=n),
            "few values": rng.integers(0, 4, n).astype(float),
            "rising": np.arange(float(n)),
            "falling": -np.arange(float(n)),
            "zeros of both signs": np.where(rng.random(n) < 0.5, -0.0, 0.0),
        }[kind]
        order = np.empty(rng.integers(1, n + 1), dtype=np.int64)
        sort_long(values, order)
        np.testing.assert_array_equal(order, stable(values)[: len(order)])
