"""Sizes of rows, for every remainder of their length by four."""

import numpy as np
import pytest

from fwlab.operators.sizes import row_maxima, row_sizes


@pytest.mark.small
@pytest.mark.parametrize("m", range(1, 10))
def test_sizes_of_rows(m):
    rng = np.random.default_rng(m)
    A, factors = rng.normal(size=(50, m)), rng.random(m)
    lengths, squares, products = row_sizes(A, factors)
    np.testing.assert_allclose(lengths, np.abs(A).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(squares, (A * A).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(products, np.abs(A) @ factors, rtol=1e-14)
    np.testing.assert_array_equal(row_maxima(A), np.abs(A).max(axis=1))


@pytest.mark.small
def test_each_place_may_hold_the_largest_entry():
    rows = np.full((18, 9), 0.5)
    rows[np.arange(18), np.arange(18) % 9] = np.repeat([2.0, -2.0], 9)
    assert (row_maxima(rows) == 2.0).all()
