"""Evaluate the hinge dual (34) of Pat&Mat with the best delta, at a point and along a pair."""

from collections.abc import Iterator
from fractions import Fraction

from paper_checks.arithmetic import Real, Truth, all_of, any_of, divide, equals, maximum, where
from paper_checks.cases import changed
from paper_checks.ledger import Case
from paper_checks.macha2020.pairs import NAMES, constraints, coordinates, interval, possible
from paper_checks.macha2020.problems import (
    Number,
    bounds_patmat,
    crossings,
    greatest,
    moved,
    patmat_dual,
    reach,
)
from paper_checks.proofs import BySolver
from paper_checks.symbols import real


def least_delta(case: Case) -> Fraction:
    """Return the best delta: the smallest that (34d) allows, as each unit of delta costs n tau."""
    least: Fraction = max(case.beta) / case.theta2
    return least


def with_best_delta(case: Case) -> Number:
    """Return (34) at the best delta."""
    return patmat_dual(changed(case, delta=least_delta(case)))


def best_jointly(case: Case, k: int, other: int) -> tuple[Fraction, Number]:
    """Return (Delta, value): the largest value of (34) along a pair and over delta.

    Kinks are where two betas cross.
    """
    ends = reach(lambda t: bounds_patmat(moved(case, k, other, t)))
    kinks = crossings(lambda t: moved(case, k, other, t).beta)
    return greatest(lambda t: with_best_delta(moved(case, k, other, t)), *ends, kinks)


# ---------------------------------------------------------------- (34) along a pair


def betas_after(pair: Case, step: Real) -> list[Real]:
    return [b + sign * step for b, sign in coordinates(pair)[1]]


def best_delta(pair: Case, step: Real) -> Real:
    """Return the least delta that (34d) allows after a step."""
    return divide(maximum(pair.beta_max, *betas_after(pair, step)), pair.theta2)


def rise(pair: Case, step: Real, way: int) -> Real:
    """Return a one-sided derivative of (34) with the best delta at a step."""
    alphas, betas = coordinates(pair)
    slope = -pair.scores - pair.curvature * step
    slope += sum(divide(sign, pair.theta) for _, sign in alphas)
    slope += sum(divide(sign, pair.theta2) for _, sign in betas)
    entries = [(pair.beta_max, 0), *((b + sign * step, sign) for b, sign in betas)]
    largest = maximum(*(value for value, _ in entries))
    # only the largest entries change the maximum; -2 stands for an entry that does not
    growth = maximum(*(where(value >= largest, way * sign, -2) for value, sign in entries))
    return way * slope - divide(pair.budget, pair.theta2) * growth


def is_jointly_best(pair: Case, step: Real, delta: Real) -> Truth:
    """Return whether a step with a delta is feasible and no other one is better.

    (34) with the best delta is concave, so it may rise only in a direction that a constraint
    blocks.
    """
    limits = constraints(pair, step, patmat=True)
    stopped = [
        any_of(
            rise(pair, step, way) <= 0, *(value <= 0 for value, slope in limits if slope == -way)
        )
        for way in (1, -1)
    ]
    feasible = all_of(*(value >= 0 for value, _ in limits))
    return all_of(feasible, equals(delta, best_delta(pair, step)), *stopped)


def best_step(pair: Case) -> Real:
    """Return the best step of a pair of numbers, from its feasible interval and its kinks."""

    def value(step: Real) -> Real:
        alphas, betas = coordinates(pair)
        gains = sum(s / pair.theta for _, s in alphas) + sum(s / pair.theta2 for _, s in betas)
        quadratic = pair.scores * step + pair.curvature * step**2 / 2
        return gains * step - quadratic - pair.budget * best_delta(pair, step)

    low, high = interval(pair, patmat=True)
    return greatest(value, low, high, crossings(lambda t: [pair.beta_max, *betas_after(pair, t)]))[
        0
    ]


def by_joint_pairs(rule: str, catches: str, apart: bool = True) -> BySolver:
    """Return the proof for all real numbers of a pair.

    For two betas, theta_2 = 1 and the curvature is 1 without loss of generality, as they are the
    units of delta and of the dual.
    """
    fixed = {"theta2": Fraction(1), "curvature": Fraction(1)} if rule == "two betas" else {}

    def cases(deep: bool) -> Iterator[Case]:
        names = [*NAMES[rule], "scores", "curvature", "beta_max", "theta2", "budget"]
        names += [] if rule == "two betas" else ["C", "theta"]
        symbols = {x: real(x) for x in names}
        yield Case(kind="symbols", surrogate="hinge", **{**symbols, **fixed})

    def assuming(pair: Case) -> Truth:
        return all_of(possible(pair, patmat=True), pair.curvature > 0 if apart else True)

    return BySolver(catches, cases, assuming, sized_by=())
