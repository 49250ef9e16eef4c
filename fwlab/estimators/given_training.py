"""Take the training data of a fit again, and find the ellipsoid of its optimum."""

import reprlib
from copy import copy
from typing import Any

from fwlab.arrays import on_host
from fwlab.ellipsoid import Ellipsoid, ellipsoid_of
from fwlab.estimators.validation import training_samples


def ellipsoid_of_fit(estimator: Any, training: Any) -> Ellipsoid | None:
    """Return the ellipsoid of a fitted estimator, None if it has none or if training is None.

    training: (X, y) or (X, y, sample_weight) of the fit. Raises ValueError if it is no such tuple,
    or has other features or classes than the fit.
    """
    if training is None:
        return None
    if not isinstance(training, tuple) or len(training) not in (2, 3):
        raise ValueError(
            "training must be the tuple (X, y) or (X, y, sample_weight) of the fit; got "
            f"{reprlib.repr(training)}."
        )
    trained = estimator._trained
    again = copy(estimator)
    for name, value in trained.parameters.items():
        setattr(again, name, value)
    X, y = training_samples(again, *training[:2])
    problem = again._training(X, y, training[2] if len(training) == 3 else None, trained.C).problem
    W = on_host(trained.W)
    if (problem.n_classes, problem.n_features) != W.shape:
        found = problem.n_classes, problem.n_features
        raise ValueError(
            f"training must be that of the fit, with {W.shape[0]} classes and {W.shape[1]} "
            f"features, the constant one included; got {found[0]} and {found[1]}."
        )
    return ellipsoid_of(problem, W)
