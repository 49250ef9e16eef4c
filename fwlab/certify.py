"""Compute the certificate of a dual point and a machine, with a bound of its rounding error.

fwlab.rounding derives the bound. The machine is W (m, d), or with a precomputed kernel the
combination of coefficients C (n, m); by default it is W(A). With kernel="linear" all products are
made with X, because the Gram matrix has rounding errors.

The gap bounds how far W is from the machine W* of the optimum. P is lam-strongly convex, and D(A)
= D(A*) + <grad D(A*), A - A*> - lam/2 |W(A) - W*|^2 - .., where the product is not positive. Hence

    lam/2 |W - W*|^2 <= P(W) - P(W*),    lam/2 |W(A) - W*|^2 <= D(A*) - D(A),

and the right sides add up to the gap g. So |W - W*|^2 <= 2 g / lam for every W, and

    |W - W*| <= sqrt(g / lam) + eps / 2   if |W - W(A)| <= eps.

With an LpNorm of 1 < p <= 2, R is strongly convex with the constant p - 1 in its own norm, which is
at least the Euclidean one: the first bound then has lam (p - 1) in the place of lam.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np

from fwlab.arrays import Floats
from fwlab.losses import DOMAIN_TOLERANCE
from fwlab.operators.features import GramFeatures
from fwlab.operators.features_interface import DataFeatures
from fwlab.operators.scores import score_errors, score_parts
from fwlab.operators.sums import MARGIN, UNDERFLOW, UNIT, gamma, gamma_in_parts, norms_above
from fwlab.problem import Problem
from fwlab.result import Certificate
from fwlab.rounding import distances, dual_row_error, losses_with_error


def certify(
    problem: Problem,
    A: Floats,
    W: Floats | None = None,
    link: Floats | None = None,
    scores: Floats | None = None,
    coefficients: Floats | None = None,
) -> Certificate:
    """Return the certificate of the dual point A and a machine, computed from the data.

    Parameters
    ----------
    problem : Problem
    A : array (n, m)
        A feasible dual point.
    W : array (m, d), optional
        The machine; W(A) by default.
    link : array, optional
        The link of A, if the caller has it; it is not read with kernel="linear".
    scores : array (n, m), optional
        The scores of the link, if the caller has them; not read with kernel="linear" either.
    coefficients : array (n, m), optional
        The coefficients C of the machine with a precomputed kernel; by default W(A) has them.

    Returns
    -------
    Certificate
        It includes gap_error, a bound of the error of the gap, and distance, a bound of |W - W*|.
    """
    if problem.kernel == "linear":
        problem, link, scores = problem.at_data, None, None
    link = problem.link(A) if link is None else link
    if isinstance(problem.features, GramFeatures):
        return _of_gram(problem, A, link, scores, coefficients)
    return _of_machine(problem, A, W, link, scores)


def _of_machine(
    problem: Problem, A: Floats, W: Floats | None, link: Floats, scores: Floats | None
) -> Certificate:
    """Return the certificate of a problem with X."""
    norm, at_link = problem.regularizer, W is None and problem.regularizer.plain
    if W is None:
        W = link if norm.plain else norm.representer(link)
    dual_square = problem.dual_square_norm(link, A)
    square = dual_square if at_link else problem.square_norm_of(W)
    dual = problem.dual_value(A, dual_square)
    m, d = W.shape
    features = cast(DataFeatures, problem.features)
    parts = score_parts(features, W, scores if at_link else None)
    losses, loss_error = losses_with_error(problem, parts, score_errors(features, W), A)
    x, rho = norms_above(features.square_norms()), distances(problem, A)
    inner, total = _link_errors(problem, A, link, features.column_error_norms(), x, rho)
    rounding = gamma_in_parts(m * d) if norm.plain else gamma(d + 4 * m + 64)
    # squares below the normal numbers lose their digits, before an LpNorm takes their powers
    vanished = m**2 * d * 2.0**-1021
    error = loss_error + dual_row_error(problem, A, rho)
    error += problem.lam / 2 * ((square + dual_square) * rounding + 2 * vanished)
    if norm.plain:
        error += inner + problem.lam / 2 * total**2
    else:
        E = total * m ** max(0.0, 1 / norm.q - 0.5)
        error += problem.lam * (np.sqrt(dual_square) * E + E**2 / 2)
    certificate = _certificate(problem, A, losses, square, dual, error, rho)
    if certificate.contradiction or not 1 < norm.p <= 2:
        return certificate
    root = np.sqrt(certificate.proved_gap) / np.sqrt(problem.lam * (norm.p - 1))
    distance = root + total / 2 if at_link else np.sqrt(2) * root
    return replace(certificate, distance=MARGIN * float(distance))


def _link_errors(
    problem: Problem, A: Floats, V: Floats, rounded: Floats, x: Floats, rho: Floats
) -> tuple[float, float]:
    """Return bounds of lam |<V, E>| and |E|, with E the error of the link V of A.

    Parameters
    ----------
    problem : Problem
    A, V : (n, m) and its link.
    rounded, x : (n,) each, gamma_c |x_i| and |x_i|.
    rho : (n,), bounds of |a_i - a'_i|_1.

    """
    v = norms_above(np.einsum("ij,ij->i", V, V))
    products = np.concatenate([np.abs(A[rows]) @ v for rows, _ in problem.chunks()])
    inner = float(np.mean(rounded * products + rho * x * v.max()))
    norms = np.sqrt(np.einsum("ij,ij->i", A, A))
    total = float((rounded * norms + rho * x).sum()) / problem.lam_n
    # lam n and the quotient are rounded, too, and products may vanish
    size = float(np.linalg.norm(v))
    division = 2 * UNIT * size + np.sqrt(V.size) * len(A) * UNDERFLOW / problem.lam_n
    return inner + problem.lam * size * division, total + division


def _of_gram(
    problem: Problem, A: Floats, link: Floats, scores: Floats | None, C: Floats | None
) -> Certificate:
    """Return the certificate with a Gram matrix K of the samples.

    An entry of K c is right to gamma_c sum_i kappa_i |c_i|, where kappa_i is the largest absolute
    entry of row i. This bounds the error eps of |v_j|^2 = <a_j, K a_j> / (lam n)^2 for each class,
    and |v_j| then has an error of at most eps / |v_j|, and of at most sqrt(eps).

    Weak duality needs a positive semidefinite matrix, which K + mu I is proved to be
    (fwlab.checks.gram). The gap of the problem with K + mu I is bounded too: there, |v_j| grows by
    at most sqrt(mu) |a_j| / (lam n) and a score by mu |c_ij| / (lam n).
    """
    C = problem.expansion(A) if C is None else C
    machine_link = link if C is A else problem.link(C)
    square, dual_square = problem.square_norm(machine_link, C), problem.dual_square_norm(link, A)
    dual = problem.dual_value(A, dual_square)
    rho, norm = distances(problem, A), problem.regularizer
    assert isinstance(problem.features, GramFeatures)
    kappa = problem.features.row_maxima()
    entries, errors = _product_errors(problem, C, machine_link, kappa)
    mu = problem.gram_shift
    e = entries.max() + mu * np.abs(C).max(axis=1) / problem.lam_n
    parts = score_parts(problem.features, machine_link, scores if C is A else None)
    losses, error = losses_with_error(problem, parts, e, A)
    error += dual_row_error(problem, A, rho)
    shifts = mu * np.einsum("ij,ij->j", C, C) / problem.lam_n**2
    error += _norm_error(problem, machine_link, C, errors + shifts, norm.square_norm)
    entries, errors = _product_errors(problem, A, link, kappa)
    shifts = mu * (np.sqrt(np.einsum("ij,ij->j", A, A)) + rho.sum()) ** 2 / problem.lam_n**2
    moved = np.sqrt(kappa.max()) * rho.sum() / problem.lam_n
    if norm.plain:
        first = np.mean(rho * (np.abs(link).max(axis=0) + entries.max()))
        error += float(first) + problem.lam / 2 * moved**2
    error += _norm_error(problem, link, A, errors + shifts, norm.dual_square_norm, moved)
    certificate = _certificate(problem, A, losses, square, dual, error, rho)
    return certificate.contradicted(_negative_curvature(problem, A, link, errors))


def _negative_curvature(problem: Problem, A: Floats, link: Floats, errors: Floats) -> str:
    """Return which column a of A (n, m) shows that K + mu I is not positive semidefinite, or "".

    The product <a, K a> is then below -mu |a|^2 and its rounding error. `errors` (m,) bounds the
    errors of <a, K a> / (lam n)^2.
    """
    errors = errors + problem.gram_shift * np.einsum("ij,ij->j", A, A) / problem.lam_n**2
    products = problem.features.class_products(link, link, A, problem.lam_n)
    j = int(np.argmin(products + errors))
    if products[j] >= -errors[j]:
        return ""
    return (
        f"the Gram matrix X is not positive semidefinite: <a, X a> is "
        f"{products[j] * problem.lam_n**2:.3g} for column {j} of the dual point, whose norm is "
        f"{np.linalg.norm(A[:, j]):.3g}, so that weak duality fails."
    )


def _product_errors(
    problem: Problem, C: Floats, link: Floats, kappa: Floats
) -> tuple[Floats, Floats]:
    """Return bounds, (m,) each, of the errors of a class's link entries and of its |v_j|^2.

    |v_j|^2 counts with two quotients, the sum over the classes, the product with lam / 2 and the
    sum with the other terms.
    """
    (n, m), sizes = C.shape, np.abs(C)
    entries = (gamma_in_parts(n) * (sizes.T @ kappa) + n * UNDERFLOW) / problem.lam_n
    entries += 2 * UNIT * np.abs(link).max(axis=1)
    products = np.einsum("ij,ji->j", sizes, np.abs(link))
    errors = (sizes.sum(axis=0) * entries + gamma(n + m + 4) * products) / problem.lam_n
    # products and quotients by lam n vanish, and so do squares of larger numbers later on
    vanished = n * 2.0**-1021 * (1 + 1 / problem.lam_n)
    return entries + vanished, errors + vanished


def _norm_error(
    problem: Problem,
    link: Floats,
    C: Floats,
    errors: Floats,
    square_norm: Callable[[Floats], float],
    moved: float = 0.0,
) -> float:
    """Return the error of lam/2 square_norm(|v_j|^2) if |v_j|^2 has these `errors`, (m,).

    With an LpNorm the v_j may move besides, by `moved` in all.
    """
    if problem.regularizer.plain:
        return problem.lam / 2 * float(errors.sum())
    squares = problem.square_norms(link, C)
    change = errors / np.sqrt(np.maximum(squares, errors))
    size, shift = np.sqrt(square_norm(squares)), np.sqrt(square_norm(change**2)) + moved
    rounding = gamma(4 * len(squares) + 64) * size**2 / 2
    return problem.lam * float(size * shift + shift**2 / 2 + rounding)


def _certificate(
    problem: Problem,
    A: Floats,
    losses: Floats,
    square: float,
    dual: float,
    error: float,
    rho: Floats,
) -> Certificate:
    """Return the certificate of these values, which certifies nothing if A is infeasible.

    losses (2, n) come from Problem.losses, and square is 2 R(W).
    rho (n,) bounds the distances to a feasible point. Small distances prove that A is feasible.
    """
    polytopes, omega = problem.polytopes, problem.sample_weight
    near = problem.in_family and (rho <= DOMAIN_TOLERANCE * polytopes.scale * omega).all()
    feasible = near or not polytopes.checks_membership or problem.is_feasible(A)
    dual, error = (dual, error) if feasible else (-np.inf, np.inf)
    primal, augmented = (problem.objective(values, square) for values in losses)
    augmented += problem.ridge_term(A)
    # the last sum of each of the two values is rounded, and their difference
    error = MARGIN * (error + 2 * UNIT * (abs(primal) + abs(dual)))
    certificate = Certificate(
        primal, dual, primal - dual, augmented - dual, from_scratch=True, gap_error=float(error)
    )
    return certificate.checked()
