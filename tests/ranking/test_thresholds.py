"""Thresholds by their definitions, and the level above which a further negative raises them."""

import numpy as np
import pytest

from fwlab.ranking import PatMat, TopPushK

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
