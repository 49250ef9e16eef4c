"""Evaluate a machine on the path along C: the sum U of its gradients, with a bound of its error.

With A(W) the rows a_i = omega_i (e_y - p_i) of the training samples at W's own scores,

    U(W) = A(W)^T X,    W* = C U(W*) at the optimum W* of (1/2) |W|^2 + C sum_i omega_i loss_i.

The residual W - C U(W) is the gradient of this objective.

Rounding. The scores of row i are right to e_i, hence a margin to d = 2 e_i + 8 u (largest score),
and a share p_j = exp(z_j) / sum exp(z_k) to a factor between exp(-2 d) and exp(2 d), besides the
errors of exp, of the sum and of the quotient: in all to

    rho = 4 d + gamma_{m + 2 LIBRARY_UNITS + 8},    for 2 d <= 1,

of itself (fwlab.operators.simplices). The row's error is at most 2 rho t in the sum of its entries'
sizes, where the exact t is at most twice the computed one for rho <= 1/2, and with larger rho at
most 4. With the errors of the product, as in fwlab.rounding,

    |computed U - U| <= sum_i (gamma |x_i| |a_i| + |x_i| error of a_i).
"""

from dataclasses import dataclass
from typing import cast

import numpy as np

from fwlab.arrays import Floats
from fwlab.enclosing_ball import norm_above
from fwlab.operators.features_interface import DataFeatures
from fwlab.operators.scores import row_slices, score_errors
from fwlab.operators.simplices import LIBRARY_UNITS, VANISHED
from fwlab.operators.sizes import row_maxima
from fwlab.operators.softmax import cross_entropies
from fwlab.operators.sums import MARGIN, UNDERFLOW, UNIT, gamma, norms_above
from fwlab.primal_dual import PrimalDual

# beyond it a row counts as unknown
MOST_UNSURE = 0.004


@dataclass(frozen=True, eq=False)
class PointAtC:
    """A machine at a constant C, with its gradients.

    Attributes
    ----------
    C : float
    W : array (m, d)
        Any machine, near the optimum for C.
    scores, duals : array (n, m)
        The scores of the training samples, and their rows e_y - p.
    score_errors, share_errors : array (n,)
        Bounds of the errors of a row's scores, and of the relative errors of its shares.
    U : array (m, d)
        The computed U(W).
    U_error : float
        A bound of its error.
    residual : float
        A bound of |W - C U(W)|, with the exact U(W).
    """

    C: float
    W: Floats
    scores: Floats
    duals: Floats
    score_errors: Floats
    share_errors: Floats
    U: Floats
    U_error: float
    residual: float


@dataclass(frozen=True, eq=False)
class TrainingSamples:
    """The training samples: their problem, the norms of the rows, and the weights times these.

    Attributes
    ----------
    norms, product_errors, weighted_norms : array (n,)
        Bounds of |x_i|, of gamma |x_i| in a product with X^T, and omega_i |x_i|.
    """

    problem: PrimalDual
    norms: Floats
    product_errors: Floats
    weighted_norms: Floats

    @classmethod
    def of(cls, problem: PrimalDual) -> "TrainingSamples":
        """Return the samples of a problem."""
        features = cast(DataFeatures, problem.features)
        norms = norms_above(features.square_norms())
        errors = features.column_error_norms(norms)
        return cls(problem, norms, errors, problem.sample_weight * norms)

    def point(self, C: float, W: Floats) -> PointAtC:
        """Return the point of a machine W (m, d) at C."""
        problem, omega = self.problem, self.problem.sample_weight
        scores = problem.features.scores(W)
        duals = np.empty_like(scores)
        for rows in row_slices(*scores.shape):
            duals[rows] = cross_entropies(scores[rows], problem.y[rows])[1]
        A = duals if (omega == 1.0).all() else omega[:, None] * duals
        U = problem.features.transposed_product(A)
        errors = score_errors(cast(DataFeatures, problem.features), self.norms, W)
        unsure = share_errors(row_maxima(scores), errors, scores.shape[1])
        t = duals[np.arange(len(duals)), problem.y]
        rows_error = omega * row_errors(unsure, t, scores.shape[1])
        sizes = norms_above(np.einsum("ij,ij->i", A, A))
        total = float(np.sum(self.product_errors * sizes + self.norms * rows_error))
        U_error = MARGIN * (total + np.sqrt(U.size) * len(A) * UNDERFLOW)
        residual = norm_above(W - C * U) + C * (2 * UNIT * norm_above(U) + U_error)
        return PointAtC(C, W, scores, duals, errors, unsure, U, U_error, MARGIN * residual)


def share_errors(largest: Floats, e: Floats, m: int) -> Floats:
    """Return bounds of the relative errors of m shares, (n,), or infinity for a poor score.

    largest and e (n,) are the sizes of the largest scores and the errors of the scores.
    """
    d = 2 * e + 8 * UNIT * (largest + e)
    errors = MARGIN * (4 * d + gamma(m + 2 * LIBRARY_UNITS + 8))
    return np.where(errors <= MOST_UNSURE, errors, np.inf)


def row_errors(unsure: Floats, t: Floats, m: int) -> Floats:
    """Return bounds of the errors of rows e_y - p, (n,), for their sums t of the shares p_j."""
    known = np.isfinite(unsure)
    errors = 4 * np.where(known, unsure, 0.0) * t + 16 * m * VANISHED
    return np.where(known, errors, 4.1)
