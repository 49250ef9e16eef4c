"""Products with sparse X: of one row exactly, on small integers, and of all rows against scipy."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fwlab.kernels.products.sparse import CACHED, add_row, row_scores
from fwlab.operators.features import SparseFeatures
from fwlab.threads import run_threads

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
def test_scores_of_a_row(entries, m, dtype):
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
    add_row(values, columns, change, np.flatnonzero(change), W_T)
    assert_array_equal(W_T, expected)


@pytest.mark.turns
@given(
    st.integers(1, 35),
    st.integers(1, 30),
    st.integers(1, 12),
    st.sampled_from([np.float64, np.float32]),
    st.sampled_from([np.int32, np.int64]),
    st.integers(0, 999),
)
def test_scores_and_transposed_product(n, d, m, dtype, index, seed):
    rng = np.random.default_rng(seed)
    X, W, A = random_sparse(rng, n, d, dtype), rng.standard_normal((m, d)), rng.random((n, m))
    A *= rng.random((n, m)) < rng.choice([0.1, 1.0])
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    exact = X.toarray().astype(np.float64)
    assert_allclose(SparseFeatures(X).scores(W), exact @ W.T, rtol=0, atol=1e-13)
    product = SparseFeatures(X).transposed_product(A)
    assert product.T.flags.c_contiguous
    assert_allclose(product, A.T @ exact, rtol=0, atol=1e-13)


def test_a_machine_beyond_the_cache_has_the_same_products():
    """Such products prefetch, and threads share their rows."""
    rng, m = np.random.default_rng(0), 3
    X = random_sparse(rng, 300, CACHED // m + 1, np.float64, density=1e-4)
    W, A = rng.standard_normal((m, X.shape[1])), rng.standard_normal((300, m))
    features = SparseFeatures(X)
    one = features.scores(W)
    assert_allclose(one, X @ W.T, rtol=0, atol=1e-13)
    assert_allclose(features.transposed_product(A), (X.T @ A).T, rtol=0, atol=1e-13)
    with run_threads(3):
        assert_array_equal(features.scores(W), one)


def random_sparse(rng, n, d, dtype, density=0.3):
    X = scipy.sparse.random(n, d, density, format="csr", random_state=rng, dtype=np.float64)
    X.data = rng.standard_normal(X.nnz)
    return X.astype(dtype)
