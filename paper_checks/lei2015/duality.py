"""Check LP15 section 3.1 and C.2: the completely dualised machine."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from paper_checks.arithmetic import Real, all_of, divide, where
from paper_checks.cases import Rng
from paper_checks.ledger import (
    Case,
    Condition,
    Erratum,
    Library,
    Outcome,
    WhereRight,
    claim,
    version,
)
from paper_checks.lei2015 import in_fwlab
from paper_checks.lei2015.lagrangian import (
    NormInLine,
    conjugates,
    dual_feasible,
    hinge_feasible,
    is_lagrangian_dual,
    line_problems,
    own,
    symbolic_line,
)
from paper_checks.lei2015.machine import HalfSquaredNorm, Machine, machines
from paper_checks.lei2015.norms import P_FROM_ONE, dual_exponent
from paper_checks.lei2015.primal import objective
from paper_checks.lei2015.scalar_losses import HINGE, SMOOTH_HINGE, STEEP_HINGE, ScalarLoss
from paper_checks.outcomes import both, equal, same_optimum, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import real

# on a line, p is at least this; 1 and 2 are exact
ON_A_LINE = (1, 2, 1.2, 1.5, 3.0)
ABOVE_ONE = Condition("p > 1", lambda case: case.p > 1)


def printed_exponent(p: Real) -> Real:
    """Return p/(p - 1) as printed, which is undefined at p = 1."""
    return divide(p, p - 1)


def problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small problems for every p, with three convex losses in turn; and on a line."""
    losses: tuple[ScalarLoss, ...] = (HINGE, SMOOTH_HINGE, STEEP_HINGE)
    rounds = 4 if deep else 1
    for p in P_FROM_ONE * rounds:
        for loss, machine in zip(losses, machines(rng, 3), strict=True):
            yield with_optimum(replace(machine, loss=loss), p)
    yield from line_problems(rng, deep, ON_A_LINE)


def hinge_problems(rng: Rng, deep: bool) -> Iterator[Case]:
    for p in P_FROM_ONE * (4 if deep else 1):
        for machine in machines(rng, 3):
            yield with_optimum(machine, p)


def with_optimum(machine: Machine, p: float) -> Case:
    """Return the case of a machine and p, with an interval that holds the minimum of (P)."""
    least = machine.optimum(HalfSquaredNorm(p))
    return Case(kind=f"p = {p:g}", p=p, machine=machine, least=least)


def with_the_hinge(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from hinge_problems(rng, deep)
    for case in line_problems(rng, deep, ON_A_LINE):
        if case.loss is HINGE:
            yield case


def on_a_line(deep: bool) -> Iterator[Case]:
    return symbolic_line((2, 3, 4))


def no_gap(case: Case, dual_p: float, cap: int = 1, sign: int = -1) -> Outcome:
    """Check that both optimal values agree, each within certified bounds.

    dual_p is the p whose dual is taken, and `cap` a factor of its C. With the opposite sign of the
    conjugates no term of a hinge's dual is positive, so its maximum is 0, at alpha = 0.
    """
    if sign == 1:
        return same_optimum((0.0, 0.0), case.least)
    most, _ = replace(case.machine, C=cap * case.machine.C).dual_optimum(HalfSquaredNorm(dual_p))
    return same_optimum(most, case.least)


def dual_p(case: Case, same: bool, limit: bool) -> Real:
    """Return the exponent of the dual's norm: p/(p - 1), or its limit at p = 1; same: p itself."""
    if same and case.p > 1:
        return case.p
    return dual_exponent(case.p) if limit else printed_exponent(case.p)


@claim(
    "LP15-prob11",
    "Problem 11, (D)",
    "The Lagrangian dual of (P) is the maximum of minus half the squared (2, p/(p-1)) norm of the "
    "classes' sums minus C sum l*(-alpha_iy/C), over alpha_ij <= 0 for j != y_i with rows that sum "
    "to 0.",
    formula=r"\sup_\alpha-\frac{1}{2}[\sum_j\|\sum_i\alpha_{ij}\phi(x_i)\|_2^{\frac{p}{p-1}}]"
    r"^{\frac{2(p-1)}{p}}-C\sum_i\ell^*(-\frac{\alpha_{iy_i}}{C})",
    shapes="alpha: (n, c)",
    judged="for p >= 1, as section 3 says; p/(p-1) is not defined at p = 1. On a line: the "
    "objective is the infimum of the Lagrangian at every alpha. In the plane: the optimal values "
    "agree, as they do for convex losses.",
    cases=problems,
    condition=ABOVE_ONE,
    corrected=version("with the largest norm for p = 1", limit=True),
    planted=(
        version("the (2, p) norm", same=True),
        version("plus the squared norm", negative=1),
    ),
    proofs=(
        BySolver(
            "multipliers at the bound C or beyond, where l* is infinite, and a w or t off the grid",
            cases=on_a_line,
            sized_by=("p", "n", "c"),
        ),
    ),
)
def completely_dualised(
    case: Case, same: bool = False, limit: bool = False, negative: int = -1
) -> Outcome:
    exponent = dual_p(case, same, limit)
    if hasattr(case, "machine"):
        return no_gap(case, dual_exponent(exponent))
    finite, gain = conjugates(case)
    return is_lagrangian_dual(
        case,
        NormInLine(case.p, exponent),
        all_of(finite, dual_feasible(case)),
        gain,
        negative,
    )


@claim(
    "LP15-prob13",
    "Problem 13, (7)",
    "For the hinge the dual is the maximum of the norm's term plus sum alpha_iy over alpha_i <= C "
    "e_y with rows that sum to 0.",
    formula=r"\sup_\alpha-\frac{1}{2}[\sum_j\|\sum_i\alpha_{ij}\phi(x_i)\|_2^{\frac{p}{p-1}}]"
    r"^{\frac{2(p-1)}{p}}+\sum_i\alpha_{iy_i},\quad \alpha_i\leq e_{y_i}C,\ \alpha_i\cdot 1=0",
    shapes="alpha: (n, c)",
    judged="for p >= 1; p/(p-1) is not defined at p = 1. 1 is the vector of ones, see LP15-ones.",
    cases=with_the_hinge,
    condition=ABOVE_ONE,
    corrected=version("with the largest norm for p = 1", limit=True),
    planted=(
        version("alpha_i <= 2 C e_y", cap=2),
        version("minus sum alpha_iy", sign=1),
        version("the (2, p) norm", same=True),
    ),
    proofs=(
        BySolver(
            "an alpha that is in only one of the two descriptions of the feasible set",
            cases=on_a_line,
            sized_by=("p", "n", "c"),
        ),
    ),
    library=Library(
        (
            "fwlab.lp_norm.LpNorm.square_norm",
            "fwlab.lp_norm.LpNorm.dual_square_norm",
            "fwlab.problem.Problem.dual",
            "fwlab.problem.Problem.primal",
        ),
        in_fwlab.dual,
        in_fwlab.small_machines,
    ),
)
def hinge_dual(
    case: Case, cap: int = 1, sign: int = -1, same: bool = False, limit: bool = False
) -> Outcome:
    exponent = dual_p(case, same, limit)
    if hasattr(case, "machine"):
        return no_gap(case, dual_exponent(exponent), cap, sign)
    gain = -sign * sum(own(case), Fraction(0))
    return is_lagrangian_dual(case, NormInLine(case.p, exponent), hinge_feasible(case, cap), gain)


@claim(
    "LP15-ones",
    "section 3.1",
    "The bold 1 of the dual constraints is the vector whose components are all 0.",
    formula=r"\alpha_i\cdot 1=0",
    shapes="alpha_i, 1: (c,)",
    judged="as printed, in the constraints of (7) with one input 1, two classes and p = 2.",
    cases=lambda rng, deep: (
        Case(kind="exact", C=Fraction(i, 4), w=(Fraction(i % 5, 2), Fraction(i % 3, 2)))
        for i in range(1, 24 if deep else 12)
    ),
    sides=("maximum of (7)", "minimum of (P)"),
    derived=version("all 1, as C.2 derives", entry=1, formula=r"1=(1,\ldots,1)"),
    where_right=WhereRight("LP15-prob14", lambda case: by_row_sums(case)),
    planted=(version("(1, 2)", entry=1, second=2),),
    proofs=(
        BySolver(
            "a C between those tried, on either side of 1/2, where the formula of "
            "the maximum changes",
            cases=lambda deep: [
                Case(kind="symbols", n=1, c=2, p=2, C=real("C"), w=(real("w_1"), real("w_2")))
            ],
            assuming=lambda case: case.C > 0,
            sized_by=("n", "c", "p"),
        ),
    ),
    erratum=Erratum(
        "section 3.1, before Problem 11",
        r"1\in R^c\mathrm{\ with\ all\ components\ being\ zero}",
        r"1\in R^c\mathrm{\ with\ all\ components\ being\ one}",
        r"With all components 0 the constraint $\alpha_i\cdot 1=0$ is empty. One input 1 of class "
        r"1, c = 2, p = 2, C = 1/4: (7) then has the maximum $C-\frac{C^2}{2}=\frac{7}{32}$ at "
        r"$\alpha=(C,0)$, but (P) has the minimum $C-C^2=\frac{3}{16}$ at $w=(C,-C)$.",
        "Nothing: C.4 writes the constraint as a sum, and (13) and Algorithm 1 use that.",
    ),
)
def vector_of_ones(case: Case, entry: int = 0, second: int | None = None) -> Outcome:
    """Compare the maximum of the dual with the minimum of (P), both in closed form.

    The dual is -(a^2 + b^2)/2 + a over a <= C, b <= 0; the minimum of (P) is C - C^2 up to C = 1/2
    and 1/4 after it, at w = (C, -C) and (1/2, -1/2), which no w improves. With no constraint b = 0;
    with a + second b = 0 the value is a - a^2 (1 + 1/second^2)/2.
    """
    C, half = case.C, Fraction(1, 2)
    machine = Case(kind=case.kind, loss=HINGE, p=2, C=C)
    curve = Fraction(1) if entry == 0 else 1 + Fraction(1, (second or entry) ** 2)
    a = where(C <= 1 / curve, C, 1 / curve)
    best = where(C <= half, C, half)
    least = where(C <= half, C - C * C, Fraction(1, 4))
    return both(
        equal(objective((best, -best), machine, half), least),
        truth(least <= objective(case.w, machine, half)),
        equal(a - curve * a * a / 2, least),
    )


def by_row_sums(case: Case) -> Outcome:
    """Check that the constraint a + b = 0 gives the maximum with a vector of ones.

    (C.8) of LP15-prob14 writes this constraint; the maximum is a - a^2 at a = min(C, 1/2).
    """
    a = where(case.C <= Fraction(1, 2), case.C, Fraction(1, 2))
    curve = 1 + Fraction(1)
    return both(
        equal(a - (a * a + (-a) * (-a)) / 2, a - curve * a * a / 2),
        vector_of_ones.form(case, entry=1),
    )
