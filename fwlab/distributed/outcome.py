"""Make the result of a run out of core."""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from fwlab.distributed.packed import PackedResult
from fwlab.distributed.problem import OutOfCoreProblem
from fwlab.provenance import provenance
from fwlab.result import Status
from fwlab.solvers.loop import End
from fwlab.solvers.recorder import Recorder


def packed_result(
    problem: OutOfCoreProblem,
    end: End,
    recorder: Recorder,
    called: float,
    run: dict[str, str],
    notes: Iterable[str],
    **own: Any,
) -> PackedResult:
    """Return the result of a run.

    Parameters
    ----------
    problem : OutOfCoreProblem or DaskProblem
    end, recorder : End, Recorder
        The last checkpoint, and the trace.
    called : float
        The value of time.perf_counter() at the call.
    run : dict
        What else made the result, beside packages and versions.
    notes : iterable of str
        Sentences for the user; the problem's own notes follow.
    **own
        The method's W, A, infeasibility, nit, seconds and name.
    """
    certificate = end.certificate
    own["W"] = np.ascontiguousarray(own["W"])
    return PackedResult(
        primal=certificate.primal,
        dual=certificate.dual,
        gap=certificate.gap,
        success=end.status is Status.CONVERGED,
        status=end.status,
        message=" ".join((*end.sentences, *notes, *problem.notes)),
        wall_seconds=time.perf_counter() - called,
        trace=recorder.trace(),
        lam_n=problem.lam_n,
        gap_error=certificate.gap_error,
        distance=certificate.distance,
        classes=problem.classes,
        made_by={**provenance(), **run},
        **own,
    )
