"""Projections against exact rational solutions, against plain sorted ones, and against each other.

The rational solver tries every partition of the sorted entries into full, moving and zero ones and
keeps the point that is feasible and satisfies the variational inequality <g, v - x> >= 0 for all
v in the set, both checked without rounding; how the point was found is of no importance.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from projection_sets import (
    excess,
    half_gradient,
    is_majorised,
    smallest_on_knapsack,
    smallest_on_permutahedron,
    smallest_on_topk_simplex,
)

from fwlab.kernels.domains import permutahedron
from fwlab.kernels.simplices import knapsack, topk_simplex
from fwlab.projections import (
    project_knapsack,
    project_permutahedron,
    project_topk_cone,
    project_topk_simplex,
)

EPS = np.finfo(np.float64).eps
small = pytest.mark.small


# ---------------------------------------------------------------- exact rational solutions


def clip(a, t, u):
    return [min(max(ai - t, 0), u) for ai in a]


def is_topk_optimal(a, x, k, r, bias):
    total, g = sum(x), half_gradient(a, x, bias)
    if not all(0 <= xi and k * xi <= total for xi in x) or (r is not None and total > r):
        return False
    if r is None:  # on a cone the minimum is 0 or there is none
        return sum(sorted(g)[:k]) >= 0 and excess(g, x, 0) <= 0
    return excess(g, x, smallest_on_topk_simplex(g, k, r)) <= 0


def exact_topk(a, k, r, bias):
    """Return the exact projection onto the top-k simplex, or onto the cone for r = None."""
    d, ordered = len(a), sorted(a, reverse=True)
    candidates = [[Fraction(0)] * d]
    if k > d:
        return candidates[0]
    for full, end in combinations(range(d + 1), 2):
        if full > k:
            continue
        high, moving, m = sum(ordered[:full]), sum(ordered[full:end]), end - full
        if r is not None:
            u = r / k
            candidates.append(clip(a, (moving + full * u - k * u) / m, u))
        # full u + moving - m t = k u   and   k t + high - full (t + u) = bias k^2 u
        left, slope = Fraction(k - full), full + bias * k * k
        determinant = m * slope + left * left
        u = (m * high + left * moving) / determinant
        candidates.append(clip(a, (slope * moving - left * high) / determinant, u))
    u = sum(ordered[:k]) / (k + bias * k * k)
    u = max(Fraction(0), u if r is None else min(u, r / k))
    candidates.append(clip(a, ordered[k - 1] - u, u))
    return next(x for x in candidates if is_topk_optimal(a, x, k, r, bias))


def is_knapsack_optimal(a, x, r, upper, equality, bias):
    total, g = sum(x), half_gradient(a, x, bias)
    if not all(0 <= xi <= upper for xi in x) or total > r or (equality and total != r):
        return False
    return excess(g, x, smallest_on_knapsack(g, r, upper, equality)) <= 0


def exact_knapsack(a, r, upper, equality, bias):
    ordered = sorted(a, reverse=True)
    candidates = [[Fraction(0)] * len(a)]
    for full in range(len(a) + 1):
        if full:
            candidates.append(clip(a, ordered[full - 1] - upper, upper))
        for end in range(full + 1, len(a) + 1):
            moving, m = sum(ordered[full:end]), end - full
            candidates.append(clip(a, (moving + full * upper - r) / m, upper))
            candidates.append(clip(a, bias * (moving + full * upper) / (1 + bias * m), upper))
    return next(x for x in candidates if is_knapsack_optimal(a, x, r, upper, equality, bias))


def exact_permutahedron(a, rho):
    """Try every way to cut the sorted entries into pools; rho descending."""
    d = len(a)
    order = sorted(range(d), key=lambda i: -a[i])
    for cuts in range(2 ** (d - 1)):
        ends = [i + 1 for i in range(d - 1) if cuts >> i & 1] + [d]
        x, start = [Fraction(0)] * d, 0
        for end in ends:
            level = sum(a[order[i]] - rho[i] for i in range(start, end)) / (end - start)
            for i in range(start, end):
                x[order[i]] = a[order[i]] - level
            start = end
        g = half_gradient(a, x, 0)
        if is_majorised(x, rho) and excess(g, x, smallest_on_permutahedron(g, rho)) <= 0:
            return x
    raise AssertionError("no pooling is optimal")


def assert_exact(x, expected, a, *others):
    """Assert equality to rounding: a few units in the last place of the largest number."""
    scale = max(abs(float(v)) for v in [*a, *others])
    assert_allclose(x, [float(v) for v in expected], rtol=0, atol=32 * EPS * scale + 1e-322)


# few distinct numbers, so that ties are common, or doubles of many magnitudes
tied = st.lists(st.integers(-4, 4).map(lambda i: i / 4), min_size=1, max_size=6)
wide = st.lists(
    st.builds(lambda sign, m, e: sign * m * 10.0**e, st.sampled_from([-1, 1]),
              st.floats(0.1, 1), st.integers(-3, 3)),
    min_size=1, max_size=6,
)  # fmt: skip
vectors = tied | wide
radii = st.sampled_from([0.0, 0.25, 0.3, 1.0, 7.0, 1e-3, 1e4])
biases = st.sampled_from([0.0, 0.5, 1.0, 1 / 3, 40.0, 1e-4])
scales = st.sampled_from([2.0**-1030, 2.0**-1000, 1.0, 2.0**490])


def rational(values):
    return [Fraction(v) for v in values]


@small
@given(vectors, st.integers(1, 7), radii, biases)
def test_topk_simplex_is_exact(a, k, r, bias):
    expected = exact_topk(rational(a), k, Fraction(r), Fraction(bias))
    assert_exact(project_topk_simplex(a, k, r, bias), expected, a)


@small
@given(vectors, st.integers(1, 7), biases)
def test_topk_cone_is_exact(a, k, bias):
    expected = exact_topk(rational(a), k, None, Fraction(bias))
    assert_exact(project_topk_cone(a, k, bias), expected, a)


@small
@given(vectors, radii, radii, st.booleans(), biases)
def test_knapsack_is_exact(a, r, upper, equality, bias):
    assume(not equality or Fraction(r) <= Fraction(upper) * len(a))
    expected = exact_knapsack(rational(a), Fraction(r), Fraction(upper), equality, Fraction(bias))
    x = project_knapsack(a, r, upper, equality, bias)
    assert_exact(x, expected, a, min(r, upper))


@small
@given(st.data(), vectors)
def test_permutahedron_is_exact(data, a):
    numbers = st.integers(-4, 8).map(lambda i: i / 4)
    rho = data.draw(st.lists(numbers, min_size=len(a), max_size=len(a)))
    expected = exact_permutahedron(rational(a), sorted(rational(rho), reverse=True))
    assert_exact(project_permutahedron(a, rho), expected, a, *rho)


@small
@given(tied, st.integers(1, 7), st.sampled_from([0.25, 1.0, 7.0]), biases, scales)
def test_powers_of_two_change_no_digit(a, k, r, bias, scale):
    """All four sets scale with their radius; denormals may lose digits, but no more."""
    a, ulp = np.array(a), 2 * 5e-324
    for project in (
        lambda a, s: project_topk_simplex(a, k, s * r, bias),
        lambda a, s: project_topk_cone(a, k, bias),
        lambda a, s: project_knapsack(a, s * r, s * 0.5, False, bias),
        lambda a, s: project_permutahedron(a, s * np.arange(len(a))),
    ):
        digits = 0.0 if scale > 2.0**-1010 else 8 * len(a) * ulp
        assert_allclose(project(scale * a, scale), scale * project(a, 1.0), rtol=0, atol=digits)


# ---------------------------------------------------------------- plain sorted solutions


def plain_topk(a, k, r, bias):
    """Return the top-k projection from a full sort: move mass from the k largest to the others."""
    ordered = np.sort(a)[::-1]
    pivot = ordered[k - 1]
    high, low = (ordered[:k] - pivot)[::-1], ordered[k:] - pivot
    stiffness = k + bias * k * k
    start = ordered[:k].sum() / stiffness
    u = max(0.0, min(start, r / k))
    if len(low) == 0 or -low[0] >= u:
        return np.clip((a - pivot) + u, 0.0, u)
    i = j = 1
    while True:
        gap = i * low[:j].sum() - j * high[:i].sum()
        free = (start * i * j + gap) / (i + j * (k - i + bias * k * k) / stiffness)
        mass = min(free, (r / k * i * j + gap) / (i + j))
        t, v = low[:j].mean() - mass / j, high[:i].mean() + mass / i
        if j < len(low) and low[j] > t:
            j += 1
        elif i < k and high[i] < v:
            i += 1
        else:
            return np.clip((a - pivot) - t, 0.0, min(start + mass / stiffness, r / k))


def family(name, d, rng):
    """Return rows, each of which stresses one part of the selection."""
    normal = rng.standard_normal(d)
    return {
        "normal": normal,
        "few positive": normal - np.sort(rng.standard_normal(max(d, 21)))[-20],
        "ties": rng.integers(-2, 3, d) / 2,
        "constant": np.full(d, 0.125),
        "rising": np.linspace(-1.0, 1.0, d),
        "falling": np.linspace(1.0, -1.0, d),
        "geometric": 2.0 ** -np.arange(d, dtype=np.float64),
        "one peak": np.where(np.arange(d) == d // 3, 1e9, normal),
        "periodic": np.cos(np.arange(d) * np.pi / 32),
        "large": 1e12 + rng.integers(0, 50, d) / 16,
        "negative": -np.abs(normal),
    }[name]


FAMILIES = ["normal", "few positive", "ties", "constant", "rising", "falling", "geometric",
            "one peak", "periodic", "large", "negative"]  # fmt: skip
SIZES = [1, 2, 5, 63, 64, 65, 129, 191, 192, 193, 257, 1000, 2500]
families = st.builds(
    family,
    st.sampled_from(FAMILIES),
    st.sampled_from(SIZES) | st.integers(1, 600),
    st.integers(0, 2**32 - 1).map(np.random.default_rng),
)


@given(
    families,
    st.integers(1, 24) | st.integers(60, 70),
    st.sampled_from([0.01, 1.0, 30.0, 1e9]),
    biases,
)
def test_long_rows_agree_with_the_plain_solution(a, k, r, bias):
    assume(k <= len(a))
    expected = plain_topk(a, k, r, bias)
    x = project_topk_simplex(a, k, r, bias)
    scale = max(np.abs(a).max(), r / k if r < 1e9 else 0.0)
    assert_allclose(x, expected, rtol=0, atol=64 * EPS * scale)
    slack = EPS * len(a) * scale
    assert x.min() >= 0.0 and k * x.max() <= x.sum() + k * slack and x.sum() <= r + slack
    g = half_gradient(a, x, bias)
    gap = excess(g, x, smallest_on_topk_simplex(g, k, r))
    assert gap <= 64 * EPS * len(a) * scale * max(r, scale)
    cone = project_topk_cone(a, k, bias)
    assert_allclose(cone, plain_topk(a, k, np.inf, bias), rtol=0, atol=64 * EPS * scale)


@given(families, st.sampled_from([0.05, 0.3, 1.0, 30.0]), st.integers(1, 40), st.booleans(), biases)
def test_long_knapsacks_satisfy_the_variational_inequality(a, r, parts, equality, bias):
    upper = r / parts
    assume(not equality or r <= upper * len(a))
    x = project_knapsack(a, r, upper, equality, bias)
    scale = max(np.abs(a).max(), r)
    assert x.min() >= 0.0 and x.max() <= upper
    assert x.sum() <= r * (1 + 1e-12) + 4 * EPS * len(a) * upper
    if equality:
        assert_allclose(x.sum(), r, rtol=1e-12, atol=4 * EPS * len(a) * upper)
    g = half_gradient(a, x, bias)
    gap = excess(g, x, smallest_on_knapsack(g, r, upper, equality))
    assert gap <= 32 * EPS * len(a) * scale * max(scale, r)


@given(families, st.integers(0, 2**32 - 1))
def test_long_permutahedra_satisfy_the_variational_inequality(a, seed):
    rho = np.sort(np.random.default_rng(seed).integers(0, 9, len(a)) / 4)[::-1]
    x = project_permutahedron(a, rho)
    scale = max(np.abs(a).max(), 2.0)
    tolerance = EPS * len(a) ** 2 * scale
    assert is_majorised(x, rho, tolerance)
    g = half_gradient(a, x, 0.0)
    assert excess(g, x, smallest_on_permutahedron(g, rho)) <= tolerance * scale


# ---------------------------------------------------------------- Newton's method and the sort


@given(families, st.integers(1, 64), st.sampled_from([0.01, 1.0, 30.0, np.inf]), biases)
def test_newton_ends_only_at_the_sorted_thresholds(a, k, r, bias):
    k = min(k, len(a))
    shift = np.sort(a)[-k]
    width = min(r / k, max(a.max(), 0.0) / (1 + bias * k))
    t, u, solved = topk_simplex.newton_thresholds(a, shift, -width, k, r, bias)
    if solved:
        expected_t, expected_u, pivot = topk_simplex.sorted_thresholds(np.sort(a), k, r, bias)
        x = np.clip((a - shift) - t, 0.0, u)
        expected = np.clip((a - pivot) - expected_t, 0.0, expected_u)
        assert_allclose(x, expected, rtol=0, atol=64 * EPS * np.abs(a).max())


def test_newton_tells_all_pieces_of_a_short_row_apart():
    """No entry at its bound and all four between is another piece than one of each."""
    a = np.array([1.5, 0.0, -2.5, -3.5])
    assert topk_simplex.newton_thresholds(a, 0.0, -5.0, 1, np.inf, 1.0) == (0.0, 0.75, True)


@given(families, st.sampled_from([0.05, 1.0, 30.0]), st.integers(1, 40), st.booleans(), biases)
def test_newton_ends_only_at_the_sorted_threshold(a, r, parts, equality, bias):
    upper = r / parts
    assume(not equality or r <= upper * len(a))
    shift = np.sort(a)[-min(parts, len(a))] - upper
    shift = shift if equality else max(shift, 0.0)
    t, solved = knapsack.newton_threshold(a, shift, r, upper, bias, equality)
    if solved:
        expected_t, other = knapsack.sorted_threshold(np.sort(a), r, upper, bias, equality)
        x = np.clip((a - shift) - t, 0.0, upper)
        expected = np.clip((a - other) - expected_t, 0.0, upper)
        assert_allclose(x, expected, rtol=0, atol=64 * EPS * max(np.abs(a).max(), r))


@pytest.mark.parametrize("seed", range(20))
def test_newton_ends_on_normal_rows(seed):
    """Without ties the sort is never needed where entries move."""
    a = np.random.default_rng(seed).standard_normal(500)
    for k in (1, 5, 10):
        shift, width = np.sort(a)[-k], a.max() / (1 + 0.1 * k)
        assert topk_simplex.newton_thresholds(a, shift, -width, k, np.inf, 0.1)[-1]
        assert knapsack.newton_threshold(a, shift - 9.0, 9.0 * k, 9.0, 0.0, True)[-1]


# ---------------------------------------------------------------- relations between them


@given(families, st.integers(1, 12), st.sampled_from([0.1, 1.0]), biases)
def test_relations(a, k, r, bias):
    assume(k <= len(a))
    scale = max(np.abs(a).max(), r)
    close = {"rtol": 0, "atol": 64 * EPS * scale}
    x = project_topk_simplex(a, k, r, bias)
    if k == 1:
        assert_allclose(x, project_knapsack(a, r, r, bias=bias), **close)
    if x.sum() >= r * (1 - 64 * EPS):
        assert_allclose(x, project_knapsack(a, r, r / k, equality=True), **close)
    else:
        assert_allclose(x, project_topk_cone(a, k, bias), **close)
    assert_allclose(project_topk_simplex(x, k, r), x, rtol=0, atol=64 * EPS * r)
    shuffled = np.random.default_rng(k).permutation(len(a))
    assert_allclose(project_topk_simplex(a[shuffled], k, r, bias), x[shuffled], **close)


@given(families, families, st.integers(1, 8))
def test_no_projection_expands_a_distance(a, b, k):
    d = min(len(a), len(b))
    a, b = a[:d], b[:d]
    distance = np.linalg.norm(a - b)
    slack = 64 * EPS * d * max(np.abs(a).max(), np.abs(b).max(), 1.0)
    for project in (
        lambda a: project_topk_simplex(a, k),
        lambda a: project_topk_cone(a, k),
        lambda a: project_knapsack(a, 1.0, 0.5),
        lambda a: project_permutahedron(a, np.arange(d)),
    ):
        assert np.linalg.norm(project(a) - project(b)) <= distance + slack


# ---------------------------------------------------------------- compiled against interpreted


def interpreted(kernel):
    return getattr(kernel, "py_func", kernel)


@small
@given(families.filter(lambda a: len(a) <= 300), st.integers(1, 20), radii, biases)
def test_kernels_equal_their_python_source(a, k, r, bias):
    rows, k = a[None, :], min(k, len(a))
    rho = np.arange(len(a), dtype=np.float64)[::-1].copy()
    for kernel, options in [
        (topk_simplex.project_topk_rows, (1e150, k, r, bias)),
        (topk_simplex.project_topk_rows, (1e150, k, np.inf, bias)),
        (knapsack.project_knapsack_rows, (1e150, r, r / k, bias, False)),
        (knapsack.project_knapsack_rows, (1e150, r, r / k, bias, True)),
        (permutahedron.project_permutahedron, (rho,)),
    ]:
        compiled, plain = np.zeros_like(rows), np.zeros_like(rows)
        kernel(rows, *options, compiled)
        interpreted(kernel)(rows, *options, plain)
        scale = np.abs(a).max() + r
        assert_allclose(compiled, plain, rtol=0, atol=16 * EPS * scale)
