"""Certify machines of the cross-entropy from one pass over tensors, on their own device.

The dual point of a machine W is theta A(W), where A(W) has the rows omega_i (e_y - p_i) of W's own
scores, and 0 <= theta <= 1. It is computed in float64 part by part and never held as a whole: a
part of rows gives its scores, losses and rows of theta A, and adds its share of the link A^T X. So
one pass gives all terms of P(W) and of D(theta A(W)) with the bounds of fwlab.rounding, and any two
passes, of W and of another machine, give the certificate of the pair. Entries of X of a shorter
type count as exact.

The rounding model holds for every order of summation and for fused operations. exp, log and log1p
are taken to be right to LIBRARY ulp (operators.simplices); CUDA's mathematical functions state 1
ulp for each of them in float64. A product that emulates float64 by shorter types is none of this
model: CUBLAS_EMULATE_DOUBLE_PRECISION must not be set.

With r_j = sum_i gamma |x_i| |a_ij| and v_j = |v_j| the error of the norm, <|V|, |E|>, is a product
of m numbers, so that no second pass is needed.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.sparse import issparse

from fwlab.arrays import Floats, on_host
from fwlab.certificate import certificate_of_terms
from fwlab.losses import DOMAIN_TOLERANCE
from fwlab.operators.features_interface import DataFeatures
from fwlab.operators.precision import require_subnormals
from fwlab.operators.scores import score_errors
from fwlab.operators.simplices import Simplices
from fwlab.operators.sums import (
    MARGIN,
    gamma_in_parts,
    mean_in_parts,
    norms_above,
    row_products,
    square_in_parts,
)
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.parts import Errors, Terms, Whole, norms_of_rows
from fwlab.primal_dual import PrimalDual
from fwlab.result import Certificate, Objectives

# a distance that rows without weight, which are 0, may have by their bound
NOTHING = 2.0**-900


@dataclass(frozen=True, eq=False)
class MachineTerms:
    """The terms of P(W) and of D(A(W)), with bounds of their errors.

    Attributes
    ----------
    square, loss, loss_error : float
        |W|^2, and the mean loss with a bound of its error.
    V : array (m, d)
        The computed link of A(W), an array of numpy.
    conjugate, dual_error : float
        The mean conjugate with a bound of its error.
    inner, total : float
        Bounds of lam |<V, E>| and of lam n |E|, with E the error of the link.
    infeasibility : float
        A bound of the distance |a_i - a'_i|_1 of a row of A(W) to a feasible point.
    is_feasible : bool
        Whether all rows are next to feasible points.
    """

    square: float
    loss: float
    loss_error: float
    V: Floats
    conjugate: float
    dual_error: float
    inner: float
    total: float
    infeasibility: float
    is_feasible: bool

    def dual(self, lam: float) -> float:
        """Return D(A(W))."""
        return -lam / 2 * square_in_parts(self.V) - self.conjugate


def terms_of_zero(problem: PrimalDual) -> MachineTerms:
    """Return the terms of the dual point A = 0, where D is 0 without an error."""
    V, zero = np.zeros((problem.n_classes, problem.n_features)), 0.0
    return MachineTerms(zero, np.inf, zero, V, zero, zero, zero, zero, zero, True)


def machine_terms(problem: PrimalDual, W: Any, scale: float = 1.0) -> MachineTerms:
    """Return the terms of a machine W (m, d), a tensor or an array, in one pass over X.

    scale is theta of the dual point.
    """
    features, omega = tensor_rows(problem.features), problem.sample_weight
    polytopes = cast(Simplices, problem.polytopes)
    require_subnormals(features.xp, features.device)
    machine = np.ascontiguousarray(on_host(W), dtype=np.float64)
    vectors, sums, link = _pass(problem, features.here(machine), scale)
    x = norms_above(features.square_norms())
    e = score_errors(cast(DataFeatures, features), x, machine)
    losses = vectors.losses
    errors = polytopes.loss_errors_at(vectors.largest, e, losses)
    rounding = gamma_in_parts(len(omega)) * float(np.mean(omega * losses))
    V = link / problem.lam_n
    rounded, rho = features.column_error_norms(x, len(V)), vectors.distances
    v = norms_of_rows(V)
    inner = float(sums @ v) / len(omega) + float(np.mean(rho * x)) * float(v.max())
    scale = DOMAIN_TOLERANCE * polytopes.scale
    return MachineTerms(
        square=square_in_parts(machine),
        loss=mean_in_parts(omega * losses),
        loss_error=MARGIN * (float(np.mean(omega * errors)) + rounding),
        V=V,
        conjugate=mean_in_parts(omega * vectors.entropies),
        dual_error=MARGIN**2 * float(np.mean(vectors.conjugate_errors)),
        inner=MARGIN * inner,
        total=MARGIN * float((rounded * np.sqrt(vectors.squares) + rho * x).sum()),
        infeasibility=float(rho.max()),
        is_feasible=bool((rho <= scale * omega + NOTHING).all()),
    )


def certificate_of_machines(
    problem: PrimalDual, primal: MachineTerms, dual: MachineTerms
) -> Certificate:
    """Return the certificate of the machine of one pass and the dual point of another."""
    rows, dual_square = norms_of_rows(dual.V), square_in_parts(dual.V)
    value = problem.lam / 2 * primal.square + primal.loss
    values = Objectives(value, dual.dual(problem.lam), value)
    errors = Errors(primal.loss_error, dual.dual_error, dual.inner, dual.total)
    terms = Terms(values, errors, dual.is_feasible)
    whole = Whole(problem.n_samples, 1, rows, primal.square, dual_square)
    return certificate_of_terms(problem, [terms], values, whole, dual.V.shape, at_link=False)


def dual_point(problem: PrimalDual, W: Any, scale: float = 1.0) -> Any:
    """Return scale A(W), (n, m), a tensor of float64 on the device of X."""
    features, polytopes = tensor_rows(problem.features), cast(Simplices, problem.polytopes)
    weights = scale * problem.sample_weight
    omega, machine = features.here(weights), features.here(W, features.xp.float64)
    return features.xp.concat(
        [
            omega[rows, None] * polytopes.take(rows).losses_and_duals(X @ machine.T)[1]
            for rows, X in features.parts(problem.n_classes, features.xp.float64)
        ]
    )


def machine_of(problem: PrimalDual, A: Any) -> Any:
    """Return the link (m, d) of a dual point, a tensor or a CSR array (n, m) of float64.

    Raises ValueError if A is not feasible.
    """
    features, m = tensor_rows(problem.features), problem.n_classes
    polytopes, omega = cast(Simplices, problem.polytopes), features.here(problem.sample_weight)
    link = 0.0
    for rows, X in features.parts(m, features.xp.float64):
        part = A[rows, :].toarray() if issparse(A) else A[rows, :]
        distances = polytopes.take(rows).distances_of_rows(part, omega[rows])
        if not bool(features.xp.all(distances <= DOMAIN_TOLERANCE * omega[rows] + NOTHING)):
            largest = float(features.xp.max(distances))
            raise ValueError(f"A0 must be feasible; a row is {largest:.3g} away from its domain.")
        link = link + part.T @ X
    return link / problem.lam_n


@dataclass(frozen=True, eq=False)
class _RowVectors:
    """Numbers of each row, (n,) each: of its loss, of its row of A and of its conjugate."""

    losses: Floats
    largest: Floats
    entropies: Floats
    conjugate_errors: Floats
    squares: Floats
    distances: Floats


def _pass(problem: PrimalDual, W: Any, scale: float) -> tuple[_RowVectors, Floats, Floats]:
    """Return numbers of each row, sum_i gamma |x_i| |a_ij| for each class, (m,), and A^T X."""
    features, m = tensor_rows(problem.features), problem.n_classes
    xp, polytopes = features.xp, cast(Simplices, problem.polytopes)
    omega, weights = (features.here(c * problem.sample_weight) for c in (1.0, scale))
    x = norms_above(features.square_norms())
    gammas = features.here(features.column_error_norms(x, m))
    link, sums = xp.zeros_like(W), xp.zeros_like(W[:, 0])
    found: list[tuple[Any, ...]] = []
    for rows, X in features.parts(m, xp.float64):
        scores, part = X @ W.T, polytopes.take(rows)
        losses, A = part.losses_and_duals(scores)
        A = weights[rows, None] * A
        link += A.T @ X
        sums += gammas[rows] @ xp.abs(A)
        conjugates = part.entropies_with_errors(A, omega[rows], problem.n_samples)
        largest = xp.max(xp.abs(scores), axis=1)
        distances = part.distances_of_rows(A, omega[rows])
        found.append((losses, largest, *conjugates, row_products(A, A), distances))
    vectors = (on_host(xp.concat(column)) for column in zip(*found, strict=True))
    return _RowVectors(*vectors), on_host(sums), on_host(link)
