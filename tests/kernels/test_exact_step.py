"""The exact step by hand."""

import pytest

from fwlab.kernels.steps.exact_step import exact_step

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
