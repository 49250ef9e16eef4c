"""Products with dense X against numpy, for every remainder of the groups of rows and classes."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fwlab.kernels.products.blocks import add_block, four_rows_of_scores, two_rows_of_scores
from fwlab.operators.features import SHORT_ROWS, DenseFeatures

pytestmark = pytest.mark.small

sizes = st.tuples(
    st.integers(1, 35), st.sampled_from([1, 3, SHORT_ROWS - 1, SHORT_ROWS, 200]), st.integers(1, 12)
)


@given(sizes, st.sampled_from([np.float64, np.float32]), st.integers(0, 999), st.data())
def test_scores_and_transposed_product(size, dtype, seed, data):
    n, d, m = size
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    density = data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    A = rng.standard_normal((n, m)) * (rng.random((n, m)) < density)
    W = rng.standard_normal((m, d))
    exact = X.astype(np.float64)
    assert_allclose(DenseFeatures(X).scores(W), exact @ W.T, rtol=0, atol=1e-12)
    assert_allclose(DenseFeatures(X).transposed_product(A), A.T @ exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rows_of_scores", [four_rows_of_scores, two_rows_of_scores])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_of_a_few_rows(rows_of_scores, dtype):
    """Small integers, whose sums are exact; scores beside the group stay."""
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 9, (6, 13)).astype(dtype)
    W = rng.integers(-9, 9, (8, 15)).astype(dtype)
    scores = np.full((6, 8), 7.0)
    rows_of_scores(X, W, 1, 2, scores)
    group = slice(1, 5 if rows_of_scores is four_rows_of_scores else 3), slice(2, 7)
    expected = np.full((6, 8), 7.0)
    expected[group] = (X @ W[:, :13].T)[group]
    assert_array_equal(scores, expected)


@given(st.integers(1, 18), st.integers(1, 12), st.sampled_from([0.0, 0.2, 0.6, 1.0]), st.booleans())
@example(rows=16, m=4, filled=1.0, single=False)
def test_a_block_is_added_to_the_machine(rows, m, filled, single):
    """Eight rows at a time where F is full enough, else up to four; what is padded stays.

    The rounded machine follows where classes change.
    """
    rng, d = np.random.default_rng(rows), 5
    X, W = rng.standard_normal((rows, d)), rng.standard_normal((m, d + 2))
    F = rng.standard_normal((rows, m)) * (rng.random((rows, m)) < filled)
    expected, rounded = W.copy(), W[: m if single else 0].astype(np.float32)
    rounded[:, d:] = 7.0
    expected[:, :d] += F.T @ X
    add_block(F, X, W, rounded, np.empty(m, dtype=np.int64), np.empty(rows, dtype=np.int64))
    assert_allclose(W, expected, rtol=0, atol=1e-13)
    assert_array_equal(rounded[:, :d], W[: len(rounded), :d].astype(np.float32))
    assert np.all(rounded[:, d:] == 7.0)
