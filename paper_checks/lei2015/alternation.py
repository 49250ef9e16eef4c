"""Check LP15 Algorithm 1: passes that solve (11) at fixed class weights, then set them by (14)."""

from collections import UserList
from collections.abc import Iterator
from dataclasses import dataclass

import clarabel
import numpy as np
from scipy import sparse

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Condition, Erratum, Library, Outcome, claim, version
from paper_checks.lei2015 import exponents, in_fwlab
from paper_checks.lei2015.machine import ClassWeights, HalfSquaredNorm, Machine, machines
from paper_checks.lei2015.norms import dual_exponent
from paper_checks.lei2015.partial import closed_form, conjugate_weight_exponent, weight_norm
from paper_checks.outcomes import at_most, both
from paper_checks.proofs import ByTheorem

# relative excess of the objective after the passes
REACHED = 1e-5
# a run stops at class weights above this; a comparison with nan is false
LARGEST = 1e12
# a gap below this share of the minimum counts as 0
FALLEN = 1e-4
# lower bound of each |u_j|, as a share of the largest, in the repaired weights for p > 2
FLOOR = 1e-7


def start(c: int, p: float) -> np.ndarray:
    return np.full(c, c ** (-1 / conjugate_weight_exponent(p)))


def best_row_weights(machine: Machine, beta: np.ndarray) -> np.ndarray:
    """Return a solution alpha (n, c) of (11).

    An interior point method solves for alpha's columns in turn.
    """
    n, c = len(machine.y), machine.c
    gram = machine.x @ machine.x.T
    quadratic = sparse.csc_matrix(np.triu(np.kron(np.diag(beta), gram)))
    rows = sparse.csc_matrix(np.vstack([np.tile(np.eye(n), c), np.eye(n * c)]))
    own = machine.chosen.T.ravel()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(n * c)]
    bounds = np.concatenate([np.zeros(n), machine.C * own])
    solver = clarabel.DefaultSolver(quadratic, -own, rows, bounds, cones, settings)
    return machine.feasible(np.array(solver.solve().x).reshape(c, n).T)


@dataclass(frozen=True)
class Pass:
    """The weights of one pass of Algorithm 1, and the solution of (11) for them.

    `rows` are the lengths |w_j|, with 0 where the inner solver cannot distinguish them from 0.
    """

    beta: np.ndarray
    alpha: np.ndarray
    w: np.ndarray
    rows: np.ndarray


class Passes(UserList[Pass]):
    """The passes of one run; a witness shows how many there are."""

    def __str__(self) -> str:
        return f"{len(self)} passes"


def passes(machine: Machine, p: float, repaired: bool = False) -> Passes:
    """Run Algorithm 1, up to weights beyond LARGEST.

    In the repaired version for p <= 2, each |w_j| is taken as at least 2^-k of the largest after k
    passes; for p > 2 the weights come from u_j by Theorem 12.
    """
    beta, made = start(machine.c, p), Passes()
    for k in range(300 if p == 1 else 60):
        alpha = best_row_weights(machine, beta)
        if not np.isfinite(alpha).all():
            break  # the solver failed, as the weights are too far apart
        u = alpha.T @ machine.x
        w = ClassWeights(beta).mapped(u)
        made.append(Pass(beta, alpha, w, certain_rows(machine, beta, alpha, w)))
        beta = next_weights(u, made[-1].rows, p, k, repaired)
        if not beta.max() <= LARGEST:
            break
    return made


def certain_rows(
    machine: Machine, beta: np.ndarray, alpha: np.ndarray, w: np.ndarray
) -> np.ndarray:
    """Return the lengths |w_j|, and 0 if the solution of (11) may have w_j = 0.

    The dual value at alpha is short of its maximum by at most the gap, so that u_j is within
    sqrt(2 gap/beta_j), and w_j = beta_j u_j within sqrt(2 beta_j gap).
    """
    low, high = machine.between(w, alpha, ClassWeights(beta))
    rows = np.linalg.norm(w, axis=1)
    return np.where(rows > np.sqrt(2 * beta * (high - low)), rows, 0.0)


def next_weights(u: np.ndarray, rows: np.ndarray, p: float, k: int, repaired: bool) -> np.ndarray:
    if not repaired:
        return closed_form(rows[:, None], p)
    if p <= 2:
        return closed_form(np.maximum(rows, 0.5**k * rows.max())[:, None], p)
    s, sums = dual_exponent(p), np.linalg.norm(u, axis=1)
    sums = np.maximum(sums, FLOOR * sums.max())
    return (sums**s).sum() ** (2 / s - 1) * sums ** (s - 2)


@claim(
    "LP15-alg1-start",
    "Algorithm 1",
    "The start beta_j = c^(-1/p-bar) is feasible for (8).",
    formula=r"\beta_j=\sqrt[\bar p]{1/c},\quad \|\beta\|_{\bar p}\leq 1",
    shapes="beta: (c,)",
    judged="for p >= 1, p-bar infinite at 2 and negative above it, where the norm is its formula.",
    cases=lambda rng, deep: (
        Case(kind=f"p = {p:g}", p=p, c=c)
        for p in (1.0, 1.05, 1.2, 1.5, 1.9, 2.0, 2.5, 3.0, 4.0, 10.0)
        for c in (2, 3, 20, 105)
    ),
    planted=(version("c^(1/p-bar)", sign=1), version("1.01 times it", factor=1.01)),
    proofs=(
        ByTheorem(
            "a p or c between those tried: the p-bar norm of the start is c to the power 0",
            exponents.start_feasible,
            "all sizes and p other than 2",
        ),
    ),
)
def feasible_start(case: Case, sign: int = -1, factor: float = 1.0) -> Outcome:
    beta = start(case.c, case.p) ** -sign
    return both(
        at_most(weight_norm(factor * beta, conjugate_weight_exponent(case.p)), 1.0),
        at_most(0, float(beta.min())),
    )


def stalling(C: float) -> Machine:
    """Return three inputs 2, -1, 1 of the classes 0, 1, 2.

    At the start's weights, 3^(1-2/p), all rows of alpha are at their bounds if 2 C 3^(1-2/p) < 1,
    and u_2 = -2C + C + C = 0. For a C a little smaller than that the best w with w_2 = 0 is (1/2,
    -b, 0), b > 1/2, where the derivative of the norm with respect to b is C. Then (1/2 + e, -b, e)
    is better for a small e > 0: the derivative with respect to the first entry is smaller than C,
    and the losses fall by C e.
    """
    return Machine(np.array([[2.0], [-1.0], [1.0]]), np.array([0, 1, 2]), 3, C)


def symmetric() -> Machine:
    """Return two inputs 1 and -1 of the classes 0 and 1, and a class without inputs: u_2 = 0."""
    return Machine(np.array([[1.0], [-1.0]]), np.array([0, 1]), 3, 0.3)


def run(machine: Machine, p: float, kind: str) -> Case:
    made = passes(machine, p)
    return Case(
        kind=kind,
        p=p,
        machine=machine,
        passes=made,
        least=machine.optimum(HalfSquaredNorm(p)),
        first_rows=made[0].rows,
        vanished=not made[0].rows.all(),
    )


def runs_up_to_two(rng: Rng, deep: bool) -> Iterator[Case]:
    for p in (1.0, 1.1, 1.2, 1.5, 1.8, 2.0):
        for machine in machines(rng, 6 if deep else 3):
            yield run(machine, p, "random")
    for p, C in ((1.5, 0.72), (1.8, 0.5646)):
        yield run(stalling(C), p, "a class vanishes in the first pass")


def runs_above_two(rng: Rng, deep: bool) -> Iterator[Case]:
    for p in (2.2, 2.5, 2.8, 3.0, 4.0, 10.0):
        for machine in machines(rng, 6 if deep else 3):
            yield run(machine, p, "random")
    yield run(symmetric(), 2.5, "a class vanishes in the first pass")


def reached(case: Case, repaired: bool, last: int | None) -> Outcome:
    """Compare the objective of (P) after the last pass with its minimum."""
    made = passes(case.machine, case.p, True) if repaired else case.passes
    value = case.machine.primal(made[:last][-1].w, HalfSquaredNorm(case.p))
    return at_most(value / case.least[0], 1 + REACHED)


def at_one_and_a_half(rng: Rng, deep: bool) -> Iterator[Case]:
    return (run(machine, 1.5, "random") for machine in machines(rng, 3))


def at_two_and_a_half(rng: Rng, deep: bool) -> Iterator[Case]:
    return (run(machine, 2.5, "random") for machine in machines(rng, 3))


@claim(
    "LP15-alg1-converges",
    "Algorithm 1",
    "From its start the alternation reaches the optimum of (P), on every data set, for p in "
    "[1, 2].",
    shapes="w: (c, d); beta: (c,)",
    judged="read as: at most 1e-5 above the minimum after 60 passes, or 300 for p = 1, "
    "where the excess falls slowly. A class with w_j = 0 gets the weight 0 and keeps "
    "it, even if w_j is not 0 at the optimum. Rounding could make such a row nonzero "
    "again, so rows that the inner solver cannot distinguish from 0, by its "
    "certified gap, are taken as 0.",
    cases=runs_up_to_two,
    sides=("objective after the passes over the least", "1"),
    condition=Condition("no w_j is 0 after the first pass", lambda case: not case.vanished),
    corrected=version(
        "if (14) takes each |w_j| as at least 2^-k of the largest, after k passes", repaired=True
    ),
    planted=(version("after one pass", last=1, cases=at_one_and_a_half),),
    not_proved="an iteration without a rate",
    library=Library(
        ("fwlab.lp_norm.LpNorm.optimal_class_weights", "fwlab.solve"),
        in_fwlab.alternation,
        lambda rng, deep: in_fwlab.runs((1.1, 1.5, 2.0), [stalling(0.72)], rng),
    ),
    erratum=Erratum(
        "section 3.2, Algorithm 1",
        r"\beta_j=0\mathrm{\ wherever\ }w_j=0",
        r"\beta_j\mathrm{\ from\ }\max(\|w_j\|_2,2^{-k}\max_l\|w_l\|_2)\mathrm{\ in\ pass\ }k",
        r"A class with $w_j=0$ gets $\beta_j=0$ by (14), and keeps $w_j=\beta_ju_j=0$ by (10). "
        r"Inputs 2, -1, 1 of the classes 1, 2, 3, p = 3/2, C = 0.72: in the first pass, with "
        r"$\beta_j=3^{-1/3}$, all losses are active, $\alpha_1=(C,0,-C)$, $\alpha_2=(0,C,-C)$, "
        r"$\alpha_3=(-C,0,C)$ and $u_3=-2C+C+C=0$. The passes end at w = (0.5, -0.595, 0) with the "
        r"objective 1.75069; w = (0.504, -0.595, 0.004) has 1.75062.",
        "Line 5 of Algorithm 1, which can end at a point that is not optimal.",
    ),
)
def reaches_the_optimum(case: Case, repaired: bool = False, last: int | None = None) -> Outcome:
    return reached(case, repaired, last)


@claim(
    "LP15-alg1-p-above-2",
    "Algorithm 1, section 4",
    "From its start the alternation reaches the optimum of (P) for p in (2, 10], too.",
    shapes="w: (c, d); beta: (c,)",
    judged="as in LP15-alg1-converges. (14) is not the minimum of (8) for p > 2, but its fixed "
    "points are optimal; where alpha does not change, log |w_j| is multiplied by 2 - "
    "p in each pass, so the passes oscillate for p >= 3. A w_j = 0 makes its weight "
    "infinite.",
    cases=runs_above_two,
    sides=("objective after the passes over the least", "1"),
    condition=Condition(
        "p < 3 and no w_j is 0 after the first pass",
        lambda case: case.p < 3 and not case.vanished,
    ),
    corrected=version(
        "with weights |u_j|^(p*-2) times the p*-power sum to 2/p* - 1, u_j from alpha as in "
        "Theorem 12",
        repaired=True,
    ),
    planted=(version("after one pass", last=1, cases=at_two_and_a_half),),
    not_proved="an iteration without a rate",
    library=Library(
        ("fwlab.lp_norm.LpNorm.class_weights", "fwlab.solve"),
        in_fwlab.alternation,
        lambda rng, deep: in_fwlab.runs((2.5, 4.0), [symmetric()], rng),
    ),
    erratum=Erratum(
        "section 3.2, Algorithm 1; section 4",
        r"\beta_j=\|w_j\|_2^{2-p}(\sum_{\tilde\jmath}\|w_{\tilde\jmath}\|_2^p)^{\frac{p-2}{p}}"
        r"\mathrm{\ for\ }p\in(2,10]",
        r"\beta_j=\|u_j\|_2^{p^*-2}(\sum_{\tilde\jmath}\|u_{\tilde\jmath}\|_2^{p^*})"
        r"^{\frac{2}{p^*}-1}",
        r"For p > 2 (14) is not the minimum of (8). Where $\alpha$, so u, stays put, a pass sets "
        r"$\|w_j\|=\beta_j\|u_j\|$, proportional to $\|w_j\|^{2-p}\|u_j\|$: the deviation of "
        r"$\log\|w_j\|$ from its fixed point is multiplied by 2 - p in each pass. From p = 3 on, "
        r"$|2-p|\geq 1$, it does not shrink. The weights of Theorem 12 have the same fixed point.",
        "Section 4 tunes p in [1.2, 10] with this algorithm.",
    ),
)
def reaches_it_above_two(case: Case, repaired: bool = False, last: int | None = None) -> Outcome:
    return reached(case, repaired, last)


def all_runs(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from runs_up_to_two(rng, deep)
    yield from runs_above_two(rng, deep)


@claim(
    "LP15-alg1-stop",
    "section 3.2",
    "The completely dualised problem is a sound stopping criterion: the objective of (P) less the "
    "value of (7) at the pass's alpha is at least the excess of the objective over its minimum, "
    "and falls to 0 where the passes converge.",
    formula=r"P(w)-D(\alpha)\geq P(w)-\min P\geq 0",
    shapes="w: (c, d); alpha: (n, c)",
    assumed="1 < p < 3 and no w_j is 0 after the first pass, for the gap to fall to 0: a "
    "class whose weight has become 0 leaves its u_j free in (11), so at p = 1 the "
    "gap can remain even though w is optimal; and for p >= 3 the passes need not "
    "converge",
    judged=f"fallen to 0 is read as: at most {FALLEN:g} of the minimum after the passes.",
    cases=all_runs,
    planted=(
        version("the gap of (8) and (11) at the pass's weights", partial=True),
        version("half the gap", share=0.5),
    ),
    not_proved="runs of an algorithm; that the gap bounds the excess is weak duality, LP15-prob13",
    library=Library(
        ("fwlab.problem.Problem.primal", "fwlab.problem.Problem.dual"),
        in_fwlab.gap,
        lambda rng, deep: in_fwlab.runs((1.5, 2.5), [], rng),
    ),
)
def sound_stopping(case: Case, partial: bool = False, share: float = 1.0) -> Outcome:
    machine: Machine = case.machine
    norm = HalfSquaredNorm(case.p)
    gaps = []
    outcomes = []
    for made in (case.passes[0], case.passes[len(case.passes) // 2], case.passes[-1]):
        used: HalfSquaredNorm | ClassWeights = ClassWeights(made.beta) if partial else norm
        gaps.append(share * (machine.primal(made.w, used) - machine.dual(made.alpha, used)))
        excess = machine.primal(made.w, norm) - case.least[1]
        outcomes.append(at_most(excess, gaps[-1]))
    if 1 < case.p < 3 and not case.vanished:
        outcomes.append(at_most(gaps[-1] / case.least[0], FALLEN))
    return both(*outcomes)
