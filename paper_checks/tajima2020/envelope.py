"""T20 sections 2.4 and C: the Moreau envelope, its dual, and Frank-Wolfe on it."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np

import reference
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, less
from paper_checks.tajima2020.frank_wolfe import (
    SOLVED,
    best_step,
    best_vertices,
    clipped,
    gradient,
    other_losses,
    slopes_by_row,
    with_target,
)
from paper_checks.tajima2020.programs import (
    dual,
    dual_optimum,
    mdos_losses,
    primal,
    squared,
    trainings,
    true_entries,
    weights,
)
from reference import exact


def smoothed_rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Two rows of scores near each other; with much smoothing no bound of the domain is met."""
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
    cases=smoothed_rows,
    planted=(
        version("gamma |.|^2 in the place of gamma/2 |.|^2", half=2),
        version("1/(2 gamma)-smooth", constant=2),
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
    """(value, v): max <s, v> - Phi*(v) - gamma/2 |v|^2, v a convex combination of slopes."""
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
    cases=smoothed_rows,
    planted=(version("nor does the loss itself", smoothed=False),),
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
)
def strongly_convex(case: Case, coefficient: Any = lambda n: 1) -> Outcome:
    """At the middle of A and U, by the definition of strong convexity."""
    n, gamma = len(case.y), case.smoothing
    ends = [dual(case, A, gamma) for A in (case.A, case.U)]
    bonus = coefficient(n) * gamma / n * squared(case.U - case.A) / 8
    middle = dual(case, (case.A + case.U) / Fraction(2), gamma)
    return at_most(sum(ends) / 2 + bonus, middle)


def with_and_without_data(rng: Rng, deep: bool) -> Iterator[Case]:
    """Training problems, each with its features and with all features 0."""
    for case in with_target(rng, deep):
        yield case
        yield Case(**{**vars(case), "kind": "features 0", "features": case.features * 0})


@claim(
    "T20-eq2.24",
    "(2.24), Alg. 1 line 5",
    "The scores of which a direction for the smoothed dual is minus a subgradient; e_y minus "
    "them is n times the derivative of D_m.",
    formula=r"\tilde s_i=\Psi(x_i)^\top w(A)-\gamma\alpha_i",
    shapes="s_i, alpha_i: (m,)",
    cases=with_target,
    derived=version("plus gamma alpha_i, as (C.24) derives", sign=1),
    planted=(version("no shift", sign=0), version("twice the shift", sign=2)),
)
def shifted_scores(case: Case, sign: int = -1) -> Outcome:
    shifted = case.features @ weights(case, case.A) + sign * case.smoothing * case.A
    printed = (true_entries(case) - shifted) / Fraction(len(case.y))
    return equal(*slopes_by_row(case, printed, case.smoothing))


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
)
def smoothed_direction(case: Case, shift: int = 1, sign: int = -1) -> Outcome:
    shifted = case.features @ weights(case, case.A) + shift * case.smoothing * case.A
    return best_vertices(case, shifted, gradient(case, case.smoothing), sign)


@claim(
    "T20-eq2.26",
    "(2.26), Alg. 1 line 10",
    "The step that maximises the smoothed dual on the way from A to any feasible U is the "
    "quotient (2.26), clipped to [0, 1].",
    formula=r"\hat\gamma=\frac{\sum_i\langle\Delta\alpha_i,e_{y_i}-\tilde s_i\rangle}"
    r"{\lambda n\Vert w(\Delta A)\Vert^2+\frac{\gamma}{\lambda n}\Vert\Delta A\Vert^2}",
    shapes="A, U, Delta A = U - A: (m, n)",
    judged="shifted scores with the sign of (C.24); where Delta A is not 0",
    cases=lambda rng, deep: (c for c in with_target(rng, deep) if squared(c.U - c.A) > 0),
    derived=version(
        "gamma |Delta A|^2 in the denominator: (C.26) times lambda n", weight=lambda scale: 1
    ),
    planted=(
        version("half of the second term", weight=lambda scale: Fraction(1, 2)),
        version("lambda n gamma in the denominator", weight=lambda scale: scale),
    ),
)
def smoothed_line_search(case: Case, weight: Any = lambda scale: 1 / scale) -> Outcome:
    """weight: of gamma |Delta A|^2, as a function of lambda n."""
    step, scale = case.U - case.A, case.lam * len(case.y)
    shifted = case.features @ weights(case, case.A) + case.smoothing * case.A
    rise = (step * (true_entries(case) - shifted)).sum()
    w = weights(case, step)
    denominator = scale * (w @ w) + weight(scale) * case.smoothing * squared(step)
    return equal(clipped(rise / denominator), best_step(case, step, case.smoothing))


# --- the proof: smoothing as more features -------------------------------------------------------


def augmented(case: Case) -> Case:
    """The problem with the features (C.19), in floats: lambda n gamma may have no rational root."""
    n, m, _ = case.features.shape
    root = np.sqrt(float(case.lam * n * case.smoothing))
    block = np.eye(n * m).reshape(n, m, n * m)
    features = np.concatenate([case.features.astype(float), root * block], axis=2)
    return Case(**{**vars(case), "features": features, "lam": float(case.lam)})


@claim(
    "T20-eqC19",
    "(C.19)",
    "The number of rows of the augmented feature matrix.",
    formula=r"\tilde\Psi_i=\left[\Psi(x_i);\ \sqrt{\lambda n\gamma}\,e_i\otimes I_m\right]"
    r"\in\mathbb{R}^{(m+1)d\times m}",
    shapes="Psi(x_i): (d, m), e_i: (n,)",
    cases=trainings,
    derived=version("d + m n rows: (C.22) has vec(A) below w(A)", rows=lambda n, m, d: d + m * n),
    planted=(version("d + m rows", rows=lambda n, m, d: d + m),),
)
def augmented_shape(case: Case, rows: Any = lambda n, m, d: (m + 1) * d) -> Outcome:
    n, m, d = case.features.shape
    block = np.kron(np.eye(n)[:, [0]], np.eye(m))
    return equal(rows(n, m, d), len(np.vstack([case.features[0].T, block])), n=n, m=m, d=d)


@claim(
    "T20-eqC21",
    "(C.21)",
    "The link of the augmented problem: with it, (C.22) has w(A) above.",
    formula=r"\tilde w(A)=\frac{1}{n}\sum_i\tilde\Psi_i\alpha_i",
    shapes="Psi_i: (d + m n, m), A: (m, n), w(A): (d,)",
    cases=with_target,
    derived=version("1/(lambda n) in the place of 1/n, as (C.22) has", factor=lambda lam: 1 / lam),
    planted=(version("lambda/n", factor=lambda lam: lam),),
)
def augmented_link(case: Case, factor: Any = lambda lam: 1) -> Outcome:
    total = sum(psi.T @ a for psi, a in zip(case.features, case.A, strict=True))
    return equal(factor(case.lam) * total / Fraction(len(case.y)), weights(case, case.A))


@claim(
    "T20-lemmaC1",
    "Lemma C.1, (C.27) (C.28)",
    "D_m is a Fenchel dual of the risk over the augmented features: it is their dual, it is "
    "nowhere above the risk, and at a maximiser it equals the risk.",
    formula=r"\Vert\tilde w(A)\Vert^2=\Vert w(A)\Vert^2+\frac{\gamma}{\lambda n}\Vert A\Vert_F^2,"
    r"\quad \tilde D(A)=D_m(A)",
    shapes="Psi_i: (d + m n, m), A: (m, n), w: (d + m n,)",
    judged="with the shape of T20-eqC19 and the link of T20-eqC21; tildes on the w of (C.20), none "
    "on the Phi of (C.27)",
    cases=with_target,
    planted=(
        version("gamma/n in (C.28)", scale=lambda lam: lam),
        version("gamma/(2 lambda n) in (C.28)", scale=lambda lam: Fraction(1, 2)),
    ),
)
def augmented_dual(case: Case, scale: Any = lambda lam: 1) -> Outcome:
    n = len(case.y)
    wide, gamma = augmented(case), scale(case.lam) * case.smoothing
    w, w_tilde = weights(case, case.A), weights(wide, case.A)
    printed = w @ w + gamma / (case.lam * n) * squared(case.A)
    best, value = dual_optimum(wide)
    duals = [float(dual(case, A, gamma)) for A in (case.A, case.U)]
    risks = [float(primal(wide, weights(wide, A))) for A in (case.A, case.U, case.A - case.U)]
    return both(
        equal(float(w_tilde @ w_tilde), float(printed)),
        *[at_most(lower, upper) for lower in duals for upper in risks],
        equal(float(primal(wide, weights(wide, best))), value, allowed=SOLVED),
    )


@claim(
    "T20-eqC29",
    "(C.29)",
    "The first line of the decomposition equals the second, D_m.",
    formula=r"D_m(A)=-\frac{\lambda}{2}\Vert w(A)\Vert^2-\frac{\gamma}{2n}\Vert A\Vert_F^2"
    r"-\frac{1}{n}\sum_i(\Phi^*(-\alpha_i;y_i)+\frac{\gamma}{2}\Vert\alpha_i\Vert^2)",
    shapes="A: (m, n)",
    judged="Phi* with a tilde read as Phi*: no other is defined",
    cases=trainings,
    derived=version("the smoothing once, inside the sum or before it", copies=1),
    planted=(version("the smoothing left out", copies=0),),
)
def decomposition(case: Case, copies: int = 2) -> Outcome:
    n = len(case.y)
    printed = dual(case, case.A) - copies * case.smoothing / (2 * n) * squared(case.A)
    w = weights(case, case.A)
    pairs = zip(case.A, case.y, strict=True)
    conjugates = [
        exact.conjugate(case.loss, list(-a), y) + case.smoothing / 2 * (a @ a) for a, y in pairs
    ]
    return equal(printed, -case.lam / 2 * (w @ w) - sum(conjugates) / n)
