"""Describe one pair of coordinates of a dual of M20: the dual along it, and its best step.

A pair is a Case with the numbers that the theorems on steps use: alpha_k and alpha_l, alpha_k and
beta_l, or beta_k and beta_l; scores = s_k -+ s_l and curvature = K_kk + K_ll -+ K_kl -+ K_lk, plus
for an alpha with a beta; sum_alpha; beta_max, the largest beta that the pair does not move. Every
such case with curvature > 0, or with scores = curvature = 0, comes from data: the other samples
give scores any value. So a proof for a pair holds for problems of every size.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paper_checks.arithmetic import (
    ZERO,
    Real,
    Truth,
    all_of,
    any_of,
    divide,
    equals,
    is_symbolic,
    maximum,
    minimum,
    total,
)
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome
from paper_checks.macha2020.problems import (
    Number,
    bounds_patmat,
    bounds_toppushk,
    greatest,
    kernel,
    moved,
    patmat_dual,
    random_problem,
    reach,
    rule_pairs,
    signed_scores,
    toppushk_dual,
)
from paper_checks.outcomes import both, equal, true, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import real

# the values of a pair's two coordinates, by rule
NAMES = {
    "two alphas": ("alpha_k", "alpha_l"),
    "alpha and beta": ("alpha_k", "beta_l"),
    "two betas": ("beta_k", "beta_l"),
}
Coordinate = tuple[Real, int]  # its value, and the sign with which it moves
Join = Callable[..., Real]


def pair_of(case: Case, rule: str, k: int, other: int) -> Case:
    """Return the pair of the coordinates k and other of a problem, counted in (alpha, beta)."""
    n, K, s = len(case.alpha), kernel(case), signed_scores(case)
    sign = 1 if rule == "alpha and beta" else -1
    both = [*case.alpha, *case.beta]
    taken = [i - n for i in (k, other)]
    rest = [b for j, b in enumerate(case.beta) if j not in taken]
    kept = ("surrogate", "K", "C", "theta", "theta2", "delta", "budget")
    return Case(
        kind="a pair",
        **{name: getattr(case, name) for name in kept if hasattr(case, name)},
        **dict(zip(NAMES[rule], (both[k], both[other]), strict=True)),
        scores=s[k] + sign * s[other],
        curvature=K[k, k] + K[other, other] + sign * (K[k, other] + K[other, k]),
        sum_alpha=total(case.alpha),
        beta_max=max(rest, default=0 * case.beta[0]),
    )


def symbolic_pair(rule: str, surrogate: str, patmat: bool, K: int | None) -> Case:
    """Return a pair with symbols for all its real numbers."""
    names = [*NAMES[rule], "scores", "curvature"]
    names += [] if rule == "two betas" else ["C", "theta"]
    if patmat:
        names += ["theta2", "delta"] if surrogate == "quadratic" else ["theta2", "budget"]
    if rule != "two alphas" and not patmat:
        names += ["sum_alpha"]
    if rule == "alpha and beta" and not patmat:
        names += ["beta_max"]
    numbers: dict[str, Any] = {name: real(name) for name in names}
    numbers |= {} if K is None else {"K": K}
    return Case(kind="symbols", surrogate=surrogate, **numbers)


def is_pair(case: Case) -> bool:
    """Return whether a case is one pair, not a whole problem."""
    return hasattr(case, "scores")


def rule_of(pair: Case) -> str:
    """Return the rule of (17) that moves a pair."""
    return next(rule for rule, names in NAMES.items() if all(hasattr(pair, x) for x in names))


def coordinates(pair: Case) -> tuple[list[Coordinate], list[Coordinate]]:
    """Return the alphas and the betas of a pair."""
    rule = rule_of(pair)
    first, second = (getattr(pair, name) for name in NAMES[rule])
    if rule == "two alphas":
        return [(first, 1), (second, -1)], []
    if rule == "two betas":
        return [], [(first, 1), (second, -1)]
    return [(first, 1)], [(second, 1)]


# ---------------------------------------------------------------- the dual along a pair


def constraints(pair: Case, step: Real, patmat: bool) -> list[tuple[Real, int]]:
    """Return numbers that are >= 0 where the dual is feasible after a step.

    Each comes with the sign of its slope in the step; delta is not considered.
    """
    alphas, betas = coordinates(pair)
    found = [(x + sign * step, sign) for x, sign in (*alphas, *betas)]
    if pair.surrogate == "hinge" and alphas:
        top = pair.C * pair.theta
        found += [(top - a - sign * step, -sign) for a, sign in alphas]
    if betas and not patmat:
        mixed = 1 if alphas else 0
        after = pair.sum_alpha + mixed * step
        found += [(after - pair.K * (b + sign * step), mixed - pair.K * sign) for b, sign in betas]
        found += [(after - pair.K * pair.beta_max, 1)] if alphas else []
    return found


def conjugate_slope(surrogate: str, theta: Real, y: Real) -> Real:
    """Return the derivative of (23) or (24) inside its domain."""
    bend = divide(y, 2 * theta**2) if surrogate == "quadratic" else 0
    return bend - divide(1, theta)


def derivative(pair: Case, step: Real, patmat: bool) -> Real:
    """Return the derivative of (7) or (12) along a pair with fixed delta."""
    alphas, betas = coordinates(pair)
    value = -pair.scores - pair.curvature * step
    for a, sign in alphas:
        value -= sign * conjugate_slope(pair.surrogate, pair.theta, divide(a + sign * step, pair.C))
    for b, sign in betas if patmat else ():
        share = divide(b + sign * step, pair.delta)
        value -= sign * conjugate_slope(pair.surrogate, pair.theta2, share)
    return value


def is_best(pair: Case, step: Real, patmat: bool) -> Truth:
    """Return whether a step is feasible and no other one is better.

    The dual is concave, so it may rise only in a direction that a constraint blocks.
    """
    if at_zero_delta(pair):
        return step == 0
    limits, rise = constraints(pair, step, patmat), derivative(pair, step, patmat)
    stops = {way: [value <= 0 for value, slope in limits if slope * way < 0] for way in (1, -1)}
    feasible = all_of(*(value >= 0 for value, _ in limits))
    return all_of(feasible, any_of(rise <= 0, *stops[1]), any_of(rise >= 0, *stops[-1]))


def at_zero_delta(pair: Case) -> bool:
    """Return whether delta = 0 keeps the betas of the pair at 0, with (12) closed at delta = 0."""
    delta = getattr(pair, "delta", 1)
    return not is_symbolic(delta) and delta == 0 and bool(coordinates(pair)[1])


def interval(pair: Case, patmat: bool) -> tuple[Real, Real | None]:
    """Return the least and the largest feasible step, from the constraints; None if unbounded."""
    start, after = constraints(pair, 0, patmat), constraints(pair, 1, patmat)
    slopes = [b - a for (a, _), (b, _) in zip(start, after, strict=True)]
    found = [(value, slope) for (value, _), slope in zip(start, slopes, strict=True)]
    highs = [divide(-value, slope) for value, slope in found if slope < 0]
    lows = [divide(-value, slope) for value, slope in found if slope > 0]
    return max(lows), min(highs, default=None)


def possible(pair: Case, patmat: bool = False) -> Truth:
    """Return whether the numbers of a pair belong to a feasible point of (7) or (12)."""
    names = ("C", "theta", "theta2", "delta", "budget")
    positive = [getattr(pair, name) > 0 for name in names if hasattr(pair, name)]
    flat = any_of(pair.curvature > 0, equals(pair.scores, 0))
    limits = [value >= 0 for value, _ in constraints(pair, 0, patmat)]
    if hasattr(pair, "beta_max"):
        limits.append(pair.beta_max >= 0)
    if hasattr(pair, "sum_alpha"):
        alphas, betas = coordinates(pair)
        largest = total(b for b, _ in betas) + (pair.beta_max if alphas else 0)
        limits += [largest <= pair.sum_alpha, *(a <= pair.sum_alpha for a, _ in alphas)]
        # if no other beta is > 0, this one is the whole sum
        limits.append(any_of(pair.beta_max > 0, largest >= pair.sum_alpha) if alphas else True)
    return all_of(*positive, pair.curvature >= 0, flat, *limits)


# ---------------------------------------------------------------- steps as printed


@dataclass(frozen=True)
class Step:
    """A printed step: -slope / bend, clipped to the lower and upper bounds.

    join_lows and join_highs combine the bounds of each side into one; Theorem D.1 exchanges the two
    operations. 0/0 is read as 0, as the dual is constant along such a pair.
    """

    lows: Sequence[Real]
    highs: Sequence[Real]
    slope: Real
    bend: Real
    join_lows: Join = maximum
    join_highs: Join = minimum

    @property
    def length(self) -> Real:
        gamma = divide(-self.slope, self.bend, zero_over_zero=ZERO)
        if self.highs:
            gamma = minimum(gamma, self.join_highs(*self.highs))
        return maximum(gamma, self.join_lows(*self.lows))


Printed = Callable[[Case], Step]


def steps_are_best(case: Case, rule: str, printed: Printed, patmat: bool = False) -> Outcome:
    """Check that each pair of the rule moves to the largest value of the dual.

    The case k = l, which changes nothing, is skipped.
    """
    if is_pair(case):
        return step_is_best(case, printed(case).length, patmat)
    dual, outcomes = patmat_dual if patmat else toppushk_dual, []
    for k, other in rule_pairs(case, rule):
        if k == other:
            continue
        pair = pair_of(case, rule, k, other)
        step = printed(pair).length
        value, best = dual(moved(case, k, other, step)), best_along(case, k, other, patmat)[1]
        outcomes.append(equal(value, best, k=k, l=other, step=step))
        outcomes.append(step_is_best(pair, step, patmat))
    return both(true(), *outcomes)  # true: there may be no pair of different coordinates


def step_is_best(pair: Case, step: Real, patmat: bool) -> Outcome:
    best = is_best(pair, step, patmat)
    if is_symbolic(best):
        return truth(best)
    low, high = interval(pair, patmat)
    return truth(best, printed_step=step, feasible=(low, "inf" if high is None else high))


def best_along(case: Case, k: int, other: int, patmat: bool) -> tuple[Fraction, Number]:
    """Return (Delta, value): the largest dual value along a pair, delta fixed.

    It uses only the constraints and values.
    """
    dual, bounds = (patmat_dual, bounds_patmat) if patmat else (toppushk_dual, bounds_toppushk)
    ends = reach(lambda t: bounds(moved(case, k, other, t)))
    return greatest(lambda t: dual(moved(case, k, other, t)), *ends)


def points(rng: Rng, deep: bool, kind: str = "quadratic") -> Iterator[Case]:
    """Yield feasible points of (7)."""
    return (random_problem(rng, kind) for _ in range(240 if deep else 40))


def by_pairs(
    rules: str | Sequence[str],
    surrogate: str,
    catches: str,
    patmat: bool = False,
    assuming: Callable[[Case], Truth] = lambda pair: True,
) -> BySolver:
    """Return the proof of a step for all real numbers of a pair, and K from 1 to 4 (deep: 8)."""
    asked = [rules] if isinstance(rules, str) else rules
    with_K = not patmat and "two alphas" not in asked

    def cases(deep: bool) -> Iterator[Case]:
        for rule in asked:
            for K in range(1, 9 if deep else 5) if with_K else (None,):
                yield symbolic_pair(rule, surrogate, patmat, K)

    return BySolver(
        catches,
        cases,
        assuming=lambda pair: all_of(possible(pair, patmat), assuming(pair)),
        sized_by=("K",),
    )
