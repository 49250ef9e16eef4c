"""Microseconds per vector of projections onto simplices, fwlab beside packages that are installed.

The set is {x : 0 <= x <= 1, sum(x) = k}: for k = 1 the simplex, which POT (ot.utils.proj_simplex),
copt, pyproximal and simplexers project onto; for larger k the capped simplex, which the last two
have. The batches come from the table `projections`; a slow package gets only part of a batch. The
column `apart` is the largest difference from fwlab's points. The whole table needs `pip install POT
copt pyproximal simplexers`; missing packages are left out.
"""

import importlib.util
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import fwlab
from figures.benchmarks.projections import Calls, batch, microseconds
from fwlab.text import format_table

Rows = NDArray[np.float64]
SIZES = (100, 1000, 10_000, 100_000)
SELECTED = (1, 5, 10)
# entries of a batch that a package gets
MOST_ENTRIES = 200_000


def pot(rows: Rows, k: int) -> Rows:
    return importlib.import_module("ot.utils").proj_simplex(rows.T).T


def copt(rows: Rows, k: int) -> Rows:
    constraint = importlib.import_module("copt.constraint").SimplexConstraint(1)
    return np.array([constraint.prox(row, 1.0) for row in rows])


def pyproximal(rows: Rows, k: int) -> Rows:
    projections = importlib.import_module("pyproximal.projection")
    project = projections.HyperPlaneBoxProj(np.ones(rows.shape[1]), k, lower=0, upper=1, xtol=1e-12)
    return np.array([project(row) for row in rows])


def simplexers(rows: Rows, k: int) -> Rows:
    if k == 1:
        return importlib.import_module("simplexers.positive").positive_simplexer(rows, s=1)
    return importlib.import_module("simplexers.capped").capped_simplexer(rows, s=k)


# name: a function that projects each row, and whether it supports k > 1
PACKAGES: dict[str, tuple[Callable[[Rows, int], Rows], bool]] = {
    "ot": (pot, False),
    "copt": (copt, False),
    "pyproximal": (pyproximal, True),
    "simplexers": (simplexers, True),
}


def present() -> list[str]:
    """Return the packages that can be imported."""
    return [name for name in PACKAGES if importlib.util.find_spec(name)]


def line(rows: Rows, k: int, names: list[str], repeats: int) -> list[str]:
    """Return the times of fwlab and the packages, each with its ratio to fwlab's, and distances."""
    some = rows[: max(1, MOST_ENTRIES // rows.shape[1])]
    ours = fwlab.project_knapsack(some, k, 1.0, equality=True)
    calls: Calls = {
        "fwlab": (lambda: fwlab.project_knapsack(rows, k, 1.0, equality=True), len(rows))
    }
    apart = 0.0
    for name in names:
        project, capped = PACKAGES[name]
        if k == 1 or capped:
            apart = max(apart, float(np.abs(project(some, k) - ours).max()))
            calls[name] = (lambda project=project: project(some, k)), len(some)
    times = dict(zip(calls, microseconds(calls, repeats), strict=True))
    own = times["fwlab"]
    cells = [f"{times[n]:.2f} ({times[n] / own:.1f})" if n in times else "-" for n in names]
    return [f"{own:.2f}", *cells, f"{apart:.0e}"]


def run(quick: bool) -> None:
    """Print the table."""
    names, lines = present(), []
    for regime in ("sum", "cone"):
        for d in SIZES[:2] if quick else SIZES:
            rows = batch(d, regime, quick)
            for k in SELECTED:
                cells = line(rows, k, names, repeats=3 if quick else 7)
                lines.append([regime, str(d), str(k), *cells])
    header = ("batch", "d", "k", "fwlab", *names, "apart")
    print("microseconds per vector (ratio to fwlab)")
    print(format_table(header, lines, right=header[1:]))
