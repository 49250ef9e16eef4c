"""L15 sections 1, 4.2 and 6.1: what the projections cost, in partitions tried and entries read."""

from collections.abc import Callable, Iterator
from itertools import accumulate
from math import log2

import numpy as np

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, false

# a count that is of the order of a bound may exceed its first ratio to it by this factor
GROWTH = 1.5


def growing(rng: Rng, deep: bool) -> Iterator[Case]:
    """Sizes d, each four times the one before, with k fixed or growing with d."""
    sizes = [32, 128, 512, 2048] if deep else [32, 128, 512]
    for rho in (0.0, 1.0):
        for k in (1, 5):
            kind = "k fixed"
            yield Case(kind=kind, sizes=sizes, ks=[k] * len(sizes), rho=rho, fixed=True)
        for share in (2, 4):
            ks = [d // share for d in sizes]
            yield Case(kind=f"k = d/{share}", sizes=sizes, ks=ks, rho=rho, fixed=False)


def last_partition(d: int, k: int, rho: float) -> np.ndarray:
    """A sorted point whose partition, |U| = k - 1 and M the rest, the search tries last: x is 1 on
    U and equal on M, and each entry of U lies 1 above t + u."""
    t = rho * k - (k - 1) / k
    return np.array([t + 2] * (k - 1) + [t + 1 / (d - k + 1)] * (d - k + 1))


def partitions_tried(a: np.ndarray, k: int, rho: float) -> tuple[int, tuple[int, int]]:
    """(how many, the (|U|, |M|) that fits): the search of case 3 over a sorted point, where sums
    over a range of entries are differences of partial sums, so that each try is a few operations.
    """
    d, tried, slack = len(a), 0, 1e-9
    sums = [0.0, *accumulate(a.tolist())]
    for U in range(k):
        for end in range(k, d + 1):
            tried += 1
            M, in_U, in_M = end - U, sums[U], sums[end] - sums[U]
            D = (k - U) ** 2 + (U + rho * k**2) * M
            u = (M * in_U + (k - U) * in_M) / D
            t = (U * (1 + rho * k) * in_M - (k - U + rho * k * M) * in_U) / D + rho * u * k
            lower = end == d or a[end] <= t + slack
            upper = U == 0 or t + u <= a[U - 1] + slack
            if lower and upper and t <= a[end - 1] + slack and a[U] <= t + u + slack:
                return tried, (U, M)
    raise ArithmeticError("no partition fits")


def grows_like(case: Case, bound: Callable[[int, int], float]) -> Outcome:
    """d log d comparisons to sort and the partitions tried, against a bound, size after size."""
    ratios, found = [], []
    for d, k in zip(case.sizes, case.ks, strict=True):
        tried, sets = partitions_tried(last_partition(d, k, case.rho), k, case.rho)
        ratios.append((d * log2(d) + tried) / bound(d, k))
        found.append(sets == (k - 1, d - k + 1))
    return both(
        at_most(ratios[-1], GROWTH * ratios[0], ratios=ratios), equal(sum(found), len(found))
    )


@claim(
    "L15-cost",
    "section 4.2",
    "The projection onto the top-k cone costs O(d log d + k d).",
    formula=r"O(d\log d+kd)",
    shapes="a: (d,)",
    judged="Comparisons of the sort and partitions tried, on the input whose partition is last.",
    cases=growing,
    planted=(version("O(d log d)", with_k=False), version("O(d + k d)", with_log=False)),
)
def cost_of_projection(case: Case, with_k: bool = True, with_log: bool = True) -> Outcome:
    def bound(d: int, k: int) -> float:
        return (d * log2(d) if with_log else d) + (k * d if with_k else 0)

    return grows_like(case, bound)


@claim(
    "L15-cost-intro",
    "section 1",
    "The projection algorithm for x in R^m costs O(m log m).",
    formula=r"O(m\log m)",
    shapes="x: (m,)",
    judged="As in L15-cost; section 4.2 itself says O(d log d + k d).",
    cases=growing,
    condition=Condition("k does not grow with m", lambda case: case.fixed),
    planted=(version("O(m)", with_log=False),),
)
def cost_in_the_introduction(case: Case, with_log: bool = True) -> Outcome:
    return cost_of_projection.form(case, with_k=False, with_log=with_log)


# ---------------------------------------------------------------- section 6.1

STEEPEST = 0.1  # the exponent of d may be off 1 by this much
ALIKE = 2.0  # counts within this factor are about the same


def normal_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """The k of Figure 3; several normal points of each size."""
    sizes = [4**p for p in range(4, 10 if deep else 9)]
    for k in (1, 5, 10):
        seed = int(rng.integers(10**6))
        yield Case(kind="normal", k=k, sizes=sizes, points=20 if deep else 5, seed=seed)


def entries_read(a: np.ndarray, r: float, u: float) -> tuple[int, np.ndarray, float]:
    """(entries read, x, t): the knapsack with sum r and upper bound u by variable fixing, the
    method of Kiwiel that section 4.1 chooses. Each round reads the entries not yet fixed."""
    free, left, read = a, r, 0
    while True:
        t = (np.sum(free) - left) / len(free)
        read += len(free)
        below, above = free - t <= 0, free - t >= u
        too_much = -np.sum(free[below] - t) - np.sum(free[above] - t - u)
        if abs(too_much) <= 1e-12 * r:
            return read, np.clip(a - t, 0, u), t
        if too_much < 0:  # the cut-off sum is below r, so t falls and the entries at u stay there
            left -= u * np.count_nonzero(above)
        free = free[~below] if too_much > 0 else free[~above]


def needs_the_cone(a: np.ndarray, k: int, t: float) -> bool:
    """lambda < 0 of Lemma 5 with r = 1 and rho = 0, so that the knapsack is not the answer."""
    at_bound = a[a - t >= 1 / k]
    return t + float(np.sum(at_bound - t - 1 / k)) / k < 0


@claim(
    "L15-scaling",
    "section 6.1, Figure 3",
    "For normal points the time of the projection onto the top-k simplex is linear in the "
    "dimension and about that of the knapsack, for k = 1, 5 and 10.",
    formula=r"T_k(d)\propto d,\quad T_k(d)\approx T_{\mathrm{knapsack}}(d)",
    shapes="a: (d,)",
    judged="Entries read in place of time, from 256 entries on: by variable fixing, and once more "
    "to find the k largest; about the same is within a factor of two. The knapsack is the "
    "projection onto the simplex.",
    cases=normal_points,
    planted=(
        version("quadratic", power=2),
        version("constant", power=0),
        version("half the knapsack's", share=2),
    ),
)
def reads_are_linear(case: Case, power: int = 1, share: int = 1) -> Outcome:
    rng = np.random.default_rng(case.seed)
    top_k, knapsack, right = [], [], []
    for d in case.sizes * case.points:
        a = rng.standard_normal(d)
        read, x, t = entries_read(a, 1.0, 1 / case.k)
        top_k.append(d + read)
        knapsack.append(entries_read(a, 1.0, 1.0)[0])
        right.append(abs(np.sum(x) - 1) <= 1e-9 and not needs_the_cone(a, case.k, t))
    fit, cov = np.polyfit(np.log(case.sizes * case.points), np.log(top_k), 1, cov=True)
    exponent, error = float(fit[0]), 2 * float(np.sqrt(cov[0, 0]))
    ratio = share * sum(top_k) / sum(knapsack)
    alike = at_most(max(ratio, 1 / ratio), ALIKE, ratio=ratio)
    linear = at_most(abs(exponent - power) + error, STEEPEST, exponent=exponent, error=error)
    return both(linear, alike) if all(right) else false(seen="a projection is wrong")
