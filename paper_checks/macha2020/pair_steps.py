"""A printed pair step, and its judge: the exact maximum of the dual along the pair."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

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
from paper_checks.outcomes import both, equal, truth


@dataclass(frozen=True)
class Step:
    """A printed step: gamma = -slope / bend clipped to [low, high]."""

    low: Number
    high: Number
    slope: Fraction
    bend: Fraction

    @property
    def length(self) -> Fraction | None:
        """None where the quotient is 0/0; a quotient by 0 is infinite."""
        if self.bend == 0 and self.slope == 0:
            return None
        gamma = -self.slope / self.bend if self.bend else -math.inf * float(self.slope)
        return max(self.low, min(self.high, gamma))


def pair_kernel(case: Case, k: int, other: int) -> Fraction:
    """K_kk + K_ll -+ K_kl -+ K_lk: plus for alpha and beta."""
    K, sign = kernel(case), 1 if k < len(case.alpha) <= other else -1
    return K[k, k] + K[other, other] + sign * (K[k, other] + K[other, k])


def pair_slope(case: Case, k: int, other: int) -> Fraction:
    """s_k -+ s_l."""
    s = signed_scores(case)
    return s[k] + s[other] if k < len(case.alpha) <= other else s[k] - s[other]


def best_along(case: Case, k: int, other: int, patmat: bool) -> tuple[Fraction, Number]:
    """(Delta, value): the largest dual value along a pair, delta fixed; from the constraints and
    values alone."""
    dual, bounds = (patmat_dual, bounds_patmat) if patmat else (toppushk_dual, bounds_toppushk)
    if k == other:
        return Fraction(0), dual(case)
    ends = reach(lambda t: bounds(moved(case, k, other, t)))
    return greatest(lambda t: dual(moved(case, k, other, t)), *ends)


def steps_are_best(
    case: Case,
    rule: str,
    printed: Callable[[Case, int, int], Step],
    patmat: bool,
    undefined: Fraction | None = None,
) -> Outcome:
    """Every pair of the rule, with the value `undefined` for 0/0."""
    dual, outcomes = patmat_dual if patmat else toppushk_dual, []
    for k, other in rule_pairs(case, rule):
        length = printed(case, k, other).length
        length = undefined if length is None else length
        if length is None or math.isinf(length):
            return truth(False, k=k, l=other, step="undefined" if length is None else length)
        value = dual(moved(case, k, other, length))
        outcomes.append(
            equal(value, best_along(case, k, other, patmat)[1], k=k, l=other, step=length)
        )
    return both(*outcomes)


def points(rng: Rng, deep: bool, kind: str = "quadratic") -> Iterator[Case]:
    """Feasible points of (7)."""
    return (random_problem(rng, kind) for _ in range(240 if deep else 60))


def largest_other(case: Case, *left_out: int) -> Fraction:
    """beta_max: the largest beta but for those left out; 0 if none is left."""
    return max((b for j, b in enumerate(case.beta) if j not in left_out), default=Fraction(0))
