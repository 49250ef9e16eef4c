"""Labels and accuracies that `certify` proves with an ellipsoid beside the ball."""

import numpy as np
import pytest
from solvers.tensor_libraries import LIBRARIES

import fwlab
import fwlab.certification as module
from fwlab.arrays import on_host
from fwlab.proved import proved_accuracy, proved_in_ball

LOSS = fwlab.CrossEntropy()


def drawn(loss=LOSS, C=30.0):
    rng = np.random.default_rng(0)
    means, y = rng.normal(size=(4, 5)), rng.integers(0, 4, 120)
    problem = fwlab.Problem(0.5 * means[y] + rng.normal(size=(120, 5)), y, loss, C=C)
    return problem, rng.normal(size=(300, 5)), rng.integers(0, 4, 300)


def by_ball(found, X, y, k=1):
    ball = found.ball.centre, found.ball.radius
    return proved_in_ball(found.W, *ball, X), proved_accuracy(*ball, X, y, k)


def test_it_proves_more_labels_and_narrower_intervals():
    problem, X_new, y_new = drawn()
    tight = fwlab.solve(problem, "auto", tol=1e-12)
    found = fwlab.certify(problem, fwlab.solve(problem, "lbfgs", tol=1e-1).W, factor=2.0)
    (ball, interval), proved = by_ball(found, X_new, y_new), found.proved(X_new)
    assert (proved | ~ball).all() and proved.mean() > ball.mean() + 0.1
    sure = proved & tight.proved(X_new)
    assert ((X_new @ found.W.T).argmax(axis=1) == tight.predict(X_new))[sure].all()
    for k in (1, 2):
        (low, high), exact = (c.proved_accuracy(X_new, y_new, k) for c in (found, tight))
        _, interval = by_ball(found, X_new, y_new, k)
        assert interval[0] <= low <= exact[1] and exact[0] <= high <= interval[1]
        assert high - low < 0.1 * (interval[1] - interval[0])


def test_labels_that_the_centre_does_not_share_are_not_proved():
    """The ellipsoid is small, so that its centre and the optimum differ from W alike."""
    problem, X_new, _ = drawn()
    W = np.random.default_rng(1).normal(size=(4, 5))
    proved = fwlab.certify(problem, W).proved(X_new)
    tight = fwlab.solve(problem, "auto", tol=1e-10)
    own = (X_new @ W.T).argmax(axis=1)
    assert 0 < proved.mean() < 0.6 and (own == tight.predict(X_new))[proved].all()
    assert not fwlab.certify(problem, np.zeros((4, 5))).proved(X_new).any()


def test_it_is_computed_once_from_the_better_machine(monkeypatch):
    problem, X_new, _ = drawn()
    seen, ellipsoid_of = [], module.ellipsoid_of
    monkeypatch.setattr(module, "ellipsoid_of", lambda p, W: seen.append(W) or ellipsoid_of(p, W))
    tight = fwlab.solve(problem, "auto", tol=1e-10)
    for W in (tight.W, np.zeros((4, 5))):
        found = fwlab.certify(problem, W, time_limit=0.0)
        assert not seen
        assert np.array_equal(found.proved(X_new), found.proved(X_new))
        better = W if W.any() else found.result.W
        assert np.array_equal(seen.pop(), better) and not seen


def test_without_an_ellipsoid_the_ball_proves_what_it_proved():
    for loss in (fwlab.TopK(2), fwlab.TopKEntropy(2)):
        problem, X_new, y_new = drawn(loss)
        found = fwlab.certify(problem, fwlab.solve(problem, "auto", tol=1e-2).W)
        ball, interval = by_ball(found, X_new, y_new)
        assert found.ellipsoid is None
        assert np.array_equal(found.proved(X_new), ball)
        assert found.proved_accuracy(X_new, y_new) == interval


def test_a_contradiction_leaves_no_ellipsoid(monkeypatch):
    problem, _, _ = drawn()
    found = fwlab.certify(problem, np.zeros((4, 5)))
    for status, has in (("INCONSISTENT", False), ("OPEN", True)):
        vars(found).pop("ellipsoid", None)
        object.__setattr__(found, "status", fwlab.ExcessStatus[status])
        assert (found.ellipsoid is not None) == has


@pytest.mark.parametrize("library", LIBRARIES)
def test_tensors_take_the_ball_alone(library):
    there, (problem, X_new, y_new) = library(), drawn()
    found = fwlab.certify(problem, fwlab.solve(problem, "lbfgs", tol=1e-2).W)
    ball, interval = by_ball(found, X_new, y_new)
    tensor = there.tensor(X_new)
    assert np.array_equal(on_host(found.proved(tensor)), ball)
    assert found.proved_accuracy(tensor, y_new) == pytest.approx(interval)
    assert found.proved(X_new).sum() > ball.sum()
    problem = fwlab.Problem(there.tensor(problem.X), problem.y, LOSS, C=30.0)
    assert fwlab.certify(problem, found.W).ellipsoid is None
