"""Precision at a level of recall, against its definition on every threshold."""

from fractions import Fraction

import numpy as np
import pytest

from fwlab.metrics import precision_at_recall

pytestmark = pytest.mark.small


def by_definition(y, scores, recall):
    """Return the precision at the highest score that reaches the recall, in exact numbers."""
    for t in sorted(set(scores), reverse=True):
        found = [label for label, score in zip(y, scores, strict=True) if score >= t]
        if Fraction(sum(found), sum(y)) >= recall:
            return Fraction(sum(found), len(found))
    raise AssertionError("all scores together reach every recall")


@pytest.mark.parametrize("seed", range(20))
def test_it_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    scores, y = rng.integers(0, 8, 30), rng.integers(0, 2, 30)
    y[0] = 1
    for tenth in range(1, 11):
        expected = by_definition(y.tolist(), scores.tolist(), Fraction(tenth, 10))
        assert precision_at_recall(y, scores, tenth / 10) == pytest.approx(float(expected))
        assert precision_at_recall(2 * y - 1, scores, tenth / 10) == pytest.approx(float(expected))


def test_rounding_asks_for_no_positive_more():
    assert 0.07 * 100 > 7
    y = np.array([1] * 7 + [0] * 10 + [1] * 93)
    assert precision_at_recall(y, -np.arange(110), 0.07) == 1.0


def test_the_least_recall_asks_for_one_positive():
    assert precision_at_recall([0, 1, 1], [3.0, 2.0, 1.0], 1e-150) == 0.5


@pytest.mark.parametrize(
    ("y", "scores", "recall", "sentence"),
    [
        ([0, 0], [1.0, 2.0], 0.5, "y must hold at least one positive label; got none"),
        ([0, 2], [1.0, 2.0], 0.5, "y must hold labels 0 and 1, or -1 and \\+1; got 0, 2"),
        ([0, 1], [1.0], 0.5, "y must have 1 labels, one an entry of scores; got 2"),
        ([0, 1], [[1.0, 2.0]], 0.5, "scores must be 1-D"),
        ([0, 1], [1.0, 2.0], 0.0, "recall must be .*got 0.0"),
        ([0, 1], [1.0, 2.0], 1.5, "recall must be at most 1; got 1.5"),
    ],
)
def test_bad_input_gets_one_sentence(y, scores, recall, sentence):
    with pytest.raises(ValueError, match=sentence):
        precision_at_recall(y, scores, recall)
