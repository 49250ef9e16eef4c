"""L15: Lapin, Hein and Schiele 2015, Top-k multiclass SVM. The files follow the paper's order."""

# ruff: isort: skip_file
from paper_checks.lapin2015 import losses
from paper_checks.lapin2015 import relations
from paper_checks.lapin2015 import conjugates
from paper_checks.lapin2015 import compatibility
from paper_checks.lapin2015 import duality
from paper_checks.lapin2015 import blocks
from paper_checks.lapin2015 import cone
from paper_checks.lapin2015 import simplex
from paper_checks.lapin2015 import partitions
from paper_checks.lapin2015 import box
from paper_checks.lapin2015 import cost
from paper_checks.lapin2015 import scaling
from paper_checks.lapin2015 import training

__all__ = [
    "blocks",
    "box",
    "compatibility",
    "cone",
    "conjugates",
    "cost",
    "duality",
    "losses",
    "partitions",
    "relations",
    "scaling",
    "simplex",
    "training",
]
