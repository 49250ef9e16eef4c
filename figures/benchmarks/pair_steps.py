"""The cost of a repeat loop of M20's Algorithm 3.1: growth with n, and seconds per candidate.

A loop tries one coordinate with each of the n others and takes the best pair step. CPU times of one
thread with a stored linear kernel, standard normal rows and, where FWLAB_DATA names their folder,
M20's data sets. The exponent is the slope of a line through the logarithms: 1 is linear growth.
M20's Table 4 prints 1.7e-7 to 3.1e-7 seconds per candidate.
"""

import os
import time
from collections.abc import Callable

import numpy as np

from fwlab import datasets, ranking
from fwlab.kernels.steps.ranking_pairs import best_pair
from fwlab.ranking import Problem
from fwlab.ranking.interior_point import InteriorPoint
from fwlab.ranking.pairwise import Pairwise, dual_at, repeat_loop
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import State
from fwlab.ranking.subgradient import Subgradient
from fwlab.solvers.method import Method
from fwlab.text import format_table

SIZES = (500, 1000, 2000, 4000, 8000)
FEATURES = 20
OBJECTIVES = {
    "TopPush": ranking.TopPush(),
    "TopPushK, K = 5": ranking.TopPushK(5),
    "TopPushK, K = 5, hinge": ranking.TopPushK(5, "hinge"),
    "PatMat, tau = 0.05": ranking.PatMat(0.05),
    "PatMat, tau = 0.05, hinge": ranking.PatMat(0.05, "hinge"),
}
SETS = ("ionosphere", "winequality_red", "spambase", "winequality_white")
OTHER_METHODS: dict[str, Method] = {
    "interior-point": InteriorPoint(),
    "subgradient": Subgradient(),
}


def stored(X: np.ndarray, y: np.ndarray, objective: ranking.objectives.Objective) -> Problem:
    """Return the problem with the linear kernel as an array."""
    return Problem(X @ X.T, y, objective, 1.0, "precomputed")


def loop_times(problem: Problem, loops: int, batches: int) -> np.ndarray:
    """Return the CPU seconds per loop of each batch, after one batch that compiles.

    All batches make the same loops from the same start, so that they differ by disturbances alone,
    and the least is the best estimate, as in timeit.
    """
    times = np.empty(1 + batches)
    for batch in range(len(times)):
        rng = np.random.default_rng(0)
        state = State(problem, inner_point(problem), rng)
        workspace = Pairwise().start(state)
        drawn = rng.integers(0, len(workspace.z), loops).tolist()
        start = time.process_time()
        for k in drawn:
            repeat_loop(k, state, workspace)
        times[batch] = (time.process_time() - start) / loops
    return times[1:]


def loop_parts(problem: Problem, rng: np.random.Generator) -> dict[str, Callable[[], object]]:
    """Return the parts of a loop as calls; each reads or computes columns of the kernel."""
    state = State(problem, inner_point(problem), rng)
    workspace = Pairwise().start(state)
    n, signs = len(workspace.z), problem.signs
    z, s = workspace.z.copy(), workspace.s.copy()
    dual, total = dual_at(problem, state.point), float(z[: problem.n_positive].sum())
    drawn = iter(rng.integers(0, n, 10**6).tolist())

    def evaluation() -> None:
        k = next(drawn)
        column = signs[k] * signs * problem.gram.column(k)
        best_pair(k, column, workspace.diagonal, s, z, problem.n_positive, dual, total)

    def update() -> None:
        for k in (next(drawn), next(drawn)):
            s.__iadd__(1e-9 * (signs[k] * signs * problem.gram.column(k)))

    def loop() -> None:
        repeat_loop(next(drawn), state, workspace)

    return {"evaluation of one step": evaluation, "update of s": update, "total": loop}


def choice_time(problem: Problem, repeats: int) -> float:
    """Return the least seconds to choose a pair, given a column."""
    point = inner_point(problem)
    z, s = np.concatenate([point.alpha, point.beta]), problem.signs * problem.scores(point)
    column = problem.signs[0] * problem.signs * problem.gram.column(0)
    diagonal, p = problem.gram.diagonal(), problem.n_positive
    dual, total = dual_at(problem, point), float(point.alpha.sum())
    measured = np.empty(1 + repeats)
    for repeat in range(len(measured)):
        start = time.process_time()
        best_pair(0, column, diagonal, s, z, p, dual, total)
        measured[repeat] = time.process_time() - start
    return float(measured[1:].min())


def iteration_time(method: Method, problem: Problem, count: int = 10) -> float:
    """Return the mean seconds of the first iterations."""
    state = State(problem, inner_point(problem), np.random.default_rng(0))
    workspace, start = method.start(state), time.process_time()
    for _ in range(count):
        method.iterate(state, workspace)
    return (time.process_time() - start) / count


def normal(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return standard normal rows, a third of them positive."""
    return np.random.default_rng(n).standard_normal((n, FEATURES)), (np.arange(n) % 3 == 0) * 1


def run(quick: bool) -> None:
    """Print both tables."""
    loops, repeats = (200, 3) if quick else (1000, 7)
    sizes, rows = SIZES[:3] if quick else SIZES, []
    for name, objective in OBJECTIVES.items():
        problems = [stored(*normal(n), objective) for n in sizes]
        times = [float(loop_times(problem, loops, repeats).min()) for problem in problems]
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        cells = ", ".join(f"{n}: {1e3 * one:.3f}" for n, one in zip(sizes, times, strict=True))
        rows.append((name, f"{exponent:.2f}", f"{times[-1] / sizes[-1]:.1e}", cells))
    header = ("objective", "exponent", "s a candidate", "ms a loop at each n")
    print(format_table(header, rows, right=header[1:3]))
    if not os.environ.get("FWLAB_DATA"):
        return
    rows = []
    for name in SETS[:1] if quick else SETS:
        data = datasets.load(name, normalize="standard")
        for label, objective in OBJECTIVES.items():
            problem, n = stored(data.X_train, data.y_train, objective), len(data.y_train)
            one = float(loop_times(problem, loops, repeats).min())
            rows.append((name, label, str(n), f"{1e3 * one:.3f}", f"{one / n:.1e}"))
    print()
    header = ("data", "objective", "n", "ms a loop", "s a candidate")
    print(format_table(header, rows, right=header[2:]))
