"""M20 Table 4: milliseconds per repeat loop of Algorithm 3.1, and seconds per candidate.

The kernel matrix is stored, except for Fashion-MNIST: there a loop computes two columns, which M20
read from a file, and candidates are timed without them. The table also has an iteration of the
other methods.
"""

from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

from figures.benchmarks.pair_steps import (
    OTHER_METHODS,
    choice_time,
    iteration_time,
    loop_times,
    stored,
)
from figures.kit.captions import Caption
from figures.kit.causes import Cause
from figures.kit.exponents import NEAR, exponent, line
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.readings import Reading, Tried, truth_distance
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table
from fwlab import ranking
from fwlab.experiments import Cell, DataName

OBJECTIVES = {
    "TopPush": ranking.TopPush(),
    "TopPushK": ranking.TopPushK(5),
    "Pat&Mat": ranking.PatMat(0.05),
}
# milliseconds per loop, in the order of OBJECTIVES
PRINTED = {
    "ionosphere": (0.04, 0.03, 0.03),
    "spambase": (0.56, 0.49, 0.50),
    "winequality_white": (0.62, 0.53, 0.54),
    "winequality_red": (0.17, 0.14, 0.15),
    "fashion_mnist": (17.16, 15.95, 15.54),
}
PRINTED_CANDIDATE = (1.7e-7, 3.1e-7)
LARGE = "fashion_mnist"
KEPT = tuple(name for name in PRINTED if name != LARGE)  # a loop reads a stored kernel matrix
CONSTANT = "each of our loops has a constant part"
# a line fits as well as a power if its residual is at most this multiple of the power's
ROUNDING = 1e-9
# printed times that differ by a smaller factor count as unordered
APART = 1.5
ROWS = 50_000
QUICK = {"digits": DataName("digits", "unit", rows=100)}
SETS = {name: DataName(name, "standard") for name in PRINTED if name != LARGE}
SETS[LARGE] = DataName(LARGE, "unit", rows=ROWS)
POSITIVE = {"digits": 0, LARGE: 0}  # the others: class 1
# loops per batch, and batches; short batches, because few of many are disturbed
LOOPS = {"quick": (20, 3), "standard": (200, 100), "full": (200, 100)}
FEW = (10, 5)  # of Fashion-MNIST
SECONDS = {"quick": 2, "standard": 90, "full": 90}
ALONE = True  # times are compared


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


def times(
    data: DataName, positive: int, objective: Any, is_stored: bool, loops: list[int]
) -> dict[str, Any]:
    """Return the CPU seconds per loop, per candidate and per iteration of each other method.

    The seconds of a loop are those in the least batch; the deviation is over all batches.
    """
    part = data.load()
    X, y = part.X_train, (part.y_train == positive).astype(int)
    problem = stored(X, y, objective) if is_stored else ranking.Problem(X, y, objective, 1.0)
    batches = loop_times(problem, *loops)
    found = {
        "n": len(y),
        "loop": batches.min(),
        "deviation": batches.std(),
    }
    candidates = found["loop"] if is_stored else choice_time(problem, loops[1])
    found["candidate"] = candidates / len(y)
    if is_stored:
        found |= {name: iteration_time(one, problem) for name, one in OTHER_METHODS.items()}
    return found


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding, from quantities that do not depend on the machine: orders and growths.

    A time grows as printed if its slope, between the logarithms of time and n, is near the slope
    of the printed times. A constant part of each loop is a cause of another slope if a constant
    plus a multiple of n fits at least as well as a power of n, the multiple is most of the time on
    the largest set, and the times less the constant grow as printed.
    """
    cells, present, constants = {}, {}, []
    slopes_of_ours, printed_slopes = slopes(values)
    for place, label in enumerate(OBJECTIVES):
        times = {name: values[f"{name}|{label}"]["loop"] for name in PRINTED}
        ordered = in_order(times, {name: row[place] for name, row in PRINTED.items()})
        cells[f"{label}: order of the data sets"] = truth_distance(ordered)
        sizes = [values[f"{name}|{label}"]["n"] for name in KEPT]
        kept = [times[name] for name in KEPT]
        fit = line(sizes, kept)
        is_line = fit.left <= fit.left_by_power + ROUNDING
        is_line &= fit.per_size * max(sizes) > fit.constant
        rest = [time - fit.constant for time in kept]
        growth, printed = f"{label}: growth with n", printed_slopes[place]
        cells[growth] = truth_distance(abs(slopes_of_ours[place] - printed) <= NEAR)
        follows = is_line and min(rest) > 0 and abs(exponent(sizes, rest)[0] - printed) <= NEAR
        present[growth] = truth_distance(follows)
        constants.append(1e6 * fit.constant)
    number = (
        f"{min(constants):.0f} to {max(constants):.0f} us, with which our times have slopes of "
        f"{min(slopes_of_ours):.2f} to {max(slopes_of_ours):.2f} where M20 prints "
        f"{min(printed_slopes):.2f} to {max(printed_slopes):.2f}"
    )
    cause = Cause(CONSTANT, number, present, {name: cells[name] for name in present})
    one = Tried(Reading("", source="M20 Tables 1 and 4"), cells)
    what = "orders of the data sets and growths as printed"
    claims = ("M20-table4", "M20-table4-linear", "M20-table4-counted")
    return judge([one], 0.0, what, number, claims, [cause])


def slopes(values: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Return the exponents of n of our times and of the printed ones, without the largest set."""
    found: tuple[list[float], list[float]] = ([], [])
    for place, label in enumerate(OBJECTIVES):
        sizes = [values[f"{name}|{label}"]["n"] for name in KEPT]
        times = [values[f"{name}|{label}"]["loop"] for name in KEPT]
        for slope, some in zip(
            found, (times, [PRINTED[name][place] for name in KEPT]), strict=True
        ):
            slope.append(exponent(sizes, some)[0])
    return found


def in_order(times: Mapping[str, float], printed: Mapping[str, float]) -> bool:
    """Return whether the times are in the order of the printed ones, where these clearly differ."""
    return all(
        times[slow] > times[fast]
        for slow, fast in permutations(printed, 2)
        if printed[slow] > APART * printed[fast]
    )


def plot(study: Study) -> list[Path]:
    values = study.values
    header = ("data", "n", "objective", "ms a loop", "+-", "s a candidate", *OTHER_METHODS)
    rows = [row(cell, value) for cell, value in values.items()]
    return study.save_table(Table(header, rows), caption(rows, values, study.size))


def row(cell: str, value: dict[str, Any]) -> list[Entry]:
    """Return a row of the table, with milliseconds per iteration of the other methods."""
    name, label = cell.split("|")
    printed = PRINTED[name][list(OBJECTIVES).index(label)] if name in PRINTED else None
    others = [Compared(1e3 * value[m]) if m in value else Compared(None) for m in OTHER_METHODS]
    loop = Compared(1e3 * value["loop"], printed, ".4f")
    deviation = f"{1e3 * value['deviation']:.4f}"
    candidate = Compared(value["candidate"], spec=".1e")
    return [name, str(value["n"]), label, loop, deviation, candidate, *others]


def caption(rows: list[list[Entry]], values: dict[str, Any], size: str) -> Caption:
    batches = LOOPS[size]
    worst = max(value["candidate"] for value in values.values())
    low, high = PRINTED_CANDIDATE
    loops = [entry for line in rows for entry in line[3:4] if isinstance(entry, Compared)]
    ratios = [entry.ours / entry.printed for entry in loops if entry.ours and entry.printed]
    told = "No printed number can be compared with one of ours."
    if ratios:
        told = f"A loop takes {min(ratios):.2f} to {max(ratios):.2f} times the printed time."
        ours, printed = slopes(values)
        told += (
            " With a stored kernel matrix the slope of the logarithms is "
            f"{min(ours):.2f} to {max(ours):.2f} for our times, which have a constant part, and "
            f"{min(printed):.2f} to {max(printed):.2f} for the printed ones."
        )
    return Caption(
        title="M20 Table 4: the time of a repeat loop",
        shows=(
            "CPU milliseconds per loop in the least of some batches that make the same loops, and "
            "the standard deviation over the batches; seconds per candidate; milliseconds per "
            "iteration of the other methods. The paper's numbers were measured on a different "
            "machine."
        ),
        settings=(
            "linear kernel, C = 1, quadratic surrogate, K = 5, tau = 0.05, one thread; rows "
            f"standardised, those of Fashion-MNIST of length 1 (the first {ROWS}, class 0 "
            "positive), where two columns of the kernel are computed in every loop. "
            f"{batches[1]} batches of {batches[0]} loops, {FEW[1]} of {FEW[0]} on Fashion-MNIST."
        ),
        agreement=(
            f"{told} A candidate takes at most {worst:.1e} s; M20 prints {low:.1e} to {high:.1e}."
        ),
    )
