"""A user's own file: .npz, .csv and LIBSVM, and one clear sentence for each defect."""

import bz2

import numpy as np
import pytest
from scipy import sparse

from fwlab import datasets

X = np.array([[1.0, 0.0, 2.5], [0.0, 0.0, 0.0], [-1.0, 3.0, 0.0], [0.5, 0.0, 0.0]])
WORDS = np.array(["pear", "apple", "pear", "fig"])


def save(tmp_path, **arrays):
    path = tmp_path / "own.npz"
    np.savez(path, **arrays)
    return path


def write(tmp_path, text, name="own.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def csr_arrays(matrix, prefix="X"):
    matrix = sparse.csr_array(matrix)
    pieces = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return {f"{prefix}_{k}": v for k, v in (pieces | {"shape": np.array(matrix.shape)}).items()}


def test_npz_with_one_part(tmp_path):
    path = save(tmp_path, X=X.astype(np.float32), y=WORDS)
    data = datasets.load(path)
    assert np.array_equal(data.X_train, X) and data.X_train.dtype == np.float64
    assert data.y_train.tolist() == [2, 0, 2, 1] and data.y_train.dtype == np.int64
    assert data.classes == ("apple", "fig", "pear")
    assert data.X_valid is data.y_valid is data.X_test is data.y_test is None
    assert data.name == "own.npz" and data.source == str(path) and len(data.sha256) == 64
    assert data.normalize is None


def test_npz_with_three_parts_counts_the_classes_of_all(tmp_path):
    path = save(
        tmp_path, X_train=X, y_train=[3, 1, 3, 1], X_valid=X[:2], y_valid=[1, 3], X_test=X[:1],
        y_test=[2],
    )  # fmt: skip
    data = datasets.read_file(path, normalize="unit")
    assert data.classes == (1, 2, 3) and data.normalize == "unit"
    assert data.y_train.tolist() == [2, 0, 2, 0]
    assert data.y_valid.tolist() == [0, 2] and data.y_test.tolist() == [1]
    assert np.linalg.norm(data.X_train, axis=1) == pytest.approx([1, 0, 1, 1])
    assert np.array_equal(data.X_test, data.X_train[:1])


def test_npz_with_csr_parts(tmp_path):
    path = save(
        tmp_path, **csr_arrays(X, "X_train"), y_train=WORDS, **csr_arrays(X[:2], "X_test"),
        y_test=WORDS[:2],
    )  # fmt: skip
    data = datasets.read_file(str(path))
    for found, expected in ((data.X_train, X), (data.X_test, X[:2])):
        assert found.format == "csr" and found.dtype == np.float64
        assert np.array_equal(found.toarray(), expected)
    with pytest.raises(ValueError, match="destroy their sparsity"):
        datasets.read_file(path, normalize="standard")


def test_csr_with_repeated_unsorted_indices_is_summed(tmp_path):
    path = save(
        tmp_path, X_data=[1, 2, 3, 4], X_indices=[1, 0, 1, 0], X_indptr=[0, 3, 4], X_shape=[2, 2],
        y=[0, 1],
    )  # fmt: skip
    data = datasets.read_file(path, normalize="unit")
    assert data.X_train.toarray() == pytest.approx(np.array([[2, 4], [4, 0]]) / [[20**0.5], [4]])


@pytest.mark.parametrize(
    ("text", "X", "labels"),
    [
        ("1,2,a\n3,4,b\n", [[1, 2], [3, 4]], ["a", "b"]),
        ("p,q,kind\n1,2,a\n\n3,4,b\n", [[1, 2], [3, 4]], ["a", "b"]),
        ("p, Class ,q\n1,a,2\n3,b,4\n", [[1, 2], [3, 4]], ["a", "b"]),
        ("label,0,1\n1,1,2\n-1,3,4\n", [[1, 2], [3, 4]], [1, -1]),
        ("\ufeffy,p\n1.0,2\n2.0,3\n", [[2], [3]], [1, 2]),
        ("0,1,y\n1,2,a\n3,4,b\n", [[1, 2], [3, 4]], ["a", "b"]),
        ("y,0,1\ny,1,2\nn,3,4\n", [[1, 2], [3, 4]], ["y", "n"]),
        ("0,1,y\n1,2,n\n3,4,y\n", [[0, 1], [1, 2], [3, 4]], ["y", "n", "y"]),
        ('1,"a, b"\n2,c\n', [[1], [2]], ["a, b", "c"]),
        ("1,1_0\n2,10\n", [[1], [2]], ["1_0", "10"]),
        ("1,2\r\n1e2,5.0\r\n", [[1], [100]], [2, 5]),
        ("p;y\n1.5;a\n2;b\n", [[1.5], [2]], ["a", "b"]),
        ("\n1\t2\ta,b\n3\t4\tc\n", [[1, 2], [3, 4]], ["a,b", "c"]),
        ('1,"a;b;c"\n2,d\n', [[1], [2]], ["a;b;c", "d"]),
        ("\ufeffclass\tp\n1\t2\n2\t3\n", [[2], [3]], [1, 2]),
        ("1,2,a;b\n3,4,c\n", [[1, 2], [3, 4]], ["a;b", "c"]),
    ],
)
def test_csv_headers_and_labels(tmp_path, text, X, labels):
    data = datasets.read_file(write(tmp_path, text))
    assert data.X_train.tolist() == X
    assert [data.classes[j] for j in data.y_train] == labels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "own.csv' is empty"),
        ("\n \n", "own.csv' is empty"),
        ("1\n2\n", "must hold a label column .* between them; line 1 is '1'"),
        ("p q y\n1 2 a\n", "a semicolon or a tab between them; line 1 is 'p q y'"),
        ("p,q,y\n", "holds a header and no rows"),
        ("1,2,a\n3,b\n", "line 2: 2 cells where the first has 3"),
        ("1,2,a\n\n3,4,b\n5,6,7,8\n", "line 4: 4 cells where the first has 3"),
        ("p,q,y\n1,x,a\n3,4,b\n", "line 2, column 2: 'x' is not a finite number"),
        ("1,x,a\n3,4,b\n", "line 1, column 2: 'x' is not a finite number"),
        ("y,p,q\na,1,x\nb,2,3\n", "line 2, column 3: 'x' is not a finite number"),
        ("y,p,q\n0,1,2\n1,2,\n", "line 3, column 3: '' is not .*; fill in missing values"),
        ("p,q,r\n1,NA,a\n", "line 2, column 2: 'NA' is not .*, or remove their rows"),
        ('p,r\n"1,234.5",a\n', "'1,234.5' is not .*; write numbers with a decimal point"),
        ("p,q,r\n1,a,2\n", "if column 2 is the label, move it to the end, or name it y, label"),
        ("1,2,a\n3,nan,b\n", "line 2, column 2: 'nan' is not a finite number"),
        ("1,2,a\n-inf,3,b\n", "line 2, column 1: '-inf' is not a finite number"),
        ("1,2,a\n3,1_0,b\n", "line 2, column 2: '1_0' is not a finite number"),
        ("1,2,a\n3,4,\n", "line 2: the label is empty"),
        ("1;2,5;a\n3;4,5;b\n", "line 2, column 2: '4,5' .*; write numbers with a decimal point"),
        (
            "T,2,8\nI,5,12\n",
            "column 1: 'I' is not .*, or if column 1 is the label, move it to the end",
        ),
        ("kind,a,b\nT,2,8\nI,5,12\n", "'T' is not .*, or name it y, label or class in a header"),
        (
            "kind,a,y\nT,2,8\nI,5,12\n",
            "'T' is not .*, and encode categories as numbers.$",
        ),
        ("1,2,0\n3,nan,1.5\n", "line 2, column 2: 'nan' is not a finite number"),
        ("1,2\n3,nan\n", "line 2: the label is 'nan', which stands for a missing one"),
        ("y,class,p\n1,2,3\n", "the header must name one label column; it names columns 1, 2"),
        (",p,y\n0,1,2\n1,2,3\n", "the header has no name for column 1"),
        ("1,2,a\n3,4,a\n", "y of part train must hold at least two classes"),
    ],
)
def test_csv_refuses(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=message) as caught:
        datasets.read_file(path)
    assert "own.csv" in str(caught.value)


NOT_LAST = "the label seems to be in column 1, which holds 3 different whole numbers"
DRAWN = np.random.default_rng(0)
THREE = np.arange(90) % 3
TARGETS = {
    "fractions": (DRAWN.standard_normal(90), "not in the last one, which holds fractions"),
    "one number": (np.zeros(90, dtype=int), "which holds 1 different numbers"),
    "prices": (DRAWN.permutation(90) * 1000, "which holds 90 different numbers"),
}


@pytest.mark.parametrize("header", ["", "kind,a,b\n"])
@pytest.mark.parametrize(("last", "message"), TARGETS.values(), ids=TARGETS)
def test_a_csv_with_its_label_first_is_named_as_such(tmp_path, header, last, message):
    rows = [f"{y},{x},{z}" for y, x, z in zip(THREE, DRAWN.random(90), last, strict=True)]
    path = write(tmp_path, header + "\n".join(rows))
    with pytest.raises(ValueError, match=f"{NOT_LAST}, .*{message}; move it .*, or name it y"):
        datasets.read_file(path)
    named = write(tmp_path, "class,a,b\n" + "\n".join(rows))
    assert datasets.read_file(named).n_classes == 3


@pytest.mark.parametrize("first", ["7", "1.5", "many"])
def test_targets_of_a_regression_are_refused(tmp_path, first):
    """Whatever the first column holds, 500 different numbers are no 500 classes."""
    start = [str(i) if first == "many" else first for i in range(500)]
    for last in (DRAWN.standard_normal(500), DRAWN.permutation(500)):
        rows = [f"{a},{b}" for a, b in zip(start, last, strict=True)]
        path = write(tmp_path, "\n".join(rows))
        with pytest.raises(ValueError, match=r"y (of part train )?must hold class labels"):
            datasets.read_file(path)
        save(tmp_path, X=np.ones((500, 2)), y=last)
        with pytest.raises(
            ValueError, match=r"own.npz.* y (of part train )?must hold class labels"
        ):
            datasets.read_file(tmp_path / "own.npz")
        rows = [f"{b} 1:2" for b in last]
        with pytest.raises(ValueError, match=r"y (of part train )?must hold class labels"):
            datasets.read_file(write(tmp_path, "\n".join(rows), "own.svm"))


def test_many_classes_of_two_samples_are_classes(tmp_path):
    labels = np.repeat(np.arange(250), 2)
    path = save(tmp_path, X=np.ones((500, 2)), y=labels)
    assert datasets.read_file(path).n_classes == 250


def test_tab_separated_values_have_an_ending_of_their_own(tmp_path):
    data = datasets.load(write(tmp_path, "p\tlabel\n1\ta\n2\tb\n", "own.tsv"))
    assert data.feature_names == ("p",) and data.classes == ("a", "b")


def test_csv_of_another_encoding(tmp_path):
    path = tmp_path / "own.csv"
    path.write_bytes(b"1,caf\xe9\n2,tea\n")
    with pytest.raises(ValueError, match="csv file; save it as UTF-8"):
        datasets.read_file(path)


@pytest.mark.parametrize("name", ["own.svm", "own.libsvm", "own.txt", "own.SCALE", "own.svm.bz2"])
def test_libsvm_endings(tmp_path, name):
    text = b"2 1:1 3:2.5 # first\n-1\n2 1:-1 2:3\n5 1:0.5\n"
    (tmp_path / name).write_bytes(bz2.compress(text) if name.endswith("bz2") else text)
    data = datasets.load(str(tmp_path / name), normalize=None)
    assert data.X_train.format == "csr" and np.array_equal(data.X_train.toarray(), X)
    assert data.X_train.indices.dtype == np.int32
    assert data.classes == (-1, 2, 5) and data.y_train.tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"must be \(n, d\) with n, d >= 1; got shape \(0, 0\)"),
        ("1 1:2\n2 1:x\n", "line 2 is not in LIBSVM format"),
        ("1 1:2\na 1:3\n", "line 2 is not in LIBSVM format"),
        ("1 1:2\n\n2 3\n", "line 3 is not in LIBSVM format"),
        ("1 qid:3 1:2\n2 qid:3 1:x\n", "line 2 is not in LIBSVM format"),
        ("1 2:2 1:3\n2 1:1\n", "line 1 is not in LIBSVM format"),
        ("1 1:2\n2 -1:1\n", "line 2 is not in LIBSVM format"),
        ("1 1:2\n2 99999999999:1\n", "line 2 is not in LIBSVM format"),
        ("1 1:2\n2 3:nan\n", "X of part train must be finite; row 1 holds NaN or infinity"),
        ("1 1:2\nnan 3:1\n", "y must hold class labels, .* got the number nan"),
        ("1 1:2\n1 3:1\n", "y of part train must hold at least two classes"),
    ],
)
def test_libsvm_refuses(tmp_path, text, message):
    path = write(tmp_path, text, "own.svm")
    with pytest.raises(ValueError, match=message) as caught:
        datasets.read_file(path)
    assert "own.svm" in str(caught.value)


@pytest.mark.parametrize("content", [b"not bzip2", bz2.compress(b"1 1:2\n" * 99)[:-9]])
def test_libsvm_with_a_damaged_archive(tmp_path, content):
    path = tmp_path / "own.bz2"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"own\.bz2' is not in LIBSVM format"):
        datasets.read_file(path)


def bad(matrix, value):
    matrix = matrix.copy()
    matrix[2, 1] = value
    return matrix


Y = [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "must hold arrays X and y, or X_train and y_train; it holds none"),
        ({"data": X, "y": Y}, "must hold arrays X and y.*; it holds data, y"),
        ({"X": X}, "holds no array 'y'"),
        ({"X_train": X, "y_train": Y, "X_test": X}, "holds no array 'y_test'"),
        ({"X_test": X, "y_test": Y}, "must hold arrays X and y"),
        ({"X": X, "y": Y[:3]}, "part train has 4 rows in X and 3 in y"),
        ({"X": X[0], "y": Y}, r"must be \(n, d\) with n, d >= 1; got shape \(3,\)"),
        ({"X": X[:0], "y": []}, r"got shape \(0, 3\)"),
        ({"X": X[:, :0], "y": Y}, r"got shape \(4, 0\)"),
        ({"X": bad(X, np.nan), "y": Y}, "must be finite; row 2 holds NaN or infinity"),
        ({"X": bad(X, np.inf), "y": Y}, "must be finite; row 2 holds NaN or infinity"),
        (csr_arrays(bad(X, np.inf)) | {"y": Y}, "must be finite; row 2 holds NaN or infinity"),
        ({"X": X.astype(complex), "y": Y}, "must hold real numbers; got type complex128"),
        ({"X": X.astype(str), "y": Y}, "must hold real numbers; got type <U"),
        ({"X": X.astype(object), "y": Y}, r"the array 'X' holds Python objects.* X.astype\(float"),
        (
            {"X": X, "y": WORDS.astype(object)},
            r"the array 'y' holds Python objects.*y.astype\(str\)",
        ),
        ({"X": X, "y": [0, 1, 0.5, 1]}, "y must hold class labels, .* got the number 0.5"),
        ({"X": X, "y": [[0], [1], [0], [1]]}, r"y of part train must be 1-D .*shape \(4, 1\)"),
        ({"X": X, "y": np.array(Y) + 0j}, "y of part train must be 1-D .*complex128"),
        ({"X": X, "y": [0, 1, np.nan, 1]}, "y must hold class labels, .* got the number nan"),
        ({"X": X, "y": [1, 1, 1, 1]}, "y of part train must hold at least two classes"),
        (
            {"X_train": X, "y_train": [1] * 4, "X_test": X, "y_test": Y},
            "y of part train must hold at least two classes",
        ),
        (
            {"X_train": X, "y_train": Y, "X_test": X[:, :2], "y_test": Y},
            "part test has 2 features where part train has 3",
        ),
        (
            {"X_train": X, "y_train": Y, "X_test": X, "y_test": WORDS},
            "y must hold strings in every part or numbers in every part",
        ),
        (csr_arrays(X) | {"X_indices": np.array([0, 2, 0, 9, 0]), "y": Y}, "not a valid CSR"),
        (csr_arrays(X) | {"X_indptr": np.array([0, 9]), "y": Y}, "not a valid CSR"),
        (csr_arrays(X) | {"X_shape": np.array(4), "y": Y}, "not a valid CSR"),
        (csr_arrays(X) | {"X_data": np.array(["a"] * 5), "y": Y}, "must hold real numbers"),
        ({"X_data": X, "y": Y}, "holds no array 'X_indices'"),
    ],
)
def test_npz_refuses(tmp_path, arrays, message):
    path = save(tmp_path, **arrays)
    with pytest.raises(ValueError, match=message) as caught:
        datasets.read_file(path)
    assert "own.npz" in str(caught.value)


def test_npz_that_is_none(tmp_path):
    path = tmp_path / "own.npz"
    np.savez(path, X=X, y=Y)
    whole = path.read_bytes()
    place, directory = whole.index(X.tobytes()), whole.index(b"PK\x01\x02")
    flipped = whole[:place] + b"?" + whole[place + 1 :]
    no_directory = whole[:directory] + b"??" + whole[directory + 2 :]
    pickled = b"\x80\x04junk"
    for content in (b"", b"text", pickled, whole[:-30], flipped, no_directory, pickled + flipped):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"own\.npz'") as caught:
            datasets.read_file(path)
        assert "allow_pickle" not in str(caught.value)


def test_unknown_ending_missing_file_and_wrong_type(tmp_path):
    with pytest.raises(
        ValueError, match=r"path must end in one of \.npz, \.csv, .*; got '.*own\.mat'"
    ):
        datasets.read_file(tmp_path / "own.mat")
    existing = write(tmp_path, "1,2", "own.dat")
    with pytest.raises(ValueError, match="path must end in one of"):
        datasets.load(existing)
    for read in (datasets.load, datasets.read_file):
        with pytest.raises(FileNotFoundError, match=r"path '.*none\.csv' is not an existing file"):
            read(tmp_path / "none.csv")
    with pytest.raises(TypeError, match="path must be a string or a path; got int"):
        datasets.read_file(3)


def test_options_are_refused_before_the_file_is_read(tmp_path):
    with pytest.raises(ValueError, match="normalize must be None, 'unit' or 'standard'; got 'l1'"):
        datasets.read_file(tmp_path / "none.csv", normalize="l1")
    with pytest.raises(ValueError, match="destroy their sparsity"):
        datasets.read_file(tmp_path / "none.svm", normalize="standard")


def test_standard_features_of_a_csv(tmp_path):
    data = datasets.load(write(tmp_path, "1,5,a\n3,5,b\n"), normalize="standard")
    assert data.X_train.tolist() == [[-1, 0], [1, 0]] and data.normalize == "standard"
