"""Train on data that does not fit in memory, or that lies on a cluster."""

from fwlab.distributed.dask_problem import DaskProblem
from fwlab.distributed.drift import DriftError
from fwlab.distributed.path import PathPoint, path
from fwlab.distributed.problem import OutOfCoreProblem
from fwlab.distributed.result import PackedResult
from fwlab.distributed.solve import solve
from fwlab.distributed.sources import CsrFiles
from fwlab.distributed.validation import Accuracy, ValidationSet

__all__ = [
    "Accuracy",
    "CsrFiles",
    "DaskProblem",
    "DriftError",
    "OutOfCoreProblem",
    "PackedResult",
    "PathPoint",
    "ValidationSet",
    "path",
    "solve",
]
