"""What a repeat loop of M20's Algorithm 3.1 costs: growth with n, and seconds a candidate.

A loop tries one coordinate with the n others and makes the best pair step. CPU times of one thread
with a stored linear kernel, standard normal rows and, where FWLAB_DATA names their folder, M20's
data sets. The exponent is the slope of a line through the logarithms: 1 is linear growth. M20's
Table 4 prints 1.7e-7 to 3.1e-7 seconds a candidate.
"""

import os
import time

import numpy as np

from fwlab import datasets, ranking
from fwlab.ranking.pairwise import Pairwise, repeat_loop
from fwlab.ranking.problem import Problem
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import State
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


def stored(X: np.ndarray, y: np.ndarray, objective: ranking.objectives.Objective) -> Problem:
    """The problem with the linear kernel as an array."""
    return Problem(X @ X.T, y, objective, 1.0, "precomputed")


def loop_times(problem: Problem, loops: int, repeats: int) -> np.ndarray:
    """Seconds a loop in some repeats, after one that compiles."""
    rng = np.random.default_rng(0)
    state = State(problem, inner_point(problem), rng)
    workspace = Pairwise().start(state)
    times = np.empty(1 + repeats)
    for repeat in range(len(times)):
        start = time.process_time()
        for k in rng.integers(0, len(workspace.z), loops):
            repeat_loop(int(k), state, workspace)
        times[repeat] = (time.process_time() - start) / loops
    return times[1:]


def normal(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal rows, a third of them positive."""
    return np.random.default_rng(n).standard_normal((n, FEATURES)), (np.arange(n) % 3 == 0) * 1


def run(quick: bool) -> None:
    """Print both tables."""
    loops, repeats = (200, 3) if quick else (1000, 7)
    sizes, rows = SIZES[:3] if quick else SIZES, []
    for name, objective in OBJECTIVES.items():
        problems = [stored(*normal(n), objective) for n in sizes]
        times = [float(np.median(loop_times(problem, loops, repeats))) for problem in problems]
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
            one = float(np.median(loop_times(problem, loops, repeats)))
            rows.append((name, label, str(n), f"{1e3 * one:.3f}", f"{one / n:.1e}"))
    print()
    header = ("data", "objective", "n", "ms a loop", "s a candidate")
    print(format_table(header, rows, right=header[2:]))
