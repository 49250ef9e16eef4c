"""Check M20: Macha, Adam and Smidl 2020.

The title is Nonlinear classifiers for ranking problems based on kernelized SVM.
"""

# in the order of the paper, which is the order of the ledger
from paper_checks.macha2020 import (  # isort: skip
    surrogates,
    thresholds,
    quantiles,
    duality,
    identities,
    clipping,
    steps_toppushk,
    steps_patmat,
    best_delta,
    deltas,
    proof_patmat,
    steps_hinge,
    steps_hinge_patmat,
    stalls,
    stalls_hinge,
    costs,
    experiments,
    stored,
    published,
    table2,
    curves,
)

__all__ = [
    "best_delta",
    "clipping",
    "costs",
    "curves",
    "deltas",
    "duality",
    "experiments",
    "identities",
    "proof_patmat",
    "published",
    "quantiles",
    "stalls",
    "stalls_hinge",
    "steps_hinge",
    "steps_hinge_patmat",
    "steps_patmat",
    "steps_toppushk",
    "stored",
    "surrogates",
    "table2",
    "thresholds",
]
