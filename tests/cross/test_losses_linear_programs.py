"""Losses against linear programs over their epigraphs, every loss and k for 2 to 8 classes."""

import math

import numpy as np
import pytest
from loss_table import SMALL_ENTRIES, batch, entry_id

from reference import lp

TOLERANCE = 1e-9  # HiGHS's own is 1e-10
every_loss = pytest.mark.parametrize(("m", "entry"), SMALL_ENTRIES, ids=entry_id)


def rows_of(entry, *arrays):
    """Yield (reference of the sample, row of each array ...) for every sample."""
    for i, rows in enumerate(zip(*arrays, strict=True)):
        yield entry.reference.for_sample(i), *rows


@pytest.mark.small
@every_loss
def test_value(m, entry):
    scores, y = batch(m, entry)
    values = entry.loss.value(scores, y)
    for reference, row, label, value in rows_of(entry, scores, y, values):
        assert math.isclose(value, reference.value(row, label), rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.turns
@every_loss
def test_lmo(m, entry):
    gradient, y = batch(m, entry)
    points = entry.loss.lmo(gradient, y)
    for reference, g, label, u in rows_of(entry, gradient, y, points):
        assert math.isclose(g @ u, -reference.recession(g, label), rel_tol=1e-12, abs_tol=1e-12)
        assert math.isclose(
            g @ u, lp.lmo_value(reference, g, label), rel_tol=TOLERANCE, abs_tol=TOLERANCE
        )
        assert lp.nearest_in_domain(reference, -u, label)[1] <= TOLERANCE


def points_near_the_domain(entry, m):
    """Return subgradients, points of their hull, points pushed off it by much and by little."""
    scores, y = batch(m, entry)
    rng = np.random.default_rng(m)
    first, second = entry.loss.subgradient(scores, y), entry.loss.subgradient(-scores, y)
    push = rng.standard_normal(scores.shape)
    push -= push.mean(axis=1, keepdims=True)
    inside = 0.5 * first + 0.25 * second
    return [first, inside, inside + 0.5 * push, first + 1e-4 * push, 1.001 * first, push], y


@pytest.mark.turns
@every_loss
def test_domain_and_conjugate(m, entry):
    """A point is judged inside or outside where the linear program is sure of it."""
    groups, y = points_near_the_domain(entry, m)
    sure = []
    for v in groups:
        inside = entry.loss.in_domain(v, y, tol=1e-8)
        conjugates = entry.loss.conjugate(v, y)
        for reference, row, label, answer, value in rows_of(entry, v, y, inside, conjugates):
            distance = lp.nearest_in_domain(reference, row, label)[1]
            if distance <= TOLERANCE:
                expected = lp.conjugate(reference, row, label)
                assert answer and math.isclose(value, expected, rel_tol=1e-8, abs_tol=1e-8)
                sure.append(True)
            elif distance > 1e-6:
                assert not answer and value == math.inf
                sure.append(False)
    assert min(sure.count(True), sure.count(False)) >= 4
