"""Thresholds by their definitions, and the level above which a further negative raises them."""

import numpy as np
import pytest

from fwlab.operators.sums import UNDERFLOW, UNIT, gamma
from fwlab.ranking import PatMat, TopPushK
from fwlab.ranking.surrogates import Surrogate
from fwlab.ranking.thresholds import MeanOfLargest, SurrogateQuantile

SCORES = np.random.default_rng(0).normal(size=20)


@pytest.mark.parametrize("surrogate", ["hinge", "quadratic"])
@pytest.mark.parametrize("theta2", [None, 0.3, 2.5])
def test_the_quantile_has_a_scale_of_its_own(surrogate, theta2):
    objective = PatMat(0.2, surrogate, theta=1.5, theta2=theta2)
    t = objective.threshold(5, 20).value(SCORES)
    inside = np.maximum(0.0, 1 + (1.5 if theta2 is None else theta2) * (SCORES - t))
    total = inside.sum() if surrogate == "hinge" else (inside**2).sum()
    assert total == pytest.approx(0.2 * 25)
    assert objective.loss.theta == 1.5


@pytest.mark.parametrize(
    "objective",
    [TopPushK(1), TopPushK(4), PatMat(0.2, "hinge", 0.7), PatMat(0.2, theta2=0.4)],
    ids=repr,
)
def test_one_more_negative_raises_the_threshold_above_the_level(objective):
    rule = objective.threshold(5, 20)
    level, t = rule.level(SCORES), rule.value(SCORES)
    assert rule.value(np.append(SCORES, level + 0.01)) > t + 1e-6
    assert rule.value(np.append(SCORES, level - 0.01)) == pytest.approx(t, abs=1e-12)


@pytest.mark.small
def test_the_rounding_of_a_mean_by_hand():
    """The largest of -3, -8, -4, -20 have sizes of mean 5; K + 4 operations round."""
    rule = MeanOfLargest(3)
    assert rule._rounding(np.array([-3.0, -20.0, -8.0, -4.0])) == gamma(7) * 5.0 + UNDERFLOW


@pytest.mark.small
@pytest.mark.parametrize(
    ("surrogate", "total", "error"), [("hinge", 11, 44), ("quadratic", 59, 649)]
)
def test_the_error_of_the_equation_by_hand(surrogate, total, error):
    """1, 3 and 7 round by 4 u of themselves, squares by 11 u; an entry -19 counts for nothing."""
    rule = SurrogateQuantile(Surrogate(surrogate, 2.0), 2.0)
    excess, found = rule._excess(np.array([1.0, 2.0, 4.0, -9.0]), 1.0)
    assert excess == total - 2
    expected = 1.01 * (error * UNIT + gamma(8) * total) + 4 * UNIT * (total + 2)
    assert found == pytest.approx(expected, rel=1e-12, abs=0)
