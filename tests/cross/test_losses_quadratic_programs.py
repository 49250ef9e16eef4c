"""Projections and Moreau envelopes against certified quadratic programs, for 2 to 8 classes.

An objective must lie in the interval that the reference proves. The projection is also judged
without a quadratic program, by the reference's linear minimisation alone: to rounding.
"""

import numpy as np
import pytest
from loss_table import SMALL_ENTRIES, batch, entry_id

from reference import qp

ROUNDING = 1e-13
every_loss = pytest.mark.parametrize(("m", "entry"), SMALL_ENTRIES, ids=entry_id)


@pytest.mark.turns
@every_loss
def test_projection_lies_in_the_certified_interval(m, entry):
    c, y = batch(m, entry)
    points = entry.loss.project(c, y)
    for i in (0, 2):
        certified = qp.projection(entry.reference.for_sample(i), c[i], y[i])
        value = np.sum((points[i] - c[i]) ** 2)
        assert certified.contains(value, ROUNDING * (1 + value))


@pytest.mark.turns
@every_loss
def test_projection_is_optimal_to_rounding(m, entry):
    """At points far off, near, and close to the origin, where several pieces meet."""
    c, y = batch(m, entry)
    for scale in (0.1, 0.5, 1.0, 10.0):
        points = entry.loss.project(scale * c, y)
        for i, point in enumerate(points):
            reference, row = entry.reference.for_sample(i), scale * c[i]
            gap = qp.projection_gap(reference, row, y[i], point)
            assert abs(gap) <= ROUNDING * m * (1 + abs(row).max())


@pytest.mark.turns
@every_loss
def test_moreau_envelope(m, entry):
    scores, y = batch(m, entry)
    for smoothing, i in ((0.25, 0), (2.0, 2)):
        values, minimisers = entry.loss.moreau(scores, y, smoothing)
        reference = entry.reference.for_sample(i)
        certified = qp.moreau(reference, scores[i], y[i], smoothing)
        slack = ROUNDING * m * (1 + abs(scores[i]).max())
        assert certified.contains(values[i], slack)
        distance = np.sum((scores[i] - minimisers[i]) ** 2)
        attained = reference.value(minimisers[i], y[i]) + distance / (2 * smoothing)
        assert certified.contains(attained, slack)
