"""The projection of losses with one weight, against an exact one in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from fwlab.kernels.domains.projection import make_projection_scratch, project_row
from fwlab.kernels.domains.solid_simplex import project_on_solid_simplex
from fwlab.kernels.layouts import PolytopeWeights

pytestmark = pytest.mark.small
EPS = 2.0**-52
ROWS = 50


def exact_projection(c, y, u):
    """Return the nearest row of the negated domain in Fractions, from the sorted entries."""
    b = [Fraction(c[y]) - Fraction(x) for j, x in enumerate(c) if j != y]
    descending = sorted(b, reverse=True)
    total, tau = Fraction(0), Fraction(0)
    for count, entry in enumerate(descending, 1):
        if count > 1 and tau >= entry:
            break
        total += entry
        tau = max(total / (count + 1), (total - Fraction(u)) / count)
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


def many_entries_near_the_level(rng, m):
    """At u = 1 with the first class as the true one."""
    t = 0.1 + rng.random()
    d = t * (1.0 + EPS * rng.integers(-9, 10, m - 1))
    spread = rng.integers(1, m)
    d[:spread] = t * rng.random(spread)
    d[0] = 0.0
    total = np.maximum(t - d, 0.0).sum()
    top = rng.choice([total + t, total + t + 1.0, 2 * total])
    return np.append(top / 2, d - top / 2) / total


def tiny_entries_beside_a_large_one(rng, m):
    c = np.full(m, 1.0 - 1e-9 - 1.2)
    c[0], c[-1] = 1.2, -1.2
    return c + EPS * rng.integers(-9, 9, m)


def geometric(rng, m):
    return -(2.0 ** -rng.permutation(m))


def all_scales(rng, m):
    return rng.choice([-1.0, 1.0], m) * 10.0 ** rng.uniform(-300, rng.choice([0, 8, 300]), m)


KINDS = (
    *(normal, near_each_other, ties, equal, spikes_and_tied_tail, on_the_edge_of_the_cap),
    *(many_entries_near_the_level, tiny_entries_beside_a_large_one, geometric, all_scales),
)


@pytest.mark.turns
@pytest.mark.parametrize("u", [1.0, 0.3, 1e-12, 1e9])
@pytest.mark.parametrize("m", [2, 3, 5, 26, 64])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_it_is_the_exact_projection(kind, m, u):
    rng = np.random.default_rng([KINDS.index(kind), m])
    weights = np.zeros(m - 1)
    weights[0] = u
    polytope = PolytopeWeights(weights, np.zeros(m - 1), 1, 0, u, 0.0)
    scratch, found = make_projection_scratch(m), np.full(m, np.nan)
    for _ in range(ROWS):
        c, y = kind(rng, m), int(rng.integers(m))
        c[[0, y]] = c[[y, 0]]
        before = c.copy()
        project_row(c, y, polytope, scratch, found)
        assert (c == before).all()
        expected = exact_projection(c, y, u)
        errors = [abs(Fraction(x) - e) for x, e in zip(found, expected, strict=True)]
        # t is rounded once for all active entries, whose sum is off by half an ulp for each
        active = sum(e < 0 for e in expected)
        assert errors.pop(y) <= (8 + active / 2) * EPS * abs(c).max()
        assert max(errors) <= 8 * EPS * abs(c).max()
        assert (np.delete(found, y) <= 0).all() and found[y] <= u * (1 + (8 + active / 2) * EPS)


def test_scores_without_a_number_end():
    for entry in (np.nan, np.inf, -np.inf):
        out = np.empty(4)
        with np.errstate(invalid="ignore"):  # the interpreter warns
            project_on_solid_simplex(np.array([1.0, entry, 0.0, 0.0]), 0, 1.0, out)
