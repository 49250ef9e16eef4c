"""M20's figures: the choice on the validation part, curves, densities and cuts."""

import numpy as np
import pytest

from figures.macha2020 import fits as macha
from fwlab.metrics import precision_at_recall

pytestmark = pytest.mark.small


def test_the_validation_part_chooses():
    values = {
        macha.cell_name("x", "raw", "TopPush", "rbf", sigma, C): {
            "valid": [50.0, 10.0 * sigma - C],
            "test": [C, sigma],
        }
        for sigma in (0.01, 0.05)
        for C in macha.CS
    }
    best = macha.chosen(values, "x", "raw", "TopPush", "rbf", "standard")
    assert best["test"] == [0.1, 0.05]
    best = macha.chosen(values, "x", "raw", "TopPush", "rbf", "standard", (0.01,))
    assert best["test"] == [0.1, 0.01]


def test_the_curve_is_the_precision_at_its_recalls():
    rng = np.random.default_rng(0)
    scores, positive = rng.integers(0, 20, 60).astype(float), rng.random(60) < 0.4
    found = macha.curve(positive, scores)
    for recall, precision in zip(found["recall"], found["precision"], strict=True):
        expected = precision_at_recall(positive.astype(int), scores, recall)
        assert precision == pytest.approx(expected)
    assert found["recall"][-1] == 1.0


def test_both_densities_have_area_one():
    rng = np.random.default_rng(0)
    positive = np.arange(300) % 3 == 0
    found = macha.densities(positive, rng.standard_normal(300) + 2 * positive)
    for name in ("positive", "negative"):
        assert np.trapezoid(found[name], found["score"]) == pytest.approx(1, abs=0.02)


def test_the_parts_of_a_set_without_validation_rows_are_disjoint():
    data = macha.source(macha.DIGITS, "raw", "quick")
    found, whole = macha.parts(data), data.load()
    rows = np.vstack([found["train"].X, found["valid"].X])
    assert len(found["valid"].X) == len(whole.y_train) // 6
    share = whole.y_train.tolist().count(8) / 6
    assert abs(found["valid"].positive.sum() - share) < 1
    assert sorted(map(tuple, rows)) == sorted(map(tuple, whole.X_train))
    assert found["test"].positive.sum() == (whole.y_test == 8).sum()


def test_a_stored_linear_kernel_matrix_changes_nothing(monkeypatch):
    data = macha.source(macha.DIGITS, "raw", "quick")
    arguments = (data, macha.MACHINES["TopPush"], "linear", None, 1.0, 100)
    stored = macha.fit_by_loops(*arguments)
    monkeypatch.setattr(macha, "MOST_STORED", 0)
    plain = macha.fit_by_loops(*arguments)
    assert stored["gap"] == pytest.approx(plain["gap"], rel=1e-6)
    assert stored["test"] == pytest.approx(plain["test"])
