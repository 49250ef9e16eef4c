"""T20: Tajima et al. 2020, Frank-Wolfe algorithm for learning SVM-type multi-category
classifiers."""

# in the order of the paper, which is the order of the ledger
from paper_checks.tajima2020 import (  # isort: skip
    losses,
    simplices,
    weighted,
    usunier_proof,
    frank_wolfe,
    gradients,
    moreau,
    envelope,
    augmented,
    cost,
    subgradient_cost,
    special_features,
    convergence,
    experiments,
    printed,
    errors,
)

__all__ = [
    "augmented",
    "convergence",
    "cost",
    "envelope",
    "errors",
    "experiments",
    "frank_wolfe",
    "gradients",
    "losses",
    "moreau",
    "printed",
    "simplices",
    "special_features",
    "subgradient_cost",
    "usunier_proof",
    "weighted",
]
