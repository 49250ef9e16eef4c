"""Compare fwlab with the exact reference on the cases of the ledger's rows."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paper_checks.ledger import Case, Outcome, Tier
from paper_checks.outcomes import both, equal, truth
from reference import exact


def as_floats(values: Sequence[Any]) -> np.ndarray:
    """Return numbers as an array of float64."""
    return np.array([float(x) for x in values])


def conjugate_in_the_library(loss: Any, case: Case) -> Outcome:
    """Compare fwlab's conjugate and domain at v with the exact ones."""
    v, y = as_floats(case.v), case.y
    defined = exact.conjugate(case.loss, case.v, y)
    inside = bool(loss.in_domain(v, y))
    return both(
        truth(inside == (defined != math.inf), Tier.FLOAT),
        equal(float(loss.conjugate(v, y)), float(defined)),
    )
