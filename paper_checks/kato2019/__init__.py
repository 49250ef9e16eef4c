"""K19: Kato and Hirohashi 2019, Learning weighted top-k support vector machine.

Matrices are the transposes of the paper's: scores and dual variables have one row per sample. The
files follow the paper's order.
"""

# ruff: isort: skip_file
from paper_checks.kato2019 import duality
from paper_checks.kato2019 import losses
from paper_checks.kato2019 import levels
from paper_checks.kato2019 import weighted
from paper_checks.kato2019 import steps
from paper_checks.kato2019 import directions
from paper_checks.kato2019 import costs
from paper_checks.kato2019 import step_costs
from paper_checks.kato2019 import rates
from paper_checks.kato2019 import smoothing
from paper_checks.kato2019 import training
from paper_checks.kato2019 import races
from paper_checks.kato2019 import slowdowns
from paper_checks.kato2019 import tables
from paper_checks.kato2019 import accuracies
from paper_checks.kato2019 import failures
from paper_checks.kato2019 import pseudo
from paper_checks.kato2019 import pseudo_losses
from paper_checks.kato2019 import other_dual
from paper_checks.kato2019 import sdca

__all__ = [
    "accuracies",
    "costs",
    "directions",
    "duality",
    "failures",
    "levels",
    "losses",
    "other_dual",
    "pseudo",
    "pseudo_losses",
    "races",
    "rates",
    "sdca",
    "slowdowns",
    "smoothing",
    "step_costs",
    "steps",
    "tables",
    "training",
    "weighted",
]
