"""T20 section A: from the weighted Usunier loss to its polytope, by Lagrangian duality."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import both, equal
from paper_checks.tajima2020.losses import over_weighted_usunier, weighted_rows
from paper_checks.tajima2020.programs import greatest, levels
from reference.derived_polytopes import Bound, Expression


@claim(
    "T20-eqA1",
    "(A.1)",
    "The weighted Usunier loss as a sum of maxima by level: each level's sum is cut at 0 as a "
    "whole, and the result is the maximum over B_wu.",
    formula=r"\sum_\ell\max\{0,\rho'_\ell\langle 1,x_{\pi(1:k_\ell)}\rangle\}"
    r"=\max_{\beta\in B_{wu}}\langle\beta,x\rangle",
    shapes="x, beta: (m,); rho: (m,) with rho_m = 0",
    judged="rho' as differences; see T20-rho-prime",
    cases=weighted_rows,
    derived=version(
        "the entries of x cut at 0 one by one, as (2.8) and the first line of (A.2) have it",
        entrywise=True,
    ),
    planted=(version("nothing cut at 0", floor=None),),
)
def by_level(case: Case, entrywise: bool = False, floor: int | None = 0) -> Outcome:
    x = sorted(case.x, reverse=True)
    if entrywise:
        x = [max(Fraction(0), x_j) for x_j in x]
    sums = [step * sum(x[:k]) for k, step in levels(case.rho)]
    left = sum(sums) if floor is None else sum(max(Fraction(floor), part) for part in sums)
    return equal(left, over_weighted_usunier(case.x, case.rho))


def with_multipliers(rng: Rng, deep: bool) -> Iterator[Case]:
    """Rows x with weights, and non-negative integers for all variables of the Lagrangian."""
    for case in weighted_rows(rng, deep):
        m, steps = len(case.x), len(levels(case.rho))
        for name in ("h", "eta", "beta"):
            setattr(case, name, rng.integers(0, 5, m).astype(object))
        for name in ("t", "tau"):
            setattr(case, name, rng.integers(0, 5, steps).astype(object))
        for name in ("Q", "M", "Lambda"):
            setattr(case, name, rng.integers(0, 5, (m, steps)).astype(object))
        yield case


@claim(
    "T20-eqA2",
    "(A.2)-(A.7)",
    "The sorted sum of the least h >= max(0, x), the linear program of (A.2)'s last line and the "
    "maximum of (A.7) are equal, and both forms of the Lagrangian (A.4) are.",
    formula=r"\min\{\sum_j h_{\pi(j)}\rho_j:\ h\geq 0,\ h\geq x\}=\max\{\langle x,\beta\rangle:\ "
    r"\rho'\odot k\geq\Lambda^\top 1,\ 1\rho'^\top\geq\Lambda,\ \Lambda 1\geq\beta\}",
    shapes="x, h, beta: (m,); t, rho', k: (L,); Q, M, Lambda: (m, L)",
    judged="from the second expression on; rho' as differences",
    cases=with_multipliers,
    planted=(
        version("no bound rho' on the entries of Lambda", capped=False),
        version("k_l + 1 in the place of k_l in (A.2)", more=1),
        version("plus <tau, t> in the Lagrangian", tau_sign=1),
    ),
)
def chain(case: Case, capped: bool = True, more: int = 0, tau_sign: int = -1) -> Outcome:
    h = sorted((max(Fraction(0), x_j) for x_j in case.x), reverse=True)
    sorted_sum = sum(r * h_j for r, h_j in zip(case.rho, h, strict=True))
    return both(
        equal(last_line(case.x, case.rho, more), sorted_sum),
        equal(over_weighted_usunier(case.x, case.rho, capped=capped), sorted_sum),
        equal(*lagrangians(case, tau_sign)),
    )


def last_line(x: Any, rho: Any, more: int = 0) -> Fraction:
    """The least sum of (k_l t_l + <1, q_l>) rho'_l, with q_l >= h - t_l, h >= x, all >= 0."""
    m = range(len(x))
    below: list[Bound] = [({("h", j): -1}, -x[j]) for j in m]
    gain: Expression = {}
    for k, step in levels(rho):
        gain["t", k] = -(k + more) * step
        gain.update({("q", k, j): -step for j in m})
        below += [({("h", j): 1, ("t", k): -1, ("q", k, j): -1}, 0) for j in m]
    return -greatest(gain, below)


def lagrangians(case: Case, tau_sign: int) -> tuple[Any, Any]:
    """The two forms of (A.4), at any values of the variables."""
    k, steps = (np.array(column, object) for column in zip(*levels(case.rho), strict=True))
    x, h, t, Q = np.array(case.x, object), case.h, case.t, case.Q
    shortfall = h[:, None] - t[None, :] - Q
    first = (k * t + Q.sum(0)) @ steps - case.eta @ h + case.beta @ (x - h)
    first += -(case.M * Q).sum() + (case.Lambda * shortfall).sum() + tau_sign * (case.tau @ t)
    second = t @ (steps * k - case.Lambda.sum(0) - case.tau) + x @ case.beta
    second += (Q * (steps[None, :] - case.Lambda - case.M)).sum()
    second += h @ (case.Lambda.sum(1) - case.beta - case.eta)
    return first, second
