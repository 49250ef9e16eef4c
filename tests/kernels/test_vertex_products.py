"""Products of matrices that are given by few entries per row, against the dense matrices."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from fwlab.kernels.products.vertices import (
    add_entries,
    add_vertices,
    dense_product,
    sparse_product,
    vertices_product,
)
from fwlab.operators.features import csr_of

pytestmark = pytest.mark.small
N, D, M = 7, 4, 5


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def places(rng, count):
    """Return some different classes for each row."""
    return np.array([rng.permutation(M)[:count] for _ in range(N)])


def dense(columns, entries):
    U = np.zeros((N, M))
    np.put_along_axis(U, columns, entries, axis=1)
    return U


def test_products_with_x(rng):
    """Rows of a sparse X share features, so that every product has several terms."""
    X = rng.integers(-2, 3, (N, D)).astype(float)
    columns, entries = places(rng, 3), rng.normal(size=(N, 3))
    expected = X.T @ dense(columns, entries)
    out, out_T = np.zeros((M, D)), np.zeros((D, M))
    dense_product(X, columns, entries, out)
    sparse_product(csr_of(scipy.sparse.csr_matrix(X)), columns, entries, out_T)
    assert_allclose(out.T, expected, atol=1e-14)
    assert_allclose(out_T, expected, atol=1e-14)


def test_vertices_hold_minus_their_sum_at_the_true_class(rng):
    columns, entries = places(rng, 3), rng.normal(size=(N, 2))
    classes, y = columns[:, :2], columns[:, 2]
    U = dense(columns, np.column_stack([entries, -entries.sum(axis=1)]))
    gradient, A = rng.normal(size=(N, M)), rng.normal(size=(N, M))
    product = vertices_product(gradient, y, classes, entries)
    assert product == pytest.approx((gradient * U).sum(), rel=1e-13)
    moved = A.copy()
    add_vertices(moved, 0.3, y, classes, entries)
    assert_allclose(moved, A + 0.3 * U, atol=1e-14)


def test_entries_are_added(rng):
    columns, entries, A = places(rng, 3), rng.normal(size=(N, 3)), rng.normal(size=(N, M))
    moved = A.copy()
    add_entries(moved, -2.0, columns, entries)
    assert_allclose(moved, A - 2 * dense(columns, entries), atol=1e-14)
