"""Compare losses with the exact rational reference, on small grid points or seeded fractions.

If weights and data are short binary fractions, the floats are exact too and nothing may differ.
Otherwise (1/3, exp) a difference of 1e-12 is allowed.
"""

import math
import sys
from fractions import Fraction
from inspect import isabstract
from itertools import product

import numpy as np
import pytest
from loss_table import entries, entry_id, sample_costs

from fwlab.losses import Loss
from reference import exact, vertices

# the labels are a sample each: label y stands at row y
TINY = [(m, entry) for m in (2, 3, 4) for entry in entries(m, range(m))]
every_tiny_loss = pytest.mark.parametrize(("m", "entry"), TINY, ids=entry_id)
pytestmark = pytest.mark.small


def agree(entry, actual, expected):
    """Return whether values are equal, without tolerance if the floats are exact."""
    if expected in (math.inf, -math.inf):
        return actual == expected
    if entry.exact_in_binary:
        return Fraction(float(actual)) == expected
    return abs(actual - float(expected)) <= 1e-12 * (1 + abs(float(expected)))


def grid(m):
    """Return all scores on a small grid: every order, every tie, every margin at 0."""
    steps = (-1.0, -0.5, 0.0, 0.5, 1.0) if m < 4 else (-1.0, 0.0, 1.0)
    return np.array(list(product(steps, repeat=m)))


def for_label(entry, y, n, m):
    """Return (loss on n samples of class y, its reference)."""
    if entry.arguments[1:] == (True,):
        costs = np.tile(sample_costs(m, range(m))[y], (n, 1))
        return type(entry.loss)(costs, per_sample=True), entry.reference.for_sample(y)
    return entry.loss, entry.reference


def rational(row):
    return [Fraction(x) for x in row]


@pytest.mark.turns
@every_tiny_loss
def test_value_on_a_whole_grid(m, entry):
    scores = grid(m)
    for y in range(m):
        loss, reference = for_label(entry, y, len(scores), m)
        values = loss.value(scores, np.full(len(scores), y))
        for row, value in zip(scores, values, strict=True):
            assert agree(entry, value, exact.value(reference, rational(row), y)), (y, row)


@pytest.mark.grid
@every_tiny_loss
def test_lmo_value_on_a_whole_grid(m, entry):
    gradients = grid(m)[:: 1 if m < 4 else 3]
    for y in range(m):
        loss, reference = for_label(entry, y, len(gradients), m)
        points = loss.lmo(gradients, np.full(len(gradients), y))
        for row, u in zip(gradients, points, strict=True):
            value = sum(Fraction(a) * Fraction(b) for a, b in zip(row, u, strict=True))
            assert agree(entry, value, exact.lmo_value(reference, rational(row), y)), (y, row)


def domain_candidates(reference, m, y):
    """Yield points of the domain, on its boundary, and beyond; the last sums are not 0."""
    rng = np.random.default_rng([m, y])
    slopes = list(exact.pieces(reference, m, y))
    for stretch in (Fraction(1), Fraction(1, 2), Fraction(9, 8)):
        for _ in range(2):
            chosen = rng.integers(0, len(slopes), 4)
            point = [stretch * sum(slopes[i][j] for i in chosen) / 4 for j in range(m)]
            yield point
            moved = point.copy()
            moved[rng.integers(0, m)] += Fraction(1, 16)
            if stretch == Fraction(1, 2):
                moved[rng.integers(0, m)] -= Fraction(1, 16)
            yield moved


@pytest.mark.grid
@every_tiny_loss
def test_domain_and_conjugate(m, entry):
    for y in range(m):
        loss, reference = for_label(entry, y, 1, m)
        for point in domain_candidates(reference, m, y):
            v, expected = np.array([point], dtype=float), exact.conjugate(reference, point, y)
            tol = 0.0 if entry.exact_in_binary else 1e-9
            assert loss.in_domain(v, [y], tol=tol)[0] == (expected != math.inf), (y, point)
            assert agree(entry, loss.conjugate(v, [y])[0], expected), (y, point)


@every_tiny_loss
def test_vertices(m, entry):
    for y in (0, m - 1):
        _, reference = for_label(entry, y, 1, m)
        found, expected = entry.loss.vertices(m, y), vertices(reference, m, y)
        assert not found[0].any() and len(found) == len(expected)
        if entry.exact_in_binary:
            assert {tuple(rational(row)) for row in found} == set(expected)
        distances = abs(found[:, None] - np.array(expected, dtype=float)).max(axis=2)
        assert distances.min(axis=0).max() <= 1e-12 and distances.min(axis=1).max() <= 1e-12


def test_the_table_holds_every_loss():
    # visitors' losses of other tests do not count
    kinds = vars(sys.modules[Loss.__module__]).values()
    losses = {
        kind.__name__
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, Loss) and not isabstract(kind)
    }
    assert {entry.kind for _, entry in TINY} == losses
