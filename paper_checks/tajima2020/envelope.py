"""Check T20 section 2.4: Frank-Wolfe on the dual of the smoothed problem."""

from fractions import Fraction
from functools import partial
from typing import Any

from paper_checks.arithmetic import Real
from paper_checks.ledger import Case, Erratum, Library, Outcome, WhereRight, claim, version
from paper_checks.outcomes import equal
from paper_checks.proofs import BySolver
from paper_checks.tajima2020 import line
from paper_checks.tajima2020.frank_wolfe import (
    asked_margins,
    best_step_inside,
    best_vertices,
    maximises,
    score_symbols,
    scores_of,
)
from paper_checks.tajima2020.gradients import FACTORS, by_solver, slopes_by_row
from paper_checks.tajima2020.linear import in_fwlab, linear_trainings
from paper_checks.tajima2020.moreau import floats
from paper_checks.tajima2020.programs import (
    SIZED_BY,
    array,
    augmented,
    other_losses,
    rows,
    scores,
    shifted,
    squared,
    step_of,
    training_symbols,
    trainings,
    true_entries,
    weights,
)


@claim(
    "T20-eq2.24",
    "(2.24), Alg. 1 line 5",
    "A direction for the smoothed dual is minus a subgradient at the scores (2.24), as e_y minus "
    "these scores is n times the derivative of D_m.",
    formula=r"\tilde s_i=\Psi(x_i)^\top w(A)-\gamma\alpha_i",
    shapes="s_i, alpha_i: (m,)",
    cases=trainings,
    sides=("slope of D_m from A to U by (2.24)", "slope of D_m from A to U"),
    derived=version(
        "plus gamma alpha_i, as (C.24) derives",
        formula=r"\tilde s_i=\Psi(x_i)^\top w(A)+\gamma\alpha_i",
        sign=1,
    ),
    where_right=WhereRight(
        "T20-eqC24",
        lambda case: equal(
            rows(shifted(case, case.smoothing)), rows(scores(augmented(case), case.A))
        ),
    ),
    planted=(version("no shift", sign=0), version("twice the shift", sign=2)),
    proofs=(
        by_solver("A wrong shift that has no effect where <alpha_i, Delta alpha_i> is 0."),
        line.theorem(FACTORS, lambda at, sign=-1: shifted_slopes(at, sign)),
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
        "$\\frac{1}{n}(e_{y_i}-\\Psi(x_i)^\\top w(A)-\\gamma\\alpha_i)$. Theorem 2.3 needs it to "
        "be $\\frac{1}{n}(e_{y_i}-\\tilde s_i)$, so that the shift has a plus sign; (C.24) derives "
        "just that.",
        "Algorithm 1 as printed follows the gradient of "
        "$D+\\frac{\\gamma}{2n}\\Vert A\\Vert_F^2$ instead of that of $D_m$: neither its direction "
        "(line 6) nor its step (line 10) is that of Frank-Wolfe on $D_m$.",
    ),
)
def shifted_scores(case: Case, sign: int = -1) -> Outcome:
    tilted = shifted(case, sign * case.smoothing)
    printed = (true_entries(case) - tilted) / Fraction(case.n)
    return equal(*slopes_by_row(case, printed, case.smoothing))


def shifted_slopes(at: line.LineProducts, sign: int) -> tuple[Any, Any]:
    """Return the slope of D_m by the shifted scores and by its definition, on a line."""
    printed = (at.target_d - at.against - sign * at.smoothing * at.ad) / at.n
    return printed, line.slope(at, at.smoothing)


@claim(
    "T20-thm2.3",
    "Theorem 2.3, (2.25)",
    "For losses of mdos type, minus any subgradient of the loss itself at the shifted scores "
    "maximises the linearised smoothed dual over the domain.",
    formula=r"u_i\in-\partial\Phi(\tilde s_i;y_i)\ \Rightarrow\ "
    r"U\in\operatorname{argmax}_{U\in\mathrm{dom}(-D_m)}\langle\nabla D_m(A),U\rangle",
    shapes="u_i, s_i: (m,), U, A: (m, n)",
    judged="shifted scores with the sign of (C.24); see T20-eq2.24",
    cases=trainings,
    relaxed=version(
        "also any structured hinge and the pseudo top-k hinge",
        cases=partial(trainings, losses=other_losses),
    ),
    planted=(
        version("shifted by minus gamma alpha_i, as (2.24) prints", shift=-1),
        version("plus a subgradient", sign=1),
    ),
    proofs=(
        BySolver(
            "A shift of the wrong sign that happens not to change the direction.",
            cases=score_symbols,
        ),
    ),
    library=Library(
        ("fwlab.Problem.lowest",), lambda case: lowest_in_fwlab(case), linear_trainings
    ),
)
def smoothed_direction(case: Case, shift: int = 1, sign: int = -1) -> Outcome:
    s, tilt = scores_of(case), array(case.A) * case.smoothing
    gradient = -(asked_margins(case) + s + tilt) / Fraction(case.n)
    return best_vertices(case, s + shift * tilt, gradient, sign)


def lowest_in_fwlab(case: Case) -> Outcome:
    """Compare the losses attained by fwlab's vertices with those at the shifted scores."""
    tilted = shifted(case, case.smoothing)
    problem = in_fwlab(case, smoothing=case.smoothing)
    values = [case.loss.value(list(s), y) for s, y in zip(tilted, case.y, strict=True)]
    return equal(list(problem.lowest(tilted.astype(float))[1]), floats(values))


@claim(
    "T20-eq2.26",
    "(2.26), Alg. 1 line 10",
    "The step that maximises the smoothed dual on the segment from A to any feasible "
    "U is the quotient (2.26), clipped to [0, 1].",
    formula=r"\hat\gamma=\frac{\sum_i\langle\Delta\alpha_i,e_{y_i}-\tilde s_i\rangle}"
    r"{\lambda n\Vert w(\Delta A)\Vert^2+\frac{\gamma}{\lambda n}\Vert\Delta A\Vert^2}",
    shapes="A, U, Delta A = U - A: (m, n)",
    judged="shifted scores with the sign of (C.24)",
    assumed="Delta A is not 0 and gamma > 0; otherwise (2.26) may be 0/0",
    cases=lambda rng, deep: (c for c in trainings(rng, deep) if squared(step_of(c)) > 0),
    sides=("printed step", "best step"),
    derived=version(
        "gamma |Delta A|^2 in the denominator: (C.26) times lambda n",
        formula=r"\hat\gamma=\frac{\sum_i\langle\Delta\alpha_i,e_{y_i}-\tilde s_i\rangle}"
        r"{\lambda n\Vert w(\Delta A)\Vert^2+\gamma\Vert\Delta A\Vert^2}",
        weight=lambda scale: 1,
    ),
    where_right=WhereRight(
        "T20-lemmaC1", lambda case: equal(*denominators(case)), at="(C.25) with (C.26)"
    ),
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
        line.theorem(
            FACTORS,
            lambda at, **changes: (quotient_of(at, **changes), line.best_step(at, at.smoothing)),
        ),
    ),
    library=Library(
        ("fwlab.Problem.curvature",),
        lambda case: in_fwlab(case, "curvature", smoothing=case.smoothing),
        linear_trainings,
    ),
    erratum=Erratum(
        "section 2.4, (2.26), and Algorithm 1, line 10",
        r"\lambda n\Vert w(\Delta A)\Vert^2+\frac{\gamma_{sm}}{\lambda n}\Vert\Delta A\Vert^2",
        r"\lambda n\Vert w(\Delta A)\Vert^2+\gamma_{sm}\Vert\Delta A\Vert^2",
        "(C.25) divides by $\\lambda n\\Vert\\tilde w(\\Delta A)\\Vert^2$, and (C.26) says that "
        "$\\Vert\\tilde w(\\Delta A)\\Vert^2=\\Vert w(\\Delta A)\\Vert^2"
        "+\\frac{\\gamma}{\\lambda n}\\Vert\\Delta A\\Vert^2$. The factor $\\lambda n$ "
        "multiplies both terms, so it cancels "
        "$1/(\\lambda n)$ in the second. (2.26) multiplies only the first term.",
        "Algorithm 1, line 10, with smoothing: for $\\lambda=1/n$, the setting of "
        "section 3.1, the factor is 1 and the step is right; for any other lambda "
        "the step is not an exact line search.",
    ),
)
def smoothed_line_search(case: Case, weight: Any = lambda scale: 1 / scale) -> Outcome:
    """Compare the step; `weight(lambda n)` multiplies gamma |Delta A|^2."""
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


def quotient_of(at: line.LineProducts, weight: Any = lambda scale: 1 / scale) -> Any:
    """Return (2.26) on a line."""
    rise = at.target_d - at.against - at.smoothing * at.ad
    return rise / denominator(at.dd, at.step_square, at.lam * at.n, at.smoothing, weight)


def denominators(case: Case) -> tuple[Real, Real]:
    """Return lambda n times (C.28) at Delta A, as in (C.25), and the corrected denominator."""
    step, scale = step_of(case), case.lam * case.n
    w = weights(case, step)
    by_appendix = scale * (w @ w + case.smoothing / scale * squared(step))
    return by_appendix, printed_denominator(case, lambda scale: 1)
