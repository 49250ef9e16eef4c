"""`certify` where rounding errors hide the excess."""

import numpy as np
import pytest
from heads import D, M, X, Y

import fwlab
from fwlab.excess import ExcessTest, excess_bounds
from fwlab.result import Certificate

W = np.random.default_rng(0).normal(size=(M, D))


def from_the_start(gap, error):
    return Certificate(gap, 0.0, gap, gap, gap_error=error)


class Given(ExcessTest):
    """The certificates at the dual point 0 are P(W) = 4 and P(W+) = 1 with the errors 1/4, 1/8."""

    def certificates_at_zero(self, W):
        assert W == "W+"
        return from_the_start(4.0, 0.25), from_the_start(1.0, 0.125)


@pytest.mark.parametrize("kind", ["has_tensors", "has_entropy", "in_family"])
def test_the_dual_point_0_counts_where_rounding_errors_are_large(kind):
    kinds = dict.fromkeys(("has_tensors", "has_entropy", "in_family"), False)
    test = Given(type("Problem", (), kinds | {kind: True}), "W", 4.0, 1.1)
    own, other = from_the_start(5.0, 3.0), from_the_start(0.5, 3.0)
    high, low = test.bounds(own, other, "W+")
    assert high == np.nextafter(4.25, np.inf) and low == np.nextafter(2.625, 0)
    # the bounds of the run count if they are better
    own = from_the_start(3.5, 0.125)
    assert test.bounds(own, from_the_start(0.25, 0.0), "W+")[0] == np.nextafter(3.625, np.inf)
    own = from_the_start(3.5, 0.0)
    assert test.bounds(own, from_the_start(0.0, 0.5), "W+")[1] == np.nextafter(3.0, 0)
    # the errors 2 x 3 + 3 are less than the rest
    own, other = from_the_start(20.0, 3.0), from_the_start(9.5, 3.0)
    assert test.bounds(own, other, "W+") == excess_bounds(own, other)
    other = from_the_start(8.5, 3.0)
    assert test.bounds(own, other, "W+") != excess_bounds(own, other)


def test_a_loss_from_outside_has_no_dual_point_0():
    nothing = dict.fromkeys(("has_tensors", "has_entropy", "in_family"), False)
    test = Given(type("Problem", (), nothing), "W", 4.0, 1.1)
    own, other = from_the_start(5.0, 3.0), from_the_start(0.5, 3.0)
    assert test.bounds(own, other, "W+") == excess_bounds(own, other)


def test_an_excess_is_at_most_the_value_itself_and_never_negligible_for_large_rounding_errors():
    """With C = 1e30 the error of a dual value may be 1e3."""
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=1e30)
    test = ExcessTest(problem, -W, problem.primal(-W), 1.1)
    own, other, better = from_the_start(2.0, 1e3), from_the_start(0.1, 1e3), W
    high, low = test.bounds(own, other, better)
    assert test.primal <= high <= test.primal * (1 + 1e-12)
    assert low == pytest.approx(test.primal - problem.primal(better), rel=1e-12)
    assert test.status(high, low, own.gap_error, at_floor=True) is fwlab.ExcessStatus.OPEN


def near_optimum(problem, size):
    """Return a machine with an excess of about this size, and the optimum."""
    best = fwlab.solve(problem, "auto", tol=1e-14).W
    step = np.random.default_rng(1).normal(size=best.shape)
    unit = problem.primal(best + 1e-3 * step) - problem.primal(best)
    return best + 1e-3 * np.sqrt(size / unit) * step


def test_a_machine_at_machine_precision_ends_at_the_rounding_floor():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=10.0)
    near = near_optimum(problem, 4e-12 * problem.primal(np.zeros((M, D))))
    # the factor asks for more than the errors of P allow
    found = fwlab.certify(problem, near, factor=1 + 1e-4)
    assert found.excess > max(1e-12 * found.primal, 2 * found.gap_error)
    assert found.status is fwlab.ExcessStatus.ROUNDING_FLOOR and found.status.is_settled
    assert 0 < found.excess_low < found.excess
    low, high = f"{found.excess_low:.3g}", f"{found.excess:.3g}"
    assert f"It lies in {low}..{high}; rounding errors are up to" in found.message
    assert "tol" not in found.message


def test_the_value_0_of_the_dual_point_0_makes_the_lower_bound_tighter():
    problem = fwlab.Problem(X, Y, fwlab.CrossEntropy(), C=10.0)
    error = fwlab.certify(problem, near_optimum(problem, 1e-6)).gap_error
    found = fwlab.certify(problem, near_optimum(problem, 8 * error), factor=1 + 1e-3)
    test = ExcessTest(problem, found.W, found.primal, 1.1)
    own = test.certificate(found.result.A, found.W)
    assert found.excess_low > excess_bounds(own, found.result)[1]
