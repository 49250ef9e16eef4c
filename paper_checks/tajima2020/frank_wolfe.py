"""T20 sections 2.1, 2.3 and B: the dual, the direction and the line search of Frank-Wolfe."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import reference
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal
from paper_checks.tajima2020.programs import (
    along,
    costly_losses,
    dual,
    dual_optimum,
    feasible,
    mdos_losses,
    primal,
    rationals,
    trainings,
    true_entries,
    weights,
)
from reference import exact

SOLVED = 1e-6  # relative error of a QP's optimal value


def with_target(rng: Any, deep: bool, losses: Any = mdos_losses) -> Any:
    """Training problems with a second feasible point U beside A, and primal weights w."""
    for case in trainings(rng, deep, losses):
        _, m, d = case.features.shape
        case.U = feasible(rng, case.loss, case.y, m)
        case.w = rationals(rng, (d,), 6, 2)
        yield case


def several_classes(rng: Any, deep: bool) -> Any:
    """Training problems with at most as many samples as classes, so that (B.14) is defined."""
    for case in with_target(rng, deep):
        if len(case.y) <= case.features.shape[1]:
            yield case


def other_losses(rng: Any, m: int) -> list[reference.Loss]:
    """Losses that are not of mdos type: any costs, and the pseudo top-k hinge."""
    return [*costly_losses(rng, m), reference.PseudoTopK(int(rng.integers(1, m)))]


@claim(
    "T20-duality",
    "(2.1)-(2.3)",
    "D is a Fenchel dual of P for any joint features: D(A) is nowhere above P(w), and at a "
    "maximiser A of D the value P(w(A)) is D(A).",
    formula=r"D(A)=-\frac{\lambda}{2}\Vert w(A)\Vert^2-\frac{1}{n}\sum_i\Phi^*(-\alpha_i;y_i),"
    r"\quad w(A)=\frac{1}{\lambda n}\sum_i\Psi(x_i)\alpha_i",
    shapes="Psi(x_i): (d, m), A: (m, n), w: (d,)",
    cases=with_target,
    planted=(
        version("w(A) without the factor 1/lambda", link=lambda lam: lam),
        version("half the quadratic term", quadratic=Fraction(1, 2)),
        version("the quadratic term twice", quadratic=2),
    ),
)
def duality(case: Case, link: Any = lambda lam: 1, quadratic: Fraction | int = 1) -> Outcome:
    """Weak duality in fractions at A and U; strong duality at a maximiser found by a QP."""
    scale = link(case.lam)
    curvature = quadratic * scale**2

    def printed_dual(B: np.ndarray) -> Any:
        w = weights(case, B)
        return dual(case, B) - (curvature - 1) * case.lam / 2 * (w @ w)

    best, value = dual_optimum(case, curvature)
    attained = primal(case, scale * weights(case, best))
    return both(
        *[at_most(printed_dual(B), primal(case, case.w)) for B in (case.A, case.U)],
        *[
            at_most(printed_dual(B), primal(case, scale * weights(case, B)))
            for B in (case.A, case.U)
        ],
        equal(float(attained), value, allowed=SOLVED),
    )


@claim(
    "T20-gap",
    "2.1",
    "The gap P(w(A)) - D(A) is at least the error of the primal at w(A).",
    formula=r"P(w(A))-\min P\ \leq\ P(w(A))-D(A)",
    shapes="A: (m, n)",
    cases=with_target,
    planted=(version("half the gap is", share=Fraction(1, 2)),),
)
def gap_bounds_error(case: Case, share: Fraction | int = 1) -> Outcome:
    """The least of P is the value that the reference certifies."""
    training = reference.Training(
        case.features.astype(float), np.array(case.y), case.loss, float(case.lam)
    )
    least = training.optimum(solvers=("CLARABEL",)).value_upper
    risk = primal(case, weights(case, case.A))
    gap = float(share * (risk - dual(case, case.A)))
    return at_most(float(risk) - least, gap, allowed=SOLVED)


@claim(
    "T20-thm2.2",
    "Theorem 2.2, (2.19)",
    "For losses of mdos type, minus any subgradient of the loss at the scores maximises the "
    "linearised dual over the domain.",
    formula=r"u_i\in-\partial\Phi(\Psi(x_i)^\top w(A);y_i)\ \Rightarrow\ "
    r"U\in\arg\max_{U\in\mathrm{dom}(-D)}\langle\nabla D(A),U\rangle",
    shapes="u_i: (m,), U, A: (m, n)",
    cases=trainings,
    relaxed=version(
        "any structured hinge and the pseudo top-k hinge, too",
        cases=partial(trainings, losses=other_losses),
    ),
    planted=(
        version("plus a subgradient", sign=1),
        version("the subgradient at minus the scores", side=-1),
    ),
)
def direction(case: Case, sign: int = -1, side: int = 1) -> Outcome:
    return best_vertices(case, side * (case.features @ weights(case, case.A)), gradient(case), sign)


def gradient(case: Case, smoothing: Fraction | int = 0) -> np.ndarray:
    """The gradient of D_m at A as T20-eqB9 and T20-eq2.24 find it true, (n, m).

    Minus the margins asked for stand in e_y's place: for mdos losses the two differ by a constant,
    which no direction inside the domain sees, and the others need them.
    """
    n, m, _ = case.features.shape
    asked = np.array([case.loss.delta(m, y) for y in case.y], object)
    return -(asked + case.features @ weights(case, case.A) + smoothing * case.A) / Fraction(n)


def best_vertices(case: Case, s: np.ndarray, gradient: np.ndarray, sign: int = -1) -> Outcome:
    """sign times every vertex of the subdifferential at the scores s maximises <gradient, .> over
    the domain, row by row."""
    outcomes = []
    for i, y in enumerate(case.y):
        pieces = exact.pieces(case.loss, s.shape[1], y)
        values = {slope: exact.inner(slope, s[i]) + b for slope, b in pieces.items()}
        active = [slope for slope, value in values.items() if value == max(values.values())]
        reached = min(sign * exact.inner(slope, gradient[i]) for slope in active)
        best = -exact.lmo_value(case.loss, list(-gradient[i]), y)
        outcomes.append(equal(reached, best, sample=i))
    return both(*outcomes)


@claim(
    "T20-eq2.20",
    "(2.20)",
    "The step that maximises D on the way from A to any feasible U is the quotient (2.20), "
    "clipped to [0, 1].",
    formula=r"\hat\gamma=\frac{\sum_i\langle\Delta\alpha_i,e_{y_i}-\Psi(x_i)^\top w(A)\rangle}"
    r"{\lambda n\Vert w(\Delta A)\Vert^2}",
    shapes="A, U, Delta A = U - A: (m, n)",
    judged="where w(Delta A) is not 0, as the quotient wants",
    cases=lambda rng, deep: (c for c in with_target(rng, deep) if any(weights(c, c.U - c.A))),
    planted=(
        version("the numerator without e_y", target=0),
        version("n in the place of lambda n", scale=lambda case: len(case.y)),
    ),
)
def line_search(case: Case, target: int = 1, scale: Any = None) -> Outcome:
    step = case.U - case.A
    rise = step * (target * true_entries(case) - case.features @ weights(case, case.A))
    w = weights(case, step)
    factor = case.lam * len(case.y) if scale is None else scale(case)
    return equal(clipped(rise.sum() / (factor * (w @ w))), best_step(case, step))


def clipped(step: Fraction) -> Fraction:
    return max(Fraction(0), min(Fraction(1), step))


def best_step(case: Case, step: np.ndarray, smoothing: Fraction | int = 0) -> Fraction:
    """The maximiser of D_m(A + t step) over [0, 1], from values of D_m alone."""
    slope, bend = along(case, step, smoothing)
    return clipped(slope / bend)


@claim(
    "T20-eqB9",
    "(B.9)",
    "The derivative of D by a column of A.",
    formula=r"\frac{\partial D(A)}{\partial\alpha_i}=\frac{1}{n}(e_{y_i}-\Psi(x_i)^\top w(A))",
    shapes="alpha_i: (m,)",
    judged="along directions that stay in the domain of D, where it is finite",
    cases=with_target,
    planted=(
        version("plus the scores", sign=1),
        version("without the factor 1/n", factor=lambda n: 1),
    ),
)
def derivative(case: Case, sign: int = -1, factor: Any = lambda n: Fraction(1, n)) -> Outcome:
    printed = true_entries(case) + sign * (case.features @ weights(case, case.A))
    return equal(*slopes_by_row(case, factor(len(case.y)) * printed))


def slopes_by_row(
    case: Case, gradient: np.ndarray, smoothing: Fraction | int = 0
) -> tuple[list[Fraction], list[Fraction]]:
    """<gradient_i, U_i - A_i> and the slope of D_m in that direction, for each sample i."""
    step = case.U - case.A
    found = []
    for i in range(len(step)):
        alone = step * 0
        alone[i] = step[i]
        found.append(along(case, alone, smoothing)[0])
    return [g @ move for g, move in zip(gradient, step, strict=True)], found


@claim(
    "T20-eqB13",
    "(B.12) (B.13)",
    "The two identities behind the expansion of D along a direction.",
    formula=r"\langle w(A),w(\Delta A)\rangle=\frac{1}{\lambda n}\sum_j\langle\Psi(x_j)^\top w(A),"
    r"\Delta\alpha_j\rangle,\quad \Vert w(\gamma\Delta A)\Vert^2=\gamma^2\Vert w(\Delta A)\Vert^2",
    shapes="A, Delta A: (m, n)",
    cases=with_target,
    planted=(version("1/n in the place of 1/(lambda n)", factor=lambda lam: 1),),
)
def products(case: Case, factor: Any = lambda lam: 1 / lam) -> Outcome:
    step, t = case.U - case.A, Fraction(1, 3)
    w, change, shorter = (weights(case, B) for B in (case.A, step, t * step))
    by_sample = ((case.features @ w) * step).sum() / Fraction(len(case.y))
    return both(
        equal(w @ change, factor(case.lam) * by_sample),
        equal(shorter @ shorter, t**2 * (change @ change)),
    )


@claim(
    "T20-eqB18",
    "(B.18)",
    "The derivative of the squared norm of w(A) by a column of A.",
    formula=r"\frac{\partial}{\partial\alpha_i}\Vert w(A)\Vert^2="
    r"\frac{2}{\lambda n}\Psi(x_i)^\top w(A)",
    shapes="alpha_i: (m,)",
    cases=trainings,
    planted=(version("without the factor 2", factor=1),),
)
def derivative_of_norm(case: Case, factor: int = 2) -> Outcome:
    """A central difference is the exact derivative of a quadratic."""

    def norm(entry: tuple[int, ...], change: int) -> Fraction:
        A = case.A.copy()
        A[entry] += change
        w = weights(case, A)
        return w @ w

    printed = factor * (case.features @ weights(case, case.A)) / (case.lam * len(case.y))
    differences = [(norm(e, 1) - norm(e, -1)) / 2 for e in np.ndindex(*case.A.shape)]
    return equal(differences, list(printed.ravel()))


@claim(
    "T20-eqB14",
    "(B.14)",
    "The expansion of D along a direction, with unit vectors e_j for the samples j.",
    formula=r"\frac{1}{\lambda}(D(A+\gamma\Delta A)-D(A))="
    r"-\frac{1}{2}\Vert w(\Delta A)\Vert^2\gamma^2"
    r"+\frac{1}{\lambda n}\sum_j\langle e_j-\Psi(x_j)^\top w(A),\Delta\alpha_j\rangle\gamma",
    shapes="A, Delta A: (m, n), gamma in [0, 1]",
    judged="for n <= m, where e_j is a unit vector of m entries; n > m leaves it undefined",
    cases=several_classes,
    derived=version("e_{y_j} in the place of e_j, as in (B.8) and (2.20)", true_class=True),
    planted=(version("the quadratic term without 1/2", true_class=True, half=1),),
)
def expansion(
    case: Case, true_class: bool = False, half: Fraction | int = Fraction(1, 2)
) -> Outcome:
    n, m, _ = case.features.shape
    step, t = case.U - case.A, Fraction(1, 3)
    target = true_entries(case) if true_class else np.eye(n, m, dtype=int)
    rise = (target - case.features @ weights(case, case.A)) * step
    w = weights(case, step)
    printed = -half * (w @ w) * t**2 + rise.sum() * t / (case.lam * n)
    return equal((dual(case, case.A + t * step) - dual(case, case.A)) / case.lam, printed)
