"""Black-and-white images: what is thresholded, when rows are normalised, and what is stored."""

import numpy as np
import pytest

from figures.kit.pixels import WHITE, BlackAndWhite
from figures.kit.study import Study, describe_data
from fwlab.experiments import Cell, DataName


@pytest.fixture
def grey(tmp_path):
    """A file of pixels 0..255 with 127 and 128 among them, and a black row."""
    path = tmp_path / "pixels.npz"
    X = np.array([[0, 127, 128, 255], [0, 0, 0, 0], [129, 1, 1, 254]], dtype=np.uint8)
    np.savez(path, X_train=X, y_train=[0, 1, 1], X_test=X[:1], y_test=[0])
    return DataName(str(path))


def test_each_pixel_becomes_the_nearer_of_black_and_white(grey):
    found = BlackAndWhite(grey).load()
    white = [[0, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1]]
    assert found.X_train.tolist() == (WHITE * np.array(white)).tolist()
    assert found.X_test.tolist() == (WHITE * np.array(white[:1])).tolist()
    assert found.X_valid is None


def test_rows_are_normalised_after_the_threshold(grey):
    found = BlackAndWhite(DataName(grey.name, "unit")).load()
    half = np.sqrt(0.5)
    expected = [[0, 0, half, half], [0, 0, 0, 0], [half, 0, 0, half]]
    assert found.X_train == pytest.approx(np.array(expected))
    assert found.normalize == "unit"


def total(data):
    return float(data.load().X_train.sum())


def test_a_caption_says_so_and_a_cell_is_stored(grey, tmp_path):
    study = Study("x", "standard", tmp_path / "out")
    study.compute([Cell("sum", total, {"data": BlackAndWhite(grey)})])
    assert study.values == {"sum": 4 * WHITE}
    assert "in black and white" in study.record["data"][0]
    assert len([*(tmp_path / "out" / "cells").iterdir()]) == 1
    rows = BlackAndWhite(DataName("digits", rows=5))
    assert describe_data(rows).endswith("the first 5 rows of each part only")
