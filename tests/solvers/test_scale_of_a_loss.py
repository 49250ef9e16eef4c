"""Test a visitor's loss with weights far from 1: tolerances are relative to its weights."""

from dataclasses import dataclass

import numpy as np
import pytest
from solvers.solver_table import Case

import fwlab

pytestmark = pytest.mark.small


@dataclass(frozen=True)
class Scaled(fwlab.Loss):
    """`size` times the max hinge."""

    size: float

    def polytope_weights(self, m):
        upper = np.zeros(m - 1)
        upper[0] = self.size
        return upper, np.zeros(m - 1)


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_a_scaled_loss_is_solved_like_the_loss(size):
    """size Phi with lam is Phi with lam / size, times size."""
    case = Case("MaxHinge-0")
    plain = fwlab.solve(fwlab.Problem(case.X, case.y, fwlab.MaxHinge(), 0.05), tol=1e-9)
    scaled = fwlab.Problem(case.X, case.y, Scaled(size), 0.05 * size)
    result = fwlab.solve(scaled, tol=1e-9 * size)
    assert result.success
    assert result.primal / size == pytest.approx(plain.primal, abs=2e-9)
    loss, rng = scaled.loss, np.random.default_rng(0)
    points = loss.lmo(rng.normal(size=(case.n, 4)), case.y)
    assert loss.in_domain(-points, case.y).all()
    assert not loss.in_domain(-1.001 * points, case.y)[points.any(axis=1)].any()
