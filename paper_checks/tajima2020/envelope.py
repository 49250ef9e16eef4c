"""T20 sections 2.4 and 3.1: the Moreau envelope, and Frank-Wolfe on its dual."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np

import reference
from paper_checks.arithmetic import Real
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Erratum, Library, Outcome, WhereRight, claim, version
from paper_checks.outcomes import at_most, both, equal, less
from paper_checks.proofs import BySolver, ByTheorem
from paper_checks.tajima2020 import line
from paper_checks.tajima2020.frank_wolfe import (
    SOLVED,
    asked_margins,
    best_step_inside,
    best_vertices,
    maximises,
    score_symbols,
    scores_of,
)
from paper_checks.tajima2020.gradients import FACTORS, by_solver, slopes_by_row
from paper_checks.tajima2020.linear import fwlab_loss, in_fwlab, linear_trainings
from paper_checks.tajima2020.programs import mdos_losses, other_losses
from paper_checks.tajima2020.trainings import (
    SIZED_BY,
    array,
    dual,
    scores,
    squared,
    step_of,
    training_symbols,
    trainings,
    true_entries,
    weights,
)
from reference import exact


def smoothed_rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield two rows of scores near each other; much smoothing keeps off the domain's bounds."""
    for m in (2, 3, 4) if deep else (2, 3):
        for smoothing in (Fraction(1, 100), Fraction(1, 2), Fraction(20)):
            for loss in mdos_losses(rng, m):
                s, y = fractions(rng, m), int(rng.integers(m))
                other = tuple(a + b / 4 for a, b in zip(s, fractions(rng, m), strict=True))
                yield Case(
                    kind=f"smoothing {smoothing}",
                    loss=loss,
                    y=y,
                    smoothing=smoothing,
                    scores=s,
                    other=other,
                )


@claim(
    "T20-eq2.21",
    "(2.21)",
    "The conjugate of Phi* + gamma/2 |.|^2 is the Moreau envelope of Phi, and is 1/gamma-smooth.",
    formula=r"\Phi_m(s;y)=(\Phi^*(\cdot;y)+\frac{\gamma}{2}\Vert\cdot\Vert^2)^*(s)"
    r"=\min_z\ \Phi(z;y)+\frac{1}{2\gamma}\Vert s-z\Vert^2,\quad "
    r"\Vert\nabla\Phi_m(s)-\nabla\Phi_m(s')\Vert\leq\frac{1}{\gamma}\Vert s-s'\Vert",
    shapes="s, z: (m,), gamma > 0",
    judged="for gamma > 0; at gamma = 0 there is no 1/gamma",
    assumed="gamma > 0; the paper allows gamma = 0, where the envelope is the loss, which is not "
    "smooth",
    cases=smoothed_rows,
    planted=(
        version("gamma |.|^2 in the place of gamma/2 |.|^2", half=2),
        version("1/(2 gamma)-smooth", constant=2),
    ),
    not_proved="both sides are optimal values of quadratic programs, which floats solve",
    library=Library(
        ("fwlab.Loss.moreau",),
        lambda case: equal(
            fwlab_loss(case.loss).moreau(floats(case.scores), case.y, float(case.smoothing))[0],
            conjugate_of_sum(case, case.scores, float(case.smoothing))[0],
            allowed=SOLVED,
        ),
    ),
)
def envelope(case: Case, half: int = 1, constant: int = 1) -> Outcome:
    gamma = float(case.smoothing)
    value, slope = conjugate_of_sum(case, case.scores, half * gamma)
    _, other_slope = conjugate_of_sum(case, case.other, half * gamma)
    direct = reference.qp.moreau(case.loss, case.scores, case.y, gamma)
    distance = np.linalg.norm(np.subtract(case.scores, case.other).astype(float))
    moved = float(np.linalg.norm(slope - other_slope))
    return both(
        equal(value, direct.value_upper, allowed=SOLVED),
        at_most(constant * gamma * moved, distance, allowed=1e-4),
    )


def conjugate_of_sum(case: Case, s: Any, gamma: float) -> tuple[float, np.ndarray]:
    """Return (value, v): max <s, v> - Phi*(v) - gamma/2 |v|^2, v a convex combination of slopes."""
    pieces = exact.pieces(case.loss, len(s), case.y)
    t = cp.Variable(len(pieces), nonneg=True)
    v = np.array(list(pieces), float).T @ t
    offsets = np.array(list(pieces.values()), float)
    objective = np.array(s, float) @ v + offsets @ t - gamma / 2 * cp.sum_squares(v)
    problem = cp.Problem(cp.Maximize(objective), [cp.sum(t) == 1])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value), v.value


@claim(
    "T20-envelope-not-mdos",
    "2.4",
    "The Moreau envelope of a loss of mdos type is not of mdos type: it does not double wherever "
    "the margins double.",
    formula=r"\exists s,t:\ h(t)=2h(s),\ \Phi_m(t;y)\neq 2\Phi_m(s;y),\quad h(s)=1-e_y+s-s_y1",
    shapes="s, t, h: (m,), gamma > 0",
    assumed="gamma > 0",
    cases=smoothed_rows,
    planted=(version("nor does the loss itself", smoothed=False),),
    not_proved="the envelope is the optimal value of a quadratic program, which floats solve",
)
def not_homogeneous(case: Case, smoothed: bool = True) -> Outcome:
    """A margin of gamma/4 for one wrong class and 0 for the others, and twice that."""
    m, y = len(case.scores), case.y
    gamma = float(case.smoothing) if smoothed else 0.0
    at_zero = -(np.arange(m) != y).astype(float)
    margin = float(case.smoothing) / 4 * (np.arange(m) == (y + 1) % m)
    once, twice = (conjugate_of_sum(case, at_zero + c * margin, gamma)[0] for c in (1, 2))
    return less(SOLVED, abs(twice - 2 * once))


@claim(
    "T20-gamma-n",
    "3.1",
    "The negative dual of the smoothed problem is strongly convex with coefficient gamma/n, "
    "whatever the data.",
    formula=r"-D_m(A)-\frac{\gamma}{2n}\Vert A\Vert_F^2\ \mathrm{is\ convex}",
    shapes="A: (m, n)",
    judged="with respect to the Frobenius norm",
    cases=lambda rng, deep: with_and_without_data(rng, deep),
    planted=(
        version("coefficient gamma", coefficient=lambda n: n),
        version("coefficient 2 gamma/n", coefficient=lambda n: 2),
    ),
    proofs=(
        ByTheorem(
            "Data that use up the quadratic term: what is left is lambda/8 |w(Delta A)|^2, for "
            "all data.",
            lambda deep, **changes: line.same(
                surplus(line.symbolic_line(), **changes),
                line.symbolic_line().lam * line.symbolic_line().dd / 8,
            ),
        ),
    ),
)
def strongly_convex(case: Case, coefficient: Any = lambda n: 1) -> Outcome:
    """At the middle of A and U, by the definition of strong convexity."""
    A, U, gamma = array(case.A), array(case.U), case.smoothing
    ends = [dual(case, B, gamma) for B in (A, U)]
    bonus = coefficient(case.n) * gamma / case.n * squared(U - A) / 8
    return at_most(sum(ends) / 2 + bonus, dual(case, (A + U) / Fraction(2), gamma))


def surplus(at: line.Line, coefficient: Any = lambda n: 1) -> Any:
    """Return by how much D_m at the middle exceeds what strong convexity asks, on a line."""
    start, middle, end = (at.value(Fraction(t, 2), at.smoothing) for t in range(3))
    bonus = coefficient(at.n) * at.smoothing / at.n * at.step_square / 8
    return middle - (start + end) / 2 - bonus


def with_and_without_data(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield training problems, each with its features and with all features 0."""
    for case in trainings(rng, deep):
        yield case
        yield Case(**{**vars(case), "kind": "features 0", "features": case.features * 0})


@claim(
    "T20-eq2.24",
    "(2.24), Alg. 1 line 5",
    "The scores of which a direction for the smoothed dual is minus a subgradient; e_y minus "
    "them is n times the derivative of D_m.",
    formula=r"\tilde s_i=\Psi(x_i)^\top w(A)-\gamma\alpha_i",
    shapes="s_i, alpha_i: (m,)",
    cases=trainings,
    sides=("derivative by the printed scores", "derivative of D_m"),
    derived=version(
        "plus gamma alpha_i, as (C.24) derives",
        formula=r"\tilde s_i=\Psi(x_i)^\top w(A)+\gamma\alpha_i",
        sign=1,
    ),
    where_right=WhereRight(
        "T20-eqC24",
        lambda case: equal(rows(shifted(case, case.smoothing)), augmented_scores(case)),
    ),
    planted=(version("no shift", sign=0), version("twice the shift", sign=2)),
    proofs=(
        by_solver("A shift that does not matter: where <alpha_i, Delta alpha_i> is 0."),
        ByTheorem(FACTORS, line.theorem(lambda at, sign=-1: shifted_slopes(at, sign))),
    ),
    library=Library(
        ("fwlab.Problem.shifted_scores",),
        lambda case: equal(
            list(
                in_fwlab(case, smoothing=case.smoothing)
                .shifted_scores(case.A.astype(float), scores(case, case.A).astype(float))
                .ravel()
            ),
            floats(shifted(case, case.smoothing)),
        ),
        linear_trainings,
    ),
    erratum=Erratum(
        "section 2.4, (2.24), and Algorithm 1, line 5",
        r"\tilde s_i:=\Psi(x_i)^\top w(A)-\gamma_{sm}\alpha_i",
        r"\tilde s_i:=\Psi(x_i)^\top w(A)+\gamma_{sm}\alpha_i",
        "$D_m$ has the term $-\\frac{\\gamma}{2n}\\Vert\\alpha_i\\Vert^2$, whose derivative is "
        "$-\\frac{\\gamma}{n}\\alpha_i$, so with (B.9) the derivative of $D_m$ is "
        "$\\frac{1}{n}(e_{y_i}-\\Psi(x_i)^\\top w(A)-\\gamma\\alpha_i)$. Theorem 2.3 needs it to be "
        "$\\frac{1}{n}(e_{y_i}-\\tilde s_i)$, so that the shift has a plus sign; (C.24) derives "
        "just that.",
        "Algorithm 1 as printed follows the gradient of $D+\\frac{\\gamma}{2n}\\Vert A\\Vert^2$ "
        "instead of $D_m$: it need not ascend, and the quotient (2.26) becomes too large.",
    ),
)
def shifted_scores(case: Case, sign: int = -1) -> Outcome:
    tilted = shifted(case, sign * case.smoothing)
    printed = (true_entries(case) - tilted) / Fraction(case.n)
    return equal(*slopes_by_row(case, printed, case.smoothing))


def shifted(case: Case, shift: Real) -> np.ndarray:
    """Return Psi_i^T w(A) + shift alpha_i, (n, m)."""
    return scores(case, case.A) + array(case.A) * shift


def shifted_slopes(at: line.Line, sign: int) -> tuple[Any, Any]:
    """Return the slope of D_m by the shifted scores and by its definition, on a line."""
    printed = (at.target_d - at.against - sign * at.smoothing * at.ad) / at.n
    return printed, line.slope(at, at.smoothing)


def augmented_scores(case: Case) -> list[list[Real]]:
    """Return Psi~_i^T w~(A) of (C.24), from the features (C.19)."""
    from paper_checks.tajima2020.augmented import augmented

    wide = augmented(case)
    return rows(scores(wide, case.A))


def rows(table: np.ndarray) -> list[list[Real]]:
    return [list(row) for row in table]


def floats(numbers: Any) -> list[float]:
    return [float(x) for x in np.ravel(np.array(numbers, object))]


@claim(
    "T20-thm2.3",
    "Theorem 2.3, (2.25)",
    "For losses of mdos type, minus any subgradient of the loss itself at the shifted scores "
    "maximises the linearised smoothed dual over the domain.",
    formula=r"u_i\in-\partial\Phi(\tilde s_i;y_i)\ \Rightarrow\ "
    r"U\in\arg\max_{U\in\mathrm{dom}(-D_m)}\langle\nabla D_m(A),U\rangle",
    shapes="u_i, s_i: (m,), U, A: (m, n)",
    judged="shifted scores with the sign of (C.24); see T20-eq2.24",
    cases=trainings,
    relaxed=version(
        "any structured hinge and the pseudo top-k hinge, too",
        cases=partial(trainings, losses=other_losses),
    ),
    planted=(
        version("shifted by minus gamma alpha_i, as (2.24) prints", shift=-1),
        version("plus a subgradient", sign=1),
    ),
    proofs=(
        BySolver(
            "A shift of the wrong sign that happens to leave the direction as it is.",
            cases=score_symbols,
        ),
    ),
)
def smoothed_direction(case: Case, shift: int = 1, sign: int = -1) -> Outcome:
    s, tilt = scores_of(case), array(case.A) * case.smoothing
    gradient = -(asked_margins(case) + s + tilt) / Fraction(case.n)
    return best_vertices(case, s + shift * tilt, gradient, sign)


@claim(
    "T20-eq2.26",
    "(2.26), Alg. 1 line 10",
    "The step that maximises the smoothed dual on the way from A to any feasible U is the "
    "quotient (2.26), clipped to [0, 1].",
    formula=r"\hat\gamma=\frac{\sum_i\langle\Delta\alpha_i,e_{y_i}-\tilde s_i\rangle}"
    r"{\lambda n\Vert w(\Delta A)\Vert^2+\frac{\gamma}{\lambda n}\Vert\Delta A\Vert^2}",
    shapes="A, U, Delta A = U - A: (m, n)",
    judged="shifted scores with the sign of (C.24)",
    assumed="Delta A is not 0 and gamma > 0: else (2.26) may be 0/0",
    cases=lambda rng, deep: (c for c in trainings(rng, deep) if squared(step_of(c)) > 0),
    sides=("the printed step", "the best step"),
    derived=version(
        "gamma |Delta A|^2 in the denominator: (C.26) times lambda n",
        formula=r"\hat\gamma=\frac{\sum_i\langle\Delta\alpha_i,e_{y_i}-\tilde s_i\rangle}"
        r"{\lambda n\Vert w(\Delta A)\Vert^2+\gamma\Vert\Delta A\Vert^2}",
        weight=lambda scale: 1,
    ),
    where_right=WhereRight("T20-lemmaC1", lambda case: equal(*denominators(case))),
    planted=(
        version("half of the second term", weight=lambda scale: Fraction(1, 2)),
        version("lambda n gamma in the denominator", weight=lambda scale: scale),
    ),
    proofs=(
        BySolver(
            "lambda n = 1, where the printed quotient is right.",
            cases=training_symbols,
            assuming=lambda case: best_step_inside(case, case.smoothing),
            sized_by=SIZED_BY,
        ),
        ByTheorem(
            FACTORS,
            line.theorem(
                lambda at, **changes: (quotient_of(at, **changes), line.best_step(at, at.smoothing))
            ),
        ),
    ),
    library=Library(
        ("fwlab.Problem.curvature",),
        lambda case: curvature_in_fwlab(case),
        linear_trainings,
    ),
    erratum=Erratum(
        "section 2.4, (2.26), and Algorithm 1, line 10",
        r"\lambda n\Vert w(\Delta A)\Vert^2+\frac{\gamma_{sm}}{\lambda n}\Vert\Delta A\Vert^2",
        r"\lambda n\Vert w(\Delta A)\Vert^2+\gamma_{sm}\Vert\Delta A\Vert^2",
        "(C.25) divides by $\\lambda n\\Vert\\tilde w(\\Delta A)\\Vert^2$, and (C.26) says that "
        "$\\Vert\\tilde w(\\Delta A)\\Vert^2=\\Vert w(\\Delta A)\\Vert^2+\\frac{\\gamma}{\\lambda n}"
        "\\Vert\\Delta A\\Vert^2$. The factor $\\lambda n$ multiplies both terms, so it cancels "
        "$1/(\\lambda n)$ in the second. (2.26) multiplies the first term alone.",
        "Algorithm 1, line 10: with $\\lambda=1/n$ the factor is 1 and the step is right, which is "
        "the setting of section 3.1; with any other lambda the step is not the line search.",
    ),
)
def smoothed_line_search(case: Case, weight: Any = lambda scale: 1 / scale) -> Outcome:
    """weight: of gamma |Delta A|^2, as a function of lambda n."""
    step = step_of(case)
    rise = (step * (true_entries(case) - shifted(case, case.smoothing))).sum()
    return maximises(case, rise, printed_denominator(case, weight), case.smoothing)


def printed_denominator(case: Case, weight: Any) -> Real:
    """Return the denominator of (2.26)."""
    step = step_of(case)
    w = weights(case, step)
    return denominator(w @ w, squared(step), case.lam * case.n, case.smoothing, weight)


def denominator(norm: Any, square: Any, scale: Any, smoothing: Any, weight: Any) -> Any:
    """Return the denominator of (2.26) from |w(Delta A)|^2, |Delta A|^2 and lambda n."""
    return scale * norm + weight(scale) * smoothing * square


def quotient_of(at: line.Line, weight: Any = lambda scale: 1 / scale) -> Any:
    """Return (2.26) on a line."""
    rise = at.target_d - at.against - at.smoothing * at.ad
    return rise / denominator(at.dd, at.step_square, at.lam * at.n, at.smoothing, weight)


def denominators(case: Case) -> tuple[Real, Real]:
    """Return lambda n times (C.28) at Delta A, as in (C.25), and the corrected denominator."""
    step, scale = step_of(case), case.lam * case.n
    w = weights(case, step)
    by_appendix = scale * (w @ w + case.smoothing / scale * squared(step))
    return by_appendix, printed_denominator(case, lambda scale: 1)


def curvature_in_fwlab(case: Case) -> Outcome:
    """Compare n times fwlab's curvature along Delta A with the corrected denominator."""
    problem, step = in_fwlab(case, smoothing=case.smoothing), step_of(case).astype(float)
    found = case.n * problem.curvature(step, problem.link(step))
    return equal(found, float(printed_denominator(case, lambda scale: 1)))
