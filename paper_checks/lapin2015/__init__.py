"""Check L15: Lapin, Hein and Schiele 2015, Top-k multiclass SVM, in the paper's order."""

# ruff: isort: skip_file
from paper_checks.lapin2015 import psi
from paper_checks.lapin2015 import losses
from paper_checks.lapin2015 import relations
from paper_checks.lapin2015 import conjugates
from paper_checks.lapin2015 import compatibility
from paper_checks.lapin2015 import duality
from paper_checks.lapin2015 import blocks
from paper_checks.lapin2015 import usunier_block
from paper_checks.lapin2015 import cone
from paper_checks.lapin2015 import bias
from paper_checks.lapin2015 import simplex
from paper_checks.lapin2015 import partitions
from paper_checks.lapin2015 import procedures
from paper_checks.lapin2015 import box
from paper_checks.lapin2015 import decision
from paper_checks.lapin2015 import cost
from paper_checks.lapin2015 import scaling
from paper_checks.lapin2015 import training
from paper_checks.lapin2015 import tables

__all__ = [
    "bias",
    "blocks",
    "box",
    "compatibility",
    "cone",
    "conjugates",
    "cost",
    "decision",
    "duality",
    "losses",
    "partitions",
    "procedures",
    "psi",
    "relations",
    "scaling",
    "simplex",
    "tables",
    "training",
    "usunier_block",
]
