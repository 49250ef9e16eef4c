"""Products with the Jacobians of the projections and their diagonals, against dense matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fwlab
from fwlab.operators.jacobians import projection_jacobians

pytestmark = pytest.mark.small
LOSSES = (
    fwlab.MaxHinge(),
    fwlab.TopK(3),
    fwlab.PseudoTopK(2),
    fwlab.WeightedTopK([0.5, 0.3, 0.2]),
    fwlab.Usunier(3),
)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_product_and_diagonal(loss):
    rng = np.random.default_rng(0)
    c, y = rng.normal(size=(30, 6)), rng.integers(0, 6, 30)
    whole = loss.projection_jacobian(c, y)
    index, jacobians = projection_jacobians(loss.polytopes(y, 6), c)
    assert len(index) > 10 and not np.delete(whole, index, axis=0).any()
    V = rng.normal(size=(len(index), 6))
    expected = np.einsum("ijk,ik->ij", whole[index], V)
    assert_allclose(jacobians.product(V), expected, atol=1e-14)
    diagonals = np.einsum("ijj->ij", whole[index])
    assert_allclose(jacobians.diagonals(), diagonals, atol=1e-14)


def test_by_hand():
    """Two classes of the max hinge on an edge: J projects onto their difference."""
    c, y = np.array([[0.25, -0.25]]), np.array([0])
    _, jacobians = projection_jacobians(fwlab.MaxHinge().polytopes(y, 2), c)
    assert_allclose(jacobians.dense(), [[[0.5, -0.5], [-0.5, 0.5]]], atol=1e-15)
    assert_allclose(jacobians.diagonals(), [[0.5, 0.5]], atol=1e-15)
