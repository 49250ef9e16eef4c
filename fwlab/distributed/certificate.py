"""Compute the certificate of a dual point and W, chunk by chunk.

fwlab.rounding derives the bound of the rounding error; fwlab.certify applies it to data in memory.
Here the mean over the samples is a sum over the chunks of `share` times the mean over the chunk,
made without further rounding (math.fsum), and each chunk adds its A^T X to the link. With K chunks

    gamma_c becomes gamma_c + gamma_K in the link's error,
    and each sum is right to gamma_4 times the sum of the sizes of the chunks' terms, besides.

The W that a method tracks is compared with the W of its A. A step that replaces a row a_i by b_i
adds (b_i - a_i) x_i^T / (lam n) to W. The norm of W, and the norm of each change of W, is at most

    S = 4 / (lam n) sum_i omega_i R |x_i|,

where R is the largest sum of the entries of a vertex without the label's. After T steps and a sum
over n rows, rounding errors explain a distance of 8 gamma_(T + n) S. This bound also covers the
entries of A that `packed.significant` drops: a round makes at least one step, and the entries that
it drops change W by less than 2^-54 S.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import fsum
from typing import NamedTuple, cast

import numpy as np

from fwlab.arrays import Floats
from fwlab.distributed.problem import ChunkProblem, ProblemInParts
from fwlab.losses import DOMAIN_TOLERANCE
from fwlab.operators.features_interface import DataFeatures
from fwlab.operators.scores import row_slices, rows_of_part, score_parts
from fwlab.operators.sums import (
    MARGIN,
    UNDERFLOW,
    UNIT,
    gamma,
    gamma_in_parts,
    norms_above,
    square_in_parts,
)
from fwlab.result import Certificate
from fwlab.rounding import distances, dual_row_error, losses_with_error


class Terms(NamedTuple):
    """The part of one chunk in the means of a certificate, and in the bounds of their errors."""

    loss: float  # mean loss
    loss_error: float
    linear: float  # mean costs and ridge of the dual
    linear_error: float
    inner: float  # of lam |<V, E>|, with E the error of the link V
    total: float  # of lam |E|
    augmented: float  # mean loss of the augmented primal, with its ridge
    outside: float  # 1 if a row is infeasible


def start_certificate(problem: ProblemInParts) -> Certificate:
    """Return the certificate of A = 0 and W = 0, which needs no X."""
    means = []
    for part in problem.parts:
        zeros = np.zeros((rows_of_part(part.n_classes), part.n_classes))
        slices = row_slices(part.n_samples, part.n_classes)
        parts = ((rows, zeros[: rows.stop - rows.start]) for rows in slices)
        losses = part.losses(parts, np.broadcast_to(0.0, (part.n_samples, part.n_classes)))
        means.append([part.share * part.objective(values, 0.0) for values in losses])
    primal, augmented = map(fsum, zip(*means, strict=True))
    return Certificate(primal, 0.0, primal, augmented)


class TrackedTerms(NamedTuple):
    """The part of one chunk in the means of a certificate without bounds."""

    loss: float
    linear: float
    augmented: float


def tracked_certificate(
    problem: ProblemInParts, terms: Sequence[TrackedTerms], V: Floats
) -> Certificate:
    """Return the certificate at a link V that a method tracks, without bounds of its errors.

    It takes a third of the time of the one with bounds. There is one term per chunk.
    """
    sums = TrackedTerms(*map(fsum, zip(*terms, strict=True)))
    norm = problem.lam / 2 * square_in_parts(V)
    primal, dual = norm + sums.loss, sums.linear - norm
    return Certificate(primal, dual, primal - dual, norm + sums.augmented - dual)


def tracked_terms(part: ChunkProblem, A: Floats, V: Floats) -> TrackedTerms:
    """Return the terms of one chunk."""
    losses = part.losses(score_parts(part.features, V), A)
    loss, augmented = (part.objective(values, 0.0) for values in losses)
    linear, ridge = part.dual_value(A, 0.0), part.ridge_term(A)
    return TrackedTerms(part.share * loss, part.share * linear, part.share * (augmented + ridge))


def certificate(
    problem: ProblemInParts,
    chunks: Iterable[tuple[ChunkProblem, Floats]],
    V: Floats,
) -> Certificate:
    """Return the certificate of a dual point A and the machine W = V, the link of A.

    Parameters
    ----------
    problem : OutOfCoreProblem or another in parts
    chunks : iterable of pairs
        Each chunk's part with its rows of X, and its rows of A.
    V : array (m, d)
        A^T X / (lam n), computed from A chunk by chunk.
    """
    norms, n_chunks = norms_of_rows(V), len(problem.parts)
    terms = [chunk_terms(part, A, V, norms, n_chunks) for part, A in chunks]
    return certificate_of(problem, terms, V)


def norms_of_rows(V: Floats) -> Floats:
    """Return bounds of the norms of the rows of V, (m,)."""
    return norms_above(np.einsum("ij,ij->i", V, V))


def certificate_of(problem: ProblemInParts, terms: Sequence[Terms], V: Floats) -> Certificate:
    """Return the certificate whose terms these are, chunk by chunk; otherwise as `certificate`."""
    v = norms_of_rows(V)
    sums = Terms(*map(fsum, zip(*terms, strict=True)))
    lam, square, size = problem.lam, square_in_parts(V), float(np.linalg.norm(v))
    primal, dual = lam / 2 * square + sums.loss, -lam / 2 * square - sums.linear
    # lam n and the quotient are rounded, too
    division = 4 * UNIT * size + np.sqrt(V.size) * UNDERFLOW * problem.n_samples / problem.lam_n
    inner = MARGIN * (sums.inner + lam * size * division)
    total = MARGIN * (sums.total / lam + division)
    vanished = lam * V.shape[0] * V.size * 2.0**-1021
    error = 2 * (lam / 2 * square * gamma_in_parts(V.size) + vanished)
    error += sums.loss_error + sums.linear_error + inner + lam / 2 * total**2
    error += gamma(4) * fsum(abs(term.loss) + abs(term.linear) for term in terms)
    error = MARGIN * error + 16 * UNIT * (abs(primal) + abs(dual) + lam * square)
    if sums.outside:
        dual, error = -np.inf, np.inf
    augmented = lam / 2 * square + sums.augmented
    found = Certificate(
        primal,
        dual,
        primal - dual,
        augmented - dual,
        from_scratch=True,
        gap_error=float(error),
    ).checked()
    if found.contradiction:
        return found
    root = np.sqrt(max(found.proved_gap, 0.0)) / np.sqrt(lam)
    return replace(found, distance=float(root + total / 2) * MARGIN + UNDERFLOW)


def chunk_terms(part: ChunkProblem, A: Floats, V: Floats, v: Floats, n_chunks: int) -> Terms:
    """Return the terms of one chunk of n_chunks; v (m,) bounds the norms of the rows of V."""
    features = cast(DataFeatures, part.features)
    x = norms_above(features.square_norms())
    entries = features.row_terms()
    e = gamma(entries + 2) * x * v.max() + entries * UNDERFLOW
    losses, error = losses_with_error(part, score_parts(features, V), e, A)
    loss, augmented = (part.objective(values, 0.0) for values in losses)
    rho = distances(part, A)
    rounded = features.column_error_norms() + gamma(n_chunks) * x
    products = np.concatenate([np.abs(A[rows]) @ v for rows, _ in part.chunks()])
    norms = np.sqrt(np.einsum("ij,ij->i", A, A))
    allowed = DOMAIN_TOLERANCE * part.row_polytopes.scale * part.sample_weight
    feasible = (rho <= allowed).all() or part.is_feasible(A)
    share = part.share
    return Terms(
        loss=share * loss,
        loss_error=share * error,
        linear=-share * part.dual_value(A, 0.0),
        linear_error=share * dual_row_error(part, A, rho),
        inner=share * float(np.mean(rounded * products + rho * x * v.max())),
        total=share * float(np.mean(rounded * norms + rho * x)),
        augmented=share * (augmented + part.ridge_term(A)),
        outside=0.0 if feasible else 1.0,
    )


class DriftError(RuntimeError):
    """W is not the W of A, or the gap is negative, and rounding errors do not explain it.

    X, W or A changed during the run, in memory or in a checkpoint. A file or an iterable that
    changed is named before that: each read of X is compared with the first one.
    """


def drift_bound(problem: ProblemInParts, steps: int) -> float:
    """Return the largest distance |W - A^T X / (lam n)| that rounding errors explain."""
    lam_n, reach = problem.lam_n, float(problem.polytopes.upper.sum())
    norms = np.sqrt(problem.curvatures * lam_n)
    size = 4.0 / lam_n * reach * float(problem.sample_weight @ norms)
    return 8.0 * float(gamma(steps + problem.n_samples)) * size


def require_no_drift(tracked: Floats, link: Floats, bound: float) -> None:
    """Raise DriftError if the tracked W is farther from the W of A than the bound."""
    distance = float(np.linalg.norm(tracked - link))
    if not distance <= bound:
        raise DriftError(
            f"W is {distance:.3g} away from A^T X / (lam n), and rounding explains no more than "
            f"{bound:.3g}: X, W or A changed in memory or in a checkpoint while the run used it."
        )
