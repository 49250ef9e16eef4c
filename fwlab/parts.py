"""Sums over the samples part by part: the values, and the bounds of their errors.

fwlab.certificate says what the parts are, and puts them together.
"""

from collections.abc import Iterable
from math import fsum
from typing import NamedTuple, Protocol

import numpy as np

from fwlab.arrays import Floats
from fwlab.lp_norm import LpNorm
from fwlab.operators.scores import Part, score_parts
from fwlab.operators.sums import norms_above, square_in_parts
from fwlab.primal_dual import PrimalDual
from fwlab.result import Objectives


class Whole(NamedTuple):
    """The sizes and norms of the whole, which a part must know.

    Attributes
    ----------
    n_samples, n_parts : int
        The numbers of samples and of parts.
    rows : array (m,)
        Bounds of the norms of the rows of the link V.
    square, dual_square : float
        2 R(W) and 2 R*(V), if the part is the whole. Several parts leave them to
        `values_of_parts`.
    """

    n_samples: int
    n_parts: int
    rows: Floats
    square: float = 0.0
    dual_square: float = 0.0


class Errors(NamedTuple):
    """Bounds of the errors of a part; their sums bound the errors of the whole."""

    losses: float
    dual: float  # of the costs and the ridge
    inner: float  # lam |<V, E>|, with E the error of the link V
    total: float  # lam n |E|


class Terms(NamedTuple):
    """The terms that a part adds to values and errors, and whether its rows are feasible."""

    values: Objectives
    errors: Errors
    is_feasible: bool


class InParts(Protocol):
    """A problem whose sums over the samples are taken part by part, or Problem itself."""

    lam: float
    regularizer: LpNorm

    @property
    def lam_n(self) -> float: ...

    @property
    def n_samples(self) -> int: ...


def norms_of_rows(V: Floats) -> Floats:
    """Return bounds of the norms of the rows of V, (m,)."""
    return norms_above(np.einsum("ij,ij->i", V, V))


def values_of_part(
    part: PrimalDual, A: Floats, scores: Iterable[Part], n_samples: int
) -> Objectives:
    """Return what a part of n_samples adds to the values, from its rows of A and its scores."""
    return share_of(part.values(part.losses(scores, A), A, 0.0, 0.0), len(A) / n_samples)


def values_at(part: PrimalDual, A: Floats, W: Floats, n_samples: int) -> Objectives:
    """Return what a part of n_samples adds to the values at the machine W."""
    return values_of_part(part, A, score_parts(part.features, W), n_samples)


def add_products(total: Floats, parts: Iterable[tuple[PrimalDual, Floats]]) -> Floats:
    """Add A^T X of each part and its rows of A to a total, (m, d), and return it."""
    for part, A in parts:
        total += part.features.transposed_product(A)
    return total


def values_of_parts(problem: InParts, parts: Iterable[Objectives], V: Floats) -> Objectives:
    """Return the values at the machine W = V, from what all parts add."""
    norm = problem.lam / 2 * square_in_parts(V)
    primal, dual, augmented = map(fsum, zip(*parts, strict=True))
    return Objectives(norm + primal, dual - norm, norm + augmented)


def share_of(values: Objectives, share: float) -> Objectives:
    """Return this share of the values."""
    return Objectives(*(share * value for value in values))
