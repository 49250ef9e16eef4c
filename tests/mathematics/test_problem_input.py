"""Bad input of Problem, its methods and predictions: one sentence that names the argument, the
value and what is allowed, before any work."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse

import fwlab
from fwlab.problem_input import check_scales

pytestmark = pytest.mark.small

X = np.random.default_rng(0).normal(size=(6, 2))
Y = np.arange(6) % 3
GRAM = X @ X.T


def build(**change):
    arguments = {"X": X, "y": Y, "loss": fwlab.TopK(2), "lam": 0.5, **change}
    return fwlab.Problem(**arguments)


def refused(call, kind, name, shown):
    """Assert that the call raises one sentence that names the argument and the value."""
    with warnings.catch_warnings(), pytest.raises(kind) as caught:
        warnings.simplefilter("error")
        call()
    message = str(caught.value)
    assert re.match(rf"{name} (must|needs) [^\n]+[.]$", message), message
    assert ". " not in message, message
    assert shown in message, message


def changed(array, place, value, dtype=float):
    array = np.array(array, dtype=dtype)
    array[place] = value
    return array


# ---------------------------------------------------------------- X

BAD_ENTRIES = [
    (changed(X, (2, 1), np.nan), ValueError, "nan"),
    (changed(X, (2, 1), np.inf), ValueError, "inf"),
    (changed(X, (2, 1), -np.inf), ValueError, "-inf"),
    (X.astype(complex), TypeError, "complex128"),
]
BAD_X = [
    *BAD_ENTRIES,
    (changed(X, (2, 1), None, object), TypeError, "None in column 1"),
    (changed(X, (2, 1), "red", object), TypeError, "'red' in column 1"),
    (changed(X, (2, 1), np.nan, object), ValueError, "nan in column 1"),
    (changed(X, (2, 1), 10**400, object), ValueError, "in column 1"),
    (np.ma.masked_less(X, np.median(X)), TypeError, "masked"),
    (X.astype(str), TypeError, "<U"),
    (None, TypeError, "object"),
    (X[:, 0], ValueError, "(6,)"),
    (X[None], ValueError, "(1, 6, 2)"),
    (3.0, ValueError, "()"),
    (np.zeros((6, 0)), ValueError, "(6, 0)"),
    (np.zeros((0, 2)), ValueError, "(0, 2)"),
    ([[1.0, 2.0], [3.0]], ValueError, ""),
    (1e200 * X, ValueError, "e+"),
]


@pytest.mark.parametrize("bad, kind, shown", BAD_X)
def test_bad_dense_features(bad, kind, shown):
    for kernel in (None, "linear"):
        refused(lambda kernel=kernel: build(X=bad, kernel=kernel), kind, "X", shown)


def test_another_lam_is_checked_against_the_scales():
    assert build(X=1e30 * X).with_lam(1e-80).lam == 1e-80
    for problem in (build(X=1e30 * X), build(X=1e30 * X, kernel="linear")):
        with pytest.raises(ValueError, match=r"^X, lam, .* must keep .* lam n = 6e-100, .*\.$"):
            problem.with_lam(1e-100)


def test_objects_as_pandas_has_them_are_read_by_column():
    pandas = pytest.importorskip("pandas", reason="DataFrames need pandas")
    frame = pandas.DataFrame({"length": X[:, 0], "red": Y == 1, "count": Y})
    assert np.asarray(frame).dtype == object
    problem = build(X=frame)
    assert problem.X.dtype == np.float64
    np.testing.assert_array_equal(problem.X, np.column_stack([X[:, 0], Y == 1, Y]))
    frame["colour"] = ["red", "blue"] * 3
    refused(lambda: build(X=frame), TypeError, "X", "got 'red' in column 'colour'")
    result = fwlab.solve(problem, max_iter=1)
    assert len(result.predict(frame[["length", "red", "count"]])) == 6


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("bad, kind, shown", BAD_ENTRIES)
def test_bad_sparse_features(bad, kind, shown, layout):
    sparse = scipy.sparse.coo_matrix(bad).asformat(layout)
    refused(lambda: build(X=sparse), kind, "X", shown)


def test_other_bad_sparse_features():
    refused(lambda: build(X=scipy.sparse.csr_matrix((6, 0))), ValueError, "X", "(6, 0)")
    refused(lambda: build(X=scipy.sparse.csr_matrix((0, 2))), ValueError, "X", "(0, 2)")
    refused(lambda: build(X=scipy.sparse.coo_array(np.ones(6))), ValueError, "X", "(6,)")


def test_sparse_features_of_any_layout_are_the_same_problem():
    A = -0.1 * (np.ones((6, 3)) - 3 * np.eye(3)[Y])
    expected = build().gap(A)
    doubled = scipy.sparse.coo_matrix(
        (np.tile(X.ravel() / 2, 2), (np.tile(np.repeat(range(6), 2), 2), np.tile([0, 1], 12)))
    )
    variants = [scipy.sparse.csr_matrix(X).asformat(f) for f in ("csc", "coo", "lil", "dok", "bsr")]
    variants += [doubled, scipy.sparse.csr_array(X)]
    for sparse in variants:
        before = sparse.toarray()
        assert build(X=sparse).gap(A) == pytest.approx(expected, abs=1e-14)
        np.testing.assert_array_equal(sparse.toarray(), before)
    by_row = scipy.sparse.csr_matrix(
        (np.tile(X.ravel() / 2, 2).reshape(2, 6, 2).swapaxes(0, 1).ravel(), [0, 1] * 12,
         np.arange(0, 25, 4))
    )  # fmt: skip
    entries = by_row.nnz
    assert build(X=by_row).gap(A) == pytest.approx(expected, abs=1e-14)
    assert by_row.nnz == entries  # the caller's matrix is left as it was


# ---------------------------------------------------------------- Gram matrices

BAD_GRAM = [
    (X, ValueError, "(6, 2)"),
    (np.zeros((0, 0)), ValueError, "(0, 0)"),
    (GRAM[0], ValueError, "(6,)"),
    (changed(GRAM, (0, 1), GRAM[0, 1] + 1e-3), ValueError, "0.001"),
    (GRAM - 1e-3 * np.eye(6), ValueError, "-0.001"),
    (-np.eye(6), ValueError, "-1"),
    (changed(np.zeros((6, 6)), ([0, 1], [1, 0]), 1.0), ValueError, "-1"),
    (changed(GRAM, (3, 3), np.nan), ValueError, "nan"),
    (changed(GRAM, (3, 3), np.inf), ValueError, "inf"),
    (GRAM.astype(complex), TypeError, "complex128"),
    (GRAM.astype(object), TypeError, "object"),
]


@pytest.mark.parametrize("bad, kind, shown", BAD_GRAM)
def test_bad_gram_matrices(bad, kind, shown):
    refused(lambda: build(X=bad, kernel="precomputed"), kind, "X", shown)


def test_a_sparse_gram_matrix_is_named_as_such():
    sparse = scipy.sparse.csr_matrix(GRAM)
    refused(lambda: build(X=sparse, kernel="precomputed"), TypeError, "X", "sparse")


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_gram_matrices_are_judged_up_to_rounding(scale):
    rng = np.random.default_rng(1)
    features = rng.normal(size=(40, 3))
    gram = scale * (features @ features.T)
    noise = 1e-14 * scale * rng.normal(size=(40, 40))
    y = np.arange(40) % 3
    assert build(X=gram + noise, y=y, kernel="precomputed").n_samples == 40
    wrong = gram - 1e-4 * scale * np.eye(40)
    refused(lambda: build(X=wrong, y=y, kernel="precomputed"), ValueError, "X", "e")


@pytest.mark.parametrize("kernel", ["rbf", "Linear", "", 3, True, ["linear"], np.array([1, 2])])
def test_wrong_kernels(kernel):
    refused(lambda: build(kernel=kernel), (TypeError, ValueError), "kernel", "'linear'")


# ---------------------------------------------------------------- y, n_classes

BAD_Y = [
    (Y[:5], ValueError, "5"),
    (np.r_[Y, 0], ValueError, "7"),
    (Y + 0.25, ValueError, "0.25"),
    (np.r_[np.nan, Y[1:]], ValueError, "nan"),
    (Y.astype(complex), TypeError, "complex"),
    (np.array([0, "1", 2, 0, 1, 2], object), TypeError, "int, str"),
    (np.array([0, None, 2, 0, 1, 2], object), TypeError, "NoneType"),
    (np.ma.masked_equal(Y, 1), TypeError, "masked"),
    (Y[:, None], ValueError, "(6, 1)"),
    (np.zeros(6, int), ValueError, "0"),
    (np.full(6, 2), ValueError, "2"),
    (np.full(6, "a"), ValueError, "a"),
    (None, TypeError, "None"),
]


@pytest.mark.parametrize("bad, kind, shown", BAD_Y)
def test_bad_labels(bad, kind, shown):
    for features in (X, scipy.sparse.csr_matrix(X)):
        refused(lambda features=features: build(X=features, y=bad), kind, "y", shown)
    refused(lambda: build(X=GRAM, y=bad, kernel="precomputed"), kind, "y", shown)


@pytest.mark.parametrize(
    "n_classes, kind, name, shown",
    [
        (2, ValueError, "y", "2"),
        (1, ValueError, "n_classes", "1"),
        (-3, ValueError, "n_classes", "-3"),
        (3.0, TypeError, "n_classes", "3.0"),
        (True, TypeError, "n_classes", "True"),
        ("3", TypeError, "n_classes", "'3'"),
    ],
)
def test_bad_numbers_of_classes(n_classes, kind, name, shown):
    refused(lambda: build(n_classes=n_classes), kind, name, shown)


def test_labels_of_any_integer_type():
    for dtype in (np.int8, np.uint8, np.int32, np.uint64):
        assert build(y=Y.astype(dtype)).n_classes == 3
    assert build(y=Y.tolist(), n_classes=np.int64(7)).n_classes == 7


def test_truth_values_are_two_classes():
    result = fwlab.solve(build(y=Y > 0), tol=1e-3)
    assert result.predict(X).dtype == bool and result.classes.tolist() == [False, True]


def test_the_number_of_classes_makes_labels_plain():
    assert build(y=Y, n_classes=7).classes.tolist() == list(range(7))
    refused(lambda: build(y=Y.astype(str), n_classes=3), TypeError, "y", "<U")
    refused(lambda: build(y=Y - 1, n_classes=3), ValueError, "y", "-1")


# ---------------------------------------------------------------- loss, lam, smoothing


@pytest.mark.parametrize("loss", ["topk", None, 3, fwlab.TopK, np.ones(3)], ids=repr)
def test_what_is_no_loss(loss):
    refused(lambda: build(loss=loss), TypeError, "loss", repr(loss)[:8])


@pytest.mark.parametrize(
    "loss, name, shown",
    [
        (fwlab.TopK(4), "k", "4"),
        (fwlab.Usunier(4), "k", "4"),
        (fwlab.PseudoTopK(3), "k", "3"),
        (fwlab.WeightedTopK(np.ones(4)), "rho", "4"),
        (fwlab.WeightedUsunier(np.ones(4)), "rho", "4"),
        (fwlab.StructuredHinge(np.ones((4, 4)) - np.eye(4)), "costs", "(4, 4)"),
        (fwlab.StructuredHinge(np.zeros((5, 3)), per_sample=True), "costs", "(5, 3)"),
        (fwlab.StructuredHinge(np.ones((6, 3)), per_sample=True), "costs", "1.0"),
    ],
    ids=lambda part: str(part)[:30],
)
def test_losses_that_do_not_fit_the_classes_are_found_when_the_problem_is_built(loss, name, shown):
    refused(lambda: build(loss=loss), ValueError, name, shown)


BAD_NUMBERS = [
    (-1.0, ValueError, "-1.0"),
    (np.nan, ValueError, "nan"),
    (np.inf, ValueError, "inf"),
    ("1", TypeError, "'1'"),
    (None, TypeError, "None"),
    (1j, TypeError, "1j"),
    (True, TypeError, "True"),
    ([1.0], TypeError, "[1.0]"),
]


@pytest.mark.parametrize("bad, kind, shown", [*BAD_NUMBERS, (0.0, ValueError, "0.0")])
def test_bad_lam(bad, kind, shown):
    refused(lambda: build(lam=bad), kind, "lam", shown)


@pytest.mark.parametrize("bad, kind, shown", BAD_NUMBERS)
def test_bad_smoothing(bad, kind, shown):
    refused(lambda: build(smoothing=bad), kind, "smoothing", shown)


@pytest.mark.parametrize(
    "bad, kind, shown",
    [
        (np.ones(5), ValueError, "5"),
        (np.ones((6, 1)), ValueError, "(6, 1)"),
        (1.0, ValueError, "()"),
        (changed(np.ones(6), 4, -0.25), ValueError, "-0.25"),
        (changed(np.ones(6), 4, np.nan), ValueError, "nan"),
        (changed(np.ones(6), 4, np.inf), ValueError, "inf"),
        (np.zeros(6), ValueError, "6 zeros"),
        (np.ones(6, complex), TypeError, "complex128"),
        (np.ones(6, object), TypeError, "object"),
        ("balanced", TypeError, "<U"),
    ],
)
def test_bad_sample_weights(bad, kind, shown):
    refused(lambda: build(sample_weight=bad), kind, "sample_weight", shown)


# ---------------------------------------------------------------- A, W, X_new

BAD_A = [
    (np.zeros((6, 4)), ValueError, "(6, 4)"),
    (np.zeros((3, 6)), ValueError, "(3, 6)"),
    (np.zeros(18), ValueError, "(18,)"),
    (np.full((6, 3), np.nan), ValueError, "nan"),
    (np.full((6, 3), -np.inf), ValueError, "-inf"),
    (np.zeros((6, 3), complex), TypeError, "complex128"),
    (np.zeros((6, 3), object), TypeError, "object"),
    (None, TypeError, "object"),
]


@pytest.mark.parametrize("bad, kind, shown", BAD_A)
@pytest.mark.parametrize("name", ["dual", "gap", "augmented_gap", "weights", "scores"])
def test_bad_dual_points(name, bad, kind, shown):
    more = (X,) if name == "scores" else ()
    refused(lambda: getattr(build(), name)(bad, *more), kind, "A", shown)
    if name != "weights":
        gram = build(X=GRAM, kernel="precomputed")
        more = (GRAM,) if name == "scores" else ()
        refused(lambda: getattr(gram, name)(bad, *more), kind, "A", shown)


@pytest.mark.parametrize(
    "bad, kind, shown",
    [
        (np.zeros((2, 3)), ValueError, "(2, 3)"),
        (np.zeros(6), ValueError, "(6,)"),
        (np.full((3, 2), np.nan), ValueError, "nan"),
        (np.zeros((3, 2), complex), TypeError, "complex128"),
    ],
)
def test_bad_weights(bad, kind, shown):
    for kernel in (None, "linear"):
        refused(lambda kernel=kernel: build(kernel=kernel).primal(bad), kind, "W", shown)


def test_a_precomputed_kernel_has_no_weights():
    problem, A = build(X=GRAM, kernel="precomputed"), np.zeros((6, 3))
    for name, argument in (("weights", A), ("primal", np.zeros((3, 2)))):
        refused(lambda n=name, a=argument: getattr(problem, n)(a), ValueError, name, "precomputed")
    assert problem.gap(A) == 1.0
    assert fwlab.solve(problem).W is None


BAD_NEW = [
    (np.zeros((4, 3)), ValueError, "3"),
    (np.zeros(2), ValueError, "(2,)"),
    (changed(np.zeros((4, 2)), (1, 1), np.nan), ValueError, "nan"),
    (np.zeros((4, 2), complex), TypeError, "complex128"),
    (np.full((4, 2), "a", object), TypeError, "'a' in column 0"),
    (None, TypeError, "object"),
    (scipy.sparse.csr_matrix((4, 3)), ValueError, "3"),
    (scipy.sparse.csr_matrix(changed(np.zeros((4, 2)), (1, 1), np.nan)), ValueError, "nan"),
    (scipy.sparse.csr_matrix(np.ones((4, 2), complex)), TypeError, "complex128"),
    (scipy.sparse.coo_array(np.ones(2)), ValueError, "(2,)"),
]


@pytest.mark.parametrize("bad, kind, shown", BAD_NEW, ids=lambda part: str(part)[:20])
def test_bad_new_samples(bad, kind, shown):
    problem = build()
    result = fwlab.solve(problem, max_iter=1)
    refused(lambda: problem.scores(result.A, bad), kind, "X_new", shown)
    refused(lambda: result.predict(bad), kind, "X_new", shown)


def test_bad_new_kernel_rows():
    problem = build(X=GRAM, kernel="precomputed")
    result = fwlab.solve(problem, max_iter=1)
    for bad, shown in ((X, "6 columns; got 2"), (np.zeros(6), "(6,)")):
        refused(lambda bad=bad: problem.scores(result.A, bad), ValueError, "X_new", shown)
        refused(lambda bad=bad: result.predict(bad), ValueError, "X_new", shown)


def test_the_largest_weight_counts_where_the_samples_are_small():
    """|x_i| = 1e-140, so that W and the scores are small; the dual variable reaches 1e151."""
    with pytest.raises(ValueError, match=r"weights up to 1e\+149 .* they can reach 1e\+151"):
        check_scales(np.full(2, 1e-280), 1.0, np.array([1.0, 1e149]), 100.0)


def test_samples_without_a_weight_count_in_the_curvature():
    """|x|^2 / (lam n) would be 1e400 for the first sample."""
    given = {"y": [0, 1], "loss": fwlab.CrossEntropy(), "lam": 5e-101, "sample_weight": [0.0, 1.0]}
    with pytest.raises(ValueError, match=r"they can reach 1e\+200"):
        fwlab.Problem([[1e150], [1e-100]], **given)


def test_C_counts_the_samples():
    assert fwlab.Problem(np.eye(4), [0, 1, 0, 1], fwlab.TopK(1), C=0.5).lam == 1 / (0.5 * 4)
