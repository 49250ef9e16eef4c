"""Checks of a user's Gram matrix."""

from typing import Any

import numpy as np
import scipy.linalg

from fwlab._validation import Floats, as_floats

ROUNDING = 1e-8


def checked_gram(K: Any) -> Floats:
    """K as a float64 array if it is square, symmetric and positive semidefinite, to rounding.

    Raises ValueError otherwise. The last check is a Cholesky factorisation of K plus
    1e-8 max(diag K) I, n^3/3 flops on a copy of K.
    """
    K = as_floats("X", K, ndims=(2,))
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"X must be a square Gram matrix; got shape {K.shape}.")
    if K.size == 0:
        raise ValueError(f"X must have at least one row and one column; got shape {K.shape}.")
    scale = float(np.abs(K).max())
    difference = float(np.abs(K - K.T).max())
    if difference > ROUNDING * scale:
        raise ValueError(f"X must be a symmetric Gram matrix; entries differ by {difference:.3g}.")
    shifted = K.copy()
    shifted[np.diag_indices_from(shifted)] += ROUNDING * scale + np.finfo(float).tiny
    try:
        scipy.linalg.cholesky(shifted, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        smallest = scipy.linalg.eigvalsh(K, subset_by_index=(0, 0), check_finite=False)[0]
        raise ValueError(
            f"X must be a positive semidefinite Gram matrix; its smallest eigenvalue is "
            f"{smallest:.3g}."
        ) from None
    return K
