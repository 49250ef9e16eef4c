"""T20 sections 2.4 and 3.1: the Moreau envelope, and the strong convexity that it gives."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

import reference
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.outcomes import at_most, both, equal, less
from paper_checks.proofs import ByTheorem
from paper_checks.tajima2020 import line
from paper_checks.tajima2020.frank_wolfe import (
    SOLVED,
)
from paper_checks.tajima2020.linear import fwlab_loss
from paper_checks.tajima2020.programs import (
    array,
    dual,
    mdos_losses,
    squared,
    trainings,
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
    """Compare a margin of gamma/4 for one wrong class, 0 for the others, with twice that."""
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
    """Compare at the middle of A and U, by the definition of strong convexity."""
    A, U, gamma = array(case.A), array(case.U), case.smoothing
    ends = [dual(case, B, gamma) for B in (A, U)]
    bonus = coefficient(case.n) * gamma / case.n * squared(U - A) / 8
    return at_most(sum(ends) / 2 + bonus, dual(case, (A + U) / Fraction(2), gamma))


def surplus(at: line.LineProducts, coefficient: Any = lambda n: 1) -> Any:
    """Return by how much D_m at the middle exceeds what strong convexity asks, on a line."""
    start, middle, end = (at.value(Fraction(t, 2), at.smoothing) for t in range(3))
    bonus = coefficient(at.n) * at.smoothing / at.n * at.step_square / 8
    return middle - (start + end) / 2 - bonus


def with_and_without_data(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield training problems, each with its features and with all features 0."""
    for case in trainings(rng, deep):
        yield case
        yield Case(**{**vars(case), "kind": "features 0", "features": case.features * 0})


def floats(numbers: Any) -> list[float]:
    return [float(x) for x in np.ravel(np.array(numbers, object))]
