"""Test the overview of a data set: classes, scales and repeated rows, counted by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from fwlab import datasets

X = np.array([[1.0, 0.0, 7.0], [1.0, -0.0, 7.0], [3.0, 2.0, 7.0], [1.0, 0.0, 7.0]])
Y = ["b", "a", "a", "b"]


@pytest.fixture
def data(tmp_path):
    parts = {"X_train": X, "y_train": Y, "X_test": [X[2], X[3] + 1]}
    np.savez(tmp_path / "own.npz", **parts, y_test=["a", "c"])
    return datasets.read_file(tmp_path / "own.npz")


def as_sparse(data):
    explicit = sparse.csr_array(
        (np.array([1.0, 0.0, 7.0]), np.array([0, 1, 2]), np.array([0, 3])), shape=(1, 3)
    )
    X_train = sparse.csr_array(sparse.vstack([explicit, sparse.csr_array(X[1:])]))
    return replace(data, X_train=X_train, X_test=sparse.csr_array(data.X_test))


@pytest.mark.parametrize("kind", [lambda data: data, as_sparse], ids=["dense", "sparse"])
def test_everything_is_counted(data, kind):
    found = datasets.overview(kind(data))
    assert found["classes"] == [
        {"class": "a", "train": 2, "test": 1},
        {"class": "b", "train": 2, "test": 0},
        {"class": "c", "train": 0, "test": 1},
    ]
    assert found["duplicates"] == {"train": 2, "train_with_another_label": 1, "test": 1}
    deviations = X.std(axis=0)
    assert found["features"] == {
        "smallest": 0.0,
        "largest": 7.0,
        "constant": 1,
        "smallest_deviation": pytest.approx(deviations[:2].min()),
        "largest_deviation": pytest.approx(deviations[:2].max()),
    }


def test_constant_features_have_no_deviation(data):
    scales = datasets.overview(replace(data, X_train=np.ones((4, 3))))["features"]
    assert scales["constant"] == 3 and scales["smallest_deviation"] is None


def test_a_data_set_represents_itself_in_a_line(data):
    assert len(repr(data)) < 300 and "n = 4 train + 2 test, d = 3, m = 3" in repr(data)


def test_a_name_is_no_data_set():
    with pytest.raises(TypeError, match=r"what datasets\.load returns; got 'digits'"):
        datasets.overview("digits")
