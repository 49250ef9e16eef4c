"""LP15 Table 2, News 20: test accuracy of Crammer and Singer's machine and the lp-norm one.

Each repetition splits all rows again at random; C, and p if more than one is tried, have the best
mean accuracy over the folds of its training part.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from scipy import stats

import fwlab
from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding
from figures.kit.judge import judge
from figures.kit.own_files import available, missing, stored_sets
from figures.kit.readings import Reading, Tried
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table
from fwlab.experiments import Cell, DataName, Protocol, accuracy_path

NEWS = "News 20"
DATA = DataName("news20", "unit")
QUICK_DATA = DataName("digits", "unit", rows=150)
# p = 2 is Crammer and Singer's machine; the paper tries p from 1.2 to 10 in steps of 0.5, then 0.1
PS = {
    "quick": (1.5, 2.0),
    "standard": (1.5, 2.0, 3.0, 5.0, 10.0),
    "full": (1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0),
}
LP, CRAMMER_SINGER = "lp-norm, p chosen", "Crammer & Singer"
REPETITIONS = {"quick": 2, "standard": 3, "full": 10}
PROTOCOLS = {
    "quick": Protocol((0.1, 1.0), (1,), n_folds=2, max_iter=30),
    "standard": Protocol(tuple(2.0**p for p in range(-4, 5)), (1,), n_folds=5, n_held_out=1),
    "full": Protocol(tuple(2.0**p for p in range(-12, 13)), (1,), n_folds=5),
}
SECONDS = {"quick": 3, "standard": 300, "full": 3 * 3600}
# data, machine: mean and deviation, per cent
PRINTED = {
    "Sector": {LP: (94.20, 0.34), CRAMMER_SINGER: (93.89, 0.27)},
    NEWS: {LP: (86.19, 0.12), CRAMMER_SINGER: (85.12, 0.29)},
    "Rcv1": {LP: (85.74, 0.71), CRAMMER_SINGER: (85.21, 0.32)},
}


PRINTED_REPETITIONS = 10
CLAIMS = ("LP15-table2", "LP15-table2-gains", "LP15-table2-significant")


def sources(size: str) -> dict[str, DataName]:
    """Return the data sets that can be loaded, by the names of PRINTED."""
    return available({NEWS: QUICK_DATA if size == "quick" else DATA}, PRINTED, size)


def cells(size: str) -> list[Cell]:
    protocol = PROTOCOLS[size]
    return [
        Cell(
            name(source, p, repetition, fold),
            repetition_path,
            {"data": data, "p": p, "repetition": repetition, "fold": fold, "protocol": protocol},
        )
        for source, data in sources(size).items()
        for p in PS[size]
        for repetition in range(REPETITIONS[size])
        for fold in [*protocol.held_out, "test"]
    ]


def name(source: str, p: float, repetition: int, fold: int | str) -> str:
    return f"{source}, p = {p:g}, repetition {repetition}, fold {fold}"


def repetition_path(
    data: DataName, p: float, repetition: int, fold: int | str, protocol: Protocol
) -> list[dict[str, Any]]:
    """Return the path of one fold of one random split, as accuracy_path does."""
    machine = ("ascent", None) if p == 2.0 else ("direct", fwlab.LpNorm(p))
    return accuracy_path(recut(data, repetition), fwlab.MaxHinge(), 0.0, fold, protocol, *machine)


def recut(data: DataName, seed: int) -> fwlab.datasets.Dataset:
    """Return all rows in random order, split into parts of the same sizes."""
    given = data.load()
    stack = scipy.sparse.vstack if scipy.sparse.issparse(given.X_train) else np.vstack
    X, y = stack([given.X_train, given.X_test]), np.append(given.y_train, given.y_test)
    if scipy.sparse.issparse(X):
        X = X.tocsr()
    order, n = np.random.default_rng(seed).permutation(len(y)), len(given.y_train)
    train, test = order[:n], order[n:]
    return replace(given, X_train=X[train], y_train=y[train], X_test=X[test], y_test=y[test])


def plot(study: Study) -> list[Path]:
    values, size = study.values, study.size
    chosen = {
        (source, machine): choose(values, size, source, ps)
        for source in stored_sets(values, PRINTED)
        for machine, ps in tried(size).items()
    }
    rows: list[list[Entry]] = []
    for source, machines in PRINTED.items():
        for machine, (paper, spread) in machines.items():
            printed = None if size == "quick" else paper
            ours, note = Compared(None, printed, ".2f"), f"- ({spread:.2f})"
            if found := chosen.get((source, machine)):
                mean, deviation = summary(found)
                ours = Compared(mean, printed, ".2f", "*" if capped(found, size) else "")
                note = f"{deviation:.2f} ({spread:.2f})"
            rows.append([source, machine, ours, note])
    table = Table(["data", "method", "accuracy, %", "deviation"], rows)
    return study.save_table(table, caption(size, chosen))


def finding(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding, from the accuracies and the gains.

    A distance is in units of the allowed one: two deviations of a repetition for an accuracy, half
    the width of the interval of the difference for a gain.
    """
    cells, told = {}, []
    for source in stored_sets(values, PRINTED):
        ours = {m: summary(choose(values, size, source, ps)) for m, ps in tried(size).items()}
        for machine, (mean, deviation) in ours.items():
            paper, spread = PRINTED[source][machine]
            cells[f"{source}, {machine}"] = abs(mean - paper) / (2 * max(deviation, spread))
        gain, half = gain_interval(ours, REPETITIONS[size])
        theirs, their_half = gain_interval(PRINTED[source], PRINTED_REPETITIONS)
        cells[f"{source}, gain"] = abs(gain - theirs) / math.hypot(half, their_half)
        told.append(
            f"the gain of the lp-norm on {source} is {gain:+.2f} here, 95% interval "
            f"[{gain - half:.2f}, {gain + half:.2f}], and {theirs:+.2f} in the paper, "
            f"[{theirs - their_half:.2f}, {theirs + their_half:.2f}]"
        )
    one = Tried(Reading("", source="LP15 section 4"), cells)
    what = "numbers within their deviations or intervals"
    told += [largest_told(values, source, size) for source in stored_sets(values, PRINTED)]
    return judge([one], 1.0, what, "; ".join(told), CLAIMS)


def largest_told(values: dict[str, Any], source: str, size: str) -> str:
    """Return a sentence with the best test accuracy of all p and C, and the printed accuracy."""
    means = {}
    for p in PS[size]:
        paths = [values[name(source, p, r, "test")] for r in range(REPETITIONS[size])]
        for fits in zip(*paths, strict=True):
            means[p, fits[0]["C"]] = 100 * float(np.mean([fit["accuracy"][0] for fit in fits]))
    best = max(means, key=means.__getitem__)
    return (
        f"of {len(means)} pairs of p and C on {source} the best on the test rows, p = {best[0]:g} "
        f"and C = {best[1]:g}, has {means[best]:.2f} per cent, in the paper "
        f"{PRINTED[source][LP][0]:.2f}"
    )


def gain_interval(found: Mapping[str, tuple[float, float]], n: int) -> tuple[float, float]:
    """Return the lp-norm's gain and half the width of its 95% interval (Welch).

    found: mean and deviation of n repetitions of each machine.
    """
    (mean, deviation), (other_mean, other_deviation) = found[LP], found[CRAMMER_SINGER]
    squares = np.array([deviation, other_deviation]) ** 2 / n
    freedom = (n - 1) * squares.sum() ** 2 / (squares**2).sum()
    half = float(stats.t.ppf(0.975, freedom)) * math.sqrt(squares.sum())
    return mean - other_mean, half


def tried(size: str) -> dict[str, tuple[float, ...]]:
    """Return the p that each machine chooses from."""
    return {LP: PS[size], CRAMMER_SINGER: (2.0,)}


ChosenEntries = list[tuple[float, dict[str, Any]]]


def choose(values: dict[str, Any], size: str, source: str, ps: tuple[float, ...]) -> ChosenEntries:
    """Return p and the test entry for the best p and C over the folds, for every repetition."""
    chosen = []
    for repetition in range(REPETITIONS[size]):
        best: tuple[float, float, dict[str, Any]] = (-1.0, 0.0, {})
        for p in ps:
            held = [values[name(source, p, repetition, fold)] for fold in PROTOCOLS[size].held_out]
            means = np.mean([[entry["accuracy"][0] for entry in path] for path in held], axis=0)
            C = int(means.argmax())
            if means[C] > best[0]:
                best = (float(means[C]), p, values[name(source, p, repetition, "test")][C])
        chosen.append(best[1:])
    return chosen


def summary(chosen: ChosenEntries) -> tuple[float, float]:
    """Return mean and deviation of the test accuracies, per cent."""
    accuracies = [100 * entry["accuracy"][0] for _, entry in chosen]
    return float(np.mean(accuracies)), float(np.std(accuracies, ddof=1))


def capped(chosen: ChosenEntries, size: str) -> int:
    """Return how many of the chosen fits reached their iteration limit."""
    return sum(entry["gap"] > PROTOCOLS[size].tol for _, entry in chosen)


def caption(size: str, chosen: dict[tuple[str, str], ChosenEntries]) -> Caption:
    protocol = PROTOCOLS[size]
    met = sum(capped(each, size) for each in chosen.values())
    picked = {", ".join(key): [(p, e["C"]) for p, e in each] for key, each in chosen.items()}
    lacking = [source for source in PRINTED if (source, LP) not in chosen]
    return Caption(
        title="LP15 Table 2: test accuracies" + (", on digits" * (size == "quick")),
        shows=(
            "Ours (the paper's, difference), per cent, and deviations over the repetitions."
            + (f" * {met} fits met the cap." if met else "")
            + f" {missing(lacking)}"
        ),
        settings=(
            f"word counts, unit rows; {REPETITIONS[size]} random splits (seeds 0, 1, ..); "
            f"{protocol.n_folds} folds, {len(protocol.held_out)} held out in turn; C (of a sum of "
            f"losses) in {protocol.Cs}; p in {PS[size]}; `ascent` for p = 2 and `direct` to a gap "
            f"of {protocol.tol:g} or {protocol.max_iter} iterations; chosen (p, C): {picked}."
        ),
        agreement=(
            "News 20 is rebuilt from the raw messages, and its near duplicates are split at random."
        ),
    )
