"""fcfw: its quadratic is the dual, its corrections end at affine maximisers, also of dependent
atoms, and it solves small problems in few iterations, of losses outside the family too."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solvers.active_set_table import STARTS, begin, each_case, gradient, iterates, start_point
from solvers.solver_table import Case

import fwlab
from fwlab.solvers.fully_corrective import affine_direction

pytestmark = pytest.mark.small


@each_case
def test_the_quadratic_is_the_dual(case):
    """Of random combinations of the atoms that a run holds; outside their hull as well."""
    problem, rng = case.problem(), np.random.default_rng(0)
    solver, state, workspace = begin(problem, "fcfw", start_point(case, "inside"))
    for _ in range(6):
        solver.iterate(state, workspace)
    atoms = workspace.active_set.atoms
    assert len(atoms) > 1
    for weights in rng.normal(size=(5, len(atoms))):
        A = np.zeros_like(state.A)
        for atom, weight in zip(atoms, weights, strict=True):
            atom.add_to(A, weight)
        value = weights @ workspace.linear - weights @ workspace.gram @ weights / 2
        dual = problem.dual_value(A, problem.dual_square_norm(problem.link(A), A))
        assert value == pytest.approx(dual, rel=1e-12, abs=1e-12)


@each_case
@pytest.mark.parametrize("start", STARTS)
def test_an_iteration_ends_at_the_affine_maximiser_and_above_the_step(case, start):
    """All atoms have one product with the gradient; the exact Frank-Wolfe step rises less."""
    problem, corrected = case.problem(), 0
    solver, state, workspace = begin(problem, "fcfw", start_point(case, start))
    for _ in range(10):
        forward = fwlab.solve(problem, "fw", tol=0.0, max_iter=1, A0=state.A.copy()).dual
        solver.iterate(state, workspace)
        g = gradient(problem, state.A)
        products = workspace.active_set.products(g)
        assert np.ptp(products) <= 1e-10
        dual = problem.dual(state.A)
        assert dual >= forward - 1e-14
        corrected += dual > forward + 1e-6
    assert corrected > 1


def test_a_small_problem_is_solved_in_few_iterations():
    case = Case("TopK-1", n=6, lam=0.1)
    result = fwlab.solve(case.problem(), "fcfw", tol=1e-14, max_iter=60)
    assert result.gap <= 1e-14
    slow = fwlab.solve(case.problem(), "pfw", tol=1e-14, max_iter=60)
    assert slow.gap > 1e4 * max(result.gap, 1e-16)


def test_atoms_come_and_go():
    counts = [state.active for state, _ in iterates(Case("TopK-1", n=20), "fcfw", "zero", 60)]
    assert min(np.diff(counts)) < 0 < max(np.diff(counts))


# ---------------------------------------------------------------- dependent atoms

POINTS = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])  # the last is a midpoint
NOISE = 1e-13


def test_the_affine_maximiser_by_hand():
    """Nearest point to (1, 1/2) in the plane of three points: their weights are 1/4, 1/2, 1/4."""
    points = POINTS[:3]
    gram, linear = points @ points.T, points @ [1.0, 0.5]
    weights = np.array([0.5, 0.25, 0.25])
    direction = affine_direction(gram, linear - gram @ weights, NOISE)
    assert_allclose(weights + direction, [0.25, 0.5, 0.25], atol=1e-15)


def test_dependent_atoms_have_a_nearest_maximiser():
    """Four points of a plane: the maximiser is not unique, the direction is finite all the same."""
    gram, linear = POINTS @ POINTS.T, POINTS @ [1.0, 0.5]
    weights = np.full(4, 0.25)
    direction = affine_direction(gram, linear - gram @ weights, NOISE)
    assert abs(direction.sum()) <= 1e-15
    assert np.abs(direction).max() < 1.0
    assert_allclose((weights + direction) @ POINTS, [1.0, 0.5], atol=1e-14)


def test_a_linear_rise_goes_first():
    """A combination of atoms that the quadratic does not see, and that has a lower cost."""
    gram, linear = POINTS @ POINTS.T, np.array([0.0, 1.0, 1.0, 0.5])
    weights = np.full(4, 0.25)
    direction = affine_direction(gram, linear - gram @ weights, NOISE)
    assert_allclose(direction @ POINTS, 0.0, atol=1e-14)
    assert direction @ linear > 0.01
    assert abs(direction.sum()) <= 1e-15


def test_without_features_the_dual_is_linear():
    """G = 0: every correction goes along the costs alone."""
    problem = fwlab.Problem(np.zeros((3, 2)), [0, 1, 2], fwlab.TopK(2), 1.0)
    start = np.array([[0.25, -0.25, 0.0], [0.0, 0.0, 0.0], [0.0, -0.25, 0.25]])
    result = fwlab.solve(problem, "fcfw", tol=0.0, max_iter=1, A0=start, check_every=1)
    assert result.gap == 0.0
    assert_array_equal(result.trace.active, [1, 1])


# ---------------------------------------------------------------- outside the family


class Shifted(fwlab.PolytopeLoss):
    """The largest of <v, s + delta> over v = p - e_y + e_0 with p in the unit simplex.

    Its domain does not contain 0 for y = 0, and its rows sum to 1.
    """

    def value(self, scores, y):
        rows = np.arange(len(y))
        costs = self.costs(y, scores.shape[1])
        return (scores + costs).max(axis=1) - scores[rows, y] + (scores + costs)[:, 0]

    def lmo(self, gradient, y):
        eye = np.eye(gradient.shape[1])
        return -(eye[gradient.argmax(axis=1)] - eye[y] + eye[0])


def test_a_loss_outside_the_family():
    rng = np.random.default_rng(0)
    problem = fwlab.Problem(rng.normal(size=(15, 4)), np.arange(15) % 3, Shifted(), 0.05)
    result = fwlab.solve(problem, "fcfw", tol=1e-12, max_iter=200, check_every=1)
    assert result.gap <= 1e-12
    assert np.diff(result.trace.dual).min() >= -1e-14
    assert_allclose(result.A.sum(axis=1), -1.0, atol=1e-12)
