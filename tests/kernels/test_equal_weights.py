"""Rows of losses with equal weights: an exact projection in fractions, and the one that sorts."""

from fractions import Fraction

import numpy as np
import pytest

from fwlab.kernels.domains.equal_weights import LONG, project_without_sort
from fwlab.kernels.domains.projection import (
    SORTED,
    make_projection_scratch,
    project_row,
    project_rows,
    subtract_from_true,
)
from fwlab.kernels.layouts import EqualWeights, PolytopeWeights

pytestmark = pytest.mark.small
EPS = 2.0**-52
ROWS = 20


def equal_weights(m, n_upper, n_lower, w):
    places = np.arange(m - 1)
    upper, lower = w * (places < n_upper), w * (places < n_lower)
    return EqualWeights(upper, lower, n_upper, n_lower, n_upper * w, n_lower * w)


def projected(c, y, weights):
    out = np.full_like(c, np.nan)
    project_rows(c, y, weights, out)
    return out


# ---------------------------------------------------------------- the exact projection


def is_nearest(beta, b, n_upper, k, w):
    """Return whether beta is feasible and maximises <h, .> with h = b - beta - sum(beta)."""
    total = sum(beta)
    cap = min(w, total / k) if k else w
    if min(beta) < 0 or max(beta) > cap or total > n_upper * w:
        return False
    h = sorted((x - entry - total for x, entry in zip(b, beta, strict=True)), reverse=True)
    best = w * (sum(max(0, x) for x in h[:n_upper]) + sum(min(0, x) for x in h[:k]))
    return sum((x - e - total) * e for x, e in zip(b, beta, strict=True)) == max(0, best)


def capped(b, t, cap):
    return [min(max(x - t, Fraction(0)), cap) for x in b]


def root_for_the_cap(b, most, w):
    """Return the root of sum(capped(b, t, w)) - min(t, most), linear between these ends."""
    ends = sorted({Fraction(0), most, *b, *(x - w for x in b)})
    heights = [sum(capped(b, t, w)) - min(t, most) for t in ends]
    right = next(place for place, height in enumerate(heights) if height < 0)
    low, high = heights[right - 1], heights[right]
    return ends[right - 1] + (ends[right] - ends[right - 1]) * low / (low - high)


def on_the_cone(b, n_upper, k, w):
    """Return the projection if its sum is k times its largest entry, from all pieces."""
    b_sorted = sorted(b, reverse=True)
    yield [Fraction(0)] * len(b)
    u = sum(b_sorted[:k]) / (k + k * k)
    yield capped(b, b_sorted[k - 1] - u, u)
    for full in range(k):
        upper, middle, rest = sum(b_sorted[:full]), Fraction(0), k - full
        for moving in range(1, len(b) - full + 1):
            middle += b_sorted[full + moving - 1]
            free = (upper + middle * rest / moving) / (full + k * k + Fraction(rest**2, moving))
            u = min(free, w)
            if u > 0:
                yield capped(b, (middle - rest * u) / moving, u)


def exact_projection(c, y, n_upper, k, w):
    """Return beta, and whether its cap is w."""
    b, w = [Fraction(c[y]) - Fraction(x) for j, x in enumerate(c) if j != y], Fraction(w)
    if max(b) > 0 and sum(capped(b, k * w, w)) >= k * w:
        beta = capped(b, root_for_the_cap(b, n_upper * w, w), w)
        assert is_nearest(beta, b, n_upper, k, w)
        return beta, True
    return next(x for x in on_the_cone(b, n_upper, k, w) if is_nearest(x, b, n_upper, k, w)), False


# ---------------------------------------------------------------- rows, with w about 1


def normal(rng, m):
    return rng.choice([0.1, 1.0, 5.0]) * rng.standard_normal(m)


def near_each_other(rng, m):
    return rng.choice([1e-3, 0.02]) * rng.random(m)


def near_each_other_but_the_true_class(rng, m):
    return near_each_other(rng, m) - rng.choice([0.01, 0.5, 1.5, 4.0, 30.0]) * (np.arange(m) > 0)


def ties(rng, m):
    return rng.integers(-4, 5, m) / 4


def equal(rng, m):
    return np.full(m, rng.choice([0.0, -0.25, 3.0, 1e17]))


def at_the_ends_of_pieces(rng, m):
    """Make differences of w, K w and N w, up to rounding."""
    return -rng.integers(-2, 6, m) * (1.0 + EPS * rng.integers(-2, 3, m))


def far_above(rng, m):
    return -rng.choice([1e3, 1e4, 1e15]) * (np.arange(m) > 0) + rng.integers(-4, 5, m) / 4


def geometric(rng, m):
    return -(2.0 ** -rng.permutation(m)) * rng.choice([1.0, 8.0])


def all_scales(rng, m):
    return rng.choice([-1.0, 1.0], m) * 10.0 ** rng.uniform(-30, rng.choice([0, 2, 30]), m)


def large_ties(rng, m):
    return rng.choice([1e16, 1e30, 1e149]) * rng.integers(-2, 3, m) + rng.standard_normal(m)


KINDS = (
    *(normal, near_each_other, near_each_other_but_the_true_class, ties, equal),
    *(at_the_ends_of_pieces, far_above, geometric, all_scales, large_ties),
)
# the numbers of weights in upper and lower: TopK, PseudoTopK, Usunier, and any others
SHAPES = [(3, 2), (2, 1), (3, 3), (4, 0), (1, 0), (5, 2), (6, 6), (1, 1)]


def draw(kind, rng, m):
    """Return a row and its label; the first class of the kind is the true one."""
    c, y = kind(rng, m), int(rng.integers(m))
    c[[0, y]] = c[[y, 0]]
    return c, y


@pytest.mark.turns
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_is_the_exact_projection(kind, shape):
    rng, w = np.random.default_rng([KINDS.index(kind), *shape]), 1.0
    m = int(rng.choice([8, 9, 12]))
    weights, found = equal_weights(m, *shape, w), np.full(m, np.nan)
    scratch = make_projection_scratch(m)
    for _ in range(ROWS):
        c, y = draw(kind, rng, m)
        before = c.copy()
        project_row(c, y, weights, scratch, found)
        assert (c == before).all()
        expected, _ = exact_projection(c, y, *shape, w)
        errors = [abs(Fraction(-x) - e) for x, e in zip(np.delete(found, y), expected, strict=True)]
        size = abs(c).max()
        assert max(errors) <= 8 * m * EPS * size
        assert abs(Fraction(found[y]) - sum(expected)) <= 8 * m * EPS * size
        assert_feasible(found[None], np.array([y]), weights)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_entries_far_above_keep_their_digits(shape):
    """c_y = 0 makes b exact, so that its size adds no rounding; t - shift is about N w."""
    rng = np.random.default_rng(shape)
    weights, found = equal_weights(9, *shape, 1.0), np.full(9, np.nan)
    for above in 40 * [100.0 * shape[0], 700.0 * shape[0]]:
        # a few entries at 0, and the others within rounding of the threshold, or of w above it
        c = np.where(np.arange(9) % 5 == 1, 0.0, np.spacing(above) * rng.integers(-4, 5, 9) - above)
        c[2 : 2 + rng.integers(shape[0] + 2)] -= 1.0
        c[0] = 0.0
        project_row(c, 0, weights, make_projection_scratch(9), found)
        expected = zip(found[1:], exact_projection(c, 0, *shape, 1.0)[0], strict=True)
        largest = max(abs(Fraction(-entry) - exact) for entry, exact in expected)
        assert largest <= 8 * 9 * EPS * weights.sum_upper


def assert_feasible(u, y, weights):
    """Assert all bounds up to the rounding of sums, in units of the domain."""
    w, k, m = weights.upper[0], weights.n_lower, u.shape[1]
    beta, labels = -u, (np.arange(len(u)), y)
    beta[labels] = 0.0
    total, slack = u[labels], 2.0 * m * EPS * weights.sum_upper
    assert (abs(u.sum(axis=1)) <= slack).all()
    # the sorting way, which large rows go, rounds a mean of weights
    assert (beta >= 0.0).all() and (beta <= w * (1 + 4 * EPS)).all()
    assert (total <= weights.sum_upper + slack).all()
    if k > 0:
        assert (beta.max(axis=1) <= total / k + slack / k).all()


def test_both_caps_are_reached():
    """A change of the kinds above may leave a case without rows."""
    seen = set()
    for kind in (normal, near_each_other_but_the_true_class, at_the_ends_of_pieces):
        rng = np.random.default_rng(0)
        for _ in range(ROWS):
            beta, at_cap = exact_projection(*draw(kind, rng, 9), 3, 2, 1.0)
            seen.add((at_cap, sum(beta) == 3, sum(beta) == 0))
    assert {(True, True, False), (True, False, False), (False, False, False)} <= seen
    assert (False, False, True) in seen


# ---------------------------------------------------------------- beside the code that sorts


@pytest.mark.turns
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("m", [20, 66, LONG + 2, 200, 500])
def test_it_agrees_with_sorting(kind, m):
    """Both differ from the exact row by some ulp of its largest entry per active class."""
    rng = np.random.default_rng([KINDS.index(kind), m])
    for shape in [*SHAPES, (10, 9), (50, 49), (60, 10)]:
        w = rng.choice([1.0, 1.0 / shape[0]])
        shape = min(shape[0], m - 1), min(shape[1], m - 1)
        weights = equal_weights(m, *shape, w)
        c, y = map(np.array, zip(*[draw(kind, rng, m) for _ in range(3)], strict=True))
        found, expected = (
            projected(w * c, y, weights),
            projected(w * c, y, PolytopeWeights(*weights)),
        )
        assert_feasible(found, y, weights)
        active = (expected != 0).sum(axis=1)
        size = w * abs(c).max(axis=1)
        assert (abs(found - expected).max(axis=1) <= (8 + 2 * active) * EPS * size).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e140])
@pytest.mark.parametrize("shape", [(5, 4), (5, 0), (40, 39)], ids=str)
def test_the_scale_of_a_row_and_its_weights_does_not_matter(scale, shape):
    rng, m = np.random.default_rng(0), 150
    scale = 2.0 ** np.round(np.log2(scale))
    c, y = rng.standard_normal((5, m)), rng.integers(0, m, 5)
    small = projected(c, y, equal_weights(m, *shape, 0.2))
    large = projected(scale * c, y, equal_weights(m, *shape, 0.2 * scale))
    np.testing.assert_array_equal(large, scale * small)


@pytest.mark.parametrize("far", [2.0**20, 2.0**50, 2.0**53, 2.0**90, 2.0**400])
@pytest.mark.parametrize("m", [9, 100, 300])
def test_only_differences_count_far_above_the_weights(far, m):
    """All entries lie near `far`, on floats there, and the sum is N w."""
    rng, weights = np.random.default_rng(1), equal_weights(m, 4, 3, 0.25)
    step = max(far * EPS, 2.0**-8)
    for _ in range(5):
        c = -step * rng.integers(0, 9, m)
        c[0] = 0.0
        near = projected(c[None] - 16.0 * step * m, np.array([0]), weights)
        # the true class holds 0 instead of -16 step m
        near_row = c - far
        near_row[0] = 0.0
        found = projected(near_row[None], np.array([0]), weights)
        assert found[0, 0] == pytest.approx(1.0, rel=4 * EPS)
        base = c + 0.0
        base[0] = 64.0 * max(step, 1.0)
        expected = projected(base[None], np.array([0]), weights)
        assert expected[0, 0] == near[0, 0] or step < 1.0
        np.testing.assert_allclose(found, expected, atol=4 * EPS)


def test_a_gap_above_the_sum_has_no_root():
    """At the first halving t, four entries are at the cap, and t is their sum, but not N w = 2."""
    weights = equal_weights(8, 2, 0, 1.0)
    c = np.array([0.0, *[-7.5] * 4, *[3.0] * 3])
    for top in (7.0, 7.5, 8.0, 8.5, 9.0):
        c[1] = -top
        u = projected(c[None], np.array([0]), weights)
        assert u[0, 0] == pytest.approx(2.0, rel=8 * EPS)


def test_small_entries_of_a_large_row_keep_their_digits():
    w, c = 1e-30, np.zeros(51)
    c[1:11], c[11:48], c[48:] = -1e30 * w, -12.0 * w, 1e30 * w
    u = projected(c[None], np.array([0]), equal_weights(51, 11, 11, w))
    np.testing.assert_allclose(u[0, :11], w * np.array([11.0, *[-1.0] * 10]), rtol=64 * EPS)
    np.testing.assert_allclose(u[0, 11:48], -w / 37.0, rtol=512 * EPS)


def test_rounding_is_spread():
    """Entries of some thousand w are one number, and so are the rounding errors of them all."""
    n, weights = 5000, equal_weights(5001, 5, 4, 0.2)
    for far in (3.0, 3.3, 3.7, 3.9):
        c = np.full((1, n + 1), -far)
        c[0, 0] = 0.0
        u = projected(c, np.zeros(1, dtype=np.int64), weights)
        # a sum of n positive numbers is right to n / 2 EPS
        np.testing.assert_allclose(-u[0, 1:], 1.0 / n, rtol=(n / 2 + 8) * EPS)


def test_all_entries_at_the_cap_sum_to_their_number():
    n_upper = 3000
    weights = equal_weights(n_upper + 1, n_upper, n_upper - 1, 0.1)
    c = np.full((1, n_upper + 1), -1e4)
    c[0, 7] = 0.0
    u = projected(c, np.array([7]), weights)
    assert u[0, 7] == n_upper * 0.1
    assert (np.delete(u[0], 7) == -0.1).all()


@pytest.mark.parametrize("entry", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("m", [9, 300])
def test_rows_without_numbers_end(entry, m):
    weights = equal_weights(m, 3, 2, 0.5)
    for place in (0, 1):
        c = np.zeros((1, m))
        c[0, place] = entry
        with np.errstate(invalid="ignore"):  # the interpreter warns
            found = projected(c, np.array([0]), weights)
            expected = projected(c, np.array([0]), PolytopeWeights(*weights))
        if entry == np.inf or place == 1:
            np.testing.assert_array_equal(found, expected)


# ---------------------------------------------------------------- which code a row gets


def without_sort(c, y, weights):
    scratch, out = make_projection_scratch(len(c)), np.full(len(c), np.nan)
    subtract_from_true(c, y, scratch.beta)
    return project_without_sort(y, weights, scratch, out)


def test_large_rows_are_sorted():
    weights, c = equal_weights(9, 3, 2, 1.0), np.full(9, 3001.0)
    c[0], c[1] = 0.0, -3072.0
    assert without_sort(c, 0, weights)
    c[1] = -3073.0
    assert not without_sort(c, 0, weights)
    c[1:] = -3000.0, *[3073.0] * 7
    assert not without_sort(c, 0, weights)
    c[2] = 3072.0
    assert not without_sort(c, 0, weights)
    # of the cap
    for largest in (3072.0, 3073.0):
        c = np.array([0.0, -largest, *[-1.0] * 7])
        assert without_sort(c, 0, equal_weights(9, 3, 0, 1.0)) == (largest == 3072.0)


def test_few_rows_are_sorted():
    rng = np.random.default_rng(0)
    for m in (8, 20, 100, 200, 1000):
        for scale in (0.1, 1.0, 3.0, 100.0):
            for c in scale * rng.standard_normal((20, m)):
                for n_upper, n_lower in [(5, 0), (5, 4)]:
                    weights = equal_weights(m, n_upper, n_lower, 1.0 / n_upper)
                    assert without_sort(c, 0, weights)


def test_short_rows_are_sorted():
    rng = np.random.default_rng(0)
    for m in range(3, SORTED + 1):
        c, y = rng.standard_normal((20, m)), rng.integers(0, m, 20)
        for weights in (equal_weights(m, 2, 1, 0.5), equal_weights(m, 2, 2, 0.5)):
            expected = projected(c, y, PolytopeWeights(*weights))
            np.testing.assert_array_equal(projected(c, y, weights), expected)
