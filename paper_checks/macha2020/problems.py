"""Define TopPushK and Pat&Mat on small exact data, and maximise exactly along a line.

A case holds positives (n+, d), negatives (n-, d), C, theta, theta2, K, budget (the n tau of the
paper), surrogate, alpha (n+,), beta (n-,) and delta, all Fractions. Kernels are linear.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from paper_checks.arithmetic import Real, divide, is_symbolic, positive_part, total
from paper_checks.cases import Rng
from paper_checks.ledger import Case

Number = Any  # a Fraction, or an infinite float
Value = Callable[[Fraction], Number]


# ---------------------------------------------------------------- surrogates, (2) (3) (23) (24)


def surrogate(kind: str, theta: Real, s: Real) -> Real:
    cut = positive_part(1 + theta * s)
    return cut**2 if kind == "quadratic" else cut


def conjugate_inside(kind: str, theta: Real, y: Real) -> Real:
    """Return the conjugate inside its domain, by the formulas of M20-eq23 and M20-eq24."""
    linear = -divide(y, theta)
    return linear + divide(y**2, 4 * theta**2) if kind == "quadratic" else linear


def conjugate(kind: str, theta: Fraction, y: Fraction) -> Number:
    outside = y < 0 or (kind == "hinge" and y > theta)
    return math.inf if outside else conjugate_inside(kind, theta, y)


# ---------------------------------------------------------------- duals (7) and (12)


def kernel(case: Case) -> np.ndarray:
    """Return (6): the Gram matrix of the positives and the negatives with their sign turned."""
    rows = np.vstack([np.asarray(case.positives), -np.asarray(case.negatives)])
    return rows @ rows.T


def signed_scores(case: Case) -> np.ndarray:
    """Return (16)."""
    return kernel(case) @ np.concatenate([case.alpha, case.beta])


def weights(case: Case) -> np.ndarray:
    positives, negatives = np.asarray(case.positives), np.asarray(case.negatives)
    return positives.T @ np.asarray(case.alpha) - negatives.T @ np.asarray(case.beta)


def toppushk_dual(case: Case) -> Number:
    """Return (7); -inf outside its constraints."""
    alphas = sum(case.alpha)
    if alphas != sum(case.beta) or min(*case.alpha, *case.beta) < 0:
        return -math.inf
    if case.K * max(case.beta) > alphas:
        return -math.inf
    if case.surrogate == "hinge" and max(case.alpha) > case.C * case.theta:
        return -math.inf
    return toppushk_objective(case)


def toppushk_objective(case: Case) -> Real:
    """Return (7a), wherever the conjugates are finite."""
    w = weights(case)
    losses = (conjugate_inside(case.surrogate, case.theta, divide(a, case.C)) for a in case.alpha)
    return -(w @ w) / 2 - case.C * total(losses)


def patmat_dual(case: Case) -> Number:
    """Return (12); -inf outside its constraints.

    At delta = 0 the term of l_2 is 0 for beta = 0 and infinite otherwise.
    """
    alpha, beta, hinge = case.alpha, case.beta, case.surrogate == "hinge"
    if sum(alpha) != sum(beta) or case.delta < 0 or min(*alpha, *beta) < 0:
        return -math.inf
    if hinge and (max(alpha) > case.C * case.theta or max(beta) > case.delta * case.theta2):
        return -math.inf
    if case.delta == 0 and any(beta):
        return -math.inf
    return patmat_objective(case)


def patmat_objective(case: Case) -> Real:
    """Return (12a), wherever the conjugates are finite."""
    value = toppushk_objective(case) - case.delta * case.budget
    if not is_symbolic(case.delta) and case.delta == 0:
        return value
    shares = (divide(b, case.delta) for b in case.beta)
    return value - case.delta * total(
        conjugate_inside(case.surrogate, case.theta2, share) for share in shares
    )


# ---------------------------------------------------------------- primals (5) and (11)


def threshold_k(scores: Sequence[Number], K: int) -> Number:
    """Return the mean of the K largest."""
    return sum(sorted(scores, reverse=True)[:K]) / Fraction(K)


def primal(case: Case, w: np.ndarray, t: Number) -> Number:
    """Return the objective of (5) and (11) at a threshold t."""
    losses = [surrogate(case.surrogate, case.theta, t - s) for s in case.positives @ w]
    return (w @ w) / 2 + case.C * sum(losses)


def toppushk_primal(case: Case, w: np.ndarray) -> Number:
    return primal(case, w, threshold_k(case.negatives @ w, case.K))


def excess(case: Case, scores: Iterable[Number], t: Number) -> Number:
    """Return the left side of (10) minus the budget."""
    return sum(surrogate(case.surrogate, case.theta2, s - t) for s in scores) - case.budget


# ---------------------------------------------------------------- moves and lines


def moved(case: Case, k: int, other: int, step: Fraction) -> Case:
    """Return the case after the pair update (17) of the coordinates k and other.

    They count from 0 in (alpha, beta).
    """
    n = len(case.alpha)
    both = np.concatenate([case.alpha, case.beta])
    both[k] = both[k] + step
    both[other] = both[other] + (step if k < n <= other else -step)
    return Case(**{**vars(case), "alpha": both[:n], "beta": both[n:]})


def rule_pairs(case: Case, rule: str) -> list[tuple[int, int]]:
    """Return the pairs (k, l) of one of the three rules of (17), with k = l as in the text."""
    n, total = len(case.alpha), len(case.alpha) + len(case.beta)
    first = range(n, total) if rule == "two betas" else range(n)
    second = range(n) if rule == "two alphas" else range(n, total)
    return [(k, other) for k in first for other in second]


RULES = ("two alphas", "alpha and beta", "two betas")


def bounds_toppushk(case: Case) -> list[Fraction]:
    """Return numbers that are all >= 0 where (7) is feasible, linear in (alpha, beta)."""
    cap = sum(case.alpha) / Fraction(case.K)
    return [*alpha_bounds(case), *case.beta, *(cap - b for b in case.beta)]


def bounds_patmat(case: Case) -> list[Fraction]:
    return [*alpha_bounds(case), *case.beta]


def alpha_bounds(case: Case) -> list[Fraction]:
    upper = [case.C * case.theta - a for a in case.alpha] if case.surrogate == "hinge" else []
    return [*case.alpha, *upper]


def reach(at: Callable[[Fraction], list[Fraction]]) -> tuple[Number, Number]:
    """Return the interval of t where linear functions are >= 0, from their values at 0 and 1."""
    low: Number = -math.inf
    high: Number = math.inf
    for start, after in zip(at(Fraction(0)), at(Fraction(1)), strict=True):
        slope = after - start
        if slope > 0:
            low = max(low, -start / slope)
        elif slope < 0:
            high = min(high, -start / slope)
    return low, high


def crossings(at: Callable[[Fraction], Sequence[Fraction]]) -> list[Fraction]:
    """Return where two of some linear functions of t are equal."""
    start = at(Fraction(0))
    slope = [b - a for a, b in zip(start, at(Fraction(1)), strict=True)]
    return [
        (start[j] - start[i]) / (slope[i] - slope[j])
        for i, j in combinations(range(len(start)), 2)
        if slope[i] != slope[j]
    ]


def greatest(
    value: Value, low: Number, high: Number, breaks: Iterable[Fraction] = ()
) -> tuple[Fraction, Number]:
    """Return (t, value(t)) at the maximum of a concave function on [low, high], from its values.

    The function is quadratic between the breaks.
    """
    inside = sorted({b for b in breaks if low < b < high})
    ends = [low, *inside, high]
    tried = [
        found for left, right in pairwise(ends) for found in turning_points(value, left, right)
    ]
    tried += [end for end in ends if not math.isinf(end)]
    return max(((t, value(t)) for t in tried), key=lambda pair: pair[1])


def turning_points(value: Value, left: Fraction, right: Number) -> Iterator[Fraction]:
    """Return the maximiser of the quadratic through three values between left and right, clipped.

    A linear piece has its maximum at an end.
    """
    if left == right:
        return
    width = Fraction(2) if math.isinf(right) else right - left
    start, middle, end = (value(left + width * Fraction(i, 2)) for i in range(3))
    bend, slope = 4 * (2 * middle - start - end), 4 * middle - 3 * start - end
    if bend > 0:
        furthest = math.inf if math.isinf(right) else Fraction(1)
        yield left + width * min(furthest, max(Fraction(0), Fraction(slope) / bend))
    elif math.isinf(right) and slope > 0:
        raise ArithmeticError("the dual is unbounded along a pair")


# ---------------------------------------------------------------- random small cases

SIXTHS = [Fraction(i, 6) for i in range(7)]


def rationals(rng: Rng, *shape: int) -> np.ndarray:
    """Return small integers, so that samples coincide often."""
    return rng.integers(-2, 3, shape).astype(object) * Fraction(1)


def pick(rng: Rng, values: Sequence[Any]) -> Any:
    return values[int(rng.integers(len(values)))]


def random_problem(rng: Rng, kind: str, most_negatives: int = 4) -> Case:
    """Return a problem with a feasible (alpha, beta); entries at their bounds are common."""
    positives, d = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    negatives = int(rng.integers(1, most_negatives + 1))
    K = int(rng.integers(1, negatives + 1))
    factors = (Fraction(1, 2), Fraction(1), Fraction(2))
    n = positives + negatives
    case = Case(
        kind=kind,
        surrogate=kind,
        positives=rationals(rng, positives, d),
        negatives=rationals(rng, negatives, d),
        C=pick(rng, factors),
        theta=pick(rng, factors),
        theta2=pick(rng, factors),
        K=K,
        budget=n * pick(rng, [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]),
    )
    case.alpha = np.array(
        [case.C * case.theta * pick(rng, SIXTHS) for _ in range(positives)], object
    )
    case.beta = capped(rng, negatives, K) * sum(case.alpha)
    return case


def capped(rng: Rng, size: int, K: int) -> np.ndarray:
    """Return entries in [0, 1/K] with sum 1: the mean of a few points 1/K on K entries."""
    points = int(rng.integers(1, 4))
    total = np.zeros(size, object) + Fraction(0)
    for _ in range(points):
        total[rng.permutation(size)[:K]] += Fraction(1, K * points)
    return total
