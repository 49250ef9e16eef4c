"""The exact rational versions: against hand calculation, floats, and the laws of conjugates."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference_cases import exact_cases, grid_losses
from scipy.optimize import linprog

from reference import PseudoTopK, StructuredHinge, TopK, Usunier, WeightedTopK, exact, lp
from reference.simplex import minimise


def test_conjugates_by_hand():
    half = F(1, 2)
    # y = 2: beta = (1/2, 1/2, 0) and (1/2, 0, 1/2); the latter only where the true class counts
    assert exact.conjugate(TopK(2), [half, half, -1], 2) == -1
    assert exact.conjugate(TopK(2), [half, 0, -half], 2) == -half
    assert exact.conjugate(PseudoTopK(2), [half, half, -1], 2) == -1
    assert exact.conjugate(PseudoTopK(2), [half, 0, -half], 2) == math.inf
    assert exact.conjugate(TopK(2), [F(3, 5), F(2, 5), -1], 2) == math.inf
    assert exact.conjugate(Usunier(2), [half, F(1, 3), F(-5, 6)], 2) == F(-5, 6)
    assert exact.conjugate(TopK(2), [half, half, 0], 2) == math.inf
    costs = ((0, 3, 7),) * 3
    loss = StructuredHinge(costs, per_sample=True).for_sample(1)
    assert exact.conjugate(loss, [-1, half, half], 0) == -5


def test_lmo_by_hand():
    assert exact.lmo_value(TopK(2), [4, 1, 0], 0) == 0
    # u = (1, -1/2, -1/2) gives g_0 - (g_1 + g_2)/2, and u = (1/2, -1/2, 0) half of g_0 - g_1
    assert exact.lmo_value(TopK(2), [0, 5, -1], 0) == F(-5, 2)
    assert exact.lmo_value(PseudoTopK(2), [0, 5, -1], 0) == -2


@given(exact_cases(), st.data())
def test_fenchel_young(case, data):
    """Phi(s) + Phi*(v) >= <s, v>, with equality at the slope of a winning piece."""
    loss, scores, y = case
    affine = exact.pieces(loss, len(scores), y)
    value = exact.value(loss, scores, y)
    slope = data.draw(st.sampled_from(sorted(affine)))
    product = exact.inner(scores, slope)
    conjugate = exact.conjugate(loss, slope, y)
    assert value + conjugate >= product
    if affine[slope] + product == value:
        assert value + conjugate == product


@given(exact_cases(), st.integers(0, 2**32 - 1))
def test_exact_conjugate_agrees_with_the_float_lp(case, seed):
    loss, move, y = case
    rng = np.random.default_rng(seed)
    slopes = sorted(exact.pieces(loss, len(move), y))
    a, b = (slopes[i] for i in rng.integers(len(slopes), size=2))
    v = [(p + q) / 2 for p, q in zip(a, b, strict=True)]
    if rng.random() < 0.5:  # mostly out of the domain
        v = [x + z / 8 for x, z in zip(v, move, strict=True)]
    exactly = exact.conjugate(loss, v, y)
    assert float(exactly) == pytest.approx(lp.conjugate(loss, [float(x) for x in v], y), abs=1e-8)
    assert exact.in_domain(loss, v, y) == (exactly < math.inf)


@given(exact_cases())
def test_lmo_is_minus_the_recession_function(case):
    loss, gradient, y = case
    assert exact.lmo_value(loss, gradient, y) == -loss.recession(gradient, y)
    floats = [float(g) for g in gradient]
    assert lp.lmo_value(loss, floats, y) == pytest.approx(
        float(exact.lmo_value(loss, gradient, y)), abs=1e-8
    )


@pytest.mark.parametrize("loss", grid_losses(3), ids=str)
def test_domain_sums_to_zero(loss):
    assert exact.in_domain(loss, [0, 0, 0], 1)
    assert not exact.in_domain(loss, [F(1, 1000), 0, 0], 1)


def test_floats_are_refused():
    with pytest.raises(TypeError, match=r"scores\[1\] is 0.5"):
        exact.value(TopK(1), [0, 0.5], 0)
    with pytest.raises(TypeError, match=r"v\[0\] is nan"):
        exact.conjugate(TopK(1), [math.nan, 0], 0)
    with pytest.raises(TypeError, match="parameter"):
        exact.lmo_value(WeightedTopK((1, 0.1)), [0, 0], 0)
    # equal to weights that were accepted before, and refused all the same
    assert exact.lmo_value(WeightedTopK((1, 0)), [0, 1], 0) == -1
    with pytest.raises(TypeError, match="parameter"):
        exact.lmo_value(WeightedTopK((1.0, 0.0)), [0, 1], 0)
    assert exact.value(TopK(1), np.array([0, 2]), 0) == 3


@given(st.integers(0, 2**32 - 1))
def test_simplex_agrees_with_highs(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 5), rng.integers(1, 8)
    A = rng.integers(-2, 3, size=(rows, columns))
    A[0] = 1  # bounded
    b = rng.integers(-1, 4, size=rows)
    cost = rng.integers(-3, 4, size=columns)
    least = minimise(cost.tolist(), A.tolist(), b.tolist())
    floats = linprog(cost, A_eq=A, b_eq=b, method="highs")
    assert (least is None) == (floats.status == 2)
    assume(least is not None)
    assert float(least) == pytest.approx(floats.fun, abs=1e-9)


def test_simplex_survives_degeneracy_and_redundancy():
    # Beale's cycling example in standard form, and a repeated equation
    A = [[1, 0, 0, F(1, 4), -8, -1, 9], [0, 1, 0, F(1, 2), -12, F(-1, 2), 3], [0, 0, 1, 0, 0, 1, 0]]
    assert minimise([0, 0, 0, F(-3, 4), 20, F(-1, 2), 6], A, [0, 0, 1]) == F(-5, 4)
    assert minimise([1, 2], [[1, 1], [2, 2]], [1, 2]) == 1
    with pytest.raises(ArithmeticError, match="unbounded"):
        minimise([-1, 0], [[1, -1]], [0])
