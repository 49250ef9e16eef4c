"""The top-k accuracy by its definition, and which k and labels it takes."""

from itertools import product

import numpy as np
import pytest

from fwlab.metrics import topk_accuracy, topk_hits

pytestmark = pytest.mark.small
SCORES = np.array(list(product(range(3), repeat=3)), dtype=float)  # all ties of three classes


@pytest.mark.parametrize(("k", "y"), list(product((1, 2, 3), range(3))))
def test_fewer_than_k_other_classes_score_at_least_as_high(k, y):
    expected = [sum(s >= row[y] for s in np.delete(row, y)) < k for row in SCORES]
    assert topk_hits(np.full(27, y), SCORES, k).tolist() == expected
    assert topk_accuracy(np.full(27, y), SCORES, k) == np.mean(expected)


def test_a_label_of_no_class_is_never_among_the_best():
    assert not topk_hits(np.full(27, -1), SCORES, 3).any()


def test_one_sample_of_the_last_of_two_classes():
    assert topk_accuracy([1], [[0.0, 1.0]], 1) == 1.0


@pytest.mark.parametrize(
    ("y", "scores", "k", "sentence"),
    [
        ([0, 2], [[0.0, 1.0], [0.0, 1.0]], 1, r"y must be in 0\.\.1; got 2"),
        ([0], [[0.0, 1.0], [0.0, 1.0]], 1, "y must have 2 entries, one a row of scores; got 1"),
        ([], np.zeros((0, 2)), 1, "y must "),
        ([0], [[0.0, 1.0]], 0, r"k must be in 1\.\.2; got 0"),
        ([0], [[0.0, 1.0]], 3, r"k must be in 1\.\.2; got 3"),
        ([0], [0.0, 1.0], 1, "scores must be 2-D"),
    ],
)
def test_bad_input_gets_one_sentence(y, scores, k, sentence):
    with pytest.raises(ValueError, match=sentence):
        topk_accuracy(y, scores, k)
