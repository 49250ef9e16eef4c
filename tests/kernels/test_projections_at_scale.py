"""Projections of entries far beyond the weights, judged in fractions.

u is the projection of c exactly if it is feasible and <c - u, v - u> <= 0 for every v of the
domain. A float u cannot do better than this: the differences c_y - c_j have relative rounding
eps/2, so that the inner product with v - u, of 1-norm at most 4 R for R = sum(upper), errs by at
most 4 eps max|c| R. Another m eps for the sums, and 4 m eps R for the entries of u, whose sums have
m terms of at most 4 R. MARGIN is a power of two above these constants.
"""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from loss_table import Entry, labels, weight_vectors
from projection_sets import excess, half_gradient, is_majorised, smallest_on_permutahedron

import fwlab
from fwlab.kernels.domains.large_entries import shorten_gaps
from fwlab.kernels.domains.metric_projection import make_metric_scratch, project_in_metric
from fwlab.kernels.layouts import PolytopeWeights

pytestmark = pytest.mark.small

EPS = Fraction(1, 2**52)
MARGIN = 8


def some_losses(m):
    rhos = [*weight_vectors(m), np.where(np.arange(m) < m // 2 + 1, 1.0, 1e-30), [1.0, 1e-170][:m]]
    return [
        Entry("MaxHinge", ()),
        *[Entry(kind, (k,)) for kind in ("TopK", "Usunier") for k in {1, 2, m}],
        *[Entry("PseudoTopK", (k,)) for k in {1, m - 1}],
        *[
            Entry(kind, (np.array(r),))
            for kind in ("WeightedTopK", "WeightedUsunier")
            for r in rhos
        ],
    ]


def points(m, seed):
    """Yield rows of the sizes at which weights drown in rounding, and rows of all sizes mixed."""
    rng = np.random.default_rng(seed)
    normal, tied = rng.standard_normal(m), rng.integers(-2, 3, m)
    for size in (1e14, 1e16, 1e30, 1e100, 1e149):
        yield size * normal
        yield size * tied
        yield size * tied + rng.standard_normal(m)
        yield np.where(np.arange(m) == rng.integers(m), size, normal)
    yield 1e16 + rng.integers(-4, 5, m)
    yield rng.choice([1e30, 1.0, 0.0, -1e30, 1e-30, -1.0, 2.0], m)
    yield rng.choice([-1.0, 1.0], m) * 10.0 ** rng.uniform(-30, 149, m)


def fractions(values):
    return [Fraction(float(value)) for value in values]


def infeasibility(upper, lower, beta):
    """Return the least violation of the partial sums, over zeta in [0, 1]."""
    largest = sorted(beta, reverse=True)
    most = list(zip(accumulate(largest), accumulate(upper), strict=True))
    least = list(zip(accumulate(largest[::-1]), accumulate(lower[::-1]), strict=True))
    ends = [total / bound for total, bound in most + least if bound]

    def violation(zeta):
        above = max(total - zeta * bound for total, bound in most)
        return max(above, *(zeta * bound - total for total, bound in least))

    return min(violation(min(max(end, Fraction(0)), Fraction(1))) for end in [0, 1, *ends])


def assert_nearest(loss, c, y):
    m, u = len(c), loss.project(c, y)
    assert np.isfinite(u).all()
    polytopes = loss.polytopes(np.array([y]), m)
    upper, lower, c, u = (fractions(row) for row in (polytopes.upper, polytopes.lower, c, u))
    scale = sum(upper)
    beta = [-entry for j, entry in enumerate(u) if j != y]
    slack = MARGIN * m * EPS * scale
    assert abs(sum(u)) <= slack
    assert infeasibility(upper, lower, beta) <= slack
    rest = [a - b for a, b in zip(c, u, strict=True)]
    gains = sorted((rest[y] - rest[j] for j in range(m) if j != y), reverse=True)
    pairs = zip(upper, lower, gains, strict=True)
    best = max(0, sum((up if gain > 0 else low) * gain for up, low, gain in pairs))
    attained = sum(a * b for a, b in zip(rest, u, strict=True))
    assert best - attained <= MARGIN * m * EPS * (max(map(abs, c)) + scale) * scale


@pytest.mark.grid
@pytest.mark.parametrize("m", [2, 3, 5, 9])
def test_every_loss(m):
    for place, entry in enumerate(some_losses(m)):
        for c in points(m, place):
            for y in set(labels(m)):
                assert_nearest(entry.loss, c, int(y))


@pytest.mark.turns
@pytest.mark.long
@pytest.mark.parametrize(
    "loss",
    [fwlab.MaxHinge(), fwlab.TopK(5), fwlab.TopK(40), fwlab.Usunier(33), fwlab.PseudoTopK(9)],
)
def test_many_classes(loss):
    for c in points(90, 0):
        assert_nearest(loss, c, 7)


@pytest.mark.parametrize("far", [100.0, 1e5, 1e15])
def test_entries_at_the_longest_gap_keep_weights_of_their_own(far):
    """R is 14. No gap is cut below 4 R = 56: that would pool the entry there with the far one."""
    loss = fwlab.WeightedTopK([5.0, 4.0, 3.0, 2.0, 1.0])
    below = loss.project(np.array([0.0, -1e20, -0.5, 56.0, far]), 0)
    assert below.tolist() == [11.0, -5.0, -3.0, -2.0, -1.0]
    above = loss.project(np.array([0.0, 3.0, -0.5, -56.0, -far]), 0)
    assert above.tolist() == [12.0, -1.0, -2.0, -4.0, -5.0]


def test_equal_entries_near_the_origin_by_hand():
    """beta = b/10 for nine entries b = 1/2 and c_y = 0, with zeta from 0.09 b to 0.1 b."""
    loss = fwlab.WeightedTopK([2.0, *[1.0] * 9])
    found = loss.project(np.array([0.0, *[-0.5] * 9]), 0)
    assert found == pytest.approx([0.45, *[-0.05] * 9], rel=1e-13)


def test_the_gaps_of_large_entries_by_hand():
    """R = 1: gaps above 4 and below -4 become 4, next to an entry of -1, or to 0 without one."""
    weights = np.array([0.5, 0.25, 0.125, 0.125]), np.array([0.25, 0.125, 0.0625, 0.0625])
    polytope = PolytopeWeights(*weights, 4, 4, 1.0, 0.5)
    b = np.array([2000.0, 1000.0, -1.0, -3000.0])
    lost = 0.5 * 1992 + 0.25 * 996 - 0.0625 * 2995
    assert shorten_gaps(4, polytope, b) == lost and b.tolist() == [8.0, 4.0, -1.0, -5.0]
    b = np.array([1002.0, 3.0, -3000.0])
    lost = 0.5 * 995 - 0.0625 * 2996
    assert shorten_gaps(3, polytope, b) == lost and b.tolist() == [7.0, 3.0, -4.0]


@pytest.mark.parametrize("d", [2, 3, 6])
def test_permutahedron(d):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for a in points(d, seed):
            for rho in (np.arange(d) * 1.0, np.eye(d)[0], rng.standard_normal(d)):
                x = fractions(fwlab.project_permutahedron(a, rho))
                a_exact, weights = fractions(a), fractions(rho)
                scale = sum(map(abs, weights))
                assert is_majorised(x, weights, MARGIN * d * EPS * scale)
                g = half_gradient(a_exact, x, 0)
                bound = MARGIN * d * EPS * (max(map(abs, a_exact)) + scale) * scale
                assert excess(g, x, smallest_on_permutahedron(g, weights)) <= bound


@pytest.mark.parametrize("size", [1e14, 1e30, 1e100, 1e149])
def test_the_jacobian_of_large_ties(size):
    """Two equal entries share weights that differ, and keep equal weights of their own."""
    c = np.array([size, 0.0, 0.0, 2 * size])
    shared = fwlab.WeightedUsunier([1.0, 0.5]).projection_jacobian(c, 0)
    half = np.zeros((4, 4))
    half[1:3, 1:3] = [[0.5, -0.5], [-0.5, 0.5]]
    np.testing.assert_allclose(shared, half, atol=1e-15)
    assert not fwlab.Usunier(2).projection_jacobian(c, 0).any()


@pytest.mark.parametrize("size", [1e3, 1e6, 1e12, 1e16, 1e100])
def test_metric_projection_far_from_a_simplex(size):
    """The linear term is far larger than h a: <gradient, new - v> is its rounding at most."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        m, y = 5, seed % 5
        linear = size * rng.integers(-2, 3, m) + rng.standard_normal(m)
        metric, old, new = np.exp(rng.standard_normal(m)), np.zeros(m), np.empty(m)
        polytope = fwlab.MaxHinge().polytopes(np.array([y]), m).weights
        project_in_metric(linear, metric, old, y, 1.0, polytope, make_metric_scratch(m), new)
        g = [a + h * x for a, h, x in zip(*map(fractions, (linear, metric, new)), strict=True)]
        least = min(0, *(g[y] - g[j] for j in range(m) if j != y))
        attained = sum(a * b for a, b in zip(g, fractions(new), strict=True))
        top = max(map(abs, fractions(linear))) + max(fractions(metric))
        assert attained - least <= MARGIN * m * EPS * top
        assert abs(sum(fractions(new))) <= MARGIN * m * EPS
        assert 0 <= new[y] <= 1
