"""Compute conjugate, effective domain and LMO of every loss by linear programs.

Everything is solved on the epigraph of the loss (reference.epigraph), one row at a time, and is
good to about 1e-10, HiGHS's tolerance, relative to the data.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from reference.arithmetic import fractions, inner
from reference.epigraph import epigraph
from reference.losses import Loss
from reference.polytope import OPTIMAL, refined, solve
from reference.rational import feasible


def conjugate(loss: Loss, v: ArrayLike, y: int, centred: bool = True) -> float:
    """Return Phi*(v; y), the sup over s of <v, s> - Phi(s; y), or +inf if it is not finite.

    A v within about 1e-10 of the effective domain counts as inside. centred=False uses phi, whose
    margins are delta + s, in place of Phi.
    """
    v = np.asarray(v, dtype=float)
    form = epigraph(loss, len(v), y, centred)
    cost = np.concatenate([-v, [1.0], np.zeros(form.R.shape[1])])
    rows = np.column_stack([form.S, form.T, form.R])
    result = solve(cost, A_ub=rows, b_ub=form.q, bounds=(None, None))
    return -float(result.fun) if result.status == OPTIMAL else math.inf


def conjugate_bound(loss: Loss, v: ArrayLike, y: int) -> tuple[np.ndarray, Fraction]:
    """Return (w, bound) with Phi*(w; y) <= bound exactly, in Fractions, for a w (m,) near v.

    Multipliers mu >= 0 with T' mu = -1, R' mu = 0 give w = S' mu and the bound <q, mu>
    (reference.epigraph). The bound is tight for the best multipliers for the point nearest to v.
    """
    form = epigraph(loss, len(np.asarray(v)), y)
    domain = form.domain
    nearest, _ = domain.nearest(np.asarray(v, dtype=float))
    A, b = np.vstack([domain.A, domain.M]), np.concatenate([domain.b, nearest])
    result = solve(form.q, A_eq=A, b_eq=b, bounds=(0, None))
    mu = result.x if result.status == OPTIMAL else domain.nearest_x(nearest)
    mu = feasible(domain, refined(mu, domain.A, domain.b))
    return np.array([inner(column, mu) for column in fractions(form.S).T]), inner(form.exact_q, mu)


def nearest_in_domain(loss: Loss, v: ArrayLike, y: int) -> tuple[np.ndarray, float]:
    """Return (point, distance): a point of dom Phi*(.; y) nearest to v in the maximum norm."""
    v = np.asarray(v, dtype=float)
    return epigraph(loss, len(v), y).domain.nearest(v)


def in_domain(loss: Loss, v: ArrayLike, y: int, tol: float = 1e-9) -> bool:
    """Return whether a point of dom Phi*(.; y) lies within tol of v in the maximum norm."""
    return nearest_in_domain(loss, v, y)[1] <= tol


def lmo(loss: Loss, gradient: ArrayLike, y: int) -> tuple[float, np.ndarray]:
    """Return the least <gradient, u> over u in -dom Phi*(.; y), and a point (m,) attaining it."""
    g = np.asarray(gradient, dtype=float)
    return epigraph(loss, len(g), y).negated_domain.minimum(g)


def lmo_value(loss: Loss, gradient: ArrayLike, y: int) -> float:
    """Return the least <gradient, u> over u in -dom Phi*(.; y)."""
    return lmo(loss, gradient, y)[0]
