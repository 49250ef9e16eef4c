"""Products with dense X against numpy, for every remainder of the groups of rows and classes."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fwlab.kernels.products.blocks import add_block
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
