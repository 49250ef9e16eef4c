"""M20 Table 4: milliseconds of a repeat loop of Algorithm 3.1, and seconds of a candidate.

The kernel matrix is stored. That of Fashion-MNIST is not: a loop computes two columns, which M20
read from a file, and its candidates are timed without them. An iteration of the other methods
stands beside.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np

from figures.benchmarks.pair_steps import loop_times, stored
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table
from fwlab import ranking
from fwlab.experiments.cells import Cell, DataName
from fwlab.kernels.steps.ranking_pairs import best_pair
from fwlab.ranking.interior_point import InteriorPoint
from fwlab.ranking.pairwise import numbers
from fwlab.ranking.problem import Problem
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import State
from fwlab.ranking.subgradient import Subgradient
from fwlab.solvers.method import Method

OBJECTIVES = {
    "TopPush": ranking.TopPush(),
    "TopPushK": ranking.TopPushK(5),
    "Pat&Mat": ranking.PatMat(0.05),
}
# milliseconds a loop, in the order of OBJECTIVES
PRINTED = {
    "ionosphere": (0.04, 0.03, 0.03),
    "spambase": (0.56, 0.49, 0.50),
    "winequality_white": (0.62, 0.53, 0.54),
    "winequality_red": (0.17, 0.14, 0.15),
    "fashion_mnist": (17.16, 15.95, 15.54),
}
PRINTED_CANDIDATE = (1.7e-7, 3.1e-7)
LARGE = "fashion_mnist"
ROWS = 50_000
QUICK = {"digits": DataName("digits", "unit", rows=100)}
SETS = {name: DataName(name, "standard") for name in PRINTED if name != LARGE}
SETS[LARGE] = DataName(LARGE, "unit", rows=ROWS)
POSITIVE = {"digits": 0, LARGE: 0}  # the others: class 1
OTHERS: dict[str, Method] = {"interior-point": InteriorPoint(), "subgradient": Subgradient()}
# loops in a repeat, repeats
LOOPS = {"quick": (20, 3), "standard": (1000, 20), "full": (1000, 20)}
FEW = (10, 5)  # of Fashion-MNIST
SECONDS = {"quick": 2, "standard": 90, "full": 90}


def cells(size: str) -> list[Cell]:
    return [
        Cell(
            f"{name}|{label}",
            times,
            {
                "data": data,
                "positive": POSITIVE.get(name, 1),
                "objective": objective,
                "is_stored": name != LARGE,
                "loops": list(LOOPS[size] if name != LARGE else FEW),
            },
        )
        for name, data in (QUICK if size == "quick" else SETS).items()
        for label, objective in OBJECTIVES.items()
    ]


def run(study: Study) -> None:
    study.compute(cells(study.size), alone=True)


def times(
    data: DataName, positive: int, objective: Any, is_stored: bool, loops: list[int]
) -> dict[str, Any]:
    """CPU seconds of a loop, of a candidate, and of an iteration of the other methods."""
    part = data.load()
    X, y = part.X_train, (part.y_train == positive).astype(int)
    problem = stored(X, y, objective) if is_stored else Problem(X, y, objective, 1.0)
    measured = loop_times(problem, *loops)
    found = {"n": len(y), "loop": measured.mean(), "deviation": measured.std()}
    candidates = found["loop"] if is_stored else choice_time(problem, loops[1])
    others = {m: iteration_time(OTHERS[m], problem) for m in OTHERS} if is_stored else {}
    return {**found, "candidate": candidates / len(y), **others}


def choice_time(problem: Problem, repeats: int) -> float:
    """Seconds to choose a pair, given a column."""
    point = inner_point(problem)
    z, s = np.concatenate([point.alpha, point.beta]), problem.signs * problem.scores(point)
    column = problem.signs[0] * problem.signs * problem.gram.column(0)
    diagonal, p = problem.gram.diagonal(), problem.n_positive
    dual, total = numbers(problem, point), float(point.alpha.sum())
    measured = np.empty(1 + repeats)
    for repeat in range(len(measured)):
        start = time.process_time()
        best_pair(0, column, diagonal, s, z, p, dual, total)
        measured[repeat] = time.process_time() - start
    return float(measured[1:].mean())


def iteration_time(method: Method, problem: Problem, count: int = 10) -> float:
    """Seconds of an iteration, the mean of the first ones."""
    state = State(problem, inner_point(problem), np.random.default_rng(0))
    workspace, start = method.start(state), time.process_time()
    for _ in range(count):
        method.iterate(state, workspace)
    return (time.process_time() - start) / count


def plot(study: Study) -> list[Path]:
    values = study.values
    header = ("data", "n", "objective", "ms a loop", "+-", "s a candidate", *OTHERS)
    rows = [row(cell, value) for cell, value in values.items()]
    return study.save_table(Table(header, rows), caption(rows, values))


def row(cell: str, value: dict[str, Any]) -> list[Entry]:
    """A line of the table; milliseconds an iteration of the other methods."""
    name, label = cell.split("|")
    printed = PRINTED[name][list(OBJECTIVES).index(label)] if name in PRINTED else None
    others = [Compared(1e3 * value[m]) if m in value else Compared(None) for m in OTHERS]
    loop, deviation = Compared(1e3 * value["loop"], printed), f"{1e3 * value['deviation']:.3f}"
    candidate = Compared(value["candidate"], spec=".1e")
    return [name, str(value["n"]), label, loop, deviation, candidate, *others]


def caption(rows: list[list[Entry]], values: dict[str, Any]) -> Caption:
    worst = max(value["candidate"] for value in values.values())
    low, high = PRINTED_CANDIDATE
    loops = [entry for line in rows for entry in line[3:4] if isinstance(entry, Compared)]
    ratios = [entry.ours / entry.printed for entry in loops if entry.ours and entry.printed]
    told = "No printed number has one of ours beside it."
    if ratios:
        told = f"A loop takes {min(ratios):.2f} to {max(ratios):.2f} times the printed time."
    return Caption(
        title="M20 Table 4: the time of a repeat loop",
        shows=(
            "Mean and standard deviation of CPU milliseconds a loop over batches of loops; seconds "
            "a candidate; milliseconds an iteration of the other methods. The paper's numbers are "
            "of another machine."
        ),
        settings=(
            "linear kernel, C = 1, quadratic surrogate, K = 5, tau = 0.05, one thread; rows "
            f"standardised, those of Fashion-MNIST of length 1 (the first {ROWS}, class 0 "
            "positive), where two columns of the kernel are computed in every loop."
        ),
        agreement=(
            f"{told} A candidate takes at most {worst:.1e} s; M20 prints {low:.1e} to {high:.1e}."
        ),
    )
