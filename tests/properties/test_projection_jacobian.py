"""The Jacobian of the projection: differences where it exists, Clarke's set at kinks."""

import numpy as np
import pytest
from loss_table import entries
from numpy.testing import assert_allclose
from scipy.optimize import nnls

import fwlab

M = 5
LOSSES = [entry for entry in entries(M, []) if entry.kind != "StructuredHinge"]
each_loss = pytest.mark.parametrize("loss", [e.loss for e in LOSSES], ids=map(str, LOSSES))
STEP = 1e-7


def forward(loss, c, y, step=STEP):
    """Return difference quotients along every axis, (n, m, m); a negative step looks back."""
    steps = step * np.eye(M)
    quotients = [(loss.project(c + e, y) - loss.project(c, y)) / step for e in steps]
    return np.stack(quotients, axis=2)


def points(loss, rng, n):
    """Return points of several sizes, in the unit of the loss, with their labels."""
    sizes = loss.scale * rng.choice([0.1, 0.5, 2.0], (n, 1))
    return sizes * rng.normal(size=(n, M)), rng.integers(0, M, n)


@each_loss
def test_differences_where_there_is_no_kink(loss):
    c, y = points(loss, np.random.default_rng(0), 300)
    ahead, back = forward(loss, c, y), forward(loss, c, y, -STEP)
    smooth = np.abs(ahead - back).max(axis=(1, 2)) < 1e-6
    assert smooth.sum() > 270
    found = loss.projection_jacobian(c, y)
    assert_allclose(found[smooth], ahead[smooth], atol=1e-6)
    ranks = np.round(np.trace(found, axis1=1, axis2=2))
    assert 0 in ranks and 1 in ranks


@each_loss
def test_each_is_an_orthogonal_projection(loss):
    rng = np.random.default_rng(1)
    c, y = points(loss, rng, 100)
    c[50:] = np.round(c[50:] * 4) / 4
    J = loss.projection_jacobian(c, y)
    assert_allclose(J, J.transpose(0, 2, 1), atol=1e-15)
    assert_allclose(J @ J, J, atol=1e-14)
    assert_allclose(J.sum(axis=2), 0.0, atol=1e-14)  # constants move nothing


def distance_to_hull(matrix, others):
    """Return the distance of a matrix from the convex hull of others (k, m, m)."""
    weight = 1e3
    columns = np.vstack([others.reshape(len(others), -1).T, np.full(len(others), weight)])
    return nnls(columns, np.append(matrix.ravel(), weight))[1]


@pytest.mark.turns
@each_loss
def test_kinks_give_a_member_of_clarkes_set(loss):
    # the limits of Jacobians at random points near a kink, each right by the test above
    rng, kinks = np.random.default_rng(2), 0
    for draw in range(16):
        y = int(rng.integers(M))
        # ties, or the middle of two corners of the domain
        c = loss.scale * rng.integers(-3, 4, M) / rng.choice([2, 3, 4, 8])
        if draw % 2:
            c = rng.choice(loss.vertices(M, y), 2).mean(axis=0)
        around = c + 1e-5 * loss.scale * rng.normal(size=(4000, M))
        near = loss.projection_jacobian(around, np.full(len(around), y))
        pieces = np.unique(near.round(9), axis=0)
        assert distance_to_hull(loss.projection_jacobian(c, y), pieces) < 1e-4
        kinks += len(pieces) > 1
    assert kinks > 2


def test_one_row_is_answered_in_kind():
    loss, c = fwlab.TopK(2), np.array([0.3, 1.0, 0.9, -0.2])
    one, many = loss.projection_jacobian(c, 0), loss.projection_jacobian(c[None], np.array([0]))
    assert one.shape == (4, 4) and many.shape == (1, 4, 4)
    assert_allclose(one, many[0])


def test_a_point_inside_the_domain_moves_freely_but_for_its_sum():
    # beta = 0.1 in each of the three wrong classes lies inside Usunier's domain
    c = np.array([0.3, -0.1, -0.11, -0.09])
    expected = np.eye(4) - np.full((4, 4), 0.25)
    assert_allclose(fwlab.Usunier(3).projection_jacobian(c, 0), expected, atol=1e-15)
