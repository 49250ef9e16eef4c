"""The ball of a run's machine and dual point, and the labels that it proves."""

import numpy as np
import pytest
from solvers.tensor_libraries import LIBRARIES

import fwlab
from fwlab.arrays import on_host
from fwlab.enclosing_ball import ball_of_pair
from fwlab.proved import proved_in_ball, proved_labels

LOSS = fwlab.CrossEntropy()


def drawn():
    rng = np.random.default_rng(0)
    means, y = rng.normal(size=(4, 5)), rng.integers(0, 4, 120)
    X_new = rng.normal(size=(300, 5))
    return 0.5 * means[y] + rng.normal(size=(120, 5)), y, X_new


def beside(problem, result):
    """Return a tight run, whose machine lies in the ball of the result."""
    tight = fwlab.solve(problem, "auto", tol=1e-10)
    assert tight.success
    apart = np.linalg.norm(tight.W - result.centre)
    assert apart - tight.distance <= result.radius < 0.9 * result.distance
    return tight


@pytest.mark.parametrize("loss", [LOSS, fwlab.TopKEntropy(2)], ids=str)
def test_the_ball_of_an_entropy_has_half_the_radius_and_proves_more(loss):
    X, y, X_new = drawn()
    problem = fwlab.Problem(X, y, loss, C=30.0)
    result = fwlab.solve(problem, "lbfgs", tol=1e-3)
    tight = beside(problem, result)
    assert result.radius <= 0.52 * result.distance
    proved, around_w = result.proved(X_new), proved_labels(result.W, result.distance, X_new)
    assert (proved | ~around_w).all() and proved.sum() > around_w.sum()
    assert (result.predict(X_new) == tight.predict(X_new))[proved].all()
    codes = tight.predict(X_new)
    low, high = result.proved_accuracy(X_new, codes)
    assert proved.mean() <= low < high == 1.0


@pytest.mark.parametrize("method", ["newton", "auto"])
def test_a_hinge_whose_machine_is_not_the_link_has_such_a_ball(method):
    X, y, _ = drawn()
    problem = fwlab.Problem(X, y, fwlab.TopK(2), C=100.0)
    beside(problem, fwlab.solve(problem, method, tol=1e-3))


def test_a_machine_that_is_the_link_or_has_a_kernel_has_no_other_ball():
    X, y, X_new = drawn()
    for method, kernel in (("ascent", None), ("ascent", "linear"), ("subgradient", None)):
        problem = fwlab.Problem(X, y, fwlab.TopK(2), C=1.0, kernel=kernel)
        result = fwlab.solve(problem, method, max_iter=20)
        assert result.centre is None and result.radius == np.inf
        expected = proved_labels(result.W, result.distance, X_new)
        assert np.array_equal(result.proved(X_new), expected)
    problem = fwlab.Problem(X, y, LOSS, C=30.0, kernel="linear")
    assert fwlab.solve(problem, "ascent", tol=1e-3).centre is None


def test_labels_that_the_centre_does_not_predict_are_not_proved():
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    W, centre = np.eye(2), np.array([[1.0, 1.0], [0.0, 0.0]])
    assert np.array_equal(proved_in_ball(W, centre, 0.5, X), [True, False])
    assert not proved_in_ball(W, centre, 0.75, X).any()  # sqrt(2) |x| r > 1
    assert np.array_equal(proved_in_ball(np.zeros((2, 2)), centre, 0.5, X), [False, False])


def test_estimators_and_files_keep_the_ball(tmp_path):
    X, y, X_new = drawn()
    head = fwlab.TopKClassifier(C=30.0, tol=1e-3).fit(X, y)
    result = fwlab.solve(fwlab.Problem(X, y, LOSS, C=30.0), "auto", tol=1e-3)
    result.save(tmp_path / "a.npz")
    stored = fwlab.Result.load(tmp_path / "a.npz")
    assert np.array_equal(stored.centre, result.centre) and stored.radius == result.radius
    around_w = proved_labels(result.W, result.distance, X_new)
    for other in (head, stored):
        assert np.array_equal(other.proved(X_new), result.proved(X_new))
        assert other.proved(X_new).sum() > around_w.sum()
        codes = other.predict(X_new)
        found = other.proved_accuracy(X_new, codes)
        assert found == result.proved_accuracy(X_new, codes)


@pytest.mark.parametrize("library", LIBRARIES)
def test_tensors_and_runs_out_of_core_have_it(library):
    X, y, X_new = drawn()
    here, there = fwlab.Problem(X, y, LOSS, C=30.0), library()
    problem = fwlab.Problem(there.tensor(X), there.tensor(y), LOSS, C=30.0)
    result = fwlab.solve(problem, "lbfgs", tol=1e-3)
    outside = fwlab.distributed.solve(
        fwlab.distributed.OutOfCoreProblem(X, y, LOSS, C=30.0, chunk_rows=50), tol=1e-3
    )
    for found in (result, outside):
        around_w = proved_labels(on_host(found.W), found.distance, X_new)
        proved = on_host(found.proved(X_new))
        assert (proved | ~around_w).all() and proved.sum() > around_w.sum()
    beside(here, outside)


def test_an_error_of_the_link_moves_the_centre_and_hides_a_part_of_the_distance():
    """The exact link is V + (0, e): half of e moves the centre, e may be missing in |W - V|."""
    W, V, e = np.array([[4.0, 0.0]]), np.array([[0.0, 0.0]]), 1.0
    exact = ball_of_pair(W, V, 50.0, 2.0, 0.0)
    assert exact.radius == pytest.approx(1.01 * np.sqrt(25.0 - 4.0), rel=1e-6)
    found = ball_of_pair(W, V, 50.0, 2.0, e)
    hidden = (4.0 - 1.01 * e) / 2
    assert found.radius == pytest.approx(1.01 * (np.sqrt(25.0 - hidden**2) + e / 2), rel=1e-6)
