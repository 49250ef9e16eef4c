"""Rows of a loss with equal weights, projected without a sort."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import fwlab
from fwlab.kernels.domains.equal_weights import (
    _bisected_thresholds,
    capped_threshold,
    project_equal_weights,
)
from fwlab.kernels.domains.projection import (
    make_projection_scratch,
    project_row,
    subtract_from_true,
)
from fwlab.kernels.layouts import EqualWeights
from fwlab.kernels.simplices.topk_simplex import newton_thresholds

pytestmark = pytest.mark.small
EPS = Fraction(float(np.finfo(float).eps))


def equal_weights(m, n, k, weight):
    upper, lower = np.zeros(m - 1), np.zeros(m - 1)
    upper[:n], lower[:k] = weight, weight
    return EqualWeights(upper, lower, n, k, n * weight, k * weight)


def root(falling, low, high):
    """Return where a falling function of Fractions meets 0, to 2^-70 of the range."""
    for _ in range(70):
        middle = (low + high) / 2
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def threshold(b, total, cap):
    """Return the exact t for which the sum of min((b - t)_+, cap) is `total`."""
    kinks = sorted({*b, *(x - cap for x in b)})
    for low, high in pairwise(kinks):
        full = sum(x - cap >= high for x in b)
        moving = [x for x in b if x > low and x - cap < high]
        rest = total - full * cap
        if moving and sum(moving) - len(moving) * high <= rest:
            return (sum(moving) - rest) / len(moving)
    return kinks[-1]


def exact_beta(b, n, k, weight):
    """Return the nearest beta of { 0 <= beta_j <= min(w, s / K), s <= N w }.

    For a given s it is min(max(b_j - t, 0), cap(s)) with the t that gives the sum s. The distance
    is convex in s, and half of its slope is s - t, less the pull of b at the cap s / K.
    """

    def beta(s):
        cap = min(weight, s / k) if k else weight
        t = threshold(b, s, cap)
        return [min(max(x - t, Fraction(0)), cap) for x in b], t, cap

    def negated_slope(s):
        _, t, cap = beta(s)
        pull = sum(x - cap - t for x in b if x - t > cap) / k if k and s < k * weight else 0
        return t - s + pull

    most = n * weight
    return beta(most if negated_slope(most) >= 0 else root(negated_slope, Fraction(0), most))[0]


def project(c, y, weights):
    out = np.full(len(c), np.nan)
    project_row(c, y, weights, make_projection_scratch(len(c)), out)
    return out


def normal(rng, m):
    return rng.normal(size=m) * 10.0 ** rng.uniform(-2, 1)


def ties(rng, m):
    return np.round(3 * rng.normal(size=m)) / 4


def levels(rng, m):
    return np.where(rng.random(m) < 0.5, 0.0, rng.choice([-0.5, -0.25, 1.0]))


def far_from_the_true_class(rng, m):
    return rng.normal(size=m) - rng.choice([1e3, -1e3]) * (np.arange(m) < m // 2)


def huge_ties(rng, m):
    return 2.0**60 * rng.choice([0.0, -1.0, -2.0], size=m)


KINDS = (normal, ties, levels, far_from_the_true_class, huge_ties)
SETS = ((3, 2, 1), (4, 3, 3), (6, 4, 2), (7, 3, 0), (7, 2, 1), (9, 8, 7), (9, 5, 5), (12, 11, 0))


@pytest.mark.turns
@pytest.mark.parametrize("sizes", SETS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_it_is_the_exact_projection(kind, sizes):
    m, n, k = sizes
    rng = np.random.default_rng([KINDS.index(kind), m, n, k])
    for weight in (1.0, 0.3):
        c, y = kind(rng, m), int(rng.integers(m))
        found = project(c, y, equal_weights(m, n, k, weight))
        b = [Fraction(c[y]) - Fraction(x) for x in np.delete(c, y)]
        expected = exact_beta(b, n, k, Fraction(weight))
        # b is rounded once; the cap s / K comes from sums of b, else only differences to t count
        lost = max(abs(Fraction(c[y] - x) - e) for x, e in zip(np.delete(c, y), b, strict=True))
        capped = sum(expected) >= k * Fraction(weight)
        scale = n * Fraction(weight) if capped else max(*b, n * Fraction(weight))
        errors = [abs(Fraction(-x) - e) for x, e in zip(np.delete(found, y), expected, strict=True)]
        assert max(errors) <= 2 * lost + 8 * EPS * scale
        assert abs(Fraction(found[y]) - sum(expected)) <= m * (lost + 2 * EPS * scale)


@pytest.mark.parametrize("k", [0, 27])
def test_the_sum_of_many_entries_is_right(k):
    """A threshold from sums of large numbers is off by some eps b, as are all entries."""
    rng, m, n = np.random.default_rng(3), 300, 28
    c = 20.0 + rng.random(m)
    c[0] = 48.0
    found = project(c, 0, equal_weights(m, n, k, 1.0))
    b = [Fraction(c[0]) - Fraction(x) for x in c[1:]]

    def total(t):
        return sum(min(max(x - t, Fraction(0)), Fraction(1)) for x in b)

    expected = total(root(lambda t: total(t) - min(t, n), min(b) - 1, max(b)))
    assert k <= expected < n
    assert abs(Fraction(found[0]) - expected) <= m / 8 * EPS * n
    assert abs(Fraction(found[0]) + sum(Fraction(x) for x in found[1:])) <= m / 8 * EPS * n


def test_entries_below_the_k_largest_count():
    """An entry of 1 stays above t, although 1.875 is larger by half of itself."""
    b = [1.875, 0.75, 0.0, -0.375, 1.0]
    found = project(np.array([0.0, *np.negative(b)]), 0, equal_weights(6, 1, 1, 4.0))
    expected = exact_beta([Fraction(x) for x in b], 1, 1, Fraction(4))
    assert 0 < expected[-1] < 0.05
    assert abs(found[1:] + np.array([float(x) for x in expected])).max() <= 8 * float(EPS)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_a_bisection_finds_what_newton_finds(k):
    rng = np.random.default_rng(k)
    for shift in (0.0, 0.75, -2.0):
        a = rng.normal(size=12) + shift
        low = np.sort(a)[-k] - shift - 0.4
        t, cap, found = newton_thresholds(a, shift, low, k, 0.4 * k, 1.0)
        assert found
        bisected = np.array(_bisected_thresholds(a, shift, low, k, 0.4))
        # beta, because t may be anywhere between two entries
        for one in (bisected, (t, cap)):
            assert (one[1] >= 0) and one[1] <= 0.4
        beta = [np.clip(a - shift - t, 0, cap) for t, cap in (bisected, (t, cap))]
        assert abs(beta[0] - beta[1]).max() <= 64 * float(EPS) * abs(a).max()


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_threshold_of_a_cap_is_the_root(shift):
    rng = np.random.default_rng(0)
    for entries in (rng.normal(size=30), 2.0 ** -np.arange(40.0), np.full(5, 0.7), np.ones(1)):
        for weight, most in ((0.3, 0.6), (1.0, 1.0), (0.1, 0.5), (1e-3, 2e-3)):
            first = min(0.0, entries.min()) - shift
            t = capped_threshold(entries, shift, first, weight, most) + shift
            sums = [
                np.clip(entries - x, 0, weight).sum() - min(x, most) for x in (t - 1e-9, t + 1e-9)
            ]
            assert sums[0] >= -1e-13 and sums[1] <= 1e-13


def test_the_library_chooses_this_way():
    y = np.array([0, 1, 2])
    for loss in (fwlab.TopK(1), fwlab.TopK(3), fwlab.PseudoTopK(2), fwlab.Usunier(3)):
        assert isinstance(loss.polytopes(y, 8).weights, EqualWeights)
    for loss in (fwlab.WeightedTopK([2.0, 1.0]), fwlab.WeightedUsunier([1.0, 0.5])):
        assert not isinstance(loss.polytopes(y, 8).weights, EqualWeights)
    scratch, out = make_projection_scratch(8), np.ones(8)
    subtract_from_true(np.arange(8.0), 0, scratch.beta)
    project_equal_weights(0, equal_weights(8, 3, 2, 1.0), scratch, out)
    assert (out == 0.0).all()
