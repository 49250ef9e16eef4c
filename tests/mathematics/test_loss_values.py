"""A loss, which is computed from the largest margins alone, is the value of its vertex."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fwlab
from fwlab.kernels.domains.sorting import INSERTION_LENGTH


@pytest.mark.small
@pytest.mark.parametrize("k", [1, 2, 5, INSERTION_LENGTH, INSERTION_LENGTH + 1])
@pytest.mark.parametrize("m", [2, 3, 40, 80])
def test_a_loss_is_the_value_of_its_vertex_bit_for_bit(m, k):
    rng, k = np.random.default_rng(m + k), min(k, m - 1)
    y = rng.integers(0, m, 40)
    drawn = rng.normal(size=(20, m)), rng.integers(-1, 2, (20, m)).astype(float)
    for loss in (fwlab.TopK(k), fwlab.Usunier(k), fwlab.WeightedTopK(fwlab.weights.linear(k))):
        polytopes = loss.polytopes(y, m)
        for shift in (-3.0, 0.0, 3.0):
            scores = np.concatenate(drawn)
            scores[np.arange(40), y] += shift
            values = polytopes.values(scores)
            assert_array_equal(values, polytopes.compact_vertices(scores)[2])
            assert (values >= 0).all()


@pytest.mark.small
def test_an_envelope_by_hand():
    """A margin of 1 has the envelope max (b - smoothing b^2), b in [0, 1]; a row is a number."""
    loss, scores = fwlab.MaxHinge(), np.array([2.0, 2.0])
    assert loss.value(scores, 0) == 1.0
    for smoothing, value, z in ((1.0, 0.25, 2.5), (2.0, 0.125, 2.5), (0.25, 0.75, 2.25)):
        envelope, nearest = loss.moreau(scores, 0, smoothing)
        assert envelope == value
        assert_array_equal(nearest, [z, 4.0 - z])
