"""Smallest faces and largest steps against the definition, in exact fractions.

The polytope is written out over all sets of entries, and its vertices are enumerated. A vertex v is
in the smallest face of b if b + eps (b - v) stays in the polytope for a small eps > 0. Weights are
integers and points combinations of vertices with weights in eighths: both are exact in floats.
"""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from fwlab.kernels.domains.faces import extreme_vertex_of_face, largest_step_inside
from fwlab.kernels.domains.projection import make_projection_scratch
from fwlab.kernels.layouts import PolytopeWeights

pytestmark = pytest.mark.small
EPS = Fraction(1, 10**20)
# the first belong to top-1, top-2, pseudo top-2, Usunier-2 and weighted losses, times a constant
WEIGHTS = (
    ((1, 0, 0), (0, 0, 0)),
    ((1, 1, 0), (1, 0, 0)),
    ((1, 1, 0), (1, 1, 0)),
    ((1, 1, 0), (0, 0, 0)),
    ((3, 2, 1), (2, 1, 1)),
    ((4, 2, 1, 0), (2, 1, 0, 0)),
    ((3, 2, 2, 1), (0, 0, 0, 0)),
    ((3, 3, 1, 1), (3, 1, 1, 0)),
    ((3, 2, 2, 1), (2, 2, 1, 1)),
    ((2, 2, 2, 2), (2, 2, 2, 2)),
    ((4, 3, 1, 1), (1, 1, 1, 0)),
    ((5, 5), (1, 0)),
    ((2,), (1,)),
)
each_weights = pytest.mark.parametrize("weights", WEIGHTS, ids=str)


def layout(weights):
    upper, lower = (np.array(w, dtype=float) for w in weights)
    counts = np.count_nonzero(upper), np.count_nonzero(lower)
    return PolytopeWeights(upper, lower, *counts, upper.sum(), lower.sum())


def bounds(weights):
    """Yield (S, f(S), g(S)) of all sets S of entries that are not empty."""
    upper, lower = weights
    n = len(upper)
    for size in range(1, n + 1):
        for chosen in combinations(range(n), size):
            yield list(chosen), sum(upper[:size]), sum(lower[n - size :])


def contains(b, weights):
    """Return whether some zeta in [0, 1] meets every bound."""
    least, most = Fraction(0), Fraction(1)
    for chosen, f, g in bounds(weights):
        total = sum(b[j] for j in chosen)
        least = max(least, total / f)
        if total < 0:
            return False
        if g:
            most = min(most, total / g)
    return least <= most


def vertices(weights):
    """Return 0 and every order of upper_1 .. upper_i, lower_i+1 .. lower_n."""
    upper, lower = weights
    mixed = {(*upper[:i], *lower[i:]) for i in range(len(upper) + 1)}
    orders = {order for row in mixed for order in permutations(row)} | {(0,) * len(upper)}
    return [tuple(Fraction(entry) for entry in order) for order in sorted(orders)]


def moved(b, factor, direction):
    return [x + factor * d for x, d in zip(b, direction, strict=True)]


def points(weights, rng, count=30):
    """Yield 0, each fifth vertex, and combinations of up to five vertices, more often near ones."""
    corners = vertices(weights)
    yield from corners[:: max(1, len(corners) // 5)]
    for _ in range(count):
        size = min(int(rng.integers(2, 6)), len(corners))
        start, spread = rng.integers(len(corners)), rng.integers(size, len(corners) + 1)
        near = [corners[(start + place) % len(corners)] for place in range(spread)]
        chosen = rng.choice(spread, size, replace=False)
        eighths = rng.multinomial(8, np.full(size, 1 / size))
        b = [Fraction(0)] * len(corners[0])
        for place, weight in zip(chosen, eighths, strict=True):
            b = moved(b, Fraction(int(weight), 8), near[place])
        yield tuple(b)


def floats(values):
    return np.array([float(value) for value in values])


@pytest.mark.grid
@each_weights
def test_the_vertex_is_extreme_in_the_smallest_face(weights):
    rng, corners = np.random.default_rng(0), vertices(weights)
    assert all(contains(v, weights) for v in corners)
    n, sizes = len(weights[0]), set()
    for b in points(weights, rng):
        face = [v for v in corners if contains(moved(b, EPS, moved(b, -1, v)), weights)]
        sizes.add(len(face))
        for _ in range(4):
            margins, out = rng.integers(-3, 4, n), np.empty(n)
            scratch = make_projection_scratch(n + 1)
            extreme_vertex_of_face(floats(b), margins.astype(float), layout(weights), scratch, out)
            found = tuple(Fraction(entry) for entry in out)
            assert found in face, (b, margins)
            least = min(sum(int(h) * x for h, x in zip(margins, v, strict=True)) for v in face)
            assert sum(int(h) * x for h, x in zip(margins, found, strict=True)) == least, b
    assert 1 in sizes and len(sizes) > 1


def exact_step(b, direction, wanted, weights):
    """Return the largest step up to `wanted`, from every inequality of the polytope."""
    every = list(bounds(weights))
    slacks = [([j], [], 0, 1, 1) for j in range(len(b))]  # b_j >= 0
    slacks += [([], chosen, f, 0, 1) for chosen, f, _ in every]
    slacks += [(low, top, 0, f, g) for top, f, _ in every for low, _, g in every if g]
    step = wanted
    for low, top, constant, f, g in slacks:
        here, there = (
            f * sum(point[j] for j in low) - g * sum(point[j] for j in top)
            for point in (b, direction)
        )
        if there < 0:
            step = min(step, (constant + here) / -there)
    return step


@pytest.mark.grid
@each_weights
def test_the_largest_step_is_exact(weights):
    rng, corners = np.random.default_rng(1), vertices(weights)
    n, ends = len(weights[0]), set()
    for b in points(weights, rng):
        face = [v for v in corners if contains(moved(b, EPS, moved(b, -1, v)), weights)]
        for wanted in (Fraction(1, 16), Fraction(4)):
            u, v = corners[rng.integers(len(corners))], face[rng.integers(len(face))]
            if u == v:
                continue
            direction = moved(u, -1, v)
            expected = exact_step(b, direction, wanted, weights)
            assert expected > 0
            assert contains(moved(b, expected, direction), weights)
            step, excess = largest_step_inside(
                floats(b),
                floats(direction),
                float(wanted),
                layout(weights),
                make_projection_scratch(n + 1),
            )
            assert step == pytest.approx(float(expected), rel=1e-12)
            assert excess <= 1e-14 * sum(weights[0])
            ends.add(expected < wanted)
    assert ends == {True, False}
