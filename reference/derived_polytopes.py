"""Build the polytopes that the papers derive, as a second reference besides the definitions.

    K19 (4), L15 Definition 1, T20 (2.11)    top-k simplex              topk_simplex
    T20 (2.10)                               simplex                    simplex
    L15 (9), T20 (2.12)                      Usunier simplex            usunier_simplex
    K19 (14), T20 (2.13)                     weighted top-k             weighted_topk
    T20 (2.14)                               weighted Usunier           weighted_usunier
    K19 (30), (71)                           pseudo top-k               derived(PseudoTopK(k), ..)

The level weights are rho'_l = rho_{k_l} - rho_{k_{l+1}}, where rho' of the last level is its own
rho, with k_1 < k_2 < .., as K19 (41) needs. K19 Lemma 1 gives the conjugate and effective domain of
max over B of <beta, margins> for a polytope B: v is in the domain if its entries other than v_y are
the entries of some beta in B and sum v = 0, and the conjugate there is -<v, delta>.

knapsack and permutahedron are here for the projections of L15 section 4 and their relatives.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reference.arithmetic import fractions
from reference.losses import (
    Loss,
    MaxHinge,
    PseudoTopK,
    TopK,
    Usunier,
    WeightedTopK,
    WeightedUsunier,
    increments,
    padded,
)
from reference.polytope import Polytope, exact_polytope

Expression = dict[Any, Any]  # {variable: coefficient}, all variables >= 0
Number = float | Fraction
Bound = tuple[Expression, Any]  # expression <= number, or expression == number


def simplex(m: int, r: Number = 1) -> Polytope:
    """Return {beta >= 0, sum beta <= r}."""
    return polytope(entries(m), below=[(total(range(m)), r)])


def topk_simplex(m: int, k: int, r: Number = 1) -> Polytope:
    """Return {beta >= 0, sum beta <= r, k beta_j <= sum beta}; for k > m that is {0}."""
    return polytope(entries(m), below=topk_simplex_bounds(list(range(m)), k, r))


def usunier_simplex(m: int, k: int, r: Number = 1) -> Polytope:
    """Return {beta >= 0, sum beta <= r, beta_j <= 1/k}."""
    caps: list[Bound] = [({j: 1}, Fraction(1, k)) for j in range(m)]
    return polytope(entries(m), below=[(total(range(m)), r), *caps])


def weighted_topk(m: int, rho: ArrayLike) -> Polytope:
    """Return the set of sums of lambda_l, each in the top-k_l simplex of radius k_l rho'_l.

    All of them are filled to the same fraction zeta: sum lambda_l = zeta k_l rho'_l.
    """
    below: list[Bound] = []
    equal: list[Bound] = []
    steps = increments(padded(np.asarray(rho).tolist(), m))
    for k, step in steps:
        level = [(k, j) for j in range(m)]
        below += topk_simplex_bounds(level, k, k * step)
        equal.append(({**total(level), "zeta": -k * step}, 0))
    return polytope([total((k, j) for k, _ in steps) for j in range(m)], below, equal)


def weighted_usunier(m: int, rho: ArrayLike) -> Polytope:
    """Return the set of all beta between 0 and a sum of lambda_l.

    0 <= lambda_l <= rho'_l, and sum lambda_l <= k_l rho'_l.
    """
    below: list[Bound] = []
    steps = increments(padded(np.asarray(rho).tolist(), m))
    for k, step in steps:
        level = [(k, j) for j in range(m)]
        below += [(total(level), k * step), *[({x: 1}, step) for x in level]]
    below += [({j: 1, **total(((k, j) for k, _ in steps), -1)}, 0) for j in range(m)]
    return polytope(entries(m), below)


def knapsack(m: int, r: Number = 1, upper: Number = 1, equality: bool = False) -> Polytope:
    """Return {0 <= beta <= upper, sum beta <= r}, or sum beta = r."""
    capacity: list[Bound] = [(total(range(m)), r)]
    caps: list[Bound] = [({j: 1}, upper) for j in range(m)]
    if equality:
        return polytope(entries(m), below=caps, equal=capacity)
    return polytope(entries(m), below=[*capacity, *caps])


def permutahedron(rho: ArrayLike) -> Polytope:
    """Return the convex hull of all permutations of rho: doubly stochastic matrices times rho."""
    weights = np.asarray(rho).tolist()
    m = range(len(weights))
    columns: list[Bound] = [(total((i, j) for i in m), 1) for j in m]
    rows: list[Bound] = [(total((i, j) for j in m), 1) for i in m]
    return polytope([{(i, j): weights[j] for j in m} for i in m], equal=[*columns, *rows])


def derived(loss: Loss, m: int, y: int) -> Polytope:
    """Return the papers' B with Phi(s; y) = max over B of <beta, delta + s - s_y 1>."""
    match loss:
        case MaxHinge():  # and the structured hinge
            return simplex(m)
        case TopK(k):
            return topk_simplex(m, k)
        case PseudoTopK(k):
            return topk_simplex(m, k).with_zeros((y,))
        case Usunier(k):
            return usunier_simplex(m, k)
        case WeightedTopK(rho):
            return weighted_topk(m, rho)
        case WeightedUsunier(rho):
            return weighted_usunier(m, rho)
    raise TypeError(f"no paper derives a polytope for {loss!r}")


def derived_domain(loss: Loss, m: int, y: int) -> Polytope:
    """Return dom Phi*(.; y) by K19 Lemma 1: each beta with the y-th entry that makes its sum 0."""
    H = np.eye(m)
    H[y, :] -= 1  # v_y = -(sum of the others)
    return derived(loss, m, y).image(H)


def derived_conjugate(loss: Loss, v: ArrayLike, y: int, tol: float = 1e-9) -> float:
    """Return Phi*(v; y) by K19 Lemma 1: -<v, delta> within tol of the domain, +inf elsewhere."""
    v = np.asarray(v, dtype=float)
    if derived_domain(loss, len(v), y).nearest(v)[1] > tol:
        return math.inf
    return -float(v @ np.array(loss.delta(len(v), y), dtype=float))


# --- building a polytope from named, non-negative variables --------------------------------------


def total(names: Any, coefficient: int = 1) -> Expression:
    """Return coefficient * (sum of the named variables)."""
    return dict.fromkeys(names, coefficient)


def entries(m: int) -> list[Expression]:
    """Return the point whose entries are the variables 0..m-1 themselves."""
    return [{j: 1} for j in range(m)]


def topk_simplex_bounds(names: list[Any], k: int, r: Any) -> list[Bound]:
    """Return rows: the named variables lie in the top-k simplex of radius r."""
    caps: list[Bound] = []
    for x in names:
        caps.append(({**total(names, -1), x: k - 1}, 0))  # k x <= sum
    return [(total(names), r), *caps]


def polytope(
    point: list[Expression], below: list[Bound] | None = None, equal: list[Bound] | None = None
) -> Polytope:
    """Return {point : below, equal, variables >= 0}; each inequality gets a slack variable.

    The coefficients of the point are rounded to floats, the others are exact.
    """
    slacked = [({**row, ("slack", i): 1}, bound) for i, (row, bound) in enumerate(below or [])]
    equations = [*slacked, *(equal or [])]
    columns: dict[Any, int] = {}
    for row in [*point, *[row for row, _ in equations]]:
        for name in row:
            columns.setdefault(name, len(columns))
    M, A = (fractions(np.zeros((len(rows), len(columns)))) for rows in (point, equations))
    for matrix, rows in ((M, point), (A, [row for row, _ in equations])):
        for i, row in enumerate(rows):
            for name, coefficient in row.items():
                matrix[i, columns[name]] = Fraction(coefficient)
    return exact_polytope(M.astype(float), A, fractions([bound for _, bound in equations]))
