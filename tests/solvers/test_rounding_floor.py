"""Success counts the rounding error; the floor; gaps that rounding cannot explain."""

import re
from dataclasses import replace

import numpy as np
import pytest
from given_hinge import GivenHinge

import fwlab
from fwlab.result import Certificate, Status
from fwlab.solvers.stopping import checked_limits


def limits(tol, relative=False):
    return checked_limits(tol, relative, 10, None, 1)


def certificate(gap, error, primal=1.0):
    return Certificate(primal, primal - gap, gap, gap, from_scratch=True, gap_error=error).checked()


@pytest.mark.wrong_gaps
@pytest.mark.parametrize(
    ("gap", "error", "status"),
    [
        (0.9, 0.05, Status.CONVERGED),
        (0.9, 0.2, None),  # the exact gap may be 1.1
        (0.9, 2.0, Status.ROUNDING_FLOOR),  # no smaller gap is proved to be at most 1
        (0.05, 0.99, Status.ROUNDING_FLOOR),  # less gap would prove little more
        (-0.1, 0.2, Status.CONVERGED),
        (-0.3, 0.2, Status.INCONSISTENT),
    ],
)
def test_the_status_of_a_certificate(gap, error, status):
    assert limits(1.0).status(certificate(gap, error), 0, False) is status
    # as a fraction of primal = 2
    relative = certificate(2 * gap, 2 * error, primal=2.0)
    if abs(relative.dual) <= 2:
        assert limits(1.0, relative=True).status(relative, 0, False) is status


def test_a_tracked_certificate_ends_no_run_at_the_floor():
    tracked = replace(certificate(0.05, 0.99), from_scratch=False)
    assert limits(1.0).status(tracked, 0, False) is None
    assert limits(1.0).may_end(tracked, floor=0.1)


def test_a_run_with_tol_0_does_not_end_at_the_floor():
    assert limits(0.0).status(certificate(0.05, 0.99), 0, False) is None


def problem(**arguments):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    if arguments.get("kernel") == "precomputed":
        X = X @ X.T
    return fwlab.Problem(X, y, fwlab.TopK(2), 0.1, **arguments)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize(
    "arguments", [{}, {"kernel": "linear"}, {"kernel": "precomputed"}, {"smoothing": 0.2}], ids=str
)
def test_the_tol_of_the_message_can_be_reached(arguments, relative):
    made = problem(**arguments)
    settings = {"relative": relative, "max_iter": 5000}
    result = fwlab.solve(made, tol=1e-17, **settings)
    assert result.status is Status.ROUNDING_FLOOR
    assert not result.success
    reachable = float(re.search(r"tol=(\S+) can be reached", result.message)[1])
    again = fwlab.solve(made, tol=reachable, **settings)
    assert again.success
    assert again.gap + again.gap_error <= reachable


@pytest.mark.wrong_gaps
def test_a_result_is_kept_although_its_gap_contradicts_it(monkeypatch):
    """A primal that is too low by 1e-3 is no rounding error."""
    made = problem()
    value = type(made.polytopes).values
    monkeypatch.setattr(type(made.polytopes), "values", lambda *given: value(*given) - 1e-3)
    result = fwlab.solve(made, tol=1e-9, max_iter=300)
    assert result.status is Status.INCONSISTENT
    assert not result.success
    assert "rounding explains" in result.message
    assert result.A.shape == (30, 3)


def test_a_gram_matrix_that_is_indefinite_beyond_rounding_is_named_and_counted():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    eigenvalues = np.r_[np.linspace(0.1, 1, 17), np.full(3, -4e-9)]
    K = (basis * eigenvalues) @ basis.T
    made = fwlab.Problem(
        (K + K.T) / 2, np.arange(20) % 3, fwlab.TopK(2), 1e-6, kernel="precomputed"
    )
    assert 4e-9 <= made.gram_shift <= 1.1e-8
    result = fwlab.solve(made, tol=1e-9, max_iter=3000)
    assert not result.success
    assert "positive semidefinite only up to" in result.message


def test_a_fraction_of_an_objective_of_0():
    zero = fwlab.Problem(np.eye(2), np.arange(2), fwlab.StructuredHinge(np.zeros((2, 2))), 1.0)
    result = fwlab.solve(zero, "bcfw", relative=True, max_iter=5)
    assert result.gap == 0
    assert not np.isnan(result.gap_error)


def test_a_contradiction_proves_nothing():
    X, y = np.random.default_rng(0).normal(size=(9, 2)), np.arange(9) % 3
    result = fwlab.solve(fwlab.Problem(X, y, GivenHinge(share=0.1), 0.1), "fw", max_iter=20)
    assert result.status is Status.INCONSISTENT
    assert result.distance == np.inf
    assert not result.proved(X).any()
