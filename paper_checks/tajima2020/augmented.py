"""Check T20 section C: the smoothed dual as the dual of a problem with more features."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from paper_checks.arithmetic import Real, is_symbolic
from paper_checks.ledger import Case, Erratum, Library, Outcome, WhereRight, claim, version
from paper_checks.outcomes import at_most, both, equal
from paper_checks.tajima2020 import line
from paper_checks.tajima2020.frank_wolfe import rounded
from paper_checks.tajima2020.gradients import by_solver
from paper_checks.tajima2020.linear import in_fwlab, linear_trainings
from paper_checks.tajima2020.programs import (
    array,
    augmented,
    conjugate,
    dual,
    near_maximum,
    primal,
    rows,
    scores,
    shifted,
    squared,
    step_of,
    trainings,
    weights,
)


@claim(
    "T20-eqC19",
    "(C.19)",
    "The augmented feature matrix has (m + 1) d rows.",
    formula=r"\tilde\Psi_i=\left[\Psi(x_i);\ \sqrt{\lambda n\gamma}\,e_i\otimes I_m\right]"
    r"\in\mathbb{R}^{(m+1)d\times m}",
    shapes="Psi(x_i): (d, m), e_i: (n,)",
    cases=lambda rng, deep: (
        Case(kind="sizes", n=n, m=m, d=d) for n, m, d in product((1, 2, 3), (2, 3, 4), (1, 2, 5))
    ),
    sides=("as printed", "counted"),
    corrected=version(
        "d + m n rows",
        formula=r"\tilde\Psi_i\in\mathbb{R}^{(d+mn)\times m}",
        rows=lambda n, m, d: d + m * n,
    ),
    planted=(version("d + m rows", rows=lambda n, m, d: d + m),),
    not_proved="a count of rows, which follows from the size of a Kronecker product",
    erratum=Erratum(
        "section C, (C.19), (C.20) and section C.1",
        r"(m+1)d",
        r"d+mn",
        "The lower block $e_i\\otimes I_m$ of (C.19) has $mn$ rows, as $e_i$ has n entries and "
        "$I_m$ has m rows; the upper block has d. With one sample, two classes and two features "
        "these are 4 rows, and $(m+1)d=6$. (C.22) stacks $w(A)$, of d entries, on "
        "$\\mathrm{vec}(A)$, of $mn$.",
        "Nothing: the number is not used again.",
    ),
)
def augmented_shape(case: Case, rows: Any = lambda n, m, d: (m + 1) * d) -> Outcome:
    upper, lower = np.zeros((case.d, case.m)), np.kron(np.eye(case.n)[:, [0]], np.eye(case.m))
    return equal(Fraction(rows(case.n, case.m, case.d)), Fraction(len(np.vstack([upper, lower]))))


@claim(
    "T20-eqC22",
    "(C.22)",
    "The link of the augmented problem is w(A) above a multiple of vec(A).",
    formula=r"\tilde w(A)=\frac{1}{\lambda n}\sum_i\tilde\Psi_i\alpha_i"
    r"=\left[w(A);\ \sqrt{\gamma/(\lambda n)}\,\mathrm{vec}(A)\right]",
    shapes="Psi_i: (d + m n, m), A: (m, n), w(A): (d,)",
    cases=trainings,
    planted=(version("the root of gamma lambda n", factor=lambda scale: scale),),
    proofs=(by_solver("A root that is right only for lambda n = 1."),),
)
def stacked(case: Case, factor: Any = lambda scale: 1) -> Outcome:
    return equal(list(weights(augmented(case), case.A)), stack(case, factor))


def stack(case: Case, factor: Any = lambda scale: 1) -> list[Real]:
    """Return the right-hand side of (C.22): sqrt(gamma/(lambda n)) is root/(lambda n)."""
    scale = case.lam * case.n
    below = array(case.A).ravel() * (case.root * factor(scale) / scale)
    return [*weights(case, case.A), *below]


@claim(
    "T20-eqC21",
    "(C.21)",
    "The augmented problem has the link (C.21), whose upper part is w(A) by (C.22).",
    formula=r"\tilde w(A)=\frac{1}{n}\sum_i\tilde\Psi_i\alpha_i",
    shapes="Psi_i: (d + m n, m), A: (m, n), w(A): (d,)",
    cases=trainings,
    sides=("by (C.21)", "by (C.22)"),
    derived=version(
        "1/(lambda n) in the place of 1/n, as (C.22) has",
        formula=r"\tilde w(A)=\frac{1}{\lambda n}\sum_i\tilde\Psi_i\alpha_i",
        factor=lambda lam: 1 / lam,
    ),
    where_right=WhereRight(
        "T20-eqC22",
        lambda case: equal(augmented_sum(case, lambda lam: 1 / lam), stack(case)),
    ),
    planted=(version("lambda/n", factor=lambda lam: lam),),
    proofs=(by_solver("The case lambda = 1, in which both are true."),),
    erratum=Erratum(
        "section C.1, (C.21)",
        r"\tilde w(A):=\frac{1}{n}\sum_i\tilde\Psi_i\alpha_i",
        r"\tilde w(A):=\frac{1}{\lambda n}\sum_i\tilde\Psi_i\alpha_i",
        "Section 2.1 links the dual to the primal by "
        "$w(A)=\\frac{1}{\\lambda n}\\sum_i\\Psi(x_i)\\alpha_i$, and the augmented problem has the "
        "features $\\tilde\\Psi_i$ and the same lambda. The first line of (C.22) has "
        "$1/(\\lambda n)$.",
        "Nothing: (C.22) and all that follows use $1/(\\lambda n)$.",
    ),
)
def augmented_link(case: Case, factor: Any = lambda lam: 1) -> Outcome:
    return equal(augmented_sum(case, factor), stack(case))


def augmented_sum(case: Case, factor: Any) -> list[Real]:
    """Return factor(lambda)/n times the sum of Psi~_i alpha_i."""
    pairs = zip(augmented(case).features, array(case.A), strict=True)
    return list(factor(case.lam) * sum(psi.T @ a for psi, a in pairs) / Fraction(case.n))


@claim(
    "T20-eqC24",
    "(C.24)",
    "The prediction scores of the augmented problem are those of the problem plus gamma alpha_i.",
    formula=r"\tilde\Psi_i^\top\tilde w(A)=\Psi(x_i)^\top w(A)+\gamma\alpha_i",
    shapes="alpha_i: (m,)",
    cases=trainings,
    planted=(version("minus gamma alpha_i, as (2.24) prints", sign=-1),),
    proofs=(by_solver("A wrong sign that has no effect where alpha_i is 0."),),
)
def augmented_scores(case: Case, sign: int = 1) -> Outcome:
    return equal(rows(scores(augmented(case), case.A)), rows(shifted(case, sign * case.smoothing)))


@claim(
    "T20-lemmaC1",
    "Lemma C.1, (C.27) (C.28)",
    "D_m is the function (2.3) of the risk over the augmented features, and "
    "therefore, like (2.3) (T20-duality), a Fenchel dual of it: never above the "
    "risk, and equal to it at a maximiser.",
    formula=r"\Vert\tilde w(A)\Vert^2=\Vert w(A)\Vert^2+\frac{\gamma}{\lambda n}\Vert A\Vert_F^2,"
    r"\quad \tilde D(A)=D_m(A)",
    shapes="Psi_i: (d + m n, m), A: (m, n), w: (d + m n,)",
    judged="with the shape of T20-eqC19 and the link of T20-eqC21; the w of (C.20) is read "
    "with a tilde, the Phi of (C.27) without",
    cases=trainings,
    planted=(
        version("gamma/n in (C.28)", scale=lambda lam: lam),
        version("gamma/(2 lambda n) in (C.28)", scale=lambda lam: Fraction(1, 2)),
    ),
    proofs=(
        by_solver(
            "A term of (C.28) that is 0 in the samples. (C.28) and the formula of D_m are proved; "
            "that (2.3) equals the risk at its maximiser is tried in floats."
        ),
    ),
    library=Library(
        ("fwlab.Problem.dual", "fwlab.Problem.augmented_gap"),
        lambda case: gap_in_fwlab(case),
        linear_trainings,
    ),
)
def augmented_dual(case: Case, scale: Any = lambda lam: 1) -> Outcome:
    wide, gamma = augmented(case), scale(case.lam) * case.smoothing
    w, w_tilde = weights(case, case.A), weights(wide, case.A)
    found = both(
        equal(w_tilde @ w_tilde, w @ w + squared(case.A) * gamma / (case.lam * case.n)),
        equal(dual(wide, case.A), dual(case, case.A, gamma)),
    )
    if is_symbolic(list(w)):
        return found
    points = (array(case.A), array(case.U), -step_of(case))
    risks = [primal(wide, weights(wide, A)) for A in points]
    best = near_maximum(wide)
    attained = primal(wide, weights(wide, best.A))
    return rounded(
        found,
        *[at_most(dual(case, A, gamma), risk) for A in (case.A, case.U) for risk in risks],
        at_most(best.value, attained),
        at_most(attained, best.largest),
    )


def gap_in_fwlab(case: Case) -> Outcome:
    """Compare fwlab's smoothed dual and augmented gap with the augmented problem."""
    problem, wide = in_fwlab(case, smoothing=case.smoothing), augmented(case)
    A, smoothed = case.A.astype(float), dual(case, case.A, case.smoothing)
    gap = primal(wide, weights(wide, case.A)) - smoothed
    return both(
        equal(problem.dual(A), float(smoothed)), equal(problem.augmented_gap(A), float(gap))
    )


@claim(
    "T20-eqC29",
    "(C.29)",
    "The first line of the decomposition equals the second, D_m.",
    formula=r"D_m(A)=-\frac{\lambda}{2}\Vert w(A)\Vert^2-\frac{\gamma}{2n}\Vert A\Vert_F^2"
    r"-\frac{1}{n}\sum_i(\Phi^*(-\alpha_i;y_i)+\frac{\gamma}{2}\Vert\alpha_i\Vert^2)",
    shapes="A: (m, n)",
    judged="Phi* with a tilde is read as Phi*, as no other is defined",
    cases=trainings,
    sides=("first line", "second line"),
    derived=version(
        "the smoothing once, inside the sum or before it",
        formula=r"D_m(A)=-\frac{\lambda}{2}\Vert w(A)\Vert^2"
        r"-\frac{1}{n}\sum_i(\Phi^*(-\alpha_i;y_i)+\frac{\gamma}{2}\Vert\alpha_i\Vert^2)",
        copies=1,
    ),
    where_right=WhereRight(
        "T20-lemmaC1",
        lambda case: equal(dual(augmented(case), case.A), first_line(case, copies=1)),
    ),
    planted=(version("the smoothing left out", copies=0),),
    proofs=(
        by_solver("Dual points where the doubled term is 0."),
        line.theorem(
            "A factor lambda or n that is 1 in the samples.",
            lambda at, copies=2: both_lines(at, copies),
        ),
    ),
    library=Library(
        ("fwlab.Problem.dual",),
        lambda case: in_fwlab(case, "dual", smoothing=case.smoothing),
        linear_trainings,
    ),
    erratum=Erratum(
        "section C.3, (C.29), first line",
        r"-\frac{\gamma_{sm}}{2n}\Vert A\Vert_F^2-\frac{1}{n}\sum_i(\tilde\Phi^*(-\alpha_i;y_i)"
        r"+\frac{\gamma_{sm}}{2}\Vert\alpha_i\Vert^2)",
        r"-\frac{1}{n}\sum_i(\Phi^*(-\alpha_i;y_i)+\frac{\gamma_{sm}}{2}\Vert\alpha_i\Vert^2)",
        "Inserting (C.28) into (C.27) gives the term $-\\frac{\\gamma}{2n}\\Vert A\\Vert_F^2$ "
        "once. As $\\Vert A\\Vert_F^2=\\sum_i\\Vert\\alpha_i\\Vert^2$, the sum contains it "
        "again, so that the first line counts it twice; the second line has it once, inside "
        "$\\Phi_m^*$.",
        "Nothing: Lemma C.1 uses the second line.",
    ),
)
def decomposition(case: Case, copies: int = 2) -> Outcome:
    w = weights(case, case.A)
    pairs = zip(array(case.A), case.y, strict=True)
    smoothed = [conjugate(case, a, y) + (a @ a) * case.smoothing / 2 for a, y in pairs]
    second = -case.lam / 2 * (w @ w) - sum(smoothed) / Fraction(case.n)
    return equal(first_line(case, copies), second)


def first_line(case: Case, copies: int) -> Real:
    """Return the first line of (C.29) with the smoothing term counted the given number of times."""
    square = squared(case.A)
    return dual(case, case.A) - copies * case.smoothing * square / Fraction(2 * case.n)


def both_lines(at: line.LineProducts, copies: int) -> tuple[Any, Any]:
    """Return both lines of (C.29) on a line, at A."""
    first = at.value(0, 0) - copies * at.smoothing * at.aa / (2 * at.n)
    return first, at.value(0, at.smoothing)
