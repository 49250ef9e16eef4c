"""Check `contains`, `project` and the inequalities of a loss against its `lmo`.

A point p is outside the negated domain if some gradient g separates it: <g, p> is less than the
minimum <g, lmo(g)> over the domain. The projection p of c is the point of the domain with

    <c - p, u - p> <= 0  for every u in it.
"""

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.testing.loss_checks import LossCheck, products
from fwlab.testing.shrinking import Contradiction, Inputs
from fwlab.testing.tried_loss import TriedLoss, exact, text

# how far beyond the domain a point is that `contains` has to reject, for vertices of size 1
BEYOND = 1e-6
SEPARATING_STEPS = 40
# HiGHS meets each inequality to this much
FEASIBILITY = 1e-7


def accepted(tried: TriedLoss, inputs: Inputs) -> None:
    """Ask whether `contains` accepts vertices and their combinations."""
    y = inputs.y
    first, second = (tried.lmo(inputs.points[name], y) for name in ("g", "h"))
    for share, what in ((1.0, "a vertex"), (0.25, "between two vertices")):
        u = share * first + (1 - share) * second
        inside = tried.contains(-u, y)
        if not inside.all():
            i = int(np.argmin(inside))
            raise Contradiction(
                "rejects",
                f"{tried.membership} of {tried.name} rejects a point of the domain: for row {i} "
                f"with label {y[i]} it says False of v = {text(0.0 - u[i])}, {what} (minus lmo's "
                f"points at g and h).",
            )


def rejected(tried: TriedLoss, inputs: Inputs) -> None:
    """Ask whether `contains` rejects points that a gradient separates from the domain.

    They lie BEYOND lmo's point u, against the gradient, and away from another point of the domain,
    which stays in a plane that holds it.
    """
    gradient, y = inputs.points["gradient"], inputs.y
    u, other = tried.lmo(gradient, y), tried.lmo(inputs.points["other"], y)
    lengths = np.linalg.norm(gradient, axis=1)
    distance = BEYOND * (1 + np.abs(u).max(axis=1))
    for away in (-gradient, u - other):
        fall = -products(gradient, away)
        steps = distance * lengths / np.where(fall > 0, fall, np.inf)
        beyond = u + steps[:, None] * away
        inside = tried.contains(-beyond, y) & (steps > 0) & (steps * np.abs(away).max(axis=1) < 1)
        if inside.any():
            i = int(np.argmax(inside))
            raise Contradiction(
                "accepts",
                f"{tried.membership} of {tried.name} accepts a point outside the domain: for row "
                f"{i} with label {y[i]} it says True of v = {exact(0.0 - beyond[i])}, but "
                f"<gradient, -v> is "
                f"{distance[i] * lengths[i]:.3g} below the minimum over the domain, "
                f"{products(gradient, u)[i]:.10g} at lmo's point {text(u[i])}.",
            )


def projection(tried: TriedLoss, inputs: Inputs) -> None:
    """Compare the projection p of c with the vertex that violates the inequality most."""
    c, y = inputs.points["c"], inputs.y
    p = tried.project(c, y)
    u = tried.lmo(p - c, y)
    lengths = sum(np.linalg.norm(point, axis=1) for point in (c, p, u))
    slack = tried.rounding(c.shape[1], np.asarray(lengths**2))
    excess = products(c - p, u - p)
    i = int(np.argmax(np.abs(excess) - slack))
    start = f"for row {i} with label {y[i]} it returns p = {text(p[i])}"
    if excess[i] > slack[i]:
        raise Contradiction(
            "nearest",
            f"project of {tried.name} is not the nearest point: {start}, but <c - p, u - p> is "
            f"{excess[i]:.10g}, more than 0, at lmo's point u = {text(u[i])}.",
        )
    outside = excess[i] < -slack[i]
    if not outside:
        distances = separation(tried, p, y)
        i = int(np.argmax(distances - tried.rounding(c.shape[1], lengths)))
        outside = distances[i] > tried.rounding(c.shape[1], lengths)[i]
    if outside:
        raise Contradiction(
            "infeasible",
            f"project of {tried.name} leaves the domain: for row {i} with label {y[i]} it returns "
            f"p = {text(p[i])}, which a gradient separates from all points of lmo.",
        )


def separation(tried: TriedLoss, points: Floats, y: Integers) -> Floats:
    """Return lower bounds of the distances of points (n, m) from the negated domains, (n,).

    Frank-Wolfe steps x approach the point; x - point is the gradient that may separate it.
    """
    x = tried.lmo(points * 0.0, y)
    bounds = np.full(len(points), -np.inf)
    for _ in range(SEPARATING_STEPS):
        gradient = x - points
        u = tried.lmo(gradient, y)
        lengths = np.linalg.norm(gradient, axis=1)
        ahead = products(gradient, u - points)
        bounds = np.maximum(bounds, ahead / np.where(lengths > 0, lengths, np.inf))
        slopes, squares = products(gradient, x - u), products(x - u, x - u)
        steps = np.clip(slopes / np.where(squares > 0, squares, np.inf), 0.0, 1.0)
        x = x + steps[:, None] * (u - x)
    return bounds


def linear_programs(tried: TriedLoss, inputs: Inputs) -> None:
    """Compare lmo with linear programs over the inequalities, solved by HiGHS.

    HiGHS may violate each inequality by FEASIBILITY, which moves the minimum by FEASIBILITY times
    the multipliers.
    """
    from scipy.optimize import linprog

    gradient, y = inputs.points["gradient"], inputs.y
    m = inputs.n_classes
    lowest = products(gradient, tried.lmo(gradient, y))
    for i, label in enumerate(y):
        M, b = tried.linear_program(m, int(label))
        costs = np.zeros(M.shape[1])
        costs[:m] = -gradient[i]
        program = linprog(costs, A_ub=M, b_ub=b, bounds=(None, None), method="highs")
        start = f"for row {i} with label {label}"
        if program.status != 0:
            raise Contradiction(
                "program",
                f"the inequalities of {tried.name} describe no bounded domain: {start} the linear "
                f"program has status {program.status} ({program.message}).",
            )
        slack = FEASIBILITY * (1 + np.abs(program.ineqlin.marginals).sum())
        slack += float(tried.rounding(m, np.abs(costs).sum() * (1 + np.abs(program.x).max())))
        if abs(program.fun - lowest[i]) > slack:
            raise Contradiction(
                "program",
                f"lmo of {tried.name} contradicts the inequalities: {start} <gradient, lmo> is "
                f"{lowest[i]:.10g}, but the linear program has the minimum {program.fun:.10g} at "
                f"u = {text(0.0 - program.x[:m])}.",
            )


CONTAINS_CHECKS = (LossCheck(accepted, ("g", "h")), LossCheck(rejected, ("gradient", "other")))
PROJECTION_CHECK = LossCheck(projection, ("c",))
PROGRAM_CHECK = LossCheck(linear_programs, ("gradient",))
