"""Active sets by hand: atoms without weight go, and the others are scaled to sum 1."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fwlab.kernels.layouts import ActiveSets
from fwlab.kernels.steps.active_sets import combine, settle
from fwlab.operators.vertices import DensePoint
from fwlab.solvers.atoms import ActiveSet

pytestmark = pytest.mark.small


def test_whole_matrices():
    atoms = [DensePoint(np.full((2, 2), value)) for value in (1.0, 2.0, 4.0)]
    active_set = ActiveSet(atoms, np.array([0.5, 0.0, 1.5]))
    assert_array_equal(active_set.drop(), [0, 2])
    assert active_set.atoms == [atoms[0], atoms[2]]
    assert_array_equal(active_set.atom_weights, [0.25, 0.75])
    A = np.full((2, 2), 7.0)
    active_set.combine(A)
    assert_array_equal(A, np.full((2, 2), 3.25))


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_one_row(empty):
    """Atom l has the entry -(l+1) at class l + 1, and l + 1 at the true class 0."""
    classes, entries = np.array([[[1], [2], [3], [0]]]), np.array([[[-1.0], [-2.0], [-3.0], [0.0]]])
    weights = np.array([[0.5, 0.5, 1.5, 0.0]])
    weights[0, empty] = 0.0
    expected = np.zeros(4)
    for place in range(3):
        share = weights[0, place] / weights.sum()
        expected[place + 1] -= (place + 1) * share
        expected[0] += (place + 1) * share
    sets = ActiveSets(classes, entries, weights, np.array([3]), np.zeros((0, 4)))
    settle(sets, 0)
    assert sets.counts[0] == 2
    assert_allclose(weights[0, :2].sum(), 1.0, rtol=1e-15)
    row = np.full(4, 9.0)
    combine(sets, 0, 0, row)
    assert_allclose(row, expected, rtol=1e-15)
