"""Certified projections and Moreau envelopes, against grids, closed forms and each other."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_cases import float_cases

from reference import MaxHinge, TopK, certificate, exact, lp, qp
from reference.certificate import SOLVERS, Certified, by_all_solvers, certified, proved
from reference.derived_polytopes import derived_domain, knapsack, permutahedron, topk_simplex
from reference.polytope import Polytope
from reference.rational import fractions, inner

SMOOTHINGS = st.sampled_from([1e-3, 0.1, 1.0, 10.0])


def objective(c, u, bias=0.0):
    """Return |u - c|^2 + bias <1, u>^2 of floats, and a bound of its error.

    u is itself a rounded point, which costs 2 eps in units of the terms below; a term then passes
    at most 2 d + 2 more roundings, with eps = 2^-53. The 4 spare ones are for the second order.
    """
    value = float(np.sum((u - c) ** 2) + bias * np.sum(u) ** 2)
    terms = np.sum((np.abs(u) + np.abs(c)) ** 2) + bias * np.sum(np.abs(u)) ** 2
    return value, (2 * len(u) + 8) * 2.0**-53 * float(terms)


@given(float_cases())
def test_projection_has_the_variational_inequality(case):
    """<u - c, U - u> >= 0 for all U, the least U by the LP on the papers' polytope."""
    loss, c, y = case
    result = qp.projection(loss, c, y)
    assert result.width <= 1e-6 * (1 + result.value_upper)
    assert result.contains(*objective(c, result.point))
    domain = derived_domain(loss, len(c), y)
    assert domain.nearest(-result.point)[1] <= 1e-9
    step = result.point - c
    assert domain.minimum(-step)[0] - float(step @ result.point) >= -1e-6 * (1 + np.abs(c).sum())


@given(float_cases(largest=3))
def test_projection_is_below_every_grid_point(case):
    """Convex combinations, in tenths, of the domain's vertices; without rounding."""
    loss, c, y = case
    slopes = -np.array(sorted(exact.pieces(loss, len(c), y)), dtype=object)
    points = [
        (a * p + b * q + (10 - a - b) * r) / Fraction(10)
        for p, q, r in product(slopes, repeat=3)
        for a, b in ((0, 0), (5, 5), (3, 3), (1, 2), (10, 0))
    ]
    best = min(inner(u - fractions(c), u - fractions(c)) for u in points)
    assert qp.projection(loss, c, y).value_lower <= best


def test_projection_by_hand():
    # max hinge, two classes: u = (a, -a) with 0 <= a <= 1
    result = qp.projection(MaxHinge(), [1.0, 0.0], 0)
    assert result.contains(0.5)
    assert result.point == pytest.approx([0.5, -0.5], abs=1e-6)
    assert qp.projection(MaxHinge(), [9.0, -4.0], 0).contains(73)
    # inside: nothing moves
    inside = qp.projection(TopK(2), [0.5, -0.25, -0.25], 0)
    assert inside.contains(0.0)


@given(float_cases(), st.integers(0, 2**32 - 1))
def test_gap_bounds_the_suboptimality_of_any_candidate(case, seed):
    loss, c, y = case
    weights = np.random.default_rng(seed).dirichlet(np.ones(3))
    vertices = [lp.lmo(loss, g, y)[1] for g in (c, -c, np.roll(c, 1))]
    candidate = sum(w * v for w, v in zip(weights, vertices, strict=True))
    gap = qp.projection_gap(loss, c, y, candidate)
    best = qp.projection(loss, c, y)
    excess = float(np.sum((candidate - c) ** 2)) - best.value_upper
    assert excess <= gap + 1e-9 * (1 + best.value_upper)
    assert float(np.sum((candidate - best.point) ** 2)) <= gap + 1e-6 * (1 + best.value_upper)
    assert qp.projection_gap(loss, c, y, best.point) <= 1e-6 * (1 + best.value_upper)


def test_gap_sees_a_feasible_point_that_is_not_the_nearest():
    assert qp.projection_gap(MaxHinge(), [1.0, 0.0], 0, [0.6, -0.6]) > 0.01
    with pytest.raises(ValueError, match="outside the negated domain"):
        qp.projection_gap(MaxHinge(), [9.0, -4.0], 0, [1.1, -1.1])


@given(float_cases(), SMOOTHINGS)
def test_moreau_envelope_is_below_every_candidate_and_attained(case, smoothing):
    loss, s, y = case
    result = qp.moreau(loss, s, y, smoothing)

    def objective(z):
        z = fractions(z)
        distance = inner(z - fractions(s), z - fractions(s))
        return qp.exact_value(loss, z, y) + distance / (2 * Fraction(smoothing))

    rng = np.random.default_rng(0)
    steps = rng.normal(size=(50, len(s))) * np.logspace(-6, 1, 50)[:, None]
    assert all(objective(result.point + step) >= result.value_lower for step in steps)
    assert result.contains(objective(result.point), slack=1e-9)
    assert result.value_lower <= objective(s)
    assert result.width <= 1e-6 * (1 + result.value_upper)


@pytest.mark.turns
@given(float_cases(), SMOOTHINGS)
def test_moreau_envelope_is_a_projection(case, smoothing):
    """Two QPs that share no constraint: the gradient g of the envelope is minus the projection of
    -(s + delta)/smoothing, and the value <s + delta, g> - smoothing/2 |g|^2."""
    loss, s, y = case
    shifted = s + np.array(loss.delta(len(s), y), dtype=float)
    nearest = qp.projection(loss, -shifted / smoothing, y)
    scale = smoothing / 2
    norm = float(shifted @ shifted) / (2 * smoothing)
    envelope = qp.moreau(loss, s, y, smoothing)
    # c is rounded twice, by 2 eps |c|, and its distance is at most |c|, as 0 is in the domain: that
    # moves the last term by 2 eps |shifted|^2 / smoothing. norm passes d + 4 roundings, the other
    # two operations one each; norm is half of |shifted|^2 / smoothing, the last term at most that.
    slack = (len(s) + 10) * 2.0**-53 * 2 * norm
    assert envelope.value_lower <= norm - scale * nearest.value_lower + slack
    assert envelope.value_upper >= norm - scale * nearest.value_upper - slack


@pytest.mark.turns
@given(float_cases(largest=6), st.sampled_from([0.0, 0.3, 2.0]))
def test_nearest_point_of_the_projections_sets(case, bias):
    _, a, y = case
    d, k = len(a), y + 1
    sets = [
        topk_simplex(d, k, 1.5),
        topk_simplex(d, d + 1),
        knapsack(d, 1.0, 0.4),
        knapsack(d, 0.3 * d, 0.5, equality=True),
        permutahedron(np.sort(a[::-1])),
    ]
    for polytope in sets:
        result = qp.nearest_point(polytope, a, bias)
        u = result.point
        assert polytope.nearest(u)[1] <= 1e-10
        assert result.contains(*objective(a, u, bias))
        gradient = u - a + bias * np.sum(u)
        bound = 1e-6 * (1 + np.abs(a).sum())
        assert polytope.minimum(gradient)[0] >= float(gradient @ u) - bound


def test_a_problem_on_which_clarabel_cycles():
    """At its default step length; the answer moves along (0, -1, 1) alone."""
    M, A = np.array([[-1.0, 0, 0], [0, -1, 0], [1, 1, 0]]), np.array([[-1.0, -1, -1]])
    a, b, c = 4.12573022, -4.13210486, -3.35957735
    result = qp.nearest_point(Polytope(M, A, np.array([-1.0])), [a, b, c])
    assert result.contains(a**2 + (b + c) ** 2 / 2)


def test_a_problem_on_which_osqp_cycles():
    """While it adapts its step size; without that it needs few iterations."""
    s = np.array([0.34558419, 0.82161814, -0.66956292, -3.30315723, -2.09464413, 0.44637457])
    c = -10 * (s + np.array(TopK(2).delta(6, 2), dtype=float))
    both = qp.projection(TopK(2), c, 2)
    assert "OSQP: optimal" in both.solver
    one = qp.projection(TopK(2), c, 2, solvers=("OSQP",))
    assert one.contains(both.value_upper)


def test_nearest_points_by_hand():
    # on the segment from (2, 1) to (1, 2) the nearest point to (5, 4.5) is (1.75, 1.25)
    assert qp.nearest_point(permutahedron([2, 1]), [5.0, 4.5]).contains(2 * 3.25**2)
    assert qp.nearest_point(knapsack(2, 1.0, 1.0), [2.0, 2.0]).contains(4.5)
    assert qp.nearest_point(knapsack(1, 5.0, 5.0), [2.0], bias=1.0).contains(2.0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_sloppy_solver_cannot_fool_the_certificate(solver, monkeypatch):
    """At loose settings "optimal" is wrong in the third digit; the interval still holds."""
    c = np.array([0.3, -1.7, 0.9, -0.4, 2.2])
    sharp = qp.projection(TopK(3), c, 1)
    loose = {
        "CLARABEL": {"tol_gap_abs": 1e-2, "tol_gap_rel": 1e-2, "tol_feas": 1e-2},
        "OSQP": {"eps_abs": 1e-2, "eps_rel": 1e-2, "polishing": False},
    }
    monkeypatch.setitem(SOLVERS, solver, [loose[solver]])
    monkeypatch.setattr(certificate, "WIDEST", 1.0)
    sloppy = qp.projection(TopK(3), c, 1, solvers=(solver,))
    assert sloppy.width > 1e-7
    assert sloppy.value_lower <= sharp.value_upper
    assert sloppy.value_upper >= sharp.value_lower
    monkeypatch.setattr(certificate, "WIDEST", 1e-9)
    with pytest.raises(ArithmeticError, match="too wide"):
        qp.projection(TopK(3), c, 1, solvers=(solver,))


def test_impossible_certificates_are_errors():
    nowhere = np.zeros(1)
    with pytest.raises(ArithmeticError, match="a lower bound"):
        certified(1.0, 0.5, 1.0, nowhere, "test")
    with pytest.raises(ArithmeticError, match="a lower bound"):
        proved(Fraction(1), 1 - Fraction(1, 10**30), nowhere, "test")
    ends = {"one": (0.0, 1.0), "other": (2.0, 3.0)}
    with pytest.raises(ArithmeticError, match="solvers disagree"):
        by_all_solvers(lambda name: Certified(*ends[name], nowhere, name), list(ends))


def test_exact_ends_are_rounded_outwards():
    third = Fraction(1, 3)
    for end in (third, -third, 2 * third, Fraction(1, 4)):
        interval = proved(end, end, np.array([third]), "test")
        assert interval.value_lower <= end <= interval.value_upper
        assert interval.contains(end)
        assert interval.width <= 2.0**-53


def test_intervals_are_intersected():
    ends = {"one": (0.0, 1.0), "other": (1.0 - 1e-7, 3.0)}
    points = {"one": np.array([1.0]), "other": np.array([2.0])}
    both = by_all_solvers(lambda name: Certified(*ends[name], points[name], name), list(ends))
    assert (both.value_lower, both.value_upper, both.point) == (1.0 - 1e-7, 1.0, [1.0])
    assert both.solver == "one, other"
    assert both.contains(1.0)
    assert not both.contains(1.1)
    assert both.contains(1.1, slack=0.2)


def test_a_solver_that_gives_up_is_an_error(monkeypatch):
    monkeypatch.setitem(SOLVERS, "OSQP", [{"max_iter": 1, "eps_abs": 1e-12, "eps_rel": 1e-12}])
    with pytest.raises(ArithmeticError, match="OSQP found no solution"):
        qp.projection(TopK(2), [0.3, -1.7, 0.9], 0)
