"""Weights of classes that multiply the weights of their samples."""

from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from fwlab.arrays import Floats, Integers


def class_weights(class_weight: Any, classes: np.ndarray, codes: Integers, omega: Floats) -> Floats:
    """Return one factor per class, (m,).

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Factors by class. "balanced" gives all classes that occur the same total weight, as if a
        sample of weight w occurred w times   (scikit-learn's rule, with weights).
    classes : array (m,)
        The labels.
    codes : array (n,)
        The class of each sample, 0 .. m-1.
    omega : array (n,)
        The weights of the samples.

    Raises
    ------
    ValueError
        If class_weight is not as described.
    """
    if not isinstance(class_weight, str) or class_weight != "balanced":
        return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes[codes]))
    totals = np.bincount(codes, omega, len(classes))
    occurs = totals > 0
    factors = np.ones(len(classes))
    factors[occurs] = totals.sum() / (occurs.sum() * totals[occurs])
    return factors
