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
