"""Packed rows of the dual variable hold no entry that is too small to count."""

from math import fsum

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from on_cluster import DriverHere, on_cluster
from scipy.sparse import csr_array

import fwlab
from fwlab import distributed
from fwlab.distributed.dask import state as dask_state
from fwlab.distributed.dask.proposals import ROUNDS_PER_PASS
from fwlab.distributed.packed import significant

M = 100
# relative to a row's largest entry; all smaller ones together leave that entry as it is
LEAST = 2.0**-54 / M


def rows_with(small):
    """Return rows of sums of about 0 with entries of about this size, and empty rows among them."""
    rng = np.random.default_rng(0)
    A = np.zeros((40, M))
    for i in range(1, 40, 3):
        columns = rng.permutation(M)
        A[i, columns[1:4]] = -rng.uniform(0.01, 0.3, 3)
        A[i, columns[4:60]] = -small * rng.uniform(0.5, 1.0, 56)
        A[i, columns[0]] = -fsum(A[i])
    A[1, A[1].argmax()] = 1.0
    return A


def test_entries_whose_sum_the_label_does_not_show_are_dropped():
    A = rows_with(small=1e-3 * LEAST)
    found = significant(csr_array(A)).toarray()
    labels = A.argmax(axis=1)
    assert 0 < np.count_nonzero(found) < np.count_nonzero(A) / 10
    for row, old, label in zip(found, A, labels, strict=True):
        dropped = old[row != old]
        assert old[label] + fsum(dropped) == old[label] == row[label]
        assert (np.abs(dropped) <= LEAST * old[label]).all()


def test_larger_entries_stay():
    for small in (1e-2, 1e-9, 1e-17, 4 * LEAST):
        A = rows_with(small)
        A[4] *= 1e-20  # a row of little weight
        assert_array_equal(significant(csr_array(A)).toarray(), A)
    empty = csr_array((3, M))
    assert significant(empty).nnz == 0


def test_the_copy_has_no_room_for_more():
    A = csr_array(rows_with(small=1e-2))
    found = significant(A + A)
    for array in (found.data, found.indices):
        assert array.base is None or array.base.size == array.size


@pytest.mark.filterwarnings("ignore")
def test_a_run_on_a_cluster_leaves_no_such_entries(client, monkeypatch):
    """Its rounds make part of a step, so that entries shrink in each round but never vanish."""
    monkeypatch.setattr(dask_state, "Driver", DriverHere)
    rng, passes = np.random.default_rng(0), 40
    y = rng.integers(0, M, 300)
    X = rng.normal(size=(M, 8))[y] + rng.normal(size=(300, 8))
    problem = fwlab.Problem(X, y, fwlab.TopK(5), C=1.0, n_classes=M)
    run = distributed.solve(on_cluster(problem, client, 4), tol=0.0, max_iter=passes)
    A = run.A.toarray()
    sizes = np.abs(A)
    assert not ((sizes > 0) & (sizes <= LEAST * sizes.max(axis=1, keepdims=True))).any()
    assert problem.is_feasible(A)
    # a round rounds each of M entries of a row, which are at most 1, three times
    rounded = ROUNDS_PER_PASS * passes * M * 3 * 2.0**-52
    assert np.abs(A.sum(axis=1)).max() <= rounded
