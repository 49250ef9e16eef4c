"""Check L15 sections 1 and 4.2: the cost of the projection onto the cone, counted in operations."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cmp_to_key
from itertools import accumulate
from math import log2
from typing import Any

import numpy as np

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Erratum, Outcome, WhereRight, claim, version
from paper_checks.outcomes import counted

# the ratio of a count to a bound of its order may grow by this factor from its first value
GROWTH = 1.5
SLACK = 1e-9


def growing(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield sizes d, each four times the one before, with k fixed or growing with d."""
    sizes = [32, 128, 512, 2048] if deep else [32, 128, 512]
    seed = int(rng.integers(10**6))
    for rho in (0.0, 1.0):
        for k in (1, 5):
            ks, kind = [k] * len(sizes), "k fixed"
            yield Case(kind=kind, sizes=sizes, ks=ks, rho=rho, seed=seed)
        for share in (2, 4):
            ks, kind = [d // share for d in sizes], f"k = d/{share}"
            yield Case(kind=kind, sizes=sizes, ks=ks, rho=rho, seed=seed)


def last_partition(d: int, k: int, rho: float) -> list[float]:
    """Return a point whose partition, |U| = k - 1 and M the rest, is tried last by the search.

    x is 1 on U and spread about its mean on M; each entry of U lies about 1 above t + u. No two
    entries are equal.
    """
    t, M = rho * k - (k - 1) / k, d - k + 1
    return [t + 2 + x for x in spread(k - 1)] + [t + (1 + x) / M for x in spread(M)]


def spread(size: int) -> list[float]:
    """Return distinct numbers between -1/2 and 1/2 that sum to 0."""
    return [(i + 0.5) / size - 0.5 for i in range(size)]


@dataclass
class Search:
    """Run the projection of section 4.2 and count its work.

    This is the comparisons of entries in the sort, and the partitions tried. Trying a partition
    needs no loop, as sums over ranges of the sorted entries are differences of partial sums.
    `found` holds the |U| and |M| that fit.
    """

    k: int
    rho: float
    compared: int = 0
    tried: int = 0
    found: tuple[int, int] = field(default=(-1, -1))

    def run(self, entries: Any) -> "Search":
        ranked = sorted(entries, key=cmp_to_key(self.compare))
        sums = [0.0, *accumulate(ranked)]
        for U in range(self.k):
            for end in range(self.k, len(ranked) + 1):
                if self.fits(ranked, sums, U, end):
                    self.found = (U, end - U)
                    return self
        raise ArithmeticError("no partition fits")

    def compare(self, left: float, right: float) -> int:
        self.compared += 1
        return (left < right) - (left > right)

    def fits(self, a: list[float], sums: list[float], U: int, end: int) -> bool:
        """Return whether (7) and (8) hold for the first U entries in U and the next in M."""
        self.tried += 1
        k, rho, M, in_U, in_M = self.k, self.rho, end - U, sums[U], sums[end] - sums[U]
        D = (k - U) ** 2 + (U + rho * k**2) * M
        u = (M * in_U + (k - U) * in_M) / D
        t = (U * (1 + rho * k) * in_M - (k - U + rho * k * M) * in_U) / D + rho * u * k
        lower = end == len(a) or a[end] <= t + SLACK
        upper = U == 0 or t + u <= a[U - 1] + SLACK
        return lower and upper and t <= a[end - 1] + SLACK and a[U] <= t + u + SLACK


def operations(case: Case) -> list[tuple[int, int, int]]:
    """Return (d, k, comparisons and tries) of each size.

    The point is shuffled, and its partition is tried last.
    """
    rng, found = np.random.default_rng(case.seed), []
    for d, k in zip(case.sizes, case.ks, strict=True):
        search = Search(k, case.rho).run(rng.permutation(last_partition(d, k, case.rho)).tolist())
        if search.found != (k - 1, d - k + 1):
            raise ArithmeticError(f"the search ended at {search.found}")
        found.append((d, k, search.compared + search.tried))
    return found


@claim(
    "L15-cost",
    "section 4.2",
    "The projection onto the top-k cone costs O(d log d + k d).",
    formula=r"O(d\log d+kd)",
    shapes="a: (d,)",
    judged="Counted: comparisons in the sort and partitions tried, on a shuffled input whose "
    "partition is tried last. Of the order of a bound: from the smallest d to the largest, 16 "
    f"times as large, the ratio to it grows by at most {GROWTH}.",
    cases=growing,
    planted=(version("O(d log d)", with_k=False), version("O(d + k d)", with_log=False)),
    sides=("operations counted", "the bound, with the constant of the smallest d"),
    not_proved="Counted: what the code does on growing inputs.",
)
def cost_of_projection(case: Case, with_k: bool = True, with_log: bool = True) -> Outcome:
    def bound(d: int, k: int) -> float:
        return (d * log2(d) if with_log else d) + (k * d if with_k else 0)

    found = operations(case)
    (d, k, least), (last_d, last_k, most) = found[0], found[-1]
    return counted(most, GROWTH * least / bound(d, k) * bound(last_d, last_k), counts=found)


@claim(
    "L15-cost-intro",
    "section 1",
    "The projection algorithm for x in R^m costs O(m log m).",
    formula=r"O(m\log m)",
    shapes="x: (m,)",
    judged="As in L15-cost, but also for k that grows with m; for fixed k the two bounds "
    "are the same.",
    cases=growing,
    derived=version("O(m log m + k m)", with_k=True, formula=r"O(m\log m+km)"),
    where_right=WhereRight("L15-cost", cost_of_projection.form),
    planted=(version("O(m)", with_log=False), version("O(m + k m)", with_k=True, with_log=False)),
    sides=("operations counted", "the bound, with the constant of the smallest m"),
    not_proved="Counted: what the code does on growing inputs.",
    erratum=Erratum(
        "section 1",
        r"O(m\log m)",
        r"O(m\log m+km)",
        r"The search of section 4.2 tries up to $k(m-k+1)$ partitions one by one, and the last one "
        r"may be the right one. For $k=m/2$ that is $m^2/4$. Section 4.2 has the term "
        r"$kd$.",
        "Nothing: the experiments have $k\\leq 20$.",
    ),
)
def cost_in_the_introduction(case: Case, with_k: bool = False, with_log: bool = True) -> Outcome:
    return cost_of_projection.form(case, with_k=with_k, with_log=with_log)
