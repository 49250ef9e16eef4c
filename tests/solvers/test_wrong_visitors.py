"""Losses, step rules and methods from outside with mistakes: named, and never a success."""

import numpy as np
import pytest

import fwlab
from fwlab.result import Status

pytestmark = pytest.mark.small

M = 3
LABELS = np.arange(12) % M
X = np.random.default_rng(5).normal(size=(12, 4))
# no label has 0 in its domain
CENTRES = np.full((M, M), 2.0)
METHODS = ("fw", "pfw", "subgradient")
each_method = pytest.mark.parametrize("method", METHODS)


class Ball(fwlab.PolytopeLoss):
    """The maximum over the ball of radius 1 around (2, 2, 2)."""

    def value(self, scores, y):
        gradient = scores + self.costs(y, M)
        return (CENTRES[y] * gradient).sum(axis=1) + np.linalg.norm(gradient, axis=1)

    def lmo(self, gradient, y):
        norms = np.linalg.norm(gradient, axis=1, keepdims=True)
        return -CENTRES[y] - gradient / np.where(norms > 0, norms, 1.0)

    def contains(self, v, y):
        return np.linalg.norm(v - CENTRES[y], axis=1) <= 1 + 1e-9

    def project(self, c, y):
        away = -c - CENTRES[y]
        norms = np.linalg.norm(away, axis=1, keepdims=True)
        return -CENTRES[y] - away / np.maximum(norms, 1.0)


def changed(**functions):
    return type("Changed", (Ball,), functions)()


WRONG_PROJECTIONS = {
    "zero": lambda self, c, y: 0.0 * c,
    "the centre": lambda self, c, y: -CENTRES[y],
    "inside": lambda self, c, y: 0.999 * Ball.project(self, c, y) - 0.001 * CENTRES[y],
    "outside": lambda self, c, y: 1.1 * Ball.project(self, c, y),
    "a vertex": lambda self, c, y: self.lmo(-c, y),
    "the sign": lambda self, c, y: -Ball.project(self, -c, y),
}


@each_method
@pytest.mark.parametrize("wrong", WRONG_PROJECTIONS)
@pytest.mark.parametrize("lam", [0.1, 30.0])
def test_a_wrong_projection_is_named(wrong, method, lam):
    loss = changed(project=WRONG_PROJECTIONS[wrong])
    problem = fwlab.Problem(X, LABELS, loss, lam, smoothing=0.5)
    result = fwlab.solve(problem, method, max_iter=50)
    assert result.status is Status.INCONSISTENT
    assert "project of Changed" in result.message
    assert "Sample " in result.message


@each_method
@pytest.mark.parametrize("smoothing", [1e-8, 1e-3, 0.5, 1e3])
def test_a_right_projection_is_not(method, smoothing):
    for scale in (1e-6, 1.0, 1e6):
        problem = fwlab.Problem(X, LABELS, Ball(), 0.1 * scale, smoothing=smoothing * scale)
        result = fwlab.solve(problem, method, max_iter=50)
        assert result.status in (Status.CONVERGED, Status.MAX_ITER, Status.ROUNDING_FLOOR)


@each_method
def test_a_row_is_tried_in_the_units_of_its_weight(method):
    """The dual row of every sample lies in its weight times the domain."""
    omega = np.linspace(0.25, 3.0, len(LABELS))
    problem = fwlab.Problem(X, LABELS, Ball(), 0.5, sample_weight=omega)
    result = fwlab.solve(problem, method, max_iter=20)
    assert result.status in (Status.CONVERGED, Status.MAX_ITER), result.message


def test_a_zero_weight_needs_no_zero_in_the_domain():
    omega = np.where(LABELS == 1, 0.0, 1.0)
    problem = fwlab.Problem(X, LABELS, Ball(), 1.0, sample_weight=omega)
    result = fwlab.solve(problem, "fw", tol=1e-3)
    assert result.success
    assert problem.gap(result.A) == pytest.approx(result.gap, abs=1e-12)
    result.A[1] = 1e-3
    assert problem.dual(result.A) == -np.inf


def test_contains_that_refuses_a_row_is_named():
    loss = changed(contains=lambda self, v, y: np.arange(len(v)) != 7)
    result = fwlab.solve(fwlab.Problem(X, LABELS, loss, 30.0), "fw")
    assert result.status is Status.INCONSISTENT
    assert "Sample 7 with label 1: contains of Changed refuses" in result.message


def test_contains_that_accepts_all_is_named():
    """At the scores 0 every point has the product 0 with the gradient: the gap is 0, too."""
    loss = changed(
        contains=lambda self, v, y: np.ones(len(v), dtype=bool),
        costs=lambda self, y, m: np.zeros((len(y), m)),
    )
    result = fwlab.solve(fwlab.Problem(X, LABELS, loss, 0.1), "fw")
    assert result.gap == 0.0
    assert result.status is Status.INCONSISTENT
    assert "the dual row is outside the points of lmo" in result.message


class Hinge(fwlab.PolytopeLoss):
    """The hinge loss of two classes, all labels 0; its domain is a segment."""

    def value(self, scores, y):
        return np.maximum(0.0, 1.0 + scores[:, 1] - scores[:, 0])

    def lmo(self, gradient, y):
        return np.where(gradient[:, 1:] > gradient[:, :1], [[1.0, -1.0]], 0.0)

    def contains(self, v, y):
        return np.ones(len(v), dtype=bool)


def test_a_start_beyond_a_kink_is_named():
    """The scores of the start are at the kink: no row exceeds the loss there."""
    problem = fwlab.Problem(np.ones((1, 1)), [0], Hinge(), 10.0, n_classes=2)
    result = fwlab.solve(problem, "fw", A0=[[5.0, -5.0]])
    assert result.gap == 0.0
    assert result.status is Status.INCONSISTENT


def test_a_loss_cannot_change_the_labels():
    def forgetful(self, gradient, y):
        vertices = Ball.lmo(self, gradient, y)
        y[:] = 0
        return vertices

    labels = LABELS.copy()
    problem = fwlab.Problem(X, labels, changed(lmo=forgetful), 1.0)
    fwlab.solve(problem, "fw", max_iter=3)
    np.testing.assert_array_equal(labels, LABELS)
    np.testing.assert_array_equal(problem.y, LABELS)


def test_a_cost_table_cannot_change_the_labels():
    class Forgetful(fwlab.MaxHinge):
        def cost_table(self, y, m):
            y[:] = 0
            return super().cost_table(y, m)

    problem = fwlab.Problem(X, LABELS.copy(), Forgetful(), 1.0)
    np.testing.assert_array_equal(problem.y, LABELS)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (lambda u: u.T, "ndarray of shape (3, 12)"),
        (lambda u: u * (1 + 0j), "type complex128"),
        (lambda u: [[1.0, 2.0], [3.0]], "list that is no array of numbers"),
        (lambda u: None, "NoneType of shape ()"),
        (lambda u: "abc", "str of shape ()"),
    ],
)
def test_what_is_no_matrix_is_named(given, found):
    loss = changed(lmo=lambda self, gradient, y: given(Ball.lmo(self, gradient, y)))
    with pytest.raises(ValueError, match="lmo of Changed must return an array") as error:
        fwlab.solve(fwlab.Problem(X, LABELS, loss, 1.0), "fw")
    assert found in str(error.value)


def test_rows_are_numbered_beyond_the_first_chunk():
    def hole(self, c, y):
        return np.where(np.arange(len(y))[:, None] == 5, np.nan, Ball.project(self, c, y))

    n = 1030

    def late(self, c, y):
        return hole(self, c, y) if len(y) == n - 1024 else Ball.project(self, c, y)

    loss = changed(project=late)
    problem = fwlab.Problem(np.ones((n, 1)), np.arange(n) % M, loss, 1.0, smoothing=1.0)
    with pytest.raises(ValueError, match="in row 1029"):
        fwlab.solve(problem, "fw", max_iter=1)


class Constant(fwlab.StepRule):
    def __init__(self, step):
        self.step = step

    def __call__(self, direction, memory):
        return self.step


@pytest.mark.parametrize("step", [None, 0.1j, [0.1], np.ones(2), "far"])
def test_a_step_that_is_no_number_is_named(step):
    problem = fwlab.Problem(X, LABELS, fwlab.MaxHinge(), 0.1)
    with pytest.raises(TypeError, match=r"step must be a number; the step rule Constant\("):
        fwlab.solve(problem, fwlab.FrankWolfe(step=Constant(step)))


@pytest.mark.parametrize("lam", [0.1, 100.0])
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1.0, 1e-8), (1e4, 1e8), (1e8, 1e8)])
def test_the_adaptive_rule_ends_near_the_optimum(lam, offset, scale):
    """There U - A is 0 up to rounding, and |U|^2 + |A|^2 - 2 <U, A> is 0 or negative."""
    vertices = (np.random.default_rng(1).normal(size=(M, 6, M)) + offset) * scale

    class Listed(fwlab.PolytopeLoss):
        def value(self, scores, y):
            gradient = scores + self.costs(y, M)
            return np.einsum("nvm,nm->nv", vertices[y], gradient).max(axis=1)

        def lmo(self, gradient, y):
            return -vertices[y, np.einsum("nvm,nm->nv", vertices[y], gradient).argmax(axis=1)]

    problem = fwlab.Problem(X, LABELS, Listed(), lam * scale)
    method = fwlab.FrankWolfe(step="adaptive")
    result = fwlab.solve(problem, method, tol=0.0, max_iter=150, time_limit=20.0, check_every=1)
    assert result.status is Status.MAX_ITER
    rises = np.diff(result.trace.dual)
    assert rises.min() >= -1e-12 * abs(result.trace.dual).max()


def test_a_path_needs_no_contains():
    problem = fwlab.Problem(X, LABELS, changed(contains=None), 1.0)
    for result in fwlab.path(problem, [0.01, 0.02], method="fw", tol=1e-2):
        assert result.success


def test_attributes_of_any_kind_are_described():
    class Grouped(fwlab.Method):
        def __init__(self):
            self.groups = [[0], [1, 2]]
            self.itself = self
            self.cube = np.zeros((2, 3, 4))

    assert repr(Grouped()) == "Grouped(groups=[[0], [1, 2]], itself=.., cube=<2 x 3 x 4>)"
    with pytest.raises(NotImplementedError, match="Grouped must define `iterate`"):
        fwlab.solve(fwlab.Problem(X, LABELS, fwlab.MaxHinge(), 1.0), Grouped())
