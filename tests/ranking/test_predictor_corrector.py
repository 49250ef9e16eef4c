"""A step of the predictor-corrector method: its parts by hand, and the equations that it solves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fwlab.ranking.dual import pulled_back, slack_moves, slacks
from fwlab.ranking.newton_step import NewtonMatrix
from fwlab.ranking.predictor_corrector import (
    APART,
    LEAST_FALL,
    LONGEST,
    longest_step,
    near_centre,
    next_mu,
    predictor_corrector,
)
from tests.ranking.test_interior_point import SEEDS, random_iterate

pytestmark = pytest.mark.small


def test_the_longest_step_by_hand():
    assert longest_step(np.array([2.0, 4.0, 1.0]), np.array([-1.0, -8.0, 3.0])) == 0.5
    assert longest_step(np.array([2.0, 4.0]), np.array([1.0, 0.0])) == 1e6
    assert longest_step(np.array([2.0]), np.array([-4e-7])) == 1e6


def test_the_next_mu_by_hand():
    """The mean product falls from 2 to 15/16, and the steps end at 1 and at 1/2."""
    s, ds = np.array([1.0, 2.0]), np.array([-0.5, 1.0])
    m, dm = np.array([3.0, 0.5]), np.array([-6.0, 0.25])
    assert next_mu(s, ds, m, dm) == pytest.approx(2.0 * (15 / 32) ** 3, rel=1e-14)
    assert next_mu(s, ds, m, -m) == pytest.approx(2.0 * LEAST_FALL, rel=1e-14)
    assert next_mu(s, 3.0 * s, m, 0.0 * m) == 2.0  # mu never grows
    late = next_mu(s, np.array([-2.0, 0.0]), np.array([1.0, 1.0]), np.zeros(2))
    assert late == pytest.approx(1.5 * (2 / 3) ** 3, rel=1e-14)


def test_multipliers_stay_near_the_centre_by_hand():
    """The mean product is 3, so that the centre is 3, 3/2 and 3/1000."""
    s = np.array([1.0, 2.0, 1000.0])
    m = np.array([9.0, 0.0, 0.0])
    assert_allclose(near_centre(m, s), [9.0, 1.5 / APART, 3e-3 / APART], rtol=1e-14)
    s = np.array([1e-12, 1.0, 1.0])
    m = np.array([0.0, 2.0, 4.0])
    assert_allclose(near_centre(m, s), [2e12 / APART, 2.0, 4.0], rtol=1e-14)
    s = np.array([1e-20, 1.0])
    m = np.array([2e20, 1e-14])
    assert near_centre(m, s)[1] == pytest.approx(1.0 / APART, rel=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_follows_its_equations(seed):
    _, x, _ = random_iterate(seed)
    d, z, r, m, v = x.dual, x.z.copy(), x.r, x.slack_multipliers.copy(), x.multipliers.copy()
    s, (gz, gr), miss = slacks(d, z, r), x.gradient(), x.miss()
    matrix = NewtonMatrix(d, z, r, m / s)
    predicted = slack_moves(d, *_changes(matrix.solve(-gz, -gr, -miss, 0)))
    other = -m - m * predicted / s
    mu = next_mu(s, predicted, m, other)
    target = (mu - predicted * other) / s
    bz, br = pulled_back(d, target)
    move = matrix.solve(bz - gz, br - gr, -miss, 1)
    ds = slack_moves(d, move.z, move.r)
    dm = (mu - predicted * other - m * s - m * ds) / s

    step = predictor_corrector(x, 0.0)
    share = min(1.0, LONGEST * longest_step(m, dm))
    assert step == pytest.approx(min(1.0, LONGEST * longest_step(s, ds)), rel=1e-9)
    scale = np.abs(z).max() + np.abs(move.z).max()
    assert_allclose(x.z, z + step * move.z, rtol=1e-9, atol=1e-9 * scale)
    assert x.r == pytest.approx(r + step * move.r, rel=1e-9, abs=1e-9 * scale)
    assert_allclose(x.multipliers, v + share * move.multipliers, rtol=1e-7, atol=1e-9)
    assert_allclose(
        x.slack_multipliers, near_centre(m + share * dm, slacks(d, x.z, x.r)), rtol=1e-7
    )


def test_mu_is_not_aimed_below_the_least():
    """Its corrector then raises the products of slacks and multipliers."""
    means = []
    for least in (0.0, 1e3):
        _, x, _ = random_iterate(0)
        predictor_corrector(x, least)
        means.append(float(np.mean(x.slack_multipliers * slacks(x.dual, x.z, x.r))))
    assert means[1] > 10 * means[0]


def _changes(move):
    return move.z, move.r
