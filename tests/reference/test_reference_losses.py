"""The three shapes of every loss agree with each other and with brute force."""

import math
from fractions import Fraction as F
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from reference_cases import exact_cases, float_cases, grid_losses

from reference import (
    MaxHinge,
    PseudoTopK,
    StructuredHinge,
    TopK,
    Usunier,
    WeightedTopK,
    WeightedUsunier,
)
from reference.epigraph import epigraph
from reference.polytope import solve


def brute_force(loss, h, y):
    """Return the loss by trying subsets, permutations and truncations of the margins h."""
    m = len(h)
    others = [h_j for j, h_j in enumerate(h) if j != y]
    match loss:
        case MaxHinge():
            return max([0, *others])
        case TopK(k):
            return max([0, *[sum(chosen) / F(k) for chosen in combinations(h, k)]])
        case PseudoTopK(k):
            return max([0, *[sum(chosen) / F(k) for chosen in combinations(others, k)]])
        case Usunier(k):
            return max(sum(max(x, 0) for x in chosen) / F(k) for chosen in combinations(h, k))
        case WeightedTopK(rho):
            padded = [*rho, *[0] * (m - len(rho))]
            return max(
                [0, *[sum(map(F.__mul__, order, map(F, padded))) for order in permutations(h)]]
            )
        case WeightedUsunier(rho):
            padded = [F(r) for r in (*rho, *[0] * (m - len(rho)))]
            return max(
                sum(keep * r * x for keep, r, x in zip(kept, padded, order, strict=True))
                for order in permutations(h)
                for kept in product((0, 1), repeat=m)
            )


@given(exact_cases(largest=4))
def test_value_is_the_best_of_all_choices(case):
    loss, scores, y = case
    margins = [d + s - scores[y] for d, s in zip(loss.delta(len(scores), y), scores, strict=True)]
    assert loss.value(scores, y) == brute_force(loss, margins, y)


def best_weighting(loss, h, y):
    weightings = loss.weightings(len(h), y)
    return max(sum(b * h_j for b, h_j in zip(beta, h, strict=True)) for beta in weightings)


def least_t(loss, s, y, centred):
    """Return the least t over the rows of the epigraph at the scores s."""
    form = epigraph(loss, len(s), y, centred)
    cost = np.concatenate([[1.0], np.zeros(form.R.shape[1])])
    rows = np.column_stack([form.T, form.R])
    return solve(cost, A_ub=rows, b_ub=form.q - form.S @ s, bounds=(None, None)).fun


@given(exact_cases())
def test_weightings_attain_the_value(case):
    """At any vector, margins or not: phi has a margin other than 0 for the true class."""
    loss, h, y = case
    assert best_weighting(loss, h, y) == loss.of_margins(h, y)


@given(float_cases())
def test_rows_describe_the_epigraph(case):
    loss, scores, y = case
    value = float(loss.value(scores, y))
    assert least_t(loss, scores, y, centred=True) == pytest.approx(value, abs=1e-8)
    margins = scores + np.array(loss.delta(len(scores), y), dtype=float)
    value = float(loss.of_margins(margins.tolist(), y))
    assert least_t(loss, scores, y, centred=False) == pytest.approx(value, abs=1e-8)


@pytest.mark.turns
@pytest.mark.parametrize("loss", grid_losses(4), ids=str)
def test_every_loss_has_the_same_three_shapes(loss):
    rng = np.random.default_rng(0)
    for y in range(4):
        for h in [[3, 4, 5, 6], *rng.integers(-3, 6, size=(5, 4)).tolist()]:
            value = loss.of_margins(h, y)
            assert best_weighting(loss, h, y) == value
            scores = np.array(h, dtype=float) - np.array(loss.delta(4, y), dtype=float)
            assert least_t(loss, scores, y, centred=False) == pytest.approx(float(value), abs=1e-8)


@given(exact_cases())
def test_recession_is_the_slope_far_out(case):
    loss, direction, y = case
    # an affine piece that wins at 0 and one that wins far out differ by at most a constant
    far = 10**6
    slope = loss.value([far * g for g in direction], y) / F(far)
    assert abs(slope - loss.recession(direction, y)) <= F(1, 1000)


def test_values_by_hand():
    scores = [1, 0, 2, -3]  # with y = 0 the margins are 0, 0, 2, -3
    assert MaxHinge().value(scores, 0) == 2
    assert TopK(2).value(scores, 0) == 1
    assert TopK(4).value(scores, 0) == 0
    assert PseudoTopK(3).value(scores, 0) == 0
    assert PseudoTopK(2).value(scores, 0) == 1
    assert Usunier(4).value(scores, 0) == F(1, 2)
    assert WeightedTopK((3, 2, 1, 1)).value(scores, 0) == 3
    assert WeightedUsunier((3, 2, 1, 1)).value(scores, 0) == 6
    own = StructuredHinge(((0, 9, 9, 9), (0, 5, 1, 1)), per_sample=True)
    assert own.for_sample(1).value(scores, 0) == 4
    assert MaxHinge().for_sample(1) == MaxHinge()


@pytest.mark.parametrize("loss", grid_losses(4), ids=str)
def test_the_true_score_alone_is_no_loss_and_moves_with_all_scores(loss):
    assert loss.value([0, 0, 100, 0], 2) == 0
    assert loss.value([5, 6, 4, 7], 1) == loss.value([-5, -4, -6, -3], 1)


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("k is 0", lambda: TopK(0).value([1, 2], 0)),
        ("k is 2; it must lie in", lambda: PseudoTopK(2).value([1, 2], 0)),
        ("non-increasing", lambda: WeightedTopK((1, 2))),
        ("non-negative", lambda: WeightedUsunier((1, -1))),
        ("non-negative", lambda: WeightedUsunier((1, math.nan))),
        ("at most 2", lambda: WeightedTopK((1, 1, 1)).value([0, 0], 0)),
        ("negative", lambda: StructuredHinge(((0, -1), (1, 0)))),
        ("with a 0 at 1", lambda: StructuredHinge(((0, 1), (1, 1))).value([0, 0], 1)),
        ("for_sample", lambda: StructuredHinge(((0, 1), (0, 2)), True).value([0, 0], 0)),
    ],
)
def test_bad_parameters_are_refused(said, refused):
    with pytest.raises(ValueError, match=said):
        refused()
