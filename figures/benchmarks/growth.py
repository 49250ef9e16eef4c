"""How a pass of `ascent` grows with n, d, m and k, each over two decades with the others fixed.

Synthetic data, unit rows, lam = 1/n, CPU times of one thread: a pass from A = 0, in which almost
every row moves; a later pass; and one X W^T by BLAS. The exponent is the slope of a line through
the logarithms in the last decade, with half its 95 % interval: 1 is linear growth. In that decade
of n, d and m the products are most of a pass, and X (where n or d grows) or W (where m grows) takes
at least 16 MB. Below it, a part of each row's cost does not grow. "later changes" counts the
entries of A that a later pass changes per row: where they grow, so does the work of the pass.
"""

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

import fwlab
from figures.benchmarks.timing import WARM_UP
from figures.kit.exponents import exponent
from fwlab.solvers.method import State
from fwlab.solvers.registry import build
from fwlab.text import format_table

SEPARATION = 0.1
FIXED = {
    "n": {"d": 256, "m": 30, "k": 3},
    "d": {"n": 2000, "m": 30, "k": 3},
    "m": {"n": 500, "d": 4096, "k": 3},
    "k": {"n": 2000, "d": 256, "m": 128},
}
GROWING = {
    "n": (1000, 2200, 4600, 10_000, 22_000, 46_000, 100_000),
    "d": (100, 220, 460, 1000, 2200, 4600, 10_000),
    "m": (100, 220, 460, 1000, 2200, 4600, 10_000),
    "k": (1, 2, 5, 10, 20, 50, 100),
}
# "first" and "later" are passes; see pass_costs
TIMED = ("first", "later", "X W^T")
# passes from A = 0 that precede the first "later" pass
BETWEEN = 5


def sizes(name: str, value: int) -> dict[str, int]:
    """Return the sizes of a problem, with one of them set to a larger value."""
    return {**FIXED[name], name: value}


def problem(n: int, d: int, m: int, k: int) -> fwlab.Problem:
    """Return the problem of these sizes."""
    data = fwlab.datasets.synthetic(n, d, m, SEPARATION, rng=0, normalize="unit")
    return fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(k), 1 / n, n_classes=m)


def pass_costs(n: int, d: int, m: int, k: int, repeats: int) -> dict[str, float]:
    """Return median CPU milliseconds of passes and of X W^T, measured in turn.

    "first" is a pass from A = 0; "later" is one of the passes that follow BETWEEN others.
    "first changes" and "later changes" are the entries of A that such a pass changes in each row.
    """
    given = problem(n, d, m, k)
    W = np.random.default_rng(0).standard_normal((m, d))
    solver = build("ascent", {"shrink": False})
    state = State(given, np.zeros((n, m)), np.random.default_rng(0), solver.needs(given))
    workspace = solver.start(state)
    first, later, blas = [], [], []
    for _ in range(WARM_UP + repeats):
        state.A[:] = 0.0
        state.refresh()
        first.append(milliseconds_of(lambda: solver.iterate(state, workspace)))
        blas.append(milliseconds_of(lambda: given.X @ W.T))
    changes = {"first changes": np.count_nonzero(state.A) / n}
    for _ in range(BETWEEN):
        solver.iterate(state, workspace)
    for _ in range(repeats):
        later.append(milliseconds_of(lambda: solver.iterate(state, workspace)))
    before = state.A.copy()
    solver.iterate(state, workspace)
    changes["later changes"] = np.count_nonzero(state.A != before) / n
    times = (first[WARM_UP:], later, blas[WARM_UP:])
    medians = dict(zip(TIMED, (float(np.median(one)) for one in times), strict=True))
    return {**medians, **changes}


def milliseconds_of(call: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    began = time.process_time()
    call()
    return 1e3 * (time.process_time() - began)


def decades(values: Sequence[int]) -> list[slice]:
    """Return the indices of the values in each decade; all indices if no decade is complete."""
    found = [
        slice(start, stop + 1)
        for start, low in enumerate(values)
        for stop, high in enumerate(values)
        if high == 10 * low
    ]
    return found or [slice(0, len(values))]


def exponents(
    costs: Mapping[int, Mapping[str, float]], places: slice
) -> dict[str, tuple[float, float]]:
    """Return the exponent of each of TIMED at some of the values, and half its interval."""
    at = list(costs)[places]
    return {name: exponent(at, [costs[value][name] for value in at]) for name in TIMED}


def listed(costs: Mapping[int, Mapping[str, float]], what: str) -> str:
    """Return one of the costs at each value, as text."""
    return ", ".join(f"{value}: {cost[what]:.2f}" for value, cost in costs.items())


def run(quick: bool) -> None:
    """Print a line for each cost and each size that grows."""
    rows = []
    for name, values in GROWING.items():
        values = values[:2] if quick else values
        costs = {v: pass_costs(**sizes(name, v), repeats=3 if quick else 9) for v in values}
        for what, (slope, half) in exponents(costs, decades(values)[-1]).items():
            rows.append(
                (name, what, f"{slope:.2f} \N{PLUS-MINUS SIGN} {half:.2f}", listed(costs, what))
            )
        rows.append((name, "later changes", "", listed(costs, "later changes")))
    header = ("grows", "what", "exponent", "ms at each size, and changes per row")
    print(format_table(header, rows, right=("exponent",)))
