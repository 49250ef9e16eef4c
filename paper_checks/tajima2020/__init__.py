"""T20: Tajima et al. 2020, Frank-Wolfe algorithm for learning SVM-type multi-category
classifiers."""

# in the order of the paper, which is the order of the ledger
from paper_checks.tajima2020 import (  # isort: skip
    losses,
    usunier_proof,
    frank_wolfe,
    envelope,
    cost,
    convergence,
)

__all__ = ["convergence", "cost", "envelope", "frank_wolfe", "losses", "usunier_proof"]
