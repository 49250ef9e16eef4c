"""The projection of losses with one weight, against an exact one in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from fwlab.kernels.domains.projection import make_projection_scratch, project_row
from fwlab.kernels.layouts import PolytopeWeights

pytestmark = pytest.mark.small
EPS = 2.0**-52
ROWS = 20


def exact_projection(c, y, u):
    """Return the nearest row of the negated domain in Fractions, from the sorted entries."""
    b = [Fraction(c[y]) - Fraction(x) for j, x in enumerate(c) if j != y]
    descending = sorted(b, reverse=True)
    tau = Fraction(0)
    for count in range(1, len(b) + 1):
        total = sum(descending[:count])
        level = max(total / (count + 1), (total - Fraction(u)) / count)
        if count == len(b) or level >= descending[count]:
            tau = level
            break
    beta = [max(Fraction(0), x - tau) for x in b] if descending[0] > 0 else [Fraction(0)] * len(b)
    return [*(-x for x in beta[:y]), sum(beta), *(-x for x in beta[y:])]


def normal(rng, m):
    return rng.choice([0.1, 1.0, 5.0]) * rng.standard_normal(m)


def near_each_other(rng, m):
    return rng.choice([1e-3, 0.02]) * rng.random(m) + rng.choice([0.0, 1e4])


def ties(rng, m):
    return np.round(4 * rng.standard_normal(m)) / 4


def equal(rng, m):
    return np.full(m, rng.choice([0.0, -0.25, 3.0, 1e17]))


def spikes_and_tied_tail(rng, m):
    return np.where(rng.random(m) < 0.2, -np.round(8 * rng.random(m)) / 4, 0.5)


def on_the_edge_of_the_cap(rng, m):
    """The sum of beta is u, and so is the level, up to rounding."""
    count = rng.integers(1, m)
    c = np.zeros(m)
    c[:count] = -1.0 - 1.0 / count + EPS * rng.integers(-2, 3, count)
    return c


def geometric(rng, m):
    return -(2.0 ** -rng.permutation(m))


def all_scales(rng, m):
    return rng.choice([-1.0, 1.0], m) * 10.0 ** rng.uniform(-300, rng.choice([0, 8, 300]), m)


KINDS = (
    *(normal, near_each_other, ties, equal, spikes_and_tied_tail, on_the_edge_of_the_cap),
    *(geometric, all_scales),
)


@pytest.mark.parametrize("u", [1.0, 0.3, 1e-12, 1e9])
@pytest.mark.parametrize("m", [2, 3, 5, 26, 64])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_it_is_the_exact_projection(kind, m, u):
    rng = np.random.default_rng([KINDS.index(kind), m])
    weights = np.zeros(m - 1)
    weights[0] = u
    polytope = PolytopeWeights(weights, np.zeros(m - 1), 1, 0, u, 0.0)
    scratch, found = make_projection_scratch(m), np.full(m, np.nan)
    for _ in range(ROWS if m < 20 else ROWS // 4):
        c, y = kind(rng, m), int(rng.integers(m))
        before = c.copy()
        project_row(c, y, polytope, scratch, found)
        assert (c == before).all()
        expected = exact_projection(c, y, u)
        worst = max(abs(Fraction(x) - e) for x, e in zip(found, expected, strict=True))
        assert worst <= 8 * EPS * abs(c).max()
        beta = np.delete(-found, y)
        assert (beta >= 0).all() and found[y] <= u * (1 + 4 * EPS)
