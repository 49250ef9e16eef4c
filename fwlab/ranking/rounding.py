"""Bound the rounding error of a ranking certificate rigorously.

The certificate of a point computes P and D in floats. The exact P is taken at the machine of the
point: with a linear kernel the stored w, otherwise the combination of columns of the kernel with
the coefficients c = (alpha; -beta), where a positive that counts has the rounded difference of its
two variables. The exact D is taken at a repaired point (alpha', beta',
delta'), because rounding breaks the equality of the sums, and then the dual is -inf:

    1. alpha_i is clipped to C largest;
    2. the larger one of sum(alpha) and sum(beta) is scaled down to the smaller one;
    3. for the mean of the K largest, beta' = (1 - t) beta + t mean(beta) with the least t that
       keeps beta'_j <= sum(beta) / K:

           t = (max(beta) - sum(beta) / K) / (max(beta) - mean(beta)),   or 0 if that is less;

       for the hinge quantile delta' = max(delta, max(beta) / cap).

This module bounds |computed gap - (P - D)|, with the standard model of fwlab.operators.sums. Let
e_i bound the error of score i and d_i = |c_i - c'_i|, which includes the rounding of a difference,
u |c_i|. With C, theta, K, the budget, X and a
precomputed kernel matrix exact, the errors are

    scores     e_i <= gamma_d sum_j |x_ij| |w_j|                               linear
               e_i <= gamma_{64 + n/64} sum_j |k_ij| |c_j|                     precomputed
               e_i <= sum_j k_ij |c_j| (gamma_{64 + n/64} + 9 u + h_ij exp(h_ij))    rbf
    threshold  t lies between its values at the scores minus e and plus e, as it grows with each
               score; the quantile lies between two numbers where the signs of its equation are
               certain
    losses     |l(t - s_i) - computed| <= f_i for the hinge, f_i (2 v_i + f_i) + 3 u v_i^2 for the
               quadratic, v_i = max(0, 1 + theta (t - s_i)) as computed, f_i = theta (error of t +
               e_i) + 4 u (1 + theta |t - s_i|); 0 if v_i + f_i = 0
    square     gamma_d |w|^2, or sum_i |c_i| e_i + gamma_n sum_i |c_i s_i|
    link       <|w|, E> + |E|^2 / 2,  E_j = gamma_n sum_i |x_ij| |c_i|, for D with a linear kernel
    repair     sum_i d_i (|s_i| + e_i) + (sum_i d_i sqrt(k_ii))^2 / 2 in the norm, and d_i times
               the slope of every other term of D

and gamma_c of every sum times the sum of its terms. In h_ij = sigma gamma_{d+8} (r_i + r_j)^2, r_i
is the norm of row i after centring. A squared distance passes d + 2 roundings, centring the rows
changes it by at most 2.1 u (r_i + r_j)^2, and the product with sigma by another rounding. exp is
taken to be right to 4 units in the last place, as numpy's is.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.operators.sums import MARGIN, UNDERFLOW, UNIT, gamma
from fwlab.ranking.gram import LinearGram
from fwlab.ranking.problem import Point, Problem
from fwlab.result import Certificate


@dataclass(frozen=True, eq=False)
class Moves:
    """Bounds of |alpha - alpha'|, |beta - beta'| and |delta - delta'|."""

    alpha: Floats
    beta: Floats
    delta: float


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of the positives and the counted rows, and |w|^2, with bounds of their errors.

    E is the error of w as the machine of c: 0 unless w is stored. link is <|w|, |E|>, and link_size
    is |E|.
    """

    scores: Floats
    errors: Floats
    square: float
    square_error: float
    link: float = 0.0
    link_size: float = 0.0


def scored(problem: Problem, point: Point) -> Scored:
    """Return the scores of the positives and the counted rows, and their errors."""
    c = problem.coefficients(point)
    gram: Any = problem.gram
    if isinstance(gram, LinearGram):
        w = gram.X.T @ c
        square, E = float(w @ w), gram.link_errors(c)
        rounding = gamma(len(w) + 1) * square + len(w) * UNDERFLOW
        inner, size = float(np.abs(w) @ E), float(np.sqrt(E @ E + UNDERFLOW))
        return Scored(gram.X @ w, gram.score_errors(w), square, rounding, inner, size)
    scores, e = gram.product_with_errors(c)
    sizes = np.abs(c)
    # K + mu I is positive semidefinite, K perhaps not; mu moves the score of every copy of a sample
    e = e + problem.gram_shift * np.bincount(problem.order, sizes)[problem.order]
    rounding = float(sizes @ e + gamma(len(c) + 1) * (sizes @ np.abs(scores)))
    return Scored(scores, e, float(c @ scores), rounding + len(c) * UNDERFLOW)


def certificate(problem: Problem, point: Point) -> Certificate:
    """Return primal, dual and gap, computed from the point alone, and gap_error.

    gap_error bounds the error of the gap. A gap that is negative by more contradicts the data.
    """
    # what overflows here bounds nothing, and the error is infinite
    with np.errstate(over="ignore", invalid="ignore"):
        found = scored(problem, point)
        values = problem.judged(point, found.scores, found.square)
        error = np.inf
        if values.dual > -np.inf:
            error = gap_error(problem, point, found, abs(values.primal) + abs(values.dual))
    return replace(values, from_scratch=True, gap_error=error).checked()


def gap_error(problem: Problem, point: Point, found: Scored, values: float) -> float:
    """Return a bound of the error of the gap of a feasible point; values is |P| + |D|."""
    scores, e, moves = found.scores, found.errors, repair_moves(problem, point)
    moved = np.concatenate([moves.alpha, moves.beta])
    alphas, _ = problem.twins
    moved[alphas] += UNIT * np.abs(problem.coefficients(point)[alphas])
    inner = found.link + float(moved @ (np.abs(scores) + e))
    roots = np.sqrt(MARGIN * np.abs(problem.gram.diagonal()) + len(e) * UNDERFLOW)
    size = found.link_size + float(moved @ roots)
    error = found.square_error + inner + size**2 / 2
    error += loss_error(problem, scores, e) + linear_part_error(problem, point, moves)
    error = MARGIN * error + 8 * UNIT * (values + abs(found.square))
    return float(error) if np.isfinite(error) else np.inf


def loss_error(problem: Problem, scores: Floats, e: Floats) -> float:
    """Return a bound of the error of C sum_i l(t - s_i); e (n,) bounds the errors of the scores."""
    p, loss, rule = problem.n_positive, problem.loss, problem.threshold
    counted, spread = scores[p:], e[p:]
    t = rule.value(counted)
    below = np.nextafter(counted - spread, -np.inf)
    low, high = rule.bracket(below, np.nextafter(counted + spread, np.inf))
    threshold_error = max(t - low, high - t, 0.0)
    margins = t - scores[:p]
    values = loss.value(margins)
    sizes = loss.theta * np.abs(margins)
    f = loss.theta * (threshold_error + e[:p]) + 4 * UNIT * (1 + sizes) + UNDERFLOW
    v = np.maximum(0.0, 1 + loss.theta * margins)
    errors = f if loss.power == 1 else f * (2 * v + f) + 3 * UNIT * v * v
    errors = np.where(1 + loss.theta * margins + f > 0, errors, 0.0)
    rounding = float(gamma(p + 8) * values.sum())
    return problem.C * (float(errors.sum()) + rounding) + UNDERFLOW


def linear_part_error(problem: Problem, point: Point, moves: Moves) -> float:
    """Return a bound of the error of D without its norm."""
    alpha, beta, loss, rule = point.alpha, point.beta, problem.loss, problem.threshold
    error = _sum_error(alpha, moves.alpha) / loss.theta + rule.slope * _sum_error(beta, moves.beta)
    error += loss.curvature / (2 * problem.C) * _square_error(alpha, moves.alpha)
    if rule.curvature and beta.any():
        error += rule.curvature / 2 * _square_error(beta, moves.beta) / point.r
    if rule.free:
        error += rule.price * (moves.delta + 8 * UNIT * point.r)
    return error + 8 * UNDERFLOW


def _sum_error(values: Floats, moves: Floats) -> float:
    return float(moves.sum() + gamma(len(values) + 8) * values.sum())


def _square_error(values: Floats, moves: Floats) -> float:
    rounding = float(gamma(len(values) + 16) * (values @ values)) + len(values) * UNDERFLOW
    return rounding + float(moves @ (2 * values + moves))


def repair_moves(problem: Problem, point: Point) -> Moves:
    """Return bounds of how far the repair moves a point that is feasible to rounding."""
    alpha, beta, rule = point.alpha, point.beta, problem.threshold
    most = problem.C * problem.loss.largest
    clipped = np.maximum(0.0, alpha - most * (1 - 4 * UNIT)) if most < np.inf else 0 * alpha
    sums = float(alpha.sum()), float(beta.sum())
    rounding = gamma(len(alpha) + 2) * sums[0] + gamma(len(beta) + 2) * sums[1]
    rounding += float(clipped.sum())
    shares = [
        min(1.0, max(0.0, one - other + rounding) / one) if one > 0 else 0.0
        for one, other in (sums, sums[::-1])
    ]
    moved_alpha, moved_beta = clipped + shares[0] * alpha, shares[1] * beta
    if not rule.free and rule.cap < np.inf:
        moved_beta = moved_beta + _mixing(beta, sums[1], rule.cap)
    raised = 0.0
    if rule.free and rule.cap < np.inf:
        raised = max(0.0, float(beta.max()) / rule.cap * (1 + 4 * UNIT) - point.r)
    return Moves(MARGIN * moved_alpha, MARGIN * moved_beta, MARGIN * raised)


def _mixing(beta: Floats, total: float, cap: float) -> Floats:
    """Return bounds of t |beta_j - mean(beta)| for the least t that keeps beta below cap total."""
    q, largest = len(beta), float(beta.max())
    rounding = gamma(q + 4) * total
    excess = largest - cap * total + rounding * cap
    if excess <= 0:
        return np.zeros(q)
    room = largest - total / q - rounding / q
    share = excess / room if room > excess else 1.0
    return np.asarray(share * (np.abs(beta - total / q) + rounding / q))
