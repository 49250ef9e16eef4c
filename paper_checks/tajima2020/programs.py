"""Define small training problems of T20 with their duals, in fractions and on symbols.

A case has features (n, m, d), labels y (n,) from 0 on, lam, dual points A and U (n, m), and
smoothing = root^2 / (lam n), so that the square root in (C.19) is rational. On symbols the loss is
the max hinge, lam = 2, and the rows of A and U range over its negated domain. All losses of mdos
type have the same D there, since Phi*(-a; y) = -a_y on their domains.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

import reference
from paper_checks.arithmetic import Real, Truth, all_of, inner, is_symbolic, total
from paper_checks.cases import Rng, labels
from paper_checks.ledger import Case
from paper_checks.symbols import real, reals
from paper_checks.tajima2020.levels import zero_ended_weights
from reference import exact
from reference.certificate import found, run
from reference.rational import fractions

SIZED_BY = ("n", "m", "d", "lam")
LAM = Fraction(2)
# a solver's point is refused if the maximum may be larger by more than this share
SOLVED = Fraction(1, 10**6)


def mdos_losses(rng: Rng, m: int) -> list[reference.Loss]:
    """Return one loss of each kind in Theorem 2.1."""
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
    """Return a structured hinge with costs 0, 1/2, .., 2 off the diagonal."""
    costs = [[Fraction(int(i != j) * int(rng.integers(5)), 2) for j in range(m)] for i in range(m)]
    return [reference.StructuredHinge(costs)]


def other_losses(rng: Rng, m: int) -> list[reference.Loss]:
    """Return losses that are not of mdos type: any costs, and the pseudo top-k hinge."""
    return [*costly_losses(rng, m), reference.PseudoTopK(int(rng.integers(1, m)))]


def listed_losses(m: int) -> list[reference.Loss]:
    """Return losses of every kind for m classes, with every k and two weight vectors."""
    linear = tuple(Fraction(m - 1 - j, m) for j in range(m))
    flat = tuple(Fraction(int(j < m - 1)) for j in range(m))
    costs = [[Fraction(abs(i - j), 2) for j in range(m)] for i in range(m)]
    ks = range(1, m + 1)
    made: list[Any] = [reference.TopK(k) for k in ks] + [reference.Usunier(k) for k in ks]
    for rho in (linear, flat):
        made += [reference.WeightedTopK(rho), reference.WeightedUsunier(rho)]
    made += [reference.PseudoTopK(k) for k in range(1, m)]
    return [reference.MaxHinge(), reference.StructuredHinge(costs), *made]


def trainings(rng: Rng, deep: bool, losses: Any = mdos_losses) -> Iterator[Case]:
    """Yield small training problems with two feasible points.

    Half have small integers, with ties.
    """
    for m in (2, 3, 4) if deep else (2, 3):
        for n in (1, 2, 3):
            for kind, denominator in (("small integers", 1), ("fractions", 7)):
                for loss in losses(rng, m):
                    yield training(rng, loss, n, m, kind, denominator)


def training(rng: Rng, loss: reference.Loss, n: int, m: int, kind: str, denominator: int) -> Case:
    """Return one problem."""
    y = tuple(int(label) for label in labels(rng, n, m))
    d = int(rng.integers(1, 4))
    lam, root = Fraction(int(rng.integers(1, 5)), 2), Fraction(int(rng.integers(1, 5)), 2)
    return Case(
        kind=kind,
        n=n,
        m=m,
        d=d,
        loss=loss,
        y=y,
        lam=lam,
        root=root,
        smoothing=root**2 / (lam * n),
        features=rationals(rng, (n, m, d), 2 * denominator, denominator),
        A=feasible(rng, loss, y, m),
        U=feasible(rng, loss, y, m),
        w=rationals(rng, (d,), 6, 2),
    )


def training_symbols(deep: bool) -> Iterator[Case]:
    """Yield training problems for all real features, smoothing and dual points."""
    sizes = [(1, 2, 1), (1, 3, 1), (2, 2, 1), (2, 2, 2), (2, 3, 1), (2, 4, 1)]
    for n, m, d in [*sizes, (2, 3, 2), (2, 4, 2)] if deep else sizes:
        y = tuple(int(i == 0) for i in range(n))
        root = real("root")
        yield Case(
            kind="symbols",
            n=n,
            m=m,
            d=d,
            loss=reference.MaxHinge(),
            y=y,
            lam=LAM,
            root=root,
            smoothing=root**2 / (LAM * n),
            features=tuple(tuple(reals(f"x_{i}_{j}", d) for j in range(m)) for i in range(n)),
            A=tuple(dual_row(f"a_{i}", m, y[i]) for i in range(n)),
            U=tuple(dual_row(f"u_{i}", m, y[i]) for i in range(n)),
        )


def dual_row(name: str, m: int, y: int) -> tuple[Real, ...]:
    """Return a row (m,) whose sum is 0."""
    others = reals(name, m - 1)
    return (*others[:y], -total(others), *others[y:])


def in_domain(case: Case) -> Truth:
    """Return whether the rows of A and U are in the max hinge's negated domain, and root > 0."""
    rows = [(row, y) for B in (case.A, case.U) for row, y in zip(B, case.y, strict=True)]
    signs = [x <= 0 for row, y in rows for j, x in enumerate(row) if j != y]
    return all_of(*signs, *(row[y] <= 1 for row, y in rows), case.root > 0)


def rationals(rng: Rng, shape: Sequence[int], largest: int, denominator: int) -> np.ndarray:
    """Return an array of multiples of 1/denominator, numerators up to `largest`."""
    return rng.integers(-largest, largest + 1, shape).astype(object) * Fraction(1, denominator)


def feasible(rng: Rng, loss: reference.Loss, y: Sequence[int], m: int) -> np.ndarray:
    """Return A (n, m) with rows in the negated domain: means of three random vertices."""
    rows = []
    for label in y:
        slopes = list(exact.pieces(loss, m, label))
        chosen = [slopes[i] for i in rng.integers(len(slopes), size=3)]
        rows.append(-sum(np.array(slope, object) for slope in chosen) / Fraction(3))
    return np.array(rows, object)


# --- the problem's functions ---------------------------------------------------------------------


def array(values: Any) -> np.ndarray:
    """Return nested tuples of numbers or symbols as an array of objects."""
    return np.array(values, object)


def step_of(case: Case) -> np.ndarray:
    """Return Delta A = U - A, (n, m)."""
    return array(case.U) - array(case.A)


def weights(case: Case, A: Any) -> np.ndarray:
    """Return w(A), (d,)."""
    pairs = zip(array(case.features), array(A), strict=True)
    return sum(psi.T @ a for psi, a in pairs) / (case.lam * len(case.y))


def scores(case: Case, A: Any) -> np.ndarray:
    """Return the rows Psi(x_i)^T w(A), (n, m)."""
    return array(case.features) @ weights(case, A)


def primal(case: Case, w: np.ndarray) -> Any:
    """Return P(w), (2.1); exact for an exact w."""
    rows = zip(array(case.features) @ w, case.y, strict=True)
    losses = [case.loss.value(s, y) for s, y in rows]
    return case.lam / 2 * (w @ w) + sum(losses) / Fraction(len(losses))


def dual(case: Case, A: Any, smoothing: Real = 0) -> Any:
    """Return D(A) of (2.3), D_m(A) of (2.23) with smoothing; -inf outside the domain."""
    A = array(A)
    w, n = weights(case, A), len(case.y)
    quadratic = case.lam / 2 * (w @ w) + smoothing * squared(A) / Fraction(2 * n)
    return -quadratic - sum(conjugate(case, a, y) for a, y in zip(A, case.y, strict=True)) / (
        Fraction(n)
    )


def conjugate(case: Case, a: np.ndarray, y: int) -> Any:
    """Return Phi*(-a; y): by linear programming, and on symbols by K19 Lemma 1."""
    if is_symbolic(list(a)):
        return -a[y]
    return exact.conjugate(case.loss, list(-a), y)


def shifted(case: Case, shift: Real) -> np.ndarray:
    """Return the rows Psi(x_i)^T w(A) + shift alpha_i, (n, m)."""
    return scores(case, case.A) + array(case.A) * shift


def augmented(case: Case) -> Case:
    """Return the problem with the features (C.19), whose square root is the case's root."""
    n, m = case.n, case.m
    block = np.eye(n * m, dtype=int).reshape(n, m, n * m).astype(object)
    features = np.concatenate([array(case.features), block * case.root], axis=2)
    return Case(**{**vars(case), "features": features})


def rows(table: np.ndarray) -> list[list[Real]]:
    return [list(row) for row in table]


def squared(A: Any) -> Any:
    """Return the square of the Frobenius norm."""
    flat = array(A).ravel()
    return flat @ flat


def true_entries(case: Case) -> np.ndarray:
    """Return the rows e_{y_i}, (n, m)."""
    rows = [[Fraction(int(j == y)) for j in range(len(case.A[0]))] for y in case.y]
    return array(rows)


def along(case: Case, step: np.ndarray, smoothing: Real = 0) -> tuple[Any, Any]:
    """Return (slope, bend) with D(A + t step) = D(A) + t slope - t^2 bend / 2 for t in [0, 1].

    They are computed from three values of D, as a quadratic is determined by its values at 0, 1/2
    and 1.
    """
    A = array(case.A)
    start, middle, end = (dual(case, A + Fraction(t, 2) * step, smoothing) for t in range(3))
    bend = 4 * (2 * middle - start - end)
    return end - start + bend / Fraction(2), bend


@dataclass(frozen=True)
class NearMaximum:
    """A point A in fractions, a lower bound of D there, and an upper bound of the largest D."""

    A: np.ndarray
    value: Fraction
    largest: Fraction


def near_maximum(case: Case, curvature: Any = 1) -> NearMaximum:
    """Return the point with the largest D that a solver finds.

    The quadratic term is multiplied by `curvature`. The variables of the QP are the weights of the
    slopes whose convex combinations are the rows of -A. As D is concave, its derivatives at A bound
    how much larger it can be elsewhere. Raises ArithmeticError if that is too much.
    """
    slopes = [exact.pieces(case.loss, case.features.shape[1], y) for y in case.y]
    mixtures = solver_mixtures(case, slopes, curvature)
    A = array([-mixed(list(pieces), t) for pieces, t in zip(slopes, mixtures, strict=True)])
    w, n, value, promised = weights(case, A), len(case.y), Fraction(0), Fraction(0)
    for psi, pieces, t in zip(array(case.features), slopes, mixtures, strict=True):
        s = curvature * (psi @ w)
        derivatives = [b + v @ s for v, b in zip(map(array, pieces), pieces.values(), strict=True)]
        value += inner(list(pieces.values()), t) / n
        promised += (max(derivatives) - inner(derivatives, t)) / n
    value -= curvature * case.lam / 2 * (w @ w)
    if promised > SOLVED * (1 + abs(value)):
        raise ArithmeticError(f"D may be larger by {float(promised)} than where the solver ended")
    return NearMaximum(A, value, value + promised)


def solver_mixtures(case: Case, slopes: Sequence[exact.Pieces], curvature: Any) -> list[Any]:
    """Return the weights of the slopes, per sample, at which a solver maximises D."""
    lam, n = float(case.lam), len(case.y)
    w, offset, mixtures = 0, 0, []
    for psi, pieces in zip(array(case.features).astype(float), slopes, strict=True):
        t = cp.Variable(len(pieces), nonneg=True)
        mixtures.append(t)
        offset += np.array(list(pieces.values()), float) @ t / n
        w -= psi.T @ (np.array(list(pieces), float).T @ t) / (lam * n)
    objective = offset - float(curvature) * lam / 2 * cp.sum_squares(w)
    run(cp.Problem(cp.Maximize(objective), [cp.sum(t) == 1 for t in mixtures]), "CLARABEL")
    return [mixture(found(t)) for t in mixtures]


def mixture(weights: np.ndarray) -> list[Fraction]:
    """Return the weights that a solver found as fractions >= 0 whose sum is 1."""
    positive = [max(x, Fraction(0)) for x in fractions(weights)]
    return [x / sum(positive) for x in positive]


def mixed(points: Sequence[Any], t: Sequence[Fraction]) -> np.ndarray:
    """Return the convex combination of points with the weights t."""
    return sum(share * array(point) for share, point in zip(t, points, strict=True))
