"""Products of one sparse row with W, on small integers, where every order of summation is exact."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fwlab.kernels.products.sparse import add_row, row_scores

pytestmark = pytest.mark.small
D = 11


def drawn(entries, m, dtype):
    """Return the values and columns of a row, and the transpose of W, (D, m)."""
    rng = np.random.default_rng([entries, m])
    columns = np.sort(rng.choice(D, entries, replace=False)).astype(np.int32)
    values = rng.integers(1, 9, entries).astype(dtype)
    return values, columns, rng.integers(-9, 9, (D, m)).astype(float), rng


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [2, 5, 20])
@pytest.mark.parametrize("entries", range(10))
def test_scores(entries, m, dtype):
    values, columns, W_T, _ = drawn(entries, m, dtype)
    scores = np.full(m, np.nan)
    row_scores(values, columns, W_T, scores)
    assert_array_equal(scores, values @ W_T[columns])


@pytest.mark.parametrize("changed", [0, 1, 2, 5, 20])
@pytest.mark.parametrize("entries", [0, 1, 4, 7])
def test_a_change_of_few_or_many_classes(entries, changed):
    values, columns, W_T, rng = drawn(entries, 20, np.float64)
    change = np.zeros(20)
    change[rng.permutation(20)[:changed]] = rng.integers(1, 9, changed)
    expected = W_T.copy()
    expected[columns] += values[:, None] * change
    add_row(values, columns, change, W_T, np.empty(20, dtype=np.int64))
    assert_array_equal(W_T, expected)
