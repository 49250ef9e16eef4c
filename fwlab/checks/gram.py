"""Check a user's Gram matrix."""

from typing import Any

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_array, as_floats

ROUNDING = 1e-8


def checked_gram(K: Any) -> Floats:
    """Return K as a float64 array. K must be square, symmetric and positive semidefinite.

    Raises ValueError if it is not, up to rounding. Definiteness is checked by a Cholesky
    factorisation of K + 1e-8 max|K| I (or K + 10 n eps max|K| I if that shift is larger), which
    takes n^3/3 operations on a copy of K.
    """
    if scipy.sparse.issparse(K):
        raise TypeError(
            f'X must be a dense array with kernel="precomputed"; got a sparse {K.dtype}.'
        )
    dtype = as_array("X", K).dtype
    gram = as_floats("X", K, ndims=(2,))
    # imported here because scipy.linalg would take most of the time of `import fwlab`
    from scipy.linalg import LinAlgError, cholesky, eigvalsh

    if gram.shape[0] != gram.shape[1]:
        raise ValueError(f"X must be a square Gram matrix; got shape {gram.shape}.")
    if gram.size == 0:
        raise ValueError(f"X must have at least one row and one column; got shape {gram.shape}.")
    scale = float(np.abs(gram).max())
    rounding = ROUNDING
    if dtype.kind == "f":
        rounding = max(ROUNDING, 10 * len(gram) * float(np.finfo(dtype).eps))
    difference = float(np.abs(gram - gram.T).max())
    if difference > rounding * scale:
        raise ValueError(f"X must be a symmetric Gram matrix; entries differ by {difference:.3g}.")
    shifted = gram.copy()
    shifted[np.diag_indices_from(shifted)] += rounding * scale + np.finfo(float).tiny
    try:
        cholesky(shifted, overwrite_a=True, check_finite=False)
    except LinAlgError:
        smallest = eigvalsh(gram, subset_by_index=(0, 0), check_finite=False)[0]
        raise ValueError(
            f"X must be a positive semidefinite Gram matrix; its smallest eigenvalue is "
            f"{smallest:.3g}."
        ) from None
    return gram
