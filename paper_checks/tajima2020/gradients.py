"""Check T20 section B: the derivatives of D, and its expansion along a direction."""

from fractions import Fraction
from typing import Any

import numpy as np

from paper_checks.arithmetic import Real, pick, total
from paper_checks.ledger import Case, Erratum, Outcome, WhereRight, claim, version
from paper_checks.outcomes import both, equal
from paper_checks.proofs import BySolver
from paper_checks.tajima2020 import line
from paper_checks.tajima2020.programs import (
    SIZED_BY,
    along,
    array,
    dual,
    in_domain,
    scores,
    step_of,
    training_symbols,
    trainings,
    true_entries,
    weights,
)

FACTORS = "A factor lambda or n that is 1 in the samples, and a term that is 0 in the samples."


def by_solver(catches: str = FACTORS) -> BySolver:
    """Return the proof for all features and dual points of small sizes."""
    return BySolver(catches, cases=training_symbols, assuming=in_domain, sized_by=SIZED_BY)


def slopes_by_row(case: Case, gradient: np.ndarray, smoothing: Real = 0) -> tuple[list, list]:
    """Return <gradient_i, U_i - A_i> and the slope of D_m in that direction, for each sample i."""
    step, found = step_of(case), []
    for i in range(len(step)):
        alone = step * 0
        alone[i] = step[i]
        found.append(along(case, alone, smoothing)[0])
    return [g @ move for g, move in zip(gradient, step, strict=True)], found


@claim(
    "T20-eqB9",
    "(B.9)",
    "The derivative of D with respect to a column of A.",
    formula=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(e_{y_i}-\Psi(x_i)^\top w(A))",
    shapes="alpha_i: (m,)",
    judged="along directions that stay in the domain of D, where it is finite",
    cases=trainings,
    planted=(
        version("plus the scores", sign=1),
        version("without the factor 1/n", factor=lambda n: 1),
    ),
    proofs=(
        by_solver(),
        line.theorem(
            FACTORS,
            lambda at, sign=-1, factor=lambda n: 1 / n: (
                factor(at.n) * (at.target_d + sign * at.against),
                line.slope(at),
            ),
        ),
    ),
)
def derivative(case: Case, sign: int = -1, factor: Any = lambda n: Fraction(1, n)) -> Outcome:
    printed = true_entries(case) + sign * scores(case, case.A)
    return equal(*slopes_by_row(case, factor(case.n) * printed))


@claim(
    "T20-eqB13",
    "(B.12) (B.13)",
    "The two identities behind the expansion of D along a direction.",
    formula=r"\langle w(A),w(\Delta A)\rangle=\frac{1}{\lambda n}\sum_j\langle\Psi(x_j)^\top w(A),"
    r"\Delta\alpha_j\rangle,\quad \Vert w(\gamma\Delta A)\Vert^2=\gamma^2\Vert w(\Delta A)\Vert^2",
    shapes="A, Delta A: (m, n)",
    cases=trainings,
    planted=(version("1/n in the place of 1/(lambda n)", factor=lambda lam: 1),),
    proofs=(by_solver(),),
)
def products(case: Case, factor: Any = lambda lam: 1 / lam) -> Outcome:
    step, t = step_of(case), Fraction(1, 3)
    w, change, shorter = (weights(case, B) for B in (case.A, step, t * step))
    by_sample = (scores(case, case.A) * step).sum() / Fraction(case.n)
    return both(
        equal(w @ change, factor(case.lam) * by_sample),
        equal(shorter @ shorter, t**2 * (change @ change)),
    )


@claim(
    "T20-eqB18",
    "(B.18)",
    "The derivative of the squared norm of w(A) with respect to a column of A.",
    formula=r"\frac{\partial}{\partial\alpha_i}\Vert w(A)\Vert^2="
    r"\frac{2}{\lambda n}\Psi(x_i)^\top w(A)",
    shapes="alpha_i: (m,)",
    cases=trainings,
    planted=(version("without the factor 2", factor=1),),
    proofs=(by_solver(),),
)
def derivative_of_norm(case: Case, factor: int = 2) -> Outcome:
    """Compare with central differences, which are the exact derivatives of a quadratic."""

    def norm(entry: tuple[int, ...], change: int) -> Real:
        A = array(case.A).copy()
        A[entry] += change
        w = weights(case, A)
        return w @ w

    printed = factor * scores(case, case.A) / (case.lam * case.n)
    entries = np.ndindex(case.n, case.m)
    differences = [(norm(e, 1) - norm(e, -1)) / Fraction(2) for e in entries]
    return equal(differences, list(printed.ravel()))


@claim(
    "T20-eqB14",
    "(B.14)",
    "Along a direction D changes as (B.14) says, with unit vectors e_j for the samples j.",
    formula=r"\frac{1}{\lambda}(D(A+\gamma\Delta A)-D(A))="
    r"-\frac{1}{2}\Vert w(\Delta A)\Vert^2\gamma^2"
    r"+\frac{1}{\lambda n}\sum_j\langle e_j-\Psi(x_j)^\top w(A),\Delta\alpha_j\rangle\gamma",
    shapes="A, Delta A: (m, n), gamma in [0, 1]",
    judged="e_j as a unit vector of m entries, which is undefined for a sample j > m; samples and "
    "classes count from 0 in witnesses",
    cases=trainings,
    sides=("left side", "right side"),
    derived=version(
        "e_{y_j} in the place of e_j, as in (B.8) and (2.20)",
        formula=r"\frac{1}{\lambda}(D(A+\gamma\Delta A)-D(A))="
        r"-\frac{1}{2}\Vert w(\Delta A)\Vert^2\gamma^2"
        r"+\frac{\gamma}{\lambda n}\sum_j\langle e_{y_j}-\Psi(x_j)^\top w(A),\Delta\alpha_j\rangle",
        true_class=True,
    ),
    where_right=WhereRight(
        "T20-eq2.20",
        lambda case: equal(
            linear_terms(case, true_class=True),
            [row.sum() for row in (true_entries(case) - scores(case, case.A)) * step_of(case)],
        ),
    ),
    planted=(version("the quadratic term without 1/2", true_class=True, half=1),),
    proofs=(
        by_solver("Labels for which e_j happens to be e_{y_j}, so that both versions are true."),
        line.theorem(FACTORS, lambda at, **changes: expansion_of(at, **changes)),
    ),
    erratum=Erratum(
        "section B.2, (B.14)",
        r"\langle e_j-\Psi(x_j)^\top w^{(t-1)},\Delta\alpha_j\rangle",
        r"\langle e_{y_j}-\Psi(x_j)^\top w^{(t-1)},\Delta\alpha_j\rangle",
        "By (B.8) the linear part of D is $\\frac{1}{n}\\sum_j\\langle e_{y_j},\\alpha_j\\rangle$, "
        "so its increment is $\\frac{\\gamma}{n}\\sum_j\\langle e_{y_j},\\Delta\\alpha_j\\rangle$. "
        "The printed $e_j$ counts samples, not classes: for $j>m$ there is no such vector of m "
        "entries, and for $j\\leq m$ it is the wrong one unless $y_j=j$. All three lines of (B.14) "
        "have it.",
        "Nothing: (2.20), which follows from (B.14), has $e_{y_i}$.",
    ),
)
def expansion(
    case: Case, true_class: bool = False, half: Fraction | int = Fraction(1, 2)
) -> Outcome:
    step, t = step_of(case), Fraction(1, 3)
    w = weights(case, step)
    rise = total(linear_terms(case, true_class)) / (case.lam * case.n)
    printed = expanded(half, w @ w, rise, t)
    A = array(case.A)
    return equal((dual(case, A + t * step) - dual(case, A)) / case.lam, printed, gamma=t)


def linear_terms(case: Case, true_class: bool) -> list[Real]:
    """Return <e_j - Psi_j^T w(A), Delta alpha_j>, or with e_{y_j}, for each sample j."""
    pairs = zip(scores(case, case.A), step_of(case), strict=True)
    heads = list(case.y) if true_class else range(case.n)
    return [pick(move, head) - s @ move for (s, move), head in zip(pairs, heads, strict=True)]


def expanded(half: Any, norm: Any, rise: Any, t: Any) -> Any:
    """Return the last line of (B.14) from |w(Delta A)|^2 and the linear term."""
    return -half * norm * t**2 + rise * t


def expansion_of(
    at: line.LineProducts, true_class: bool = False, half: Fraction | int = Fraction(1, 2)
) -> tuple[Any, Any]:
    """Return both sides of (B.14) on a line, at gamma = 1/3."""
    target = at.target_d if true_class else at.across_d
    t = Fraction(1, 3)
    rise = (target - at.against) / (at.lam * at.n)
    return (at.value(t, 0) - at.value(0, 0)) / at.lam, expanded(half, at.dd, rise, t)
