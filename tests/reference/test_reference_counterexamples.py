"""K19 Proposition 6 and its vector (69), in exact fractions."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import TopK, Usunier
from reference.counterexamples import kato_vector, lhs, rhs

SIZES = [(m, k) for m in range(3, 9) for k in range(2, m)]


@pytest.mark.parametrize(("m", "k"), SIZES)
def test_the_vector_refutes_compatibility(m, k):
    v = kato_vector(m, k)
    assert sum(v) == F(m - 1, m)
    assert lhs(TopK(k), v, m - 1) == -F(m - 1, m)
    assert rhs(TopK(k), v, m - 1) == math.inf


def test_the_true_class_may_stand_anywhere():
    v = kato_vector(5, 2)
    for y in range(5):
        assert lhs(TopK(2), v, y) == F(-4, 5)
        assert rhs(TopK(2), v, y) == math.inf


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_top_1_is_compatible(m, seed):
    rng = np.random.default_rng(seed)
    v = [F(int(x), 2 * m) for x in rng.integers(-1, 4, size=m - 1)]
    assert lhs(TopK(1), v, m - 1) == rhs(TopK(1), v, m - 1)


@given(st.integers(2, 5), st.data(), st.integers(0, 2**32 - 1))
def test_usunier_is_compatible(m, data, seed):
    k = data.draw(st.integers(1, m))
    rng = np.random.default_rng(seed)
    v = [F(int(x), 2 * k) for x in rng.integers(-1, 3, size=m - 1)]
    assert lhs(Usunier(k), v, m - 1) == rhs(Usunier(k), v, m - 1)


@pytest.mark.parametrize("m", range(2, 7))
def test_k_equal_to_m_is_not_compatible_either(m):
    v = [F(1, m)] * (m - 1)
    assert lhs(TopK(m), v, m - 1) == -F(m - 1, m)
    assert rhs(TopK(m), v, m - 1) == math.inf


@given(st.integers(3, 5), st.data(), st.integers(0, 2**32 - 1))
def test_the_left_side_is_never_above_the_right(m, data, seed):
    """It is a sup over fewer scores."""
    k = data.draw(st.integers(1, m))
    v = [F(int(x), 4) for x in np.random.default_rng(seed).integers(-1, 3, size=m - 1)]
    assert lhs(TopK(k), v, 0) <= rhs(TopK(k), v, 0)
