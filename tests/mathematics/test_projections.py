"""The public projections: worked examples, argument checks, shapes, extreme magnitudes."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fwlab

pytestmark = pytest.mark.small


def sum_of(x):
    return x.sum(axis=-1)


PROJECTIONS = {
    "simplex": lambda a: fwlab.project_topk_simplex(a, 2, r=1.5, bias=0.5),
    "cone": lambda a: fwlab.project_topk_cone(a, 2, bias=0.5),
    "knapsack": lambda a: fwlab.project_knapsack(a, r=1.5, upper=1.0, bias=0.5),
    "equality": lambda a: fwlab.project_knapsack(a, r=1.5, upper=1.0, equality=True),
    "permutahedron": lambda a: fwlab.project_permutahedron(
        a, np.arange(np.atleast_1d(a).shape[-1])
    ),
}
each_projection = pytest.mark.parametrize("project", PROJECTIONS.values(), ids=PROJECTIONS.keys())


# worked by hand from the optimality conditions
TOPK_EXAMPLES = [
    # a, k, r, bias, x
    ([3.0, 1.0], 1, 1.0, 0.0, [1.0, 0.0]),  # the simplex with sum <= 1
    ([0.5, 0.25, -1.0], 1, 1.0, 0.0, [0.5, 0.25, 0.0]),  # k = 1, inside: the positive part
    ([2.0, 2.0, 2.0], 2, 1.0, 0.0, [1 / 3, 1 / 3, 1 / 3]),  # a tie across the k-th place
    ([9.0, 9.0, 0.0], 2, 1.0, 0.0, [0.5, 0.5, 0.0]),  # the sum bound, a flat piece
    ([3.0, 1.0, 0.0], 2, 9.0, 0.0, [7 / 3, 5 / 3, 2 / 3]),  # v - 1 = -t = 2/3
    ([4.0, 2.0, -9.0], 2, 9.0, 0.5, [1.5, 1.5, 0.0]),  # constant: 6 / (2 + 0.5 * 4)
    ([-1.0, 0.5, -3.0], 2, 1.0, 0.0, [0.0, 0.0, 0.0]),  # the k largest sum to -1/2
    ([1.0, -0.5, -0.75], 2, 1.0, 7.0, [1 / 60, 1 / 60, 0.0]),  # constant: (1/2) / (2 + 7 * 4)
    ([5.0], 1, 2.0, 0.0, [2.0]),
    ([5.0, 4.0], 2, 0.0, 0.0, [0.0, 0.0]),
]


@pytest.mark.parametrize(("a", "k", "r", "bias", "expected"), TOPK_EXAMPLES)
def test_topk_simplex_examples(a, k, r, bias, expected):
    assert_allclose(fwlab.project_topk_simplex(a, k, r, bias), expected, rtol=1e-15, atol=1e-16)


def test_topk_cone_examples():
    assert_allclose(fwlab.project_topk_cone([3.0, 1.0, 0.0], 2), [7 / 3, 5 / 3, 2 / 3])
    assert_allclose(fwlab.project_topk_cone([4.0, 4.0, 4.0], 3), [4.0, 4.0, 4.0])
    assert_allclose(fwlab.project_topk_cone([4.0, 1.0, 1.0], 3), [2.0, 2.0, 2.0])
    assert_allclose(fwlab.project_topk_cone([6.0], 1, bias=2.0), [2.0])


KNAPSACK_EXAMPLES = [
    # a, r, upper, equality, bias, x
    ([0.25, -1.0, 3.0], 9.0, 1.0, False, 0.0, [0.25, 0.0, 1.0]),  # a clip to [0, upper]
    ([3.0, 2.0, 1.0], 1.0, 1.0, False, 0.0, [1.0, 0.0, 0.0]),
    ([0.5, 0.5, 0.5], 1.0, 1.0, True, 0.0, [1 / 3, 1 / 3, 1 / 3]),
    ([-3.0, -5.0], 1.0, 1.0, True, 0.0, [1.0, 0.0]),  # the equality forces mass
    ([-3.0, -5.0], 1.0, 1.0, False, 0.0, [0.0, 0.0]),
    ([9.0, 8.0, 1.0, 0.0], 2.5, 1.0, True, 0.0, [1.0, 1.0, 0.5, 0.0]),
    ([9.0, -8.0, -8.0], 2.0, 1.0, True, 0.0, [1.0, 0.5, 0.5]),
    ([2.0, 1.0], 9.0, 9.0, False, 1.0, [1.0, 0.0]),  # t = bias * sum = 1
    ([4.0, 4.0], 9.0, 9.0, False, 0.5, [2.0, 2.0]),
    ([4.25, 4.25, 2.75], 9.0, 9.0, False, 0.5, [2.0, 2.0, 0.5]),  # t = 9/4; s(11/4) = 3 > 11/4
    ([4.0, 4.0], 1.0, 0.0, False, 0.0, [0.0, 0.0]),
    ([4.0, 4.0], 0.0, 1.0, True, 0.0, [0.0, 0.0]),
    ([0.2, 0.1, 0.4], 3.0, 1.0, True, 0.0, [1.0, 1.0, 1.0]),  # r = upper * d
]


@pytest.mark.parametrize(("a", "r", "upper", "equality", "bias", "expected"), KNAPSACK_EXAMPLES)
def test_knapsack_examples(a, r, upper, equality, bias, expected):
    x = fwlab.project_knapsack(a, r, upper, equality, bias)
    assert_allclose(x, expected, rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize("d", [63, 64, 65, 128, 129, 400])
def test_a_long_row_within_its_sum_bound_is_clipped(d):
    a = np.zeros(d)
    a[0], a[-2], a[-1] = -0.0, 3.0, 0.25
    x = fwlab.project_knapsack(a, 1.0, 0.5)
    assert_array_equal(x, np.clip(a, 0.0, 0.5))
    assert not np.signbit(x).any()
    assert_allclose(fwlab.project_knapsack(a, 0.5, 0.5)[-2:], [0.5, 0.0], rtol=1e-15)


def test_equality_forgives_a_rounded_product():
    assert 49 * (1 / 49) < 1
    assert_allclose(fwlab.project_knapsack(np.arange(49.0), 1.0, 1 / 49, True), np.full(49, 1 / 49))


def test_permutahedron_examples():
    assert_array_equal(fwlab.project_permutahedron([5.0, 9.0, 1.0], [1, 2, 4]), [2.0, 4.0, 1.0])
    assert_allclose(fwlab.project_permutahedron([1.0, 1.0], [0.0, 3.0]), [1.5, 1.5])
    # inside the hull already
    assert_allclose(fwlab.project_permutahedron([1.5, 2.0, 2.5], [1.0, 2.0, 3.0]), [1.5, 2.0, 2.5])
    assert_array_equal(fwlab.project_permutahedron([7.0], [-2.0]), [-2.0])


@each_projection
def test_batch_equals_rows_and_input_is_untouched(project):
    a = np.random.default_rng(0).standard_normal((7, 5))
    before = a.copy()
    x = project(a)
    assert_array_equal(a, before)
    assert x.shape == a.shape and x.dtype == np.float64 and not np.shares_memory(x, a)
    for row, projected in zip(a, x, strict=True):
        assert project(row).shape == row.shape
        assert_array_equal(project(row), projected)


@each_projection
def test_other_layouts_and_dtypes(project):
    a = np.random.default_rng(1).integers(-3, 4, (6, 8))
    x = project(a.astype(np.float64))
    assert_array_equal(project(a), x)
    assert_array_equal(project(a.tolist()), x)
    assert_array_equal(project(a.astype(np.float32)), x)
    assert_array_equal(project(np.asfortranarray(a, dtype=np.float64)), x)
    assert_array_equal(project(np.repeat(a.astype(np.float64), 2, axis=1)[:, ::2]), x)


@each_projection
def test_empty_batch(project):
    assert project(np.empty((0, 3))).shape == (0, 3)


@each_projection
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("column", [0, 3, 5])
def test_not_finite_is_refused(project, bad, column):
    a = np.random.default_rng(2).standard_normal((4, 6))
    a[2, column] = bad
    with pytest.raises(ValueError, match=f"^a must be finite.*; got {re.escape(str(bad))}"):
        project(a)


@pytest.mark.parametrize("k", [1, 5])
def test_not_finite_is_refused_wherever_it_stands(k):
    for d in (5, 70, 200, 333, 1000):
        for position in {0, 1, d // 2, d - 2, d - 1}:
            for bad in (np.nan, np.inf, -np.inf, -1e151):
                a = np.linspace(-1.0, 1.0, d)
                a[position] = bad
                with pytest.raises(ValueError, match=r"^a must be finite"):
                    fwlab.project_topk_simplex(a, k)
                with pytest.raises(ValueError, match=r"^a must be finite"):
                    fwlab.project_knapsack(a, 1.0, 1.0 / k)


@each_projection
@pytest.mark.parametrize(
    ("a", "error"),
    [
        (np.zeros((2, 2, 2)), ValueError),
        (np.float64(3), ValueError),
        ([], ValueError),
        (np.empty((3, 0)), ValueError),
        (["a", "b"], TypeError),
        ([1j, 2], TypeError),
        ([None, 1.0], TypeError),
    ],
)
def test_bad_points_are_refused(project, a, error):
    with pytest.raises(error, match=r"^a must"):
        project(a)


def test_rows_of_different_lengths_are_refused():
    a = [[1.0, 2.0], [3.0]]
    for project in (
        lambda: fwlab.project_topk_simplex(a, 1),
        lambda: fwlab.project_topk_cone(a, 1),
        lambda: fwlab.project_knapsack(a),
        lambda: fwlab.project_permutahedron(a, [1.0, 2.0]),
    ):
        with pytest.raises(ValueError, match=r"^a must be an array"):
            project()


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("k", 0, ValueError),
        ("k", -1, ValueError),
        ("k", 1.5, TypeError),
        ("k", True, TypeError),
        ("k", "1", TypeError),
        ("bias", -0.5, ValueError),
        ("bias", np.nan, ValueError),
        ("bias", np.inf, ValueError),
        ("bias", None, TypeError),
        ("r", -1.0, ValueError),
        ("r", np.nan, ValueError),
        ("r", np.inf, ValueError),
        ("r", "1", TypeError),
        ("r", [1.0], TypeError),
    ],
)
def test_bad_options_of_topk_are_refused(name, value, error):
    with pytest.raises(error, match=f"^{name} must"):
        fwlab.project_topk_simplex([1.0, 2.0], **{"k": 1, name: value})
    if name != "r":
        with pytest.raises(error, match=f"^{name} must"):
            fwlab.project_topk_cone([1.0, 2.0], **{"k": 1, name: value})


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("r", -1.0, ValueError),
        ("upper", -1.0, ValueError),
        ("upper", np.inf, ValueError),
        ("upper", [1.0, 1.0], TypeError),
        ("bias", -1.0, ValueError),
        ("equality", 1, TypeError),
        ("equality", "yes", TypeError),
    ],
)
def test_bad_options_of_knapsack_are_refused(name, value, error):
    with pytest.raises(error, match=f"^{name} must"):
        fwlab.project_knapsack([1.0, 2.0], **{name: value})


def test_infeasible_equality_is_refused():
    with pytest.raises(ValueError, match=r"^r must be at most upper \* d = 1.5 .*; got 2.0"):
        fwlab.project_knapsack([1.0, 2.0, 3.0], r=2.0, upper=0.5, equality=True)
    assert sum_of(fwlab.project_knapsack([1.0, 2.0, 3.0], r=2.0, upper=0.5)) == 1.5


@pytest.mark.parametrize(
    ("rho", "error"),
    [
        ([1.0], ValueError),
        ([1.0, np.nan], ValueError),
        ([[1.0, 2.0]], ValueError),
        ("ab", TypeError),
    ],
)
def test_bad_rho_is_refused(rho, error):
    with pytest.raises(error, match=r"^rho must"):
        fwlab.project_permutahedron([1.0, 2.0], rho)


def test_rho_in_any_order():
    a = np.random.default_rng(3).standard_normal((4, 5))
    rho = np.array([0.5, -1.0, 2.0, 0.0, 0.5])
    assert_array_equal(
        fwlab.project_permutahedron(a, rho), fwlab.project_permutahedron(a, np.sort(rho))
    )


@pytest.mark.parametrize("k", [4, 5, 100])
def test_k_above_d_is_the_origin(k):
    a = np.random.default_rng(4).standard_normal((5, 3)) + 10
    for x in (fwlab.project_topk_simplex(a, k), fwlab.project_topk_cone(a, k)):
        assert_array_equal(x, np.zeros((5, 3)))
    with pytest.raises(ValueError, match=r"^a must be finite.*; got nan"):
        fwlab.project_topk_cone([1.0, np.nan], k)


@pytest.mark.parametrize("d", [1, 2, 7, 40, 300])
def test_k_equal_to_d_is_constant(d):
    a = np.random.default_rng(d).standard_normal(d) + 0.5
    u = max(a.sum(), 0) / (d + 0.5 * d * d)
    assert_allclose(fwlab.project_topk_cone(a, d, bias=0.5), np.full(d, u), rtol=1e-12, atol=1e-15)
    u = min(u, 0.25 / d)
    assert_allclose(fwlab.project_topk_simplex(a, d, 0.25, 0.5), np.full(d, u), rtol=1e-12)


@pytest.mark.parametrize("k", [63, 64, 65, 66])
def test_k_about_the_number_of_lanes(k):
    """64 entries of 1 and others of -1; from the 65th of the largest on, an entry is -1."""
    a = np.r_[np.ones(64), -np.ones(200)]
    if k <= 64:
        expected = np.r_[np.full(64, 1 / 64), np.zeros(200)]
    else:
        # 64 entries at r/k, and the 200 others share the rest
        expected = np.r_[np.ones(64), np.full(200, (k - 64) / 200)] / k
    assert_allclose(fwlab.project_topk_simplex(a, k), expected, rtol=1e-14)


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e-150, 1e-8, 1e8, 1e149])
@pytest.mark.parametrize("d", [4, 250])
def test_cone_is_positively_homogeneous(scale, d):
    a = np.r_[3.0, 1.0, 0.0, -5.0, np.full(d - 4, -7.0)]
    x = fwlab.project_topk_cone(scale * a, 2)
    assert_allclose(x, scale * np.r_[7 / 3, 5 / 3, 2 / 3, np.zeros(d - 3)], rtol=1e-14, atol=1e-323)


@pytest.mark.parametrize("d", [3, 250])
def test_huge_entries_with_a_small_radius(d):
    """Only differences between entries count, and these are exact."""
    ties = np.r_[np.full(3, 1e150), np.full(d - 3, -1e150)]
    expected = np.r_[np.full(3, 1 / 3), np.zeros(d - 3)]
    assert_allclose(fwlab.project_topk_simplex(ties, 2), expected, rtol=1e-15)
    assert_allclose(fwlab.project_topk_simplex(ties, 1), expected, rtol=1e-15)
    assert_allclose(fwlab.project_knapsack(ties, 1.0, 1.0, True), expected, rtol=1e-15)
    assert_allclose(fwlab.project_knapsack(ties, 1.0, 0.5), expected, rtol=1e-15)
    rho = np.r_[1.0, np.zeros(d - 1)]
    assert_allclose(fwlab.project_permutahedron(ties, rho), expected, rtol=1e-15)
    offset = 2.0**40 + np.r_[0.5, 0.25, np.full(d - 2, -9.0)]
    expected = np.r_[0.625, 0.375, np.zeros(d - 2)]
    assert_array_equal(fwlab.project_topk_simplex(offset, 1), expected)
    assert_array_equal(fwlab.project_knapsack(offset, 1.0, 1.0, True), expected)


def test_extreme_bias():
    a = np.array([3.0, 2.0, 1.0])
    for bias in (1e-300, 5e-324):
        for project in (fwlab.project_topk_cone, fwlab.project_topk_simplex):
            assert_array_equal(project(a, k=2, bias=bias), project(a, k=2))
        assert_array_equal(
            fwlab.project_knapsack(a, 9.0, 9.0, bias=bias), fwlab.project_knapsack(a, 9.0, 9.0)
        )
    for bias in (1e100, 1e150):
        assert_allclose(fwlab.project_topk_cone(a, 2, bias), np.zeros(3), atol=1e-99)
        assert_allclose(fwlab.project_knapsack(a, 9.0, 9.0, bias=bias), np.zeros(3), atol=1e-99)


def test_unit_upper_bounds_and_tiny_values():
    tiny = np.array([5e-324, 5e-324, 0.0, -5e-324])
    assert_array_equal(fwlab.project_topk_cone(tiny, 1), [5e-324, 5e-324, 0.0, 0.0])
    assert_array_equal(fwlab.project_knapsack(tiny, 1.0, 1.0), [5e-324, 5e-324, 0.0, 0.0])
    assert_array_equal(fwlab.project_topk_simplex(tiny, 2), [5e-324, 5e-324, 0.0, 0.0])
