"""Train on data that does not fit in memory."""

from fwlab.distributed.problem import OutOfCoreProblem
from fwlab.distributed.result import PackedResult
from fwlab.distributed.solve import solve
from fwlab.distributed.sources import CsrFiles

__all__ = ["CsrFiles", "OutOfCoreProblem", "PackedResult", "solve"]
