"""Ascend the dual by pairs of coordinates: M20 Algorithm 3.1 with corrected step formulas.

A repeat loop draws a coordinate, tries it with every other coordinate, and makes the best pair
step. For the quadratic Pat&Mat, steps are made at fixed delta, as M20 does, and delta then becomes
the best delta for beta (M20 (32)). For the hinge delta is max(beta)/theta2 throughout.

The method can rest away from the optimum, which is why it is not the default. From zero, no pair
can move if K >= 2, because one beta is at most a K-th of the sum; with the quadratic Pat&Mat
delta = 0 forbids every beta > 0. Also away from zero, several beta at the bound sum(alpha)/K, or at
the largest beta, could only move together.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.kernels.layouts import RankingDual
from fwlab.kernels.steps.ranking_pairs import best_pair
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.state import State
from fwlab.solvers.method import Method

# of a step: on a kernel matrix that rounding leaves indefinite, steps grow without end
LARGE = 1e100


@dataclass(eq=False)
class Workspace:
    """z = (alpha, beta), the signed scores s of z, and the diagonal of the kernel matrix."""

    z: Floats
    s: Floats
    diagonal: Floats


@dataclass(frozen=True)
class Pairwise(Method):
    """One iteration is n repeat loops, O(n) each besides two columns of the kernel matrix."""

    sentence = "Pairwise coordinate ascent, Algorithm 3.1 of M20; it can stall."

    def start(self, state: State) -> Workspace:
        problem = state.problem
        z = np.concatenate([state.point.alpha, state.point.beta])
        s = problem.signs * problem.scores(state.point)
        return Workspace(z, s, problem.gram.diagonal())

    def iterate(self, state: State, workspace: Workspace) -> None:
        n = len(workspace.z)
        workspace.s = state.problem.signs * state.problem.scores(state.point)
        for k in state.rng.integers(0, n, n):
            repeat_loop(int(k), state, workspace)


def repeat_loop(k: int, state: State, w: Workspace) -> None:
    """Make steps 3 to 9 of the algorithm for the drawn coordinate k."""
    problem, point = state.problem, state.point
    p, signs = problem.n_positive, problem.signs
    column = signs[k] * signs * problem.gram.column(k)
    dual = dual_at(problem, point)
    total = float(w.z[:p].sum())
    partner, step, _ = best_pair(k, column, w.diagonal, w.s, w.z, p, dual, total)
    if partner < 0 or abs(step) > LARGE:
        return
    i, j = min(k, partner), max(k, partner)
    back = step if i < p <= j else -step
    other = signs[partner] * signs * problem.gram.column(partner)
    w.s += (step if i == k else back) * column + (back if i == k else step) * other
    w.z[i] = max(0.0, w.z[i] + step)
    w.z[j] = max(0.0, w.z[j] + back)
    state.step, state.n_steps = step, state.n_steps + 1
    beta = w.z[p:]
    state.point = Point(w.z[:p], beta, best_delta(problem, beta))


def best_delta(problem: Problem, beta: Floats) -> float | None:
    """Return the best delta for beta: M20 (32), or max(beta)/theta2 for the hinge."""
    rule = problem.threshold
    if not rule.free:
        return None
    if rule.cap < np.inf:
        return float(beta.max()) / rule.cap
    return float(np.sqrt(rule.curvature * (beta @ beta) / (2 * rule.price)))


def dual_at(problem: Problem, point: Point) -> RankingDual:
    """Return the dual at this delta as kernels.steps.ranking_pairs takes it."""
    rule, loss = problem.threshold, problem.loss
    curvature = rule.curvature
    if curvature:
        curvature = curvature / point.r if point.r > 0 else np.inf
    share = rule.cap if not rule.free and rule.cap < np.inf else 0.0
    follow = rule.price / rule.cap if rule.free and rule.cap < np.inf else 0.0
    most = problem.C * loss.largest
    numbers = (1 / loss.theta, rule.slope, loss.curvature / problem.C, curvature, most)
    return RankingDual(*map(float, (*numbers, share, follow)))
