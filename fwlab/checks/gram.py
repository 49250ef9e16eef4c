"""Check a user's Gram matrix."""

from typing import Any

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_array, as_floats, is_single, of_frame

ROUNDING = 1e-8
EPS = float(np.finfo(float).eps)


def checked_gram(K: Any) -> tuple[Floats, float]:
    """Return K as a symmetric float64 array, and a mu for which K + mu I is positive semidefinite.

    K must be square, and symmetric and positive semidefinite up to rounding: to 1e-8 max|K|, or to
    10 n eps max|K| if that is larger. An asymmetric K is replaced by (K + K^T) / 2, and any other K
    is copied. mu is proved by Cholesky factorisations of shifted copies of K, n^3/3 operations
    each; the first shift is at the level of rounding errors and nearly always enough. A
    factorisation that ends proves its matrix to within (n + 1) u trace / (1 - (n + 1) u)
    (Rump 2006).

    Raises ValueError if K is not as described.
    """
    if scipy.sparse.issparse(K):
        raise TypeError(
            f'X must be a dense array with kernel="precomputed"; got a sparse {K.dtype}.'
        )
    dtype = np.dtype(np.float32) if is_single(K) else as_array("X", K).dtype
    gram = as_floats("X", of_frame("X", K), ndims=(2,))
    if gram.shape[0] != gram.shape[1]:
        raise ValueError(f"X must be a square Gram matrix; got shape {gram.shape}.")
    if gram.size == 0:
        raise ValueError(f"X must have at least one row and one column; got shape {gram.shape}.")
    scale = float(np.abs(gram).max())
    smallest = 10 * len(gram) * EPS
    largest = ROUNDING
    if dtype.kind == "f":
        largest = max(ROUNDING, 10 * len(gram) * float(np.finfo(dtype).eps))
    difference = float(np.abs(gram - gram.T).max())
    if difference > largest * scale:
        raise ValueError(f"X must be a symmetric Gram matrix; entries differ by {difference:.3g}.")
    if difference > 0:
        gram = (gram + gram.T) / 2
    shift = smallest
    while not _has_factor(gram, shift * scale + np.finfo(float).tiny):
        if shift >= largest:
            raise ValueError(
                f"X must be a positive semidefinite Gram matrix; its smallest eigenvalue is "
                f"{_smallest_eigenvalue(gram):.3g}."
            )
        shift = min(100 * shift, largest)
    trace = float(np.abs(gram.diagonal()).sum()) + len(gram) * shift * scale
    tiny = float(np.finfo(float).tiny)
    # a copy, so that the matrix stays what the proof is about
    gram = gram.copy() if np.may_share_memory(gram, K) else gram
    return gram, 1.01 * (shift * scale + (len(gram) + 1) * EPS / 2 * trace) + 2 * tiny


def _has_factor(gram: Floats, shift: float) -> bool:
    """Return whether the Cholesky factorisation of gram + shift I ends."""
    # imported here because scipy.linalg would take most of the time of `import fwlab`
    from scipy.linalg import LinAlgError, cholesky

    shifted = gram.copy()
    shifted[np.diag_indices_from(shifted)] += shift
    try:
        cholesky(shifted, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


def _smallest_eigenvalue(gram: Floats) -> float:
    from scipy.linalg import eigvalsh

    return float(eigvalsh(gram, subset_by_index=(0, 0), check_finite=False)[0])
