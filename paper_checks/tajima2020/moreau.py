"""Check T20 sections 2.4 and 3.1: the Moreau envelope, and the resulting strong convexity."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

import reference
from paper_checks.arithmetic import inner
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Library, Outcome, claim, version
from paper_checks.outcomes import at_most, both, less
from paper_checks.tajima2020 import line
from paper_checks.tajima2020.frank_wolfe import rounded
from paper_checks.tajima2020.linear import fwlab_loss
from paper_checks.tajima2020.programs import (
    array,
    dual,
    mdos_losses,
    mixed,
    mixture,
    squared,
    trainings,
)
from reference import exact
from reference.certificate import found, run


def smoothed_rows(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield two nearby rows of scores.

    Strong smoothing keeps the slopes off the domain's bounds.
    """
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
        lambda case: envelope_in_fwlab(case),
    ),
)
def envelope(case: Case, half: int = 1, constant: int = 1) -> Outcome:
    """Compare intervals that contain the two values, and slopes with allowance for their errors."""
    gamma = half * case.smoothing
    here, there = (conjugate_of_sum(case, s, gamma) for s in (case.scores, case.other))
    direct = reference.qp.moreau(case.loss, case.scores, case.y, float(case.smoothing))
    distance = np.linalg.norm(np.subtract(case.scores, case.other).astype(float))
    moved = float(np.linalg.norm((here.slope - there.slope).astype(float)))
    return both(
        at_most(float(here.value), direct.value_upper),
        at_most(direct.value_lower, float(here.largest)),
        at_most(constant * float(case.smoothing) * (moved - here.off - there.off), distance),
    )


@dataclass(frozen=True)
class Conjugate:
    """A slope v in fractions, with bounds of <s, v> - Phi*(v) - gamma/2 |v|^2.

    They are a lower bound at v and an upper bound of the maximum; `off` bounds the distance of v
    from the best slope.
    """

    slope: np.ndarray
    value: Fraction
    largest: Fraction
    off: float


def conjugate_of_sum(case: Case, s: Any, gamma: Fraction) -> Conjugate:
    """Return the conjugate of Phi* + gamma/2 |.|^2 at s, up to a solver's accuracy.

    v is a convex combination of slopes. The function is concave in the weights, so its derivatives
    bound the distance from the maximum; at v it is at least gamma/2 |v - v*|^2 below its value at
    the best slope v*.
    """
    pieces = exact.pieces(case.loss, len(s), case.y)
    t = cp.Variable(len(pieces), nonneg=True)
    v = np.array(list(pieces), float).T @ t
    offsets = np.array(list(pieces.values()), float)
    objective = np.array(s, float) @ v + offsets @ t - float(gamma) / 2 * cp.sum_squares(v)
    run(cp.Problem(cp.Maximize(objective), [cp.sum(t) == 1]), "CLARABEL")
    weights = mixture(found(t))
    slope = mixed(list(pieces), weights)
    at = array(s) - gamma * slope
    derivatives = [at @ array(point) + b for point, b in pieces.items()]
    missing = max(derivatives) - inner(derivatives, weights)
    value = array(s) @ slope + inner(list(pieces.values()), weights) - gamma / 2 * squared(slope)
    off = math.sqrt(2 * missing / gamma) if gamma else math.inf
    return Conjugate(slope, value, value + missing, off)


def envelope_in_fwlab(case: Case) -> Outcome:
    """Compare fwlab's envelope with the interval of its value."""
    scores, gamma = floats(case.scores), float(case.smoothing)
    value = fwlab_loss(case.loss).moreau(scores, case.y, gamma)[0]
    stated = conjugate_of_sum(case, case.scores, case.smoothing)
    return both(at_most(float(stated.value), value), at_most(value, float(stated.largest)))


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
    not_proved="the envelope is the optimal value of a quadratic program, bounded in fractions for "
    "each case",
)
def not_homogeneous(case: Case, smoothed: bool = True) -> Outcome:
    """Compare a margin of gamma/4 for one wrong class, and 0 for the others, with twice that.

    The envelope is convex, and 0 without margins, so it at least doubles.
    """
    m, y = len(case.scores), case.y
    gamma = case.smoothing if smoothed else Fraction(0)
    at_zero = array([-Fraction(int(j != y)) for j in range(m)])
    margin = array([case.smoothing / 4 * int(j == (y + 1) % m) for j in range(m)])
    once, twice = (conjugate_of_sum(case, at_zero + c * margin, gamma) for c in (1, 2))
    return rounded(less(2 * once.largest, twice.value))


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
        version("coefficient 17/16 gamma/n", coefficient=lambda n: Fraction(17, 16)),
    ),
    proofs=(
        line.theorem(
            "Data for which the surplus would be negative; it is lambda/8 |w(Delta "
            "A)|^2 for all data.",
            lambda at, **changes: (surplus(at, **changes), at.lam * at.dd / 8),
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
    """Return by how much D_m at the midpoint exceeds the bound of strong convexity, on a line."""
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
