"""Write the epigraph of a loss as matrices, and the domain of its conjugate by LP duality.

    t >= Phi(s; y)   exactly if   S s + T t + R w <= q   for some w,                       (primal)
    Phi*(v; y) = sup over s of <v, s> - Phi(s; y)
               = min <q, mu>  over  mu >= 0,  S' mu = v,  T' mu = -1,  R' mu = 0.            (dual)

So v is in the effective domain exactly if such multipliers mu exist. The domain thus follows from
the definition of the loss alone.

The loss is Phi(s; y) = phi(s - s_y 1; y), where phi(s; y) has the margins delta + s. K19 (28)-(32)
and L15 Lemma 2 argue about phi itself: centred=False gives its epigraph.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from reference.arithmetic import fractions
from reference.losses import Loss
from reference.polytope import Polytope, exact_polytope


@dataclass(frozen=True, eq=False)
class Epigraph:
    """S (r, m), T (r,), R (r, w), q (r,): floats.

    S and T are integers. exact_R and exact_q hold the Fractions before rounding.
    """

    S: np.ndarray
    T: np.ndarray
    R: np.ndarray
    q: np.ndarray
    exact_R: np.ndarray
    exact_q: np.ndarray

    @property
    def domain(self) -> Polytope:
        """The effective domain of the conjugate: S' mu over the multipliers mu of (dual)."""
        E = np.vstack([fractions(self.T[None, :]), self.exact_R.T])
        return exact_polytope(self.S.T, E, fractions([-1] + [0] * self.R.shape[1]))

    @property
    def negated_domain(self) -> Polytope:
        """-dom Phi*: where the rows of the dual variable live."""
        return self.domain.image(-np.eye(self.S.shape[1]))


@lru_cache(maxsize=512)
def epigraph(loss: Loss, m: int, y: int, centred: bool = True) -> Epigraph:
    """Return the matrices of Phi(.; y) for m classes, or of phi(.; y) with centred=False."""
    rows = loss.rows(m, y)
    columns: dict[Any, int] = {("h", j): j for j in range(m)}
    columns["t"] = m
    for row in rows:
        for name in row:
            columns.setdefault(name, len(columns))
    matrix = fractions(np.zeros((len(rows), len(columns))))
    for i, row in enumerate(rows):
        for name, coefficient in row.items():
            matrix[i, columns[name]] = Fraction(coefficient)
    G, T, R = matrix[:, :m], matrix[:, m], matrix[:, m + 1 :]
    centring = np.eye(m)
    if centred:
        centring[:, y] -= 1  # H_y = I - 1 e_y', so that H_y s = s - s_y 1
    q = -(G @ fractions(loss.delta(m, y)))
    return Epigraph(
        S=G.astype(float) @ centring,
        T=T.astype(float),
        R=R.astype(float),
        q=q.astype(float),
        exact_R=R,
        exact_q=q,
    )
