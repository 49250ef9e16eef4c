"""Experiments: comparisons, paths along C, cross-validation, and studies made of stored cells."""

from fwlab.experiments.cells import Cell, CellsFailed, DataName, run_cells
from fwlab.experiments.comparison import Comparison, Failure, Settings, compare
from fwlab.experiments.cross_validation import CrossValidation, cross_validate

__all__ = [
    "Cell",
    "CellsFailed",
    "Comparison",
    "CrossValidation",
    "DataName",
    "Failure",
    "Settings",
    "compare",
    "cross_validate",
    "run_cells",
]
