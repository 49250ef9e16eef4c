"""LP15 sections 3 and 3.1, C.1 and C.2: the machine, its dual and the representer map."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.lei2015.machine import STEEP_HINGE, HalfSquaredNorm, Machine, machines
from paper_checks.lei2015.norms import P_FROM_ONE, dual_exponent
from paper_checks.lei2015.scalar_losses import (
    HINGE,
    SMOOTH_HINGE,
    ScalarLoss,
    grid,
    some_losses,
)
from paper_checks.outcomes import at_most, both, equal

# of the optimum, which conic programs reach to about 1e-8
GAP = 1e-6


def two_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """One input, weights w and v of c classes in one dimension, exact; p is 1 or 2."""
    for kind, loss in some_losses(rng, deep):
        for p, c in product((1, 2), (2, 3)):
            for _ in range(8):
                w, v = fractions(rng, c, 2, 4), fractions(rng, c, 2, 4)
                yield Case(kind=kind, loss=loss, p=p, w=w, v=v, C=4)
            for end in (Fraction(1, 2), Fraction(1)):  # margins 0, end/2 and end
                v = (end, *[Fraction(0)] * (c - 1))
                yield Case(kind=kind, loss=loss, p=p, w=(Fraction(0),) * c, v=v, C=4)


def hinges(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in two_points(rng, deep) if case.kind == "hinge")


@claim(
    "LP15-prob10",
    "Problem 10, section 3.1",
    "(P) is convex for every regular loss, and for p = 2 with the hinge it is the machine of "
    "Crammer and Singer.",
    formula=r"\min_w\ \frac{1}{2}[\sum_j\|w_j\|_2^p]^{\frac{2}{p}}+C\sum_i\ell(t_i),\quad "
    r"t_i=\langle w_{y_i},\phi(x_i)\rangle-\max_{y\neq y_i}\langle w_y,\phi(x_i)\rangle",
    shapes="w: (c, d); t: (n,)",
    judged="for p in {1, 2}, where the sums are rational.",
    cases=two_points,
    condition=Condition("the loss is convex", lambda case: case.loss.convex),
    planted=(
        version("strongly convex", bend=Fraction(1, 2), cases=hinges),
        version("without the factor 1/2", half=1, cases=hinges),
    ),
)
def convex_problem(
    case: Case, bend: Fraction = Fraction(0), half: int | Fraction = Fraction(1, 2)
) -> Outcome:
    """At the middle of w and v; the input is 1 and of class 0."""
    middle = tuple((a + b) / 2 for a, b in zip(case.w, case.v, strict=True))
    ends = (objective(case.w, case, half) + objective(case.v, case, half)) / 2
    distance = sum(((a - b) ** 2 for a, b in zip(case.w, case.v, strict=True)), Fraction(0))
    found = at_most(objective(middle, case, half), ends - bend * distance)
    if case.loss is HINGE and case.p == 2:
        rivals = [1 + score - case.w[0] for score in case.w[1:]]
        crammer_singer = sum(a * a for a in case.w) / 2 + case.C * max(Fraction(0), *rivals)
        found = both(found, equal(objective(case.w, case, half), crammer_singer))
    return found


def objective(w: tuple[Fraction, ...], case: Case, half: int | Fraction) -> Fraction:
    """(P) for one input 1 of class 0, d = 1."""
    norm_to_p = sum((abs(a) ** case.p for a in w), Fraction(0))
    squared = norm_to_p**2 if case.p == 1 else norm_to_p
    margin = w[0] - max(w[1:])
    return half * squared + case.C * case.loss.value(margin)


@claim(
    "LP15-relax",
    "C.1, C.2",
    "t_i may be relaxed to be at most each <w_y_i - w_y, phi(x_i)>: the least loss is that at the "
    "margin.",
    formula=r"\min\{\ell(t):\ t\leq\langle w_{y_i}-w_y,\phi(x_i)\rangle\ \forall y\neq y_i\}"
    r"=\ell(t_i)",
    shapes="numbers",
    cases=lambda rng, deep: (
        Case(kind=kind, loss=loss, scores=fractions(rng, c, 2, 4))
        for kind, loss in some_losses(rng, deep)
        for c in (2, 3, 4)
    ),
    planted=(
        version("at least each of them", below=False),
        version("at most one of them alone", rivals=1),
    ),
)
def relaxed_margins(case: Case, below: bool = True, rivals: int | None = None) -> Outcome:
    """The least loss over a grid of t that contains the margins."""
    differences = [case.scores[0] - score for score in case.scores[1:]]
    bounds = differences[:rivals]
    limit = min(bounds) if below else max(bounds)
    ts = [*grid(case.loss), limit]
    allowed = [t for t in ts if (t <= limit if below else t >= limit)]
    return equal(min(case.loss.value(t) for t in allowed), case.loss.value(min(differences)))


def problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Small problems for every p, with three convex losses in turn."""
    losses: tuple[ScalarLoss, ...] = (HINGE, SMOOTH_HINGE, STEEP_HINGE)
    rounds = 4 if deep else 1
    for p in P_FROM_ONE * rounds:
        for loss, machine in zip(losses, machines(rng, 3), strict=True):
            yield Case(kind=f"p = {p:g}", p=p, machine=replace(machine, loss=loss))


def hinge_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    for p in P_FROM_ONE * (4 if deep else 1):
        for machine in machines(rng, 3):
            yield Case(kind=f"p = {p:g}", p=p, machine=machine)


def no_gap(case: Case, dual_p: float, cap: float = 1.0, sign: int = -1) -> Outcome:
    """Both optimal values, recomputed from feasible points, agree; cap and sign as in best_alpha,
    dual_p is the p whose dual is taken."""
    machine: Machine = case.machine
    least = machine.primal(machine.best_w(HalfSquaredNorm(case.p)), HalfSquaredNorm(case.p))
    dual = HalfSquaredNorm(dual_p)
    alpha = machine.best_alpha(dual, cap, sign)
    if (cap, sign) == (1.0, -1):
        return equal(machine.dual(machine.feasible(alpha), dual), least, GAP)
    conjugates = -(alpha * machine.chosen).sum() * float(machine.loss.zero)
    return equal(sign * conjugates - dual.conjugate(alpha.T @ machine.x), least, GAP)


@claim(
    "LP15-prob11",
    "Problem 11, (D)",
    "The dual of (P) is the maximum of minus half the squared (2, p/(p-1)) norm of the classes' "
    "sums minus C sum l*(-alpha_iy/C), over alpha_ij <= 0 for j != y_i with rows that sum to 0.",
    formula=r"\sup_\alpha-\frac{1}{2}[\sum_j\|\sum_i\alpha_{ij}\phi(x_i)\|_2^{\frac{p}{p-1}}]"
    r"^{\frac{2(p-1)}{p}}-C\sum_i\ell^*(-\frac{\alpha_{iy_i}}{C})",
    shapes="alpha: (n, c)",
    judged="for p = 1, where p/(p-1) is not a number, with the largest norm. As equality of the "
    "optimal values, which convex losses have.",
    cases=problems,
    planted=(version("the (2, p) norm", same=True),),
)
def completely_dualised(case: Case, same: bool = False) -> Outcome:
    return no_gap(case, dual_exponent(case.p) if same and case.p > 1 else case.p)


@claim(
    "LP15-prob13",
    "Problem 13, (7)",
    "For the hinge the dual is the maximum of the norm's term plus sum alpha_iy over alpha_i <= C "
    "e_y with rows that sum to 0.",
    formula=r"\sup_\alpha-\frac{1}{2}[\sum_j\|\sum_i\alpha_{ij}\phi(x_i)\|_2^{\frac{p}{p-1}}]"
    r"^{\frac{2(p-1)}{p}}+\sum_i\alpha_{iy_i},\quad \alpha_i\leq e_{y_i}C,\ \alpha_i\cdot 1=0",
    shapes="alpha: (n, c)",
    judged="for p = 1 with the largest norm; 1 is the vector of ones, see LP15-ones.",
    cases=hinge_problems,
    planted=(
        version("alpha_i <= 2 C e_y", cap=2.0),
        version("minus sum alpha_iy", sign=1),
        version("the (2, p) norm", same=True),
    ),
)
def hinge_dual(case: Case, cap: float = 1.0, sign: int = -1, same: bool = False) -> Outcome:
    return no_gap(case, dual_exponent(case.p) if same and case.p > 1 else case.p, cap, sign)


@claim(
    "LP15-ones",
    "section 3.1",
    "The bold 1 of the dual constraints is the vector whose components are all 0.",
    formula=r"\alpha_i\cdot 1=0",
    shapes="alpha_i, 1: (c,)",
    judged="as printed, in the constraints of (7) with one input 1, two classes and p = 2.",
    cases=lambda rng, deep: (
        Case(kind="exact", C=Fraction(i, 4)) for i in range(1, 24 if deep else 12)
    ),
    derived=version("all 1, as C.2 derives", entry=1),
    planted=(version("(1, 2)", entry=1, second=2),),
)
def vector_of_ones(case: Case, entry: int = 0, second: int | None = None) -> Outcome:
    """Maximum of -(a^2 + b^2)/2 + a over a <= C, b <= 0, against the minimum of (P), both by
    hand: the second is C - C^2 up to C = 1/2 and 1/4 after it. With no constraint b = 0; with
    a + second b = 0 the value is a - a^2 (1 + 1/second^2)/2."""
    C = case.C
    least = C - C * C if C <= Fraction(1, 2) else Fraction(1, 4)
    curve = Fraction(1) if entry == 0 else 1 + Fraction(1, (second or entry) ** 2)
    a = min(C, 1 / curve)
    return equal(a - curve * a * a / 2, least)


def above_one(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in hinge_problems(rng, deep) if case.p > 1)


@claim(
    "LP15-thm12",
    "Theorem 12",
    "For every alpha and p >= 1 the w that belongs to it is the p*-power sum to 2/p* - 1, times "
    "|u_j|^(p*-2) u_j, with u_j = sum_i alpha_ij phi(x_i).",
    formula=r"w_j=[\sum_{\tilde\jmath}\|u_{\tilde\jmath}\|_2^{p^*}]^{\frac{2}{p^*}-1}"
    r"\|u_j\|_2^{p^*-2}u_j,\quad u_j=\sum_i\alpha_{ij}\phi(x_i)",
    shapes="w, u: (c, d); alpha: (n, c)",
    judged="it minimises the Lagrangian at any alpha, and is optimal for (P) at an optimal one. "
    "With 0 where u_j = 0. For p = 1, where p* is no number, its limit: the largest u_j share w "
    "equally; one minimiser of many, and not the optimal one.",
    cases=hinge_problems,
    condition=Condition("p > 1", lambda case: case.p > 1),
    planted=(
        version("twice it", factor=2.0, cases=above_one),
        version("w = u", plain=True, cases=above_one),
    ),
)
def representer(case: Case, factor: float = 1.0, plain: bool = False) -> Outcome:
    machine: Machine = case.machine
    norm = HalfSquaredNorm(case.p)
    alpha = machine.feasible(machine.best_alpha(norm))
    outcomes = []
    for point in (alpha, np.round(alpha, 1), 0 * alpha):
        u = point.T @ machine.x
        w = factor * (u if plain else norm.mapped(u))
        lagrangian = norm.value(w) - float((w * u).sum())
        outcomes.append(equal(lagrangian, -norm.conjugate(u), GAP))
    u = alpha.T @ machine.x
    w = factor * (u if plain else norm.mapped(u))
    return both(
        *outcomes, equal(machine.primal(w, norm), machine.dual(alpha, norm), 1e-4, p=case.p)
    )
