"""Bound the rounding error of a certificate rigorously.

The certificate of a dual point A and a machine W computes P(W) and D(A). As the rows of A hardly
ever sum to 0, D is compared at the repaired point A' (fwlab.operators.repair). This module
bounds

    |computed gap - (P(W) - D(A'))|

with the standard model of rounding: each operation is right to a factor 1 + u, u = 2^-53, or in
underflow to 2^-1074; hence a sum of c products <a, b>, in any order, is right to

    gamma_c |a| |b| + c 2^-1074,   gamma_c = 1.01 c u   (c u < 0.01).

Sums over the samples, and over all entries of W, are made in parts of 1024 terms: there c = 1024 +
n / 1024. Let e_i be the error of row i of the scores, rho_i >= |a_i - a'_i|_1, E the error of the
link V(A), and R the sum of `upper`, which the entries of a point of the domain without the true
class's do not exceed. The errors are

    scores   e_i <= gamma_d |x_i| max_j |w_j|
    loss     R (2 e_i + gamma_{k+4} max_j |h_j|),    k terms, margins h_j; with smoothing k + 8, and
             2 smoothing max_j |g_j| more in the margins
    link     |<V, E>| <= 1/(lam n) sum_i |x_i| (gamma_c sum_j |a_ij| |v_j| + rho_i max_j |v_j|)
             |E|_F <= 1/(lam n) sum_i |x_i| (gamma_c |a_i| + rho_i)
    norm     lam (|<V, E>| + |E|^2 / 2), or with an LpNorm lam (|V| |E| + |E|^2 / 2) in its dual
             norm, which is at most m^max(0, 1/q - 1/2) times the Euclidean one
    costs    1/n sum_i max_j |delta_ij| (gamma_m |a_i|_1 + rho_i)
    ridge    1/n sum_i r_i (gamma_m |a_i|^2 / 2 + |a_i| rho_i + rho_i^2 / 2)

and gamma_c of every sum times the sum of its terms. For a column of a sparse X, c is the number of
its entries. The envelope is computed at z = s - smoothing g, where the value is never below the
envelope for any g. The value <s + delta, g> - smoothing/2 |g|^2 is never above the envelope for g
in the domain. The difference of the two counts as an error.

The entropies have domains, repairs and bounds of their own (fwlab.operators.simplices,
fwlab.operators.capped_simplices).

The weights of the loss, lam, the smoothing, the costs and X count as exact, as they are stored. For
a PolytopeLoss this is no proof, because its functions are its author's: they are taken to be right
to GIVEN times the size of their terms, and R is the largest vertex in some random directions.
"""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from fwlab.arrays import Floats
from fwlab.operators.domains import Domains, RowPolytopes
from fwlab.operators.repair import repair_distances
from fwlab.operators.scores import Part
from fwlab.operators.simplices import Simplices
from fwlab.operators.sizes import RowSizes, row_maxima
from fwlab.operators.sums import MARGIN, UNIT, gamma, gamma_in_parts
from fwlab.primal_dual import PrimalDual

GIVEN = 64 * 2.0**-52
# in which a domain is measured that is known by its LMO alone
DIRECTIONS = 16


def losses_with_error(
    problem: PrimalDual, parts: Iterable[Part], e: Floats, A: Floats | None = None
) -> tuple[Floats, float]:
    """Return Problem.losses(parts, A), and a bound of the error of the mean loss.

    e (n,) bounds the error of the scores of each row.
    """
    omega, smoothing = problem.sample_weight, problem.smoothing
    losses, (errors, sizes) = np.full((2, 2, len(omega)), np.nan)
    for rows, scores in parts:
        gradients = problem.write_losses(rows, scores, A, losses)
        part = problem.polytopes.take(rows), scores, e[rows], smoothing
        errors[rows], sizes[rows] = _row_errors(*part, losses[0, rows], gradients)
    error = float(np.mean(omega * errors))
    return losses, MARGIN * (error + gamma_in_parts(len(omega)) * float(np.mean(omega * sizes)))


def _row_errors(
    polytopes: Domains,
    scores: Floats,
    e: Floats,
    smoothing: float,
    values: Floats,
    g: Floats | None,
) -> tuple[Floats, Floats]:
    """Return bounds of the errors of the losses of rows, and of the losses themselves, (n,).

    values (n,) and g (n, m) are the losses and their gradients; there is no g without smoothing.
    """
    if isinstance(polytopes, Simplices):
        return polytopes.loss_errors(scores, e, values)
    reach, terms = _reach(polytopes, scores)
    margins = polytopes.cost_sizes() + 2 * (row_maxima(scores) + e)
    unit = UNIT if isinstance(polytopes, RowPolytopes) else GIVEN
    if g is None:
        return reach * (2 * e + gamma(terms + 4) / UNIT * unit * margins), reach * margins
    square, shifted = smoothing * (g * g).sum(axis=1), polytopes.add_costs(scores)
    margins += 2 * smoothing * row_maxima(g)
    if isinstance(polytopes, RowPolytopes):
        moved = repair_distances(-g, np.ones(len(g)), polytopes)
    else:
        moved = GIVEN * np.abs(g).sum(axis=1)
    product = np.einsum("ij,ij->i", shifted, g)
    sizes = row_maxima(shifted) * np.abs(g).sum(axis=1)
    below = np.maximum(0.0, values - product + square / 2) + margins * moved
    rounding = gamma(2 * scores.shape[1] + 6) * (sizes + square)
    return reach * (2 * e + gamma(terms + 8) / UNIT * unit * margins) + below + rounding, (
        reach * margins + square
    )


def _reach(polytopes: Domains, scores: Floats) -> tuple[float, int]:
    """Return the largest sum of entries of the wrong classes, and the terms of a loss."""
    if isinstance(polytopes, RowPolytopes):
        return float(polytopes.upper.sum()), polytopes.support
    directions = np.random.default_rng(0).normal(size=(DIRECTIONS, 1, scores.shape[1]))
    size = 1.0 + float(polytopes.cost_sizes().max())
    towards = chain([scores], (0 * scores + 100 * size * direction for direction in directions))
    lengths = (np.abs(polytopes.lowest(gradient)[0]).sum(axis=1) for gradient in towards)
    return max(float(length.max()) for length in lengths), scores.shape[1]


def dual_row_error(problem: PrimalDual, A: Floats, sizes: RowSizes, rho: Floats) -> float:
    """Return a bound of the error of the terms of D that belong to single rows of A.

    `sizes` belong to the rows of A, and rho (n,) bounds |a_i - a'_i|_1.
    """
    if isinstance(problem.polytopes, Simplices):
        return problem.polytopes.conjugate_error(A, problem.sample_weight)
    n, m = problem.n_samples, problem.n_classes
    costs = problem.polytopes.cost_sizes()
    error = float(np.mean(costs * ((gamma(m + 3) + gamma_in_parts(n)) * sizes.lengths + rho)))
    if problem.smoothing:
        ridge, squares = problem.ridge()[:, 0], sizes.squares
        rows = (gamma(m + 6) + gamma(n)) * squares / 2 + np.sqrt(squares) * rho + rho**2 / 2
        error += float(np.mean(ridge * rows))
    return MARGIN * error


def distances(problem: PrimalDual, A: Floats) -> Floats:
    """Return rho, (n,): bounds of the distances |a_i - a'_i|_1 to the repaired dual point."""
    if isinstance(problem.polytopes, Simplices):
        return problem.polytopes.distances(A, problem.sample_weight)
    if problem.in_family:
        return repair_distances(A, problem.sample_weight, problem.row_polytopes)
    return np.asarray(GIVEN * np.abs(A).sum(axis=1))
