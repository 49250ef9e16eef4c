"""Experiments: comparisons, paths along C, cross-validation, and studies made of stored cells."""

from fwlab.experiments.cells import Cell, CellsFailed, cell_records, run_cells
from fwlab.experiments.compare_methods import compare
from fwlab.experiments.comparison import Comparison
from fwlab.experiments.cross_validation import (
    CrossValidation,
    Fold,
    Protocol,
    accuracy_path,
    cross_validate,
    fold_of_row,
    split,
    sweep_cells,
)
from fwlab.experiments.data_name import DataName
from fwlab.experiments.engine import BACKENDS, Failure, check_backend
from fwlab.experiments.import_file import import_file, importable
from fwlab.experiments.runs import RunKey, Settings
from fwlab.solvers.interrupt import sigterm_interrupts

__all__ = [
    "BACKENDS",
    "Cell",
    "CellsFailed",
    "Comparison",
    "CrossValidation",
    "DataName",
    "Failure",
    "Fold",
    "Protocol",
    "RunKey",
    "Settings",
    "accuracy_path",
    "cell_records",
    "check_backend",
    "compare",
    "cross_validate",
    "fold_of_row",
    "import_file",
    "importable",
    "run_cells",
    "sigterm_interrupts",
    "split",
    "sweep_cells",
]
