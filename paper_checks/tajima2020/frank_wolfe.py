"""Check T20 sections 2.1 and 2.3: the dual, the direction and the line search of Frank-Wolfe."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import reference
from paper_checks.arithmetic import (
    Real,
    Truth,
    all_of,
    divide,
    equals,
    implies,
    inner,
    is_symbolic,
    maximum,
    minimum,
)
from paper_checks.ledger import Case, Library, Outcome, Tier, claim, version
from paper_checks.outcomes import at_most, both, equal, truth
from paper_checks.proofs import BySolver
from paper_checks.symbols import reals
from paper_checks.tajima2020 import line
from paper_checks.tajima2020.linear import in_fwlab, linear_trainings
from paper_checks.tajima2020.programs import (
    SIZED_BY,
    along,
    array,
    dual,
    in_domain,
    listed_losses,
    near_maximum,
    other_losses,
    primal,
    scores,
    step_of,
    training_symbols,
    trainings,
    true_entries,
    weights,
)
from reference import exact


@claim(
    "T20-duality",
    "(2.1)-(2.3)",
    "D is a Fenchel dual of P for any joint features: D(A) is never above P(w), and "
    "at a maximiser A of D the value P(w(A)) is D(A).",
    formula=r"D(A)=-\frac{\lambda}{2}\Vert w(A)\Vert^2-\frac{1}{n}\sum_i\Phi^*(-\alpha_i;y_i),"
    r"\quad w(A)=\frac{1}{\lambda n}\sum_i\Psi(x_i)\alpha_i",
    shapes="Psi(x_i): (d, m), A: (m, n), w: (d,)",
    cases=trainings,
    planted=(
        version("w(A) without the factor 1/lambda", link=lambda lam: lam),
        version("half the quadratic term", quadratic=Fraction(1, 2)),
        version("the quadratic term twice", quadratic=2),
    ),
    not_proved="a solver finds the maximiser of D in floats; T20-gap proves the inequality",
    library=Library(
        ("fwlab.Problem.weights", "fwlab.Problem.dual", "fwlab.Problem.primal"),
        lambda case: in_fwlab(case, "weights", "dual", "primal"),
        linear_trainings,
    ),
)
def duality(case: Case, link: Any = lambda lam: 1, quadratic: Fraction | int = 1) -> Outcome:
    """Check weak duality, and strong duality at the D that a solver reaches.

    P(w(A)) must be at most an upper bound of the largest D.
    """
    scale = link(case.lam)
    curvature = quadratic * scale**2

    def printed_dual(B: np.ndarray) -> Any:
        w = weights(case, B)
        return dual(case, B) - (curvature - 1) * case.lam / 2 * (w @ w)

    best = near_maximum(case, curvature)
    attained = primal(case, scale * weights(case, best.A))
    lower = [printed_dual(B) for B in (case.A, case.U)]
    upper = [primal(case, scale * weights(case, B)) for B in (case.A, case.U)]
    return rounded(
        *[at_most(low, primal(case, case.w)) for low in lower],
        *[at_most(low, high) for low, high in zip(lower, upper, strict=True)],
        at_most(best.value, attained),
        at_most(attained, best.largest),
    )


def rounded(*outcomes: Outcome) -> Outcome:
    """Return the conjunction of these statements in the float tier, as some of them use floats."""
    return replace(both(*outcomes), tier=Tier.FLOAT)


@claim(
    "T20-gap",
    "2.1",
    "The gap P(w(A)) - D(A) is at least the error of the primal at w(A).",
    formula=r"P(w(A))-\min P\ \leq\ P(w(A))-D(A)",
    shapes="A: (m, n)",
    cases=trainings,
    planted=(version("half the gap is", share=Fraction(1, 2)),),
    proofs=(
        BySolver(
            "A point w with P(w) below D(A); in the samples the minimum of P is "
            "known only up to a solver's accuracy.",
            cases=lambda deep: gap_symbols(deep),
            assuming=in_domain,
            sized_by=SIZED_BY,
        ),
    ),
    library=Library(("fwlab.Problem.gap",), lambda case: in_fwlab(case, "gap"), linear_trainings),
)
def gap_bounds_error(case: Case, share: Fraction | int = 1) -> Outcome:
    """Compare at any w, and on numbers also at the minimum of P, which the reference certifies."""
    risk = risk_of(case, weights(case, case.A))
    gap = share * (risk - dual(case, case.A))
    found = at_most(risk - risk_of(case, array(case.w)), gap)
    if is_symbolic(case.w):
        return found
    training = reference.Training(
        array(case.features).astype(float), np.array(case.y), case.loss, float(case.lam)
    )
    least = training.optimum(solvers=("CLARABEL",)).value_upper
    return rounded(found, at_most(float(risk) - least, float(gap)))


def gap_symbols(deep: bool) -> Iterator[Case]:
    """Yield only the smallest training problems, as P(w) multiplies symbols."""
    for case in training_symbols(deep):
        if (case.n, case.m, case.d) == (1, 2, 1):
            yield Case(**vars(case), w=reals("w", 1))


def risk_of(case: Case, w: np.ndarray) -> Real:
    """Return P(w); on symbols the loss is the max hinge, (2.2)."""
    if not is_symbolic(list(w)):
        return primal(case, w)
    rows = zip((array(case.features) @ w).tolist(), case.y, strict=True)
    losses = [maximum(*(s[j] - s[y] + int(j != y) for j in range(case.m))) for s, y in rows]
    return case.lam / 2 * (w @ w) + sum(losses) / Fraction(case.n)


@claim(
    "T20-thm2.2",
    "Theorem 2.2, (2.19)",
    "For losses of mdos type, minus any subgradient of the loss at the scores maximises the "
    "linearised dual over the domain.",
    formula=r"u_i\in-\partial\Phi(\Psi(x_i)^\top w(A);y_i)\ \Rightarrow\ "
    r"U\in\operatorname{argmax}_{U\in\mathrm{dom}(-D)}\langle\nabla D(A),U\rangle",
    shapes="u_i: (m,), U, A: (m, n)",
    cases=trainings,
    relaxed=version(
        "also any structured hinge and the pseudo top-k hinge",
        cases=partial(trainings, losses=other_losses),
    ),
    planted=(
        version("plus a subgradient", sign=1),
        version("the subgradient at minus the scores", side=-1),
    ),
    proofs=(
        BySolver(
            "A subgradient at a kink that is not a best direction, as samples contain few kinks.",
            cases=lambda deep: score_symbols(deep),
        ),
    ),
    library=Library(
        ("fwlab.Loss.lmo", "fwlab.Loss.subgradient"),
        lambda case: directions_in_fwlab(case),
        linear_trainings,
    ),
)
def direction(case: Case, sign: int = -1, side: int = 1) -> Outcome:
    s = scores_of(case)
    return best_vertices(case, side * s, -(asked_margins(case) + s) / Fraction(case.n), sign)


def score_symbols(deep: bool) -> Iterator[Case]:
    """Yield all real scores s and dual rows A of one sample, for losses of every kind."""
    for m in (2, 3, 4):
        for loss in listed_losses(m):
            base = {"kind": "symbols", "n": 1, "m": m, "loss": loss, "y": (0,)}
            yield Case(**base, s=(reals("s", m),), A=(reals("a", m),), smoothing=Fraction(1, 2))


def scores_of(case: Case) -> np.ndarray:
    """Return the given scores (n, m), or the scores at w(A)."""
    return array(case.s) if hasattr(case, "s") else scores(case, case.A)


def asked_margins(case: Case) -> np.ndarray:
    """Return the required margins, (n, m), whose negative replaces e_y in (B.9).

    For mdos losses the two differ by a constant, which does not affect directions inside the
    domain. Other losses need the margins.
    """
    return array([case.loss.delta(case.m, y) for y in case.y])


def best_vertices(case: Case, s: np.ndarray, gradient: np.ndarray, sign: int = -1) -> Outcome:
    """State that sign times a subgradient maximises <gradient, .> over the domain, row by row.

    Every vertex of the subdifferential at the scores s is tried.
    """
    outcomes = []
    for i, y in enumerate(case.y):
        pieces = exact.pieces(case.loss, case.m, y)
        row, g = list(s[i]), list(gradient[i])
        values = {slope: inner(slope, row) + b for slope, b in pieces.items()}
        largest, reaches = maximum(*values.values()), {v: -inner(v, g) for v in pieces}
        best = maximum(*reaches.values())
        if is_symbolic(row):
            reached = (
                implies(value >= largest, -sign * reaches[slope] >= best)
                for slope, value in values.items()
            )
            outcomes.append(truth(all_of(*reached)))
            continue
        least = min(-sign * reaches[v] for v, value in values.items() if value == largest)
        outcomes.append(equal(least, best, sample=i))
        outcomes.append(equal(best, -exact.lmo_value(case.loss, [-x for x in g], y), sample=i))
    return both(*outcomes)


def directions_in_fwlab(case: Case) -> Outcome:
    """Compare the values at fwlab's directions with the minimum over the domain."""
    problem = in_fwlab(case)
    s = scores(case, case.A)
    margins = s + asked_margins(case)
    best = [
        float(exact.lmo_value(case.loss, list(row), y))
        for row, y in zip(margins, case.y, strict=True)
    ]
    rows, y = margins.astype(float), np.array(case.y)
    found = (problem.loss.lmo(rows, y), -problem.loss.subgradient(s.astype(float), y))
    return both(*(equal(list((rows * u).sum(axis=1)), best) for u in found))


def best_step_inside(case: Case, smoothing: Real = 0) -> Truth:
    """Return whether the best step is inside (0, 1), where clipping has no effect."""
    slope, bend = along(case, step_of(case), smoothing)
    return all_of(in_domain(case), slope > 0, slope < bend)


def maximises(case: Case, rise: Real, below: Real, smoothing: Real = 0) -> Outcome:
    """State that the quotient, clipped to [0, 1], maximises D_m(A + t Delta A).

    Its slope and curvature are computed from its values. On symbols the quotients are multiplied
    out, without clipping.
    """
    slope, bend = along(case, step_of(case), smoothing)
    if is_symbolic(rise, slope):
        return truth(equals(rise * bend, slope * below))
    return equal(clipped(divide(rise, below)), clipped(slope / bend))


def clipped(step: Real) -> Real:
    return maximum(Fraction(0), minimum(Fraction(1), step))


@claim(
    "T20-eq2.20",
    "(2.20)",
    "The step that maximises D on the segment from A to any feasible U is the "
    "quotient (2.20), clipped to [0, 1].",
    formula=r"\hat\gamma=\frac{\sum_i\langle\Delta\alpha_i,e_{y_i}-\Psi(x_i)^\top w(A)\rangle}"
    r"{\lambda n\Vert w(\Delta A)\Vert^2}",
    shapes="A, U, Delta A = U - A: (m, n)",
    assumed="w(Delta A) is not 0; if it is 0, (2.20) divides by 0 and D is linear along the "
    "segment, so the best step is 0 or 1",
    cases=lambda rng, deep: (c for c in trainings(rng, deep) if any(weights(c, step_of(c)))),
    planted=(
        version("the numerator without e_y", target=0),
        version("n in the place of lambda n", scale=lambda lam, n: n),
    ),
    proofs=(
        BySolver(
            "A numerator whose error vanishes if A and U are vertices.",
            cases=training_symbols,
            assuming=best_step_inside,
            sized_by=SIZED_BY,
        ),
        line.theorem(
            "A factor lambda or n that is 1 in the samples.",
            lambda at, **changes: (quotient_of(at, **changes), line.best_step(at)),
        ),
    ),
    library=Library(
        ("fwlab.Problem.curvature",), lambda case: in_fwlab(case, "curvature"), linear_trainings
    ),
)
def line_search(case: Case, target: int = 1, scale: Any = lambda lam, n: lam * n) -> Outcome:
    step = step_of(case)
    rise = (step * (target * true_entries(case) - scores(case, case.A))).sum()
    w = weights(case, step)
    return maximises(case, rise, denominator(w @ w, scale(case.lam, case.n)))


def denominator(norm: Real, scale: Real) -> Real:
    """Return the denominator of (2.20) from |w(Delta A)|^2 and lambda n."""
    return scale * norm


def quotient_of(at: line.LineProducts, target: int = 1, scale: Any = lambda lam, n: lam * n) -> Any:
    """Return (2.20) on a line."""
    return (target * at.target_d - at.against) / denominator(at.dd, scale(at.lam, at.n))
