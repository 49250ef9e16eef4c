"""Named sets, synthetic sets, normalisation and the one-line summary."""

import os
import subprocess
import sys
from math import hypot

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from fwlab import datasets
from fwlab.datasets import named
from fwlab.datasets.files import FILE_SETS, SHA256
from fwlab.datasets.normalize import normalize_parts

needs_data = pytest.mark.skipif(
    not os.environ.get("FWLAB_DATA"), reason="the variable FWLAB_DATA names no folder of data files"
)

# name: (train, valid, test), d, m
SIZES = {
    "digits": ((1347, None, 450), 64, 10),
    "letter": ((15000, None, 5000), 16, 26),
    "news20": ((15935, None, 3995), 62264, 20),
    "news20_svd1024": ((15935, None, 3995), 1024, 20),
    "fashion_mnist": ((60000, None, 10000), 784, 10),
    "caltech101_sil28": ((4100, 2264, 2307), 784, 101),
    "caltech101_sil16_derived": ((4100, 2264, 2307), 256, 101),
    "ionosphere": ((176, 87, 88), 34, 2),
    "spambase": ((2301, 1150, 1150), 57, 2),
    "winequality_red": ((800, 400, 399), 11, 2),
    "winequality_white": ((2449, 1224, 1225), 11, 2),
    "synthetic-a": ((1000, None, None), 4096, 10),
    "synthetic-b": ((15935, None, None), 1024, 20),
}
# The percentages of positives in the train, valid and test part that M20 prints in Table 2.
RATES = {
    "ionosphere": (64.2, 64.4, 63.6),
    "spambase": (39.4, 39.4, 39.4),
    "winequality_red": (13.5, 13.8, 13.5),
    "winequality_white": (21.6, 21.7, 21.6),
}


def parts_of(data):
    return {
        "train": (data.X_train, data.y_train),
        "valid": (data.X_valid, data.y_valid),
        "test": (data.X_test, data.y_test),
    }


def test_every_name_has_a_size_here():
    assert set(datasets.names()) == set(SIZES)
    assert {file for data in FILE_SETS.values() for file in data.files} == set(SHA256)


@pytest.mark.turns
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=needs_data if n in FILE_SETS else ()) for n in SIZES]
)
def test_sizes_and_types(name):
    data = datasets.load(name)
    sizes, d, m = SIZES[name]
    assert data.name == name and data.n_classes == m and data.classes == tuple(range(m))
    for (X, y), n in zip(parts_of(data).values(), sizes, strict=True):
        if n is None:
            assert X is None and y is None
            continue
        assert X.shape == (n, d) and y.shape == (n,)
        assert X.dtype == np.float64 and y.dtype == np.int64
        assert np.array_equal(np.unique(y), np.arange(m))
    assert sparse.issparse(data.X_train) == (name == "news20")
    assert data.normalize == ("unit" if name.startswith("synthetic") else None)
    assert data.source and data.licence
    sums = [SHA256[file] for file in FILE_SETS[name].files] if name in FILE_SETS else []
    assert data.sha256 == ("+".join(sums) or None)


@needs_data
def test_features_are_those_of_the_file():
    folder = os.environ["FWLAB_DATA"]
    letter = datasets.load("letter")
    with np.load(f"{folder}/letter.npz") as raw:
        assert np.array_equal(letter.X_train, raw["X_train"])
        assert np.array_equal(letter.y_test, raw["y_test"])
    news20 = datasets.load("news20")
    with np.load(f"{folder}/news20.npz") as raw:
        assert np.array_equal(news20.X_test.data, raw["test_data"])
        assert np.array_equal(news20.X_train.indices, raw["train_indices"])


@needs_data
@pytest.mark.parametrize("name", RATES)
def test_binary_sets_are_cut_without_loss_and_with_the_rates_of_m20(name):
    data = datasets.load(name)
    rates = [100 * y.mean() for _, y in parts_of(data).values()]
    assert rates == pytest.approx(RATES[name], abs=0.0501)
    with np.load(f"{os.environ['FWLAB_DATA']}/{name}.npz") as raw:
        whole = np.column_stack([raw["X"], raw["y"]]).astype(np.float64)
    together = np.vstack([np.column_stack(part) for part in parts_of(data).values()])
    assert np.array_equal(together[np.lexsort(together.T)], whole[np.lexsort(whole.T)])


@needs_data
def test_a_cut_depends_on_rng_alone():
    first, again = (datasets.load("ionosphere", rng=3) for _ in range(2))
    assert np.array_equal(first.X_train, again.X_train)
    assert np.array_equal(first.y_test, again.y_test)
    drawn = datasets.load("ionosphere", rng=np.random.default_rng(3))
    assert np.array_equal(first.X_valid, drawn.X_valid)
    other = datasets.load("ionosphere", rng=4)
    assert not np.array_equal(first.X_train, other.X_train)
    assert [len(y) for _, y in parts_of(other).values()] == [176, 87, 88]


def test_a_cut_draws_positives_then_negatives():
    y = np.array([0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0])
    X = np.arange(12.0)[:, None]
    parts = named._cut(X, y, ((6, 2), (3, 1), (3, 1)), np.random.default_rng(5))
    rng = np.random.default_rng(5)
    positives, negatives = (
        rng.permutation([1, 2, 5, 8]),
        rng.permutation([0, 3, 4, 6, 7, 9, 10, 11]),
    )
    rows = [
        sorted([*positives[:2], *negatives[:4]]),
        sorted([*positives[2:3], *negatives[4:6]]),
        sorted([*positives[3:], *negatives[6:]]),
    ]
    for (X_part, y_part), expected in zip(parts.values(), rows, strict=True):
        assert X_part[:, 0].tolist() == expected
        assert np.array_equal(y_part, y[expected])


def test_digits_are_stratified_and_fixed():
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    data, again = datasets.load("digits"), datasets.load("digits", rng=7)
    assert np.array_equal(data.X_train, again.X_train)
    everything, labels = load_digits(return_X_y=True)
    share = np.bincount(labels) * 0.75
    assert np.abs(np.bincount(data.y_train) - share).max() < 1
    expected = train_test_split(everything, labels, test_size=0.25, random_state=0, stratify=labels)
    found = (data.X_train, data.X_test, data.y_train, data.y_test)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@needs_data
def test_unit_rows_of_sparse_data():
    X = datasets.load("news20", normalize="unit").X_train
    assert sparse.issparse(X) and X.format == "csr"
    assert np.sqrt(X.multiply(X).sum(axis=1)) == pytest.approx(np.ones(X.shape[0]), abs=1e-14)


def test_standard_features_have_mean_0_and_variance_1():
    raw = datasets.load("digits")
    data = datasets.load("digits", normalize="standard")
    varies = raw.X_train.std(axis=0) > 0
    assert data.X_train.mean(axis=0) == pytest.approx(np.zeros(64), abs=1e-13)
    assert data.X_train.var(axis=0)[varies] == pytest.approx(1.0, abs=1e-12)


@needs_data
def test_standard_features_of_a_set_with_a_constant_feature():
    raw, data = datasets.load("ionosphere"), datasets.load("ionosphere", normalize="standard")
    constant = np.ptp(raw.X_train, axis=0) == 0
    assert constant.sum() == 1
    assert np.all(data.X_train[:, constant] == 0)
    assert data.X_train.mean(axis=0) == pytest.approx(np.zeros(34), abs=1e-14)
    assert data.X_train.var(axis=0) == pytest.approx(np.where(constant, 0, 1), abs=1e-13)
    mean, deviation = raw.X_train.mean(axis=0), raw.X_train.std(axis=0)
    expected = (raw.X_test - mean) / np.where(constant, 1, deviation)
    assert data.X_test == pytest.approx(expected, abs=1e-12)


finite = st.floats(allow_nan=False, allow_infinity=False)
matrices = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=finite)


@given(matrices)
def test_unit_rows_have_length_one_and_keep_their_direction(X):
    dense, csr = X.copy(), sparse.csr_array(X)
    normalize_parts({"train": (dense, None)}, "unit")
    normalize_parts({"train": (csr, None)}, "unit")
    assert np.allclose(csr.toarray(), dense, rtol=1e-14, atol=0)
    for row, scaled in zip(X, dense, strict=True):
        if not row.any():
            assert not scaled.any()
            continue
        assert hypot(*scaled) == pytest.approx(1, abs=1e-14)
        row = row / np.abs(row).max()
        assert scaled == pytest.approx(row / hypot(*row), rel=1e-14, abs=1e-300)


moderate = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, 1e9, 1e-200]))


@given(arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 4)), elements=moderate))
def test_standard_features_have_mean_zero_and_variance_one(X):
    train, test = X.copy(), X[:1].copy()
    normalize_parts({"train": (train, None), "test": (test, None)}, "standard")
    constant = np.ptp(X, axis=0) == 0
    assert np.all(train[:, constant] == 0)
    assert np.allclose(train.mean(axis=0), 0, atol=1e-14)
    assert np.allclose(train[:, ~constant].var(axis=0), 1, rtol=1e-12)
    assert np.array_equal(test, train[:1])


def test_a_constant_feature_is_only_centred():
    train, test = np.array([[0.1, 1.0], [0.1, 3.0], [0.1, 2.0]]), np.array([[5.1, 2.0]])
    normalize_parts({"train": (train, None), "test": (test, None)}, "standard")
    assert test == pytest.approx(np.array([[5.0, 0.0]]))


def test_standard_refuses_an_overflow():
    with pytest.raises(ValueError, match="too large"):
        normalize_parts({"train": (np.array([[1e308], [-1e308]]), None)}, "standard")


def test_synthetic_is_drawn_in_the_stated_order():
    data = datasets.synthetic(7, 3, 4, 0.5, rng=11, n_test=5)
    rng = np.random.default_rng(11)
    y = rng.integers(0, 4, size=7)
    means = 0.5 * rng.standard_normal((4, 3))
    X = means[y] + rng.standard_normal((7, 3))
    y_test = rng.integers(0, 4, size=5)
    X_test = means[y_test] + rng.standard_normal((5, 3))
    for found, expected in zip(
        (data.X_train, data.y_train, data.X_test, data.y_test), (X, y, X_test, y_test), strict=True
    ):
        assert np.array_equal(found, expected)
    assert data.X_valid is None and data.normalize is None and data.sha256 is None
    assert data.n_classes == 4 and data.y_train.dtype == np.int64


def test_synthetic_test_part_leaves_the_train_part_alone():
    alone = datasets.synthetic(6, 2, 3, 1.0, rng=np.random.default_rng(2))
    both = datasets.synthetic(6, 2, 3, 1.0, rng=2, normalize="unit", n_test=4)
    assert alone.X_test is None and both.normalize == "unit"
    lengths = np.linalg.norm(alone.X_train, axis=1, keepdims=True)
    assert both.X_train == pytest.approx(alone.X_train / lengths, rel=1e-14)
    assert np.linalg.norm(both.X_test, axis=1) == pytest.approx(np.ones(4), rel=1e-14)


def test_synthetic_a_is_the_synthetic_set_of_that_recipe():
    named = datasets.load("synthetic-a", normalize="unit")
    drawn = datasets.synthetic(1000, 4096, 10, 0.1, rng=0, normalize="unit")
    assert np.array_equal(named.X_train, drawn.X_train)
    assert named.normalize == "unit"
    with pytest.raises(ValueError, match=r"synthetic-a is defined with rows of length 1"):
        datasets.load("synthetic-a", normalize="standard")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n": 0}, ValueError, "n must be at least 1; got 0."),
        ({"d": 0}, ValueError, "d must be at least 1; got 0."),
        ({"m": 1}, ValueError, "m must be at least 2; got 1."),
        ({"n": 2.0}, TypeError, "n must be an integer; got 2.0."),
        ({"m": True}, TypeError, "m must be an integer; got True."),
        ({"n_test": -1}, ValueError, "n_test must be at least 0; got -1."),
        ({"separation": -0.1}, ValueError, "separation must be finite and >= 0; got -0.1."),
        ({"separation": np.nan}, ValueError, "separation must be finite and >= 0; got nan."),
        ({"separation": "far"}, TypeError, "separation must be a real number; got 'far'."),
        ({"rng": -1}, ValueError, "rng must be an integer >= 0 or a numpy Generator; got -1."),
        ({"rng": None}, ValueError, "rng must be an integer >= 0 or a numpy Generator; got None."),
        (
            {"normalize": "l2"},
            ValueError,
            "normalize must be None, 'unit' or 'standard'; got 'l2'.",
        ),
    ],
)
def test_synthetic_refuses(change, error, message):
    arguments = {"n": 4, "d": 2, "m": 3, "separation": 0.1, "rng": 0} | change
    with pytest.raises(error) as caught:
        datasets.synthetic(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": "lettr"}, ValueError, r"name must be one of digits, .*; got 'lettr'"),
        ({"name": 3}, TypeError, "name must be a string or a path; got int"),
        ({"name": "digits", "normalize": "max"}, ValueError, "normalize must be .*; got 'max'"),
        ({"name": "digits", "normalize": ["unit"]}, ValueError, "normalize must be .*'unit'"),
        ({"name": "digits", "rng": 0.5}, ValueError, "rng must be .*; got 0.5"),
        ({"name": "news20", "normalize": "standard"}, ValueError, "destroy their sparsity"),
    ],
)
def test_load_refuses_before_any_file_is_touched(arguments, error, message, monkeypatch):
    monkeypatch.setenv("FWLAB_DATA", "no such folder")
    with pytest.raises(error, match=message):
        datasets.load(**arguments)


def test_describe_is_one_line_with_sizes_density_and_origin():
    data = datasets.load("digits")
    line = datasets.describe(data)
    assert "\n" not in line and line in repr(data)
    density = np.count_nonzero(data.X_train) / data.X_train.size
    for piece in (
        "digits: n = 1347 train + 450 test, d = 64, m = 10",
        f"dense ({density:.2%} non-zero), normalize = None",
        data.source,
        f"licence: {data.licence}",
    ):
        assert piece in line


def test_a_dataset_is_frozen():
    with pytest.raises(AttributeError):
        datasets.load("digits").name = "other"


def test_import_leaves_slow_packages_alone():
    code = (
        "import sys, fwlab.datasets; "
        "sys.exit(' '.join({'pooch', 'requests', 'sklearn', 'pandas'} & set(sys.modules)) or 0)"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
