"""M20 Table 4: milliseconds of a repeat loop of Algorithm 3.1, beside the printed ones.

Mean and standard deviation over batches of loops, and the seconds of a candidate, the mean over n;
then an iteration of the other methods. CPU times of one thread, linear kernel, the training halves
of M20's Table 2, standardised, C = 1, quadratic surrogate, K = 5, tau = 0.05. The kernel matrix is
stored. That of Fashion-MNIST (pixels in [0, 1]) is not: a loop computes two columns, which M20 read
from a file, and its candidates are timed without them.

    python -m figures.macha2020_table4 [FOLDER]
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from figures.benchmarks.pair_steps import loop_times, stored
from figures.benchmarks.ranking import training_set
from fwlab import ranking
from fwlab._files import write_atomically
from fwlab._text import format_table
from fwlab.kernels.ranking_pairs import best_pair
from fwlab.ranking.interior_point import InteriorPoint
from fwlab.ranking.pairwise import numbers
from fwlab.ranking.problem import Problem
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import Method, State
from fwlab.ranking.subgradient import Subgradient

NAME = "macha2020_table4"
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
PRINTED_CANDIDATE = "1.7e-7 to 3.1e-7"
OTHERS: dict[str, Method] = {"interior point": InteriorPoint(), "subgradient": Subgradient()}
LOOPS = {"quick": (50, 3), "standard": (1000, 20), "full": (1000, 20)}
FEW = (10, 5)  # of Fashion-MNIST


def run(folder: Path, size: str = "standard") -> None:
    """Time all; folder/macha2020_table4.json gets a dictionary a line of the table."""
    names = ["ionosphere"] if size == "quick" else list(PRINTED)
    with threadpool_limits(1):
        lines = [line(name, label, *LOOPS[size]) for name in names for label in OBJECTIVES]
    text = json.dumps({"size": size, "lines": lines}, indent=1)
    write_atomically(folder / f"{NAME}.json", lambda file: file.write(text.encode()))


def line(name: str, label: str, loops: int, repeats: int) -> dict[str, Any]:
    """The times of one data set and objective, in seconds."""
    objective, large = OBJECTIVES[label], name == "fashion_mnist"
    X, y = training_set(name, None if large else "standard")
    problem = Problem(X, y, objective, 1.0) if large else stored(X, y, objective)
    times = loop_times(problem, *(FEW if large else (loops, repeats)))
    found = {"data": name, "objective": label, "n": len(y)}
    found |= {"loop": float(times.mean()), "deviation": float(times.std())}
    candidate = choice_time(problem, repeats) if large else found["loop"]
    others = {} if large else {m: iteration_time(OTHERS[m], problem, repeats) for m in OTHERS}
    return {**found, "candidate": candidate / len(y), **others}


def choice_time(problem: Problem, repeats: int) -> float:
    """Seconds to choose a pair, given a column."""
    point = inner_point(problem)
    z, s = np.concatenate([point.alpha, point.beta]), problem.signs * problem.scores(point)
    column = problem.signs[0] * problem.signs * problem.gram.column(0)
    diagonal, p = problem.gram.diagonal(), problem.n_positive
    dual, total = numbers(problem, point), float(point.alpha.sum())
    times = np.empty(1 + repeats)
    for repeat in range(len(times)):
        start = time.process_time()
        best_pair(0, column, diagonal, s, z, p, dual, total)
        times[repeat] = time.process_time() - start
    return float(times[1:].mean())


def iteration_time(method: Method, problem: Problem, repeats: int) -> float:
    """Seconds of an iteration, mean of at most ten from the start on."""
    state = State(problem, inner_point(problem), np.random.default_rng(0))
    workspace = method.start(state)
    count, start = min(10, repeats), time.process_time()
    for _ in range(count):
        method.iterate(state, workspace)
    return (time.process_time() - start) / count


def plot(folder: Path) -> tuple[Path]:
    """Write folder/macha2020_table4.txt from what `run` stored."""
    lines = json.loads((folder / f"{NAME}.json").read_text())["lines"]
    header = ("data", "objective", "n", "ms a loop", "printed", "s a candidate", *OTHERS)
    rows = [row(found, list(OBJECTIVES).index(found["objective"])) for found in lines]
    table = format_table(header, rows, right=header[2:])
    text = f"{table}\nprinted seconds a candidate: {PRINTED_CANDIDATE}; others: ms an iteration\n"
    path = folder / f"{NAME}.txt"
    write_atomically(path, lambda file: file.write(text.encode()))
    return (path,)


def row(found: dict[str, Any], column: int) -> list[str]:
    """A line of the table as text."""
    others = [f"{1e3 * found[name]:.3f}" if name in found else "-" for name in OTHERS]
    return [
        found["data"],
        found["objective"],
        str(found["n"]),
        f"{1e3 * found['loop']:.3f} +- {1e3 * found['deviation']:.3f}",
        f"{PRINTED[found['data']][column]:.2f}",
        f"{found['candidate']:.1e}",
        *others,
    ]


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else f"results/{NAME}")
    target.mkdir(parents=True, exist_ok=True)
    run(target)
    print(plot(target)[0].read_text(), end="")
