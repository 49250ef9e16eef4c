"""What several checks of T20 share: exact linear programs, the levels of rho, and small exact
training problems with their duals, built from the definitions."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

import reference
from paper_checks.cases import Rng, decreasing_weights, labels
from paper_checks.ledger import Case
from reference import exact
from reference.derived_polytopes import Bound, Expression
from reference.simplex import minimise


def greatest(
    objective: Expression, below: Sequence[Bound], equal: Sequence[Bound] = ()
) -> Fraction:
    """The largest <objective, x> over x >= 0 under the bounds, without rounding."""
    slacked = [({**row, ("slack", i): 1}, bound) for i, (row, bound) in enumerate(below)]
    equations = [*slacked, *equal]
    names = list(
        dict.fromkeys(name for row in (objective, *(e for e, _ in equations)) for name in row)
    )
    found = minimise(
        [-objective.get(name, 0) for name in names],
        [[row.get(name, 0) for name in names] for row, _ in equations],
        [bound for _, bound in equations],
    )
    if found is None:
        raise ArithmeticError("a linear program of the paper has no feasible point")
    return -found


def zero_ended_weights(rng: Rng, m: int) -> tuple[Fraction, ...]:
    """Weights as T20 wants them: non-increasing, with rho_m = 0; ties are common."""
    return (*decreasing_weights(rng, m - 1), Fraction(0))


def levels(rho: Sequence[Fraction], differences: bool = True) -> list[tuple[int, Fraction]]:
    """The pairs (k_l, rho'_l) of (2.15); rho'_l is rho_{k_l} itself without differences."""
    following = [*rho[1:], Fraction(0)]
    return [
        (k, here - after if differences else here)
        for k, (here, after) in enumerate(zip(rho, following, strict=True), start=1)
        if here > after
    ]


def mdos_losses(rng: Rng, m: int) -> list[reference.Loss]:
    """One loss of each kind of Theorem 2.1."""
    k, rho = int(rng.integers(1, m + 1)), zero_ended_weights(rng, m)
    zero_one = tuple(tuple(int(i != j) for j in range(m)) for i in range(m))
    return [
        reference.MaxHinge(),
        reference.StructuredHinge(zero_one),
        reference.TopK(k),
        reference.Usunier(k),
        reference.WeightedTopK(rho),
        reference.WeightedUsunier(rho),
    ]


def costly_losses(rng: Rng, m: int) -> list[reference.Loss]:
    """A structured hinge with costs 0, 1/2, .., 2 off the diagonal."""
    costs = [[Fraction(int(i != j) * int(rng.integers(5)), 2) for j in range(m)] for i in range(m)]
    return [reference.StructuredHinge(costs)]


# --- training problems: features (n, m, d), y (n,), lam, smoothing, A (n, m), all exact -----------


def trainings(rng: Rng, deep: bool, losses: Any = mdos_losses) -> Iterator[Case]:
    """Small training problems with a feasible A; in half of them small integers, so ties."""
    for m in (2, 3, 4) if deep else (2, 3):
        for n in (1, 2, 3):
            for kind, denominator in (("small integers", 1), ("fractions", 7)):
                for loss in losses(rng, m):
                    yield training(rng, loss, n, m, kind, denominator)


def training(rng: Rng, loss: reference.Loss, n: int, m: int, kind: str, denominator: int) -> Case:
    y = tuple(int(label) for label in labels(rng, n, m))
    d = int(rng.integers(1, 4))
    return Case(
        kind=kind,
        loss=loss,
        y=y,
        lam=Fraction(int(rng.integers(1, 5)), 2),
        smoothing=Fraction(int(rng.integers(1, 5)), 2),
        features=rationals(rng, (n, m, d), 2 * denominator, denominator),
        A=feasible(rng, loss, y, m),
    )


def rationals(rng: Rng, shape: Sequence[int], largest: int, denominator: int) -> np.ndarray:
    """An array of multiples of 1/denominator, numerators up to `largest`."""
    return rng.integers(-largest, largest + 1, shape).astype(object) * Fraction(1, denominator)


def feasible(rng: Rng, loss: reference.Loss, y: Sequence[int], m: int) -> np.ndarray:
    """A (n, m) of rows in the negated domain: the mean of three random vertices, repetitions
    allowed."""
    rows = []
    for label in y:
        slopes = list(exact.pieces(loss, m, label))
        chosen = [slopes[i] for i in rng.integers(len(slopes), size=3)]
        rows.append(-sum(np.array(slope, object) for slope in chosen) / Fraction(3))
    return np.array(rows, object)


def weights(case: Case, A: np.ndarray) -> np.ndarray:
    """w(A), (d,)."""
    total = sum(psi.T @ a for psi, a in zip(case.features, A, strict=True))
    return total / (case.lam * len(case.y))


def primal(case: Case, w: np.ndarray) -> Any:
    """P(w), (2.1); exact for an exact w."""
    rows = zip(case.features @ w, case.y, strict=True)
    losses = [case.loss.value(s, y) for s, y in rows]
    return case.lam / 2 * (w @ w) + sum(losses) / len(losses)


def dual(case: Case, A: np.ndarray, smoothing: Fraction | int = 0) -> Fraction | float:
    """D(A) of (2.3), D_m(A) of (2.23) with smoothing; -inf outside the domain."""
    w = weights(case, A)
    terms = [exact.conjugate(case.loss, list(-a), y) for a, y in zip(A, case.y, strict=True)]
    quadratic = case.lam / 2 * (w @ w) + Fraction(smoothing) / (2 * len(case.y)) * squared(A)
    return -quadratic - sum(terms) / len(terms)


def dual_optimum(case: Case, curvature: Any = 1) -> tuple[np.ndarray, float]:
    """(A, D(A)) in floats where D is largest; its quadratic term is multiplied by curvature.

    The QP is over the weights of the slopes whose convex combinations the rows of -A are.
    """
    lam, n = float(case.lam), len(case.y)
    w, offset, sums, rows = 0, 0, [], []
    for psi, y in zip(case.features.astype(float), case.y, strict=True):
        pieces = exact.pieces(case.loss, len(psi), y)
        t = cp.Variable(len(pieces), nonneg=True)
        sums.append(cp.sum(t) == 1)
        rows.append(-np.array(list(pieces), float).T @ t)
        offset += np.array(list(pieces.values()), float) @ t / n
        w += psi.T @ rows[-1] / (lam * n)
    objective = offset - float(curvature) * lam / 2 * cp.sum_squares(w)
    problem = cp.Problem(cp.Maximize(objective), sums)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return np.array([row.value for row in rows]), float(problem.value)


def squared(A: np.ndarray) -> Fraction:
    """The square of the Frobenius norm."""
    return A.ravel() @ A.ravel()


def true_entries(case: Case) -> np.ndarray:
    """e_{y_i} as rows, (n, m)."""
    n, m, _ = case.features.shape
    rows = np.zeros((n, m), object) + Fraction(0)
    rows[np.arange(n), list(case.y)] += 1
    return rows


def along(case: Case, step: np.ndarray, smoothing: Fraction | int = 0) -> tuple[Fraction, Fraction]:
    """(slope, bend) with D(A + t step) = D(A) + t slope - t^2 bend / 2 for t in [0, 1].

    Read off three values of D itself: a quadratic is what its values at 0, 1/2 and 1 make it.
    """
    start, middle, end = (dual(case, case.A + Fraction(t, 2) * step, smoothing) for t in range(3))
    bend = 4 * (2 * middle - start - end)
    return Fraction(end - start + bend / 2), Fraction(bend)
