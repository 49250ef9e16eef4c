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

Sums over the samples are taken part by part. In memory all samples are one part; out of core a
chunk of rows is a part, and on a cluster a piece of a partition (fwlab.parts). A part adds its
A^T X to the link and its share of the samples times its means to the values, summed without further
rounding (math.fsum). With K > 1 parts

    gamma_c becomes gamma_c + gamma_(K-1) in the link's error,
    and each sum is right to gamma_4 times the sum of the sizes of the parts' terms, besides:

K - 1 additions to the first part's product; a share, the product with it, the sum of costs and
ridge in a part, and the sum over the parts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import fsum
from typing import cast

import numpy as np

from fwlab.arrays import Floats
from fwlab.losses import DOMAIN_TOLERANCE
from fwlab.operators.features import GramFeatures
from fwlab.operators.features_interface import DataFeatures
from fwlab.operators.scores import score_errors, score_parts
from fwlab.operators.sizes import RowSizes, row_sizes
from fwlab.operators.sums import (
    MARGIN,
    UNDERFLOW,
    UNIT,
    gamma,
    gamma_in_parts,
    norms_above,
    square_in_parts,
)
from fwlab.parts import (
    Errors,
    InParts,
    Terms,
    Whole,
    norms_of_rows,
    share_of,
    values_of_parts,
)
from fwlab.primal_dual import PrimalDual
from fwlab.result import Certificate, Objectives
from fwlab.rounding import distances, dual_row_error, losses_with_error


def certificate_of(
    problem: PrimalDual,
    A: Floats,
    W: Floats | None = None,
    link: Floats | None = None,
    scores: Floats | None = None,
    coefficients: Floats | None = None,
    rho: Floats | None = None,
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
    rho : array (n,), optional
        `rounding.distances` of A, if the caller has them.

    Returns
    -------
    Certificate
        It includes gap_error, a bound of the error of the gap, and distance, a bound of |W - W*|.
    """
    if problem.kernel == "linear":
        problem, link, scores = problem.at_data, None, None
    link = problem.link(A) if link is None else link
    rho = distances(problem, A) if rho is None else rho
    if isinstance(problem.features, GramFeatures):
        return _of_gram(problem, A, link, scores, coefficients, rho)
    return _of_machine(problem, A, W, link, scores, rho)


def _of_machine(
    problem: PrimalDual,
    A: Floats,
    W: Floats | None,
    link: Floats,
    scores: Floats | None,
    rho: Floats,
) -> Certificate:
    """Return the certificate of a problem with X, whose samples are one part."""
    norm, at_link = problem.regularizer, W is None and problem.regularizer.plain
    if W is None:
        W = link if norm.plain else norm.representer(link)
    dual_square = problem.dual_square_norm(link, A)
    square = dual_square if at_link else problem.square_norm_of(W)
    whole = Whole(problem.n_samples, 1, norms_of_rows(link), square, dual_square)
    terms = terms_of_part(problem, A, W, whole, scores if at_link else None, rho)
    return certificate_of_terms(problem, [terms], terms.values, whole, link.shape, at_link)


def terms_of_part(
    part: PrimalDual,
    A: Floats,
    W: Floats,
    whole: Whole,
    scores: Floats | None = None,
    rho: Floats | None = None,
) -> Terms:
    """Return the terms of a part.

    Parameters
    ----------
    part : Problem
        The problem on the samples of the part, with the lam n of the whole.
    A, W : array (rows, m), array (m, d)
        The part's rows of the dual point, and the machine.
    whole : Whole
        Sizes and norms of the whole.
    scores : array (rows, m), optional
        The scores of W, if the caller has them.
    rho : array (rows,), optional
        `rounding.distances` of the part's rows of A, if the caller has them.
    """
    features = cast(DataFeatures, part.features)
    rho = distances(part, A) if rho is None else rho
    parts = score_parts(features, W, scores)
    x = norms_above(features.square_norms())
    losses, loss_error = losses_with_error(part, parts, score_errors(features, x, W), A)
    rounded = features.column_error_norms(x) + gamma(whole.n_parts - 1) * x
    sizes = row_sizes(A, whole.rows)
    inner, total = _link_terms(sizes, whole.rows, rounded, x, rho)
    values = part.values(losses, A, whole.square, whole.dual_square)
    share, dual_error = len(A) / whole.n_samples, dual_row_error(part, A, sizes, rho)
    errors = Errors(share * loss_error, share * dual_error, share * inner, total)
    return Terms(share_of(values, share), errors, _is_feasible(part, A, rho))


def certificate_of_parts(problem: InParts, terms: Sequence[Terms], V: Floats) -> Certificate:
    """Return the certificate of the machine W = V, the link of A, from the terms of all parts."""
    square = square_in_parts(V)
    whole = Whole(problem.n_samples, len(terms), norms_of_rows(V), square, square)
    values = values_of_parts(problem, (part.values for part in terms), V)
    return certificate_of_terms(problem, terms, values, whole, V.shape, at_link=True)


def _link_terms(
    sizes: RowSizes, v: Floats, rounded: Floats, x: Floats, rho: Floats
) -> tuple[float, float]:
    """Return bounds of lam |<V, E>|, a mean over the part, and of lam n |E|, a sum.

    v (m,) bounds the norms of V's rows, and `sizes` belong to the rows of A, with the factors v.
    rho (n,) bounds |a_i - a'_i|_1; x and rounded (n,) are |x_i| and gamma_c |x_i|.
    """
    inner = float(np.mean(rounded * sizes.products + rho * x * v.max()))
    return inner, float((rounded * np.sqrt(sizes.squares) + rho * x).sum())


def _link_errors(
    problem: InParts, v: Floats, d: int, inner: float, total: float
) -> tuple[float, float]:
    """Return bounds of lam |<V, E>| and |E|, from the sums of what `_link_terms` returns."""
    # lam n and the quotient are rounded, too, and products may vanish
    lost = np.sqrt(len(v) * d) * problem.n_samples * UNDERFLOW
    size = float(np.linalg.norm(v))
    division = 2 * UNIT * size + lost / problem.lam_n
    return inner + problem.lam * size * division, total / problem.lam_n + division


def _sum_error(terms: Sequence[Terms]) -> float:
    """Return the error of the shares of several parts, of products with them and of their sum."""
    if len(terms) == 1:
        return 0.0
    sizes = fsum(abs(part.values.primal) + abs(part.values.dual) for part in terms)
    return float(gamma(4)) * sizes


def certificate_of_terms(
    problem: InParts,
    terms: Sequence[Terms],
    values: Objectives,
    whole: Whole,
    shape: tuple[int, ...],
    at_link: bool,
) -> Certificate:
    """Return the certificate of these values; at_link says whether the machine is the link."""
    norm, (m, d) = problem.regularizer, shape
    sums = Errors(*map(fsum, zip(*(part.errors for part in terms), strict=True)))
    inner, total = _link_errors(problem, whole.rows, d, sums.inner, sums.total)
    rounding = gamma_in_parts(m * d) if norm.plain else gamma(d + 4 * m + 64)
    # squares below the normal numbers lose their digits, before an LpNorm takes their powers
    vanished = m**2 * d * 2.0**-1021
    error = sums.losses + sums.dual + _sum_error(terms)
    error += problem.lam / 2 * ((whole.square + whole.dual_square) * rounding + 2 * vanished)
    if norm.plain:
        error += inner + problem.lam / 2 * total**2
    else:
        E = total * m ** max(0.0, 1 / norm.q - 0.5)
        error += problem.lam * (np.sqrt(whole.dual_square) * E + E**2 / 2)
    certificate = _bounded(values, error, all(part.is_feasible for part in terms))
    certificate = replace(certificate, link_error=float(total))
    if certificate.contradiction or not 1 < norm.p <= 2:
        return certificate
    root = np.sqrt(certificate.proved_gap) / np.sqrt(problem.lam * (norm.p - 1))
    distance = root + total / 2 if at_link else np.sqrt(2) * root
    return replace(certificate, distance=MARGIN * float(distance))


def _is_feasible(part: PrimalDual, A: Floats, rho: Floats) -> bool:
    """Return whether rows of A are feasible; rho bounds their distances to a feasible point.

    Small distances prove that they are.
    """
    polytopes, omega = part.polytopes, part.sample_weight
    near = polytopes.trusted and (rho <= DOMAIN_TOLERANCE * polytopes.scale * omega).all()
    return bool(near or not polytopes.checks_membership or part.is_feasible(A))


def _bounded(values: Objectives, error: float, is_feasible: bool) -> Certificate:
    """Return the certificate of these values, which certifies nothing if A is infeasible."""
    if not is_feasible:
        values, error = values._replace(dual=-np.inf), np.inf
    # the last sum of each of the two values is rounded, and their difference
    error = MARGIN * (error + 2 * UNIT * (abs(values.primal) + abs(values.dual)))
    return values.certificate(from_scratch=True, gap_error=float(error)).checked()


# ------------------------------------------------------------------ a Gram matrix


def _of_gram(
    problem: PrimalDual,
    A: Floats,
    link: Floats,
    scores: Floats | None,
    C: Floats | None,
    rho: Floats,
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
    norm = problem.regularizer
    assert isinstance(problem.features, GramFeatures)
    kappa = problem.features.row_maxima()
    entries, errors = _product_errors(problem, C, machine_link, kappa)
    mu = problem.gram_shift
    e = entries.max() + mu * np.abs(C).max(axis=1) / problem.lam_n
    parts = score_parts(problem.features, machine_link, scores if C is A else None)
    losses, error = losses_with_error(problem, parts, e, A)
    error += dual_row_error(problem, A, row_sizes(A, np.zeros(problem.n_classes)), rho)
    shifts = mu * np.einsum("ij,ij->j", C, C) / problem.lam_n**2
    error += _norm_error(problem, machine_link, C, errors + shifts, norm.square_norm)
    entries, errors = _product_errors(problem, A, link, kappa)
    shifts = mu * (np.sqrt(np.einsum("ij,ij->j", A, A)) + rho.sum()) ** 2 / problem.lam_n**2
    moved = np.sqrt(kappa.max()) * rho.sum() / problem.lam_n
    if norm.plain:
        first = np.mean(rho * (np.abs(link).max(axis=0) + entries.max()))
        error += float(first) + problem.lam / 2 * moved**2
    error += _norm_error(problem, link, A, errors + shifts, norm.dual_square_norm, moved)
    values = problem.values(losses, A, square, dual_square)
    certificate = _bounded(values, error, _is_feasible(problem, A, rho))
    return certificate.contradicted(_negative_curvature(problem, A, link, errors))


def _negative_curvature(problem: PrimalDual, A: Floats, link: Floats, errors: Floats) -> str:
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
    problem: PrimalDual, C: Floats, link: Floats, kappa: Floats
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
    problem: PrimalDual,
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
