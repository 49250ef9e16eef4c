"""Unfinished runs: where they are stored, and how a run goes on from one.

The continuation starts at the stored dual point. It is a new run of the method: active sets, step
schedules and random orders begin anew, so its iterates differ from an uninterrupted run's.
"""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.experiments.store import load_run
from fwlab.problem import Problem
from fwlab.provenance import provenance
from fwlab.result import Result
from fwlab.solvers.method import Method
from fwlab.trace import Trace

# columns of the trace that count from the begin of a run
COUNTED = (
    *("iteration", "seconds", "cpu_seconds"),
    *("n_lmo", "n_projections", "n_rows", "n_steps"),
)


def unfinished(file: Path) -> Path:
    """Return the file of the unfinished run whose finished one has this file."""
    return file.with_suffix(".unfinished.npz")


def load_unfinished(file: Path | None) -> Result | None:
    """Return the unfinished run, None if there is none."""
    return None if file is None else load_run(unfinished(file))


def why_not_resumed(earlier: Result, method: Method, problem: Problem) -> str:
    """Return why a run cannot go on from an unfinished one, "" if it can."""
    processor = provenance()["processor"]
    if earlier.made_by.get("processor") != processor:
        made = earlier.made_by.get("processor", "an unknown processor")
        return f"it was made on {made}, and its seconds are not those of {processor}"
    if not problem.polytopes.checks_membership:
        return "its loss takes no start"
    if method.needs(problem).coefficients:
        return "its machine is not determined by the stored dual point"
    return ""


def arguments_from(earlier: Result, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `solve` for what remains of the limits."""
    left = {**arguments, "A0": earlier.A, "max_iter": max(arguments["max_iter"] - earlier.nit, 0)}
    if arguments["time_limit"] is not None:
        left["time_limit"] = max(arguments["time_limit"] - earlier.wall_seconds, 0.0)
    return left


def continued(earlier: Result, later: Result) -> Result:
    """Return both parts of a run as one result; iterations, seconds and counts add up."""
    place = f"iteration {earlier.nit}"
    before = earlier.made_by.get("resumed")
    resumed = place if before is None else f"{before}, {place}"
    return replace(
        later,
        nit=earlier.nit + later.nit,
        seconds=earlier.seconds + later.seconds,
        cpu_seconds=earlier.cpu_seconds + later.cpu_seconds,
        wall_seconds=earlier.wall_seconds + later.wall_seconds,
        trace=_joined(earlier.trace, later.trace),
        message=f"{later.message} Resumed at {resumed}.",
        made_by={**later.made_by, "resumed": resumed},
    )


def _joined(earlier: Trace, later: Trace) -> Trace:
    """Return the checkpoints of both parts; the first of the second is the last of the first."""
    columns: dict[str, Any] = {}
    for name in (column.name for column in fields(Trace)):
        first, second = getattr(earlier, name), getattr(later, name)
        if first is None or second is None:
            continue
        start = first[-1] if name in COUNTED else 0
        columns[name] = np.concatenate([first, second[1:] + start])
    return Trace(**columns)
