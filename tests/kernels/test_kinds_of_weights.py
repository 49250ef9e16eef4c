"""Losses with equal weights, and their faces, are known as such."""

import numpy as np
import pytest

import fwlab
from fwlab.kernels.layouts import EqualWeights, LongPolytopeWeights, PolytopeWeights
from fwlab.kernels.steps.face_passes import first_weights

pytestmark = pytest.mark.small


class HalfBelow(fwlab.Loss):
    """Equal weights in upper and in lower, which differ."""

    def polytope_weights(self, m):
        return np.ones(m - 1), np.full(m - 1, 0.5)


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        (fwlab.MaxHinge(), EqualWeights),
        (fwlab.TopK(1), EqualWeights),
        (fwlab.TopK(3), EqualWeights),
        (fwlab.TopK(9), EqualWeights),
        (fwlab.PseudoTopK(3), EqualWeights),
        (fwlab.Usunier(3), EqualWeights),
        (fwlab.WeightedTopK([0.5, 0.5]), EqualWeights),
        (fwlab.WeightedTopK([0.6, 0.4]), PolytopeWeights),
        (fwlab.WeightedUsunier([0.6, 0.4]), PolytopeWeights),
        (HalfBelow(), PolytopeWeights),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else type(value).__name__,
)
def test_the_kind_of_weights(loss, kind):
    assert type(loss.polytopes(np.array([0]), 9).weights) is kind
    if kind is PolytopeWeights:
        assert type(loss.polytopes(np.array([0]), 90).weights) is LongPolytopeWeights


@pytest.mark.parametrize("count", [2, 3, 7])
def test_faces_keep_the_kind_of_weights(count):
    places = np.arange(8)
    weights = 0.5 * (places < 3), 0.5 * (places < 2), 3, 2, 1.5, 1.0
    for kind in (EqualWeights, PolytopeWeights):
        first = first_weights(count, kind(*weights))
        assert type(first) is kind
        assert first.n_upper == min(3, count) and first.sum_upper == 0.5 * first.n_upper
        assert first.n_lower == 2 and first.sum_lower == 1.0
    assert type(first_weights(count, LongPolytopeWeights(*weights))) is PolytopeWeights
