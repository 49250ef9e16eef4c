"""Train on data that does not fit in memory, or that lies on a cluster.

DaskProblem, and all that only a cluster needs, is imported when it is first asked for.
"""

import sys
from typing import TYPE_CHECKING, Any

from fwlab.distributed.packed import PackedResult
from fwlab.distributed.path import PathPoint, path
from fwlab.distributed.problem import OutOfCoreProblem
from fwlab.distributed.solve import solve
from fwlab.distributed.sources import CsrFiles
from fwlab.distributed.state import DriftError
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


if TYPE_CHECKING:
    from fwlab.distributed.dask.problem import DaskProblem


def __getattr__(name: str) -> Any:
    if name != "DaskProblem":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])
    from fwlab.distributed.dask.problem import DaskProblem

    return DaskProblem
