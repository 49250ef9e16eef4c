"""The exact step by hand, and how far it moves a row."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fwlab.kernels.steps.exact_step import exact_step
from fwlab.kernels.steps.passes import _scaled_difference

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("slope", "curvature", "limit", "expected"),
    [
        (1.0, 4.0, 1.0, 0.25),  # inside
        (1.0, 4.0, 0.125, 0.125),  # the limit comes first
        (1.0, 4.0, 0.25, 0.25),  # both at once
        (1.0, 0.0, 2.0, 2.0),  # a line
        (0.0, 4.0, 1.0, 0.0),
        (0.0, 0.0, 1.0, 0.0),
        (-1.0, 4.0, 1.0, 0.0),  # it falls
        (-1.0, 0.0, 1.0, 0.0),
    ],
)
def test_the_maximiser_of_a_parabola(slope, curvature, limit, expected):
    assert exact_step(slope, curvature, limit) == expected


def test_the_move_of_a_row_is_the_sum_of_the_moves_of_its_entries():
    change = np.empty(3)
    moved = _scaled_difference(np.array([1.0, 4.0, 2.0]), np.array([3.0, 1.0, 2.0]), 0.5, change)
    assert moved == 5.0
    assert_array_equal(change, [1.0, -1.5, 0.0])
