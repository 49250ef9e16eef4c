"""Any numbers and labels are read as they were written."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwlab import datasets

finite = st.floats(allow_nan=False, allow_infinity=False)
shapes = st.tuples(st.integers(2, 5), st.integers(1, 4))


def may_be_names(row, label):
    """Return whether numbers and a label may be names of columns: they grow in equal steps."""
    numbers = [*row.tolist()] + ([] if isinstance(label, str) else [float(label)])
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(numbers)
        equal = len(steps) > 0 and np.allclose(steps, steps[0], rtol=1e-5, atol=0.0)
    return equal and (len(numbers) > 2 or all(number.is_integer() for number in numbers))


@given(
    arrays(np.float64, shapes, elements=finite),
    st.sampled_from(
        [["b", "a", "b c", "é", "y"], [2**60 + 1, 2**60, -1, 7, 0], [4.0, 2.0, -1.0, 1e18, 3]]
    ),
    st.booleans(),
)
def test_csv_holds_what_was_written(X, labels, header):
    n, d = X.shape
    labels = labels[:n]
    assume(header or not may_be_names(X[0], labels[0]))
    rows = [[*map(repr, row.tolist()), str(label)] for row, label in zip(X, labels, strict=True)]
    if header:
        rows.insert(0, [*(str(j) for j in range(d)), "label"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.csv")
        path.write_text("\n".join(map(",".join, rows)), encoding="utf-8")
        data = datasets.read_file(path)
    assert np.array_equal(data.X_train, X)
    assert [data.classes[j] for j in data.y_train] == labels
    assert list(data.classes) == sorted(labels)


@given(arrays(np.float64, shapes, elements=finite))
def test_libsvm_holds_what_was_written(X):
    lines = [
        f"{i} " + " ".join(f"{j}:{value!r}" for j, value in enumerate(row))
        for i, row in enumerate(X.tolist())
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.svm")
        path.write_text("\n".join(lines), encoding="utf-8")
        data = datasets.read_file(path)
    assert np.array_equal(data.X_train.toarray(), X)
    assert data.y_train.tolist() == list(range(len(X)))
