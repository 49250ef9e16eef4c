"""LIBSVM's format: where indices begin, and what is no number there."""

import bz2

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from fwlab import datasets

X = np.array([[1.0, 0.0, 2.5], [0.0, 4.0, 0.0], [-1.0, 3.0, 0.0], [0.5, 0.0, 0.0]])
Y = [1, 2, 1, 2]


@pytest.mark.parametrize("ending", ["svm", "txt", "bz2"])
@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("given", [True, False])
def test_the_base_of_a_file_is_known(tmp_path, ending, zero_based, given):
    path = tmp_path / f"own.{ending}"
    dump_svmlight_file(X, Y, str(path), zero_based=zero_based)
    if ending == "bz2":
        path.write_bytes(bz2.compress(path.read_bytes()))
    base = 0 if zero_based else 1
    data = datasets.load(path, index_base=np.int64(base) if given else None)
    assert (
        data.index_base == base
        and type(data.index_base) is int
        and np.array_equal(data.X_train.toarray(), X)
    )


def test_a_file_that_leaves_out_its_first_feature(tmp_path):
    path = tmp_path / "own.svm"
    path.write_text("1 3:0.5\n2 5:0.25\n")
    assert datasets.read_file(path).X_train.toarray().tolist() == [
        [0, 0, 0.5, 0, 0],
        [0] * 4 + [0.25],
    ]
    dump_svmlight_file(X[:, [1, 0, 2]] * [0, 1, 1], Y, str(path), zero_based=True)
    assert datasets.read_file(path).X_train.shape == (4, 2)
    data = datasets.read_file(path, index_base=0)
    assert np.array_equal(data.X_train.toarray(), X[:, [1, 0, 2]] * [0, 1, 1])


@pytest.mark.parametrize(
    ("name", "base", "message"),
    [
        ("own.svm", 1, r"index_base must be 0 for '.*own\.svm', which has index 0; got 1"),
        ("own.svm", 2, "index_base must be 0 or 1; got 2"),
        ("own.svm", 1.0, r"index_base must be 0 or 1; got 1\.0"),
        ("own.svm", True, "index_base must be 0 or 1; got True"),
        ("own.svm", [1], r"index_base must be 0 or 1; got \[1\]"),
        ("own.svm", "0", "index_base must be 0 or 1; got '0'"),
        ("own.csv", 0, r"index_base is for files in LIBSVM's format; got it for '.*own\.csv'"),
        ("digits", 0, "index_base is for files in LIBSVM's format; got it for 'digits'"),
    ],
)
def test_a_wrong_base_is_refused(tmp_path, name, base, message):
    dump_svmlight_file(X, Y, str(tmp_path / "own.svm"), zero_based=True)
    (tmp_path / "own.csv").write_text("1,2,a\n3,4,b\n")
    with pytest.raises(ValueError, match=message):
        datasets.load(name if name == "digits" else tmp_path / name, index_base=base)


@pytest.mark.parametrize(
    "text", ["1 1:1_0\n2 2:3\n", "1_0 1:1\n2 2:3\n", "1 1_0:1\n2 2:3\n", "1 qid:1_0 1:1\n2 2:3\n"]
)
def test_an_underscore_is_no_digit(tmp_path, text):
    (tmp_path / "own.svm").write_text(text)
    with pytest.raises(ValueError, match=r"own\.svm', line 1 is not in LIBSVM format \(a number"):
        datasets.read_file(tmp_path / "own.svm")


@pytest.mark.parametrize(
    "text",
    ["\ufeff1 1:10\n2 2:3\n", "# 1_0\n1 1:10 # 1_0\n\n2 qid:3 2:3\n", "1 1:10\r\n2\t+2:3\r\n"],
)
def test_marks_comments_and_blanks_change_nothing(tmp_path, text):
    (tmp_path / "own.svm").write_bytes(text.encode())
    data = datasets.read_file(tmp_path / "own.svm")
    assert data.X_train.toarray().tolist() == [[10, 0], [0, 3]] and data.classes == (1, 2)


@pytest.mark.parametrize("pieces", [{"indices": [0.9, 1.9]}, {"indptr": [0, 0.5, 2]},
                                    {"indices": [0, np.nan]}, {"indices": ["0", "1"]},
                                    {"indices": [0, 1e300]}, {"shape": [2.5, 2]}])  # fmt: skip
def test_indices_of_an_npz_are_whole_numbers(tmp_path, pieces):
    matrix = {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2], "shape": [2, 2]} | pieces
    np.savez(tmp_path / "own.npz", **{f"X_{n}": piece for n, piece in matrix.items()}, y=[0, 1])
    [name] = pieces
    with pytest.raises(ValueError, match=rf"own\.npz': X_{name} must hold whole numbers"):
        datasets.read_file(tmp_path / "own.npz")


def test_whole_indices_may_be_floats(tmp_path):
    matrix = {"indices": [1.0, 0.0], "indptr": [0.0, 1.0, 2.0], "shape": [2.0, 2.0]}
    arrays = {f"X_{name}": piece for name, piece in matrix.items()}
    np.savez(tmp_path / "own.npz", X_data=[1.0, 2.0], **arrays, y=[0, 1])
    found = datasets.read_file(tmp_path / "own.npz").X_train
    assert sparse.issparse(found) and found.toarray().tolist() == [[0, 1], [2, 0]]


def test_bytes_are_text(tmp_path):
    np.savez(tmp_path / "own.npz", X=np.eye(2), y=np.array([b"a", "\u00e9".encode()]))
    assert datasets.read_file(tmp_path / "own.npz").classes == ("a", "\u00e9")
