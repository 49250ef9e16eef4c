"""Weight vectors rho for the weighted losses; each sums to 1   (K19 section 7.3)."""

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_integer


def flat(k: int) -> Floats:
    """Return k weights 1/k, as in the unweighted top-k losses."""
    k = as_integer("k", k, low=1)
    return np.full(k, 1.0 / k)


def linear(k: int) -> Floats:
    """Return the k weights 2 (k + 1 - j) / (k (k + 1)), j = 1 .. k."""
    k = as_integer("k", k, low=1)
    return 2.0 * np.arange(k, 0, -1, dtype=np.float64) / (k * (k + 1.0))


def exponential(k: int) -> Floats:
    """Return k weights proportional to exp(-j / k), j = 1 .. k."""
    k = as_integer("k", k, low=1)
    decay = np.exp(-np.arange(1, k + 1) / k)
    return np.asarray(decay / decay.sum(), dtype=np.float64)
