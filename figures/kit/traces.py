"""Cells of convergence figures: the trace of one run, thinned for drawing."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import fwlab
from fwlab.experiments import Cell, DataName

POINTS = 100
# what is drawn
COLUMNS = ("iteration", "seconds", "primal", "dual", "gap")


def trace_cells(
    data: Mapping[str, DataName],
    runs: Mapping[str, Mapping[str, Any]],
    cost: float = 1.0,
    **settings: Any,
) -> list[Cell]:
    """Return a cell "DATA|RUN" for each data set and run.

    Each run has its own arguments of `trace`; all runs share `settings`.
    """
    return [
        Cell(f"{name}|{run}", trace, {"data": source, **settings, **own}, cost)
        for name, source in data.items()
        for run, own in runs.items()
    ]


def data_names(cells: Iterable[str]) -> list[str]:
    """Return the data sets in the names of cells "DATA|RUN"."""
    return list(dict.fromkeys(cell.split("|")[0] for cell in cells))


def trace(
    data: DataName,
    loss: fwlab.losses.Loss,
    method: str,
    tol: float,
    max_iter: int,
    smoothing: float = 0.0,
    C: float = 1.0,
    check_every: int = 1,
    time_limit: float | None = None,
    augmented: bool = False,
) -> dict[str, Any]:
    """Return the trace of one run from A = 0 with lam = 1 / (n C), and its last certificate.

    The checkpoints are evenly spread in log(iteration). `reached` has iteration and seconds of the
    first gap below each power of ten, which thinning would lose. With `augmented` the gaps are
    those of the problem in d + n dimensions, K19 (27), which the smoothing must make positive.
    """
    part = data.load()
    n = len(part.y_train)
    problem = fwlab.Problem(
        part.X_train, part.y_train, loss, 1 / (C * n), smoothing, n_classes=part.n_classes
    )
    result = fwlab.solve(
        problem, method, tol, max_iter=max_iter, check_every=check_every, time_limit=time_limit
    )
    columns, last = result.trace.as_dict(), len(result.trace.iteration) - 1
    gap: Any = result.trace.augmented_gap if augmented else result.trace.gap
    places = np.geomspace(1, last, POINTS) if last > 0 else [0]
    kept = np.union1d([0, last], np.asarray(places).round()).astype(int)
    return {
        **{name: column[kept] for name, column in columns.items() if name in COLUMNS},
        "gap": gap[kept],
        "reached": reached(result.trace, gap),
        "status": result.status.name,
        "last_gap": gap[-1] if augmented else result.gap,
        "last_primal": result.primal,
        "iterations": result.nit,
        "loss_certified": repr(loss),
    }


def reached(trace: fwlab.Trace, gap: np.ndarray | None = None) -> dict[str, list[float]]:
    """Return {power of ten: [iteration, seconds]} of the first gap below it; by default its gap."""
    gap = trace.gap if gap is None else gap
    found = {}
    for power in range(0, -13, -1):
        below = np.flatnonzero(gap <= 10.0**power)
        if len(below):
            first = below[0]
            found[f"1e{power}"] = [float(trace.iteration[first]), float(trace.seconds[first])]
    return found


def first_below(value: dict[str, Any], tol: float) -> int | None:
    """Return the first iteration of a stored run with a gap of at most tol, a power of ten."""
    found = value["reached"].get(f"1e{round(np.log10(tol))}")
    return None if found is None else int(found[0])


def arrival(value: dict[str, Any], tol: float) -> tuple[float, bool]:
    """Return the seconds of the first gap below tol, a power of ten, and True.

    If the stored run ended before reaching it, return its seconds and False.
    """
    found = value["reached"].get(f"1e{round(np.log10(tol))}")
    return (value["seconds"][-1], False) if found is None else (found[1], True)


def sooner(first: tuple[float, bool], second: tuple[float, bool]) -> bool | None:
    """Return whether the first of two arrivals is earlier.

    None if a run ended too early to tell.
    """
    if first[1] and first[0] < second[0]:
        return True
    return False if second[1] and second[0] <= first[0] else None


def best_so_far(value: dict[str, Any], column: str = "gap") -> tuple[np.ndarray, np.ndarray]:
    """Return the iterations, from 1 on, and the smallest gap up to each."""
    gap = np.minimum.accumulate(np.array(value[column]))
    return np.array(value["iteration"])[1:], gap[1:]
