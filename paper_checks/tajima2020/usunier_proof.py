"""Check T20 section A: from the weighted Usunier loss to its polytope, by Lagrangian duality."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from paper_checks.arithmetic import ZERO, Real, inner, is_symbolic, minimum, total
from paper_checks.arithmetic import positive_part as positive
from paper_checks.cases import Rng
from paper_checks.definitions import weighted_usunier
from paper_checks.ledger import Case, Erratum, Outcome, WhereRight, claim, version
from paper_checks.outcomes import both, equal
from paper_checks.proofs import BySolver
from paper_checks.symbols import reals
from paper_checks.tajima2020.levels import greatest, levels
from paper_checks.tajima2020.polytopes import over_weighted_usunier
from paper_checks.tajima2020.rows import (
    in_order,
    sorted_weights,
    symbolic_weights,
    weighted_rows,
)
from paper_checks.tajima2020.weighted import by_solver
from reference.derived_polytopes import Bound, Expression


@claim(
    "T20-eqA1",
    "(A.1)",
    "The weighted Usunier loss, the maximum over B_wu, is a sum over the levels in "
    "which each level's sum, as a whole, is clipped below at 0.",
    formula=r"\sum_\ell\max\{0,\rho'_\ell\langle 1,x_{\pi(1:k_\ell)}\rangle\}"
    r"=\max_{\beta\in B_{wu}}\langle\beta,x\rangle",
    shapes="x, beta: (m,); rho: (m,) with rho_m = 0",
    judged="rho' as differences; see T20-rho-prime",
    cases=weighted_rows,
    sides=("left side", "right side"),
    derived=version(
        "each entry of x clipped below at 0, as in (2.8)",
        formula=r"\sum_\ell\rho'_\ell\langle 1,\max\{0,x_{\pi(1:k_\ell)}\}\rangle"
        r"=\max_{\beta\in B_{wu}}\langle\beta,x\rangle",
        entrywise=True,
    ),
    where_right=WhereRight(
        "T20-eq2.14",
        lambda case: equal(by_levels(case, True), weighted_usunier(case.x, case.rho)),
    ),
    planted=(version("nothing clipped at 0", floor=False),),
    proofs=(
        by_solver(
            "Numbers of both signs within one level, the only case in which the sides differ."
        ),
    ),
    erratum=Erratum(
        "section A, (A.1)",
        r"\sum_\ell\max\{0,\rho'_\ell\langle 1,x_{\pi(1:k_\ell)}\rangle\}",
        r"\sum_\ell\rho'_\ell\langle 1,\max\{0,x_{\pi(1:k_\ell)}\}\rangle",
        "The loss (2.8) clips each margin below at 0 before they are added; (A.1) "
        "adds first and clips the sum of a level. The two differ if a level has "
        "numbers of both signs: with "
        "$\\rho=(1,1,1,0)$, one level of three, and the margins $x=(1,0,-2,-3)$ of a sample of "
        "class 2 the left-hand side is $\\max\\{0,1+0-2\\}=0$, while the loss (2.8) is 1, and so "
        "is $\\langle\\beta,x\\rangle$ at $\\beta=(1,0,0,0)\\in B_{wu}$. The first line of (A.2) "
        "minimises over $h\\geq 0$, $h\\geq x$, which is the loss (2.8), not the left-hand side "
        "of (A.1).",
        "The first equality of (A.2), which starts from the left-hand side of (A.1); the rest of "
        "the proof is right.",
    ),
)
def by_level(case: Case, entrywise: bool = False, floor: bool = True) -> Outcome:
    right = over_weighted_usunier(in_order(case.x), case.rho)
    return equal(by_levels(case, entrywise, floor), right)


def by_levels(case: Case, entrywise: bool, floor: bool = True) -> Real:
    """Return the left-hand side of (A.1)."""
    x = in_order(case.x)
    if entrywise:
        x = tuple(positive(x_j) for x_j in x)
    sums = [step * total(x[:k]) for k, step in levels(case.rho)]
    return total(positive(part) if floor else part for part in sums)


def with_multipliers(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield x with weights, and non-negative integers for all variables of the Lagrangian."""
    for case in weighted_rows(rng, deep):
        m = steps = len(case.x)
        for name in ("h", "eta", "beta"):
            setattr(case, name, rng.integers(0, 5, m).astype(object))
        for name in ("t", "tau"):
            setattr(case, name, rng.integers(0, 5, steps).astype(object))
        for name in ("Q", "M", "Lambda"):
            setattr(case, name, rng.integers(0, 5, (m, steps)).astype(object))
        yield case


def symbolic_multipliers(deep: bool) -> Iterator[Case]:
    """Yield all sorted x with all weights, and all values of the variables of the Lagrangian."""
    for case in symbolic_weights(deep):
        m = steps = case.m
        vectors = {name: reals(name, m) for name in ("h", "eta", "beta")}
        vectors |= {name: reals(name, steps) for name in ("t", "tau")}
        matrices = {
            name: tuple(reals(f"{name}_{j + 1}", steps) for j in range(m))
            for name in ("Q", "M", "Lambda")
        }
        yield Case(**{**vars(case), **vectors, **matrices})


@claim(
    "T20-eqA2",
    "(A.2)-(A.7)",
    "The sorted sum of the smallest h >= max(0, x), the linear program in the last "
    "line of (A.2) and the maximum of (A.7) are equal. Both forms of the Lagrangian "
    "(A.4) are equal, too.",
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
    proofs=(
        BySolver(
            "A term of the Lagrangian with the wrong sign, or a t_l < 0 that would "
            "be needed; the proof covers all multipliers, not only the sampled ones.",
            cases=symbolic_multipliers,
            assuming=sorted_weights,
            sized_by=("m",),
        ),
    ),
)
def chain(case: Case, capped: bool = True, more: int = 0, tau_sign: int = -1) -> Outcome:
    x, rho = in_order(case.x), case.rho
    sorted_sum = inner(rho, [positive(x_j) for x_j in x])
    return both(
        equal(last_line(x, rho, more), sorted_sum),
        equal(over_weighted_usunier(x, rho, capped=capped), sorted_sum),
        equal(*lagrangians(case, tau_sign)),
    )


def last_line(x: Any, rho: Any, more: int = 0) -> Real:
    """Return the least sum of (k_l t_l + <1, q_l>) rho'_l, with q_l >= h - t_l, h >= x, all >= 0.

    On symbols the solution is explicit: h and q are as small as allowed, and the sum is convex in
    t_l with kinks at the entries of h, so the best t_l is 0 or one of them.
    """
    if is_symbolic(x, rho):
        h = [positive(x_j) for x_j in x]
        return total(
            step
            * minimum(*((k + more) * t + total(positive(h_j - t) for h_j in h) for t in (ZERO, *h)))
            for k, step in levels(rho)
        )
    m = range(len(x))
    below: list[Bound] = [({("h", j): -1}, -x[j]) for j in m]
    gain: Expression = {}
    for k, step in levels(rho):
        gain["t", k] = -(k + more) * step
        gain.update({("q", k, j): -step for j in m})
        below += [({("h", j): 1, ("t", k): -1, ("q", k, j): -1}, 0) for j in m]
    return -greatest(gain, below)


def lagrangians(case: Case, tau_sign: int) -> tuple[Any, Any]:
    """Return the two forms of (A.4) at any values of the variables.

    Every k counts as a level; some levels have the weight 0.
    """
    k, steps = (
        np.array(column, object) for column in zip(*levels(case.rho, every=True), strict=True)
    )
    names = ("x", "h", "eta", "beta", "t", "tau", "Q", "M", "Lambda")
    x, h, eta, beta, t, tau, Q, M, Lambda = (np.array(getattr(case, n), object) for n in names)
    shortfall = h[:, None] - t[None, :] - Q
    first = (k * t + Q.sum(0)) @ steps - eta @ h + beta @ (x - h)
    first += -(M * Q).sum() + (Lambda * shortfall).sum() + tau_sign * (tau @ t)
    second = t @ (steps * k - Lambda.sum(0) - tau) + x @ beta
    second += (Q * (steps[None, :] - Lambda - M)).sum()
    second += h @ (Lambda.sum(1) - beta - eta)
    return first, second
