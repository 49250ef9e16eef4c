"""Weight vectors by hand."""

import math

import pytest
from numpy.testing import assert_allclose

from fwlab.weights import exponential, flat, linear

pytestmark = pytest.mark.small


def test_by_hand():
    assert_allclose(flat(4), [1 / 4] * 4, rtol=1e-15)
    assert_allclose(linear(3), [3 / 6, 2 / 6, 1 / 6], rtol=1e-15)
    fall = math.exp(-1 / 2)
    assert_allclose(exponential(2), [1 / (1 + fall), fall / (1 + fall)], rtol=1e-15)


@pytest.mark.parametrize("weights", [flat, linear, exponential])
@pytest.mark.parametrize("k", [1, 2, 7, 100])
def test_they_fall_and_sum_to_one(weights, k):
    rho = weights(k)
    assert len(rho) == k and (rho > 0).all()
    assert (rho[1:] <= rho[:-1]).all()
    assert math.isclose(math.fsum(rho), 1.0, rel_tol=1e-14)
