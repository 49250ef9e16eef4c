"""Check LP15: Lei, Dogan, Binder and Kloft 2015, multi-class bounds and the lp-norm machine."""

# ruff: isort: skip_file
from paper_checks.lei2015 import losses
from paper_checks.lei2015 import complexities
from paper_checks.lei2015 import bounds
from paper_checks.lei2015 import comparisons
from paper_checks.lei2015 import earlier_bounds
from paper_checks.lei2015 import norms
from paper_checks.lei2015 import inequalities
from paper_checks.lei2015 import moments
from paper_checks.lei2015 import corollary
from paper_checks.lei2015 import primal
from paper_checks.lei2015 import duality
from paper_checks.lei2015 import representer
from paper_checks.lei2015 import parallelograms
from paper_checks.lei2015 import partial
from paper_checks.lei2015 import weighted
from paper_checks.lei2015 import blocks
from paper_checks.lei2015 import alternation
from paper_checks.lei2015 import experiments

__all__ = [
    "alternation",
    "blocks",
    "bounds",
    "comparisons",
    "complexities",
    "corollary",
    "duality",
    "earlier_bounds",
    "experiments",
    "inequalities",
    "losses",
    "moments",
    "norms",
    "parallelograms",
    "partial",
    "primal",
    "representer",
    "weighted",
]
