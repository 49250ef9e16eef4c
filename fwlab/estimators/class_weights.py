"""Weights of classes that multiply the weights of their samples."""

from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_real


def class_weights(class_weight: Any, classes: np.ndarray, codes: Integers, omega: Floats) -> Floats:
    """Return one factor per class, (m,).

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Factors by class, 1 for a class that it leaves out; as in scikit-learn it may name other
        classes only if it leaves out none. "balanced" gives all classes that occur the same total
        weight, as if a sample of weight w occurred w times   (scikit-learn's rule, with weights).
    classes : array (m,)
        The labels.
    codes : array (n,)
        The class of each sample, 0 .. m-1.
    omega : array (n,)
        The weights of the samples.

    Raises
    ------
    TypeError, ValueError
        If class_weight is not as described.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if not isinstance(class_weight, str) or class_weight != "balanced":
        return given_weights(class_weight, classes.tolist())
    totals = np.bincount(codes, omega, len(classes))
    occurs = totals > 0
    factors = np.ones(len(classes))
    factors[occurs] = totals.sum() / (occurs.sum() * totals[occurs])
    return factors


def given_weights(class_weight: Any, labels: list[Any]) -> Floats:
    """Return the factors (m,) of a dict. Raises TypeError or ValueError if it is not one."""
    if not isinstance(class_weight, dict):
        raise ValueError(
            'class_weight must be a dict of a number by class, "balanced" or None; got '
            f"{class_weight!r}."
        )
    factors = {
        label: as_real(f"class_weight[{label!r}]", factor, positive=False)
        for label, factor in class_weight.items()
    }
    left_out = [label for label in labels if label not in factors]
    others = [label for label in factors if label not in labels]
    if left_out and others:
        raise ValueError(
            f"class_weight must name no class that y lacks, or all that y has; got {others[0]!r}, "
            f"which y lacks, and none for {left_out[0]!r}."
        )
    weights = np.array([factors.get(label, 1.0) for label in labels])
    if not weights.any():
        raise ValueError(f"class_weight must not be 0 for all classes of y; got {class_weight!r}.")
    return weights
