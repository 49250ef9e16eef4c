"""Check L15 section 6.1: how the projections scale with the dimension, in entries read."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import fwlab
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Experiment, Library, Outcome, claim, version
from paper_checks.outcomes import both, counted, effect, equal, truth
from paper_checks.trials import Tier

STEEPEST = 0.1  # the exponent of d may be off 1 by this much
ALIKE = 2  # counts within this factor are about the same
NORMAL = "points of N(0, 1)"


def normal_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the k of Figure 3; several normal points of each size."""
    sizes = [4**p for p in range(4, 10 if deep else 9)]
    for k in (1, 5, 10):
        seed = int(rng.integers(10**6))
        many = 20 if deep else 5
        yield Case(kind="normal", data=NORMAL, k=k, sizes=sizes, points=many, seed=seed)


@dataclass
class Tape:
    """Count the entries of vectors that are read."""

    count: int = 0

    def read(self, entries: np.ndarray) -> np.ndarray:
        self.count += len(entries)
        return entries


def by_fixing(tape: Tape, a: np.ndarray, r: float, u: float) -> tuple[np.ndarray, float]:
    """Return x and t of the knapsack with sum r and upper bound u by variable fixing.

    This is the method of Kiwiel, which section 4.1 chooses. Each round reads the entries that are
    not yet fixed.
    """
    free, left = a, r
    while True:
        entries = tape.read(free)
        t = (np.sum(entries) - left) / len(entries)
        below, above = entries - t <= 0, entries - t >= u
        too_much = -np.sum(entries[below] - t) - np.sum(entries[above] - t - u)
        if abs(too_much) <= 1e-12 * r:
            return np.clip(a - t, 0, u), t
        if too_much < 0:  # the cut-off sum is below r, so t falls and the entries at u stay there
            left -= u * np.count_nonzero(above)
        free = free[~below] if too_much > 0 else free[~above]


def projected(tape: Tape, a: np.ndarray, k: int) -> tuple[np.ndarray, float]:
    """Return x and lambda of section 4.3 for r = 1, rho = 0, by the knapsack.

    x is the projection if lambda >= 0. The check for 0 and for a constant x reads all entries once,
    for the k largest.
    """
    largest = np.partition(tape.read(a), -k)[-k:]
    if np.sum(largest) <= 0:
        return np.zeros_like(a), 0.0
    x, t = by_fixing(tape, a, 1.0, 1 / k)
    at_bound = a[a - t >= 1 / k]
    return x, t + float(np.sum(at_bound - t - 1 / k)) / k


def library_agrees(case: Case) -> Outcome:
    """Compare fwlab's projection of one point of each size against this one."""
    rng, outcomes = np.random.default_rng(case.seed), []
    for d in case.sizes:
        a = rng.standard_normal(d)
        x, _ = projected(Tape(), a, case.k)
        outcomes.append(equal(fwlab.project_topk_simplex(a, case.k), x, 1e-11))
    return both(*outcomes)


@claim(
    "L15-scaling",
    "section 6.1, Figure 3",
    "For normal points the time of the projection onto the top-k simplex is linear in the "
    "dimension and about that of the knapsack, for k = 1, 5 and 10.",
    formula=r"T_k(d)\propto d,\quad T_k(d)\approx T_{\mathrm{knapsack}}(d)",
    shapes="a: (d,)",
    judged="Entries read, counted, in place of time, from 256 entries on, by variable fixing. "
    f"Linear: the exponent of d is within {STEEPEST} of 1, by its interval of two deviations. "
    f"About the same: within a factor of {ALIKE}. The knapsack is the projection onto the simplex.",
    cases=normal_points,
    experiment=Experiment(data=(NORMAL,)),
    planted=(
        version("quadratic", power=2),
        version("constant", power=0),
        version("half the knapsack's", share=2),
    ),
    not_proved="An experiment.",
    library=Library(("fwlab.projections.project_topk_simplex",), library_agrees),
)
def reads_are_linear(case: Case, power: int = 1, share: int = 1) -> Outcome:
    rng = np.random.default_rng(case.seed)
    top_k, knapsack, right = [], [], []
    for d in case.sizes * case.points:
        a = rng.standard_normal(d)
        own, other = Tape(), Tape()
        x, multiplier = projected(own, a, case.k)
        by_fixing(other, a, 1.0, 1.0)
        top_k.append(own.count)
        knapsack.append(other.count)
        right.append(abs(np.sum(x) - 1) <= 1e-9 and multiplier >= 0)
    if not all(right):
        return truth(False, Tier.FLOAT, seen="a projection is wrong")
    mine, others = share * sum(top_k), sum(knapsack)
    alike = [counted(mine, ALIKE * others), counted(others, ALIKE * mine)]
    return both(is_linear(case.sizes * case.points, top_k, power), *alike)


def is_linear(sizes: list[int], counts: list[int], power: int) -> Outcome:
    """State that the exponent of d is within STEEPEST of the power.

    Its interval of two deviations decides.
    """
    fit, covariance = np.polyfit(np.log(sizes), np.log(counts), 1, cov=True)
    exponent, error = float(fit[0]), 2 * float(np.sqrt(covariance[0, 0]))
    room = STEEPEST - abs(exponent - power)
    return effect(room - error, room + error, exponent=exponent, error=error)
