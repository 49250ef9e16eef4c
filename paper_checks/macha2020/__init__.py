"""M20: Macha, Adam and Smidl 2020, Nonlinear classifiers for ranking problems based on kernelized
SVM."""

# in the order of the paper, which is the order of the ledger
from paper_checks.macha2020 import (  # isort: skip
    surrogates,
    thresholds,
    duality,
    steps_toppushk,
    steps_patmat,
    steps_hinge,
    stalls,
    experiments,
)

__all__ = [
    "duality",
    "experiments",
    "stalls",
    "steps_hinge",
    "steps_patmat",
    "steps_toppushk",
    "surrogates",
    "thresholds",
]
