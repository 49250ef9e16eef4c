"""K19 Tables 1 to 7: the choice of constants, the findings and the tables.

Each entry has the C and smoothing with the best mean accuracy of its own column over the folds.
Table 1 shows the best k of each column, as in the paper, and shares its cells with Tables 2 to 7.
The features of ALOI, CUB and Indoor67 are not available here: their tables have the printed
numbers, and ours for the reader's own files.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from figures.kato2019 import news20_table
from figures.kato2019.machines import (
    BLACK_AND_WHITE,
    GAMMA,
    HALF,
    KS,
    NUMBERS,
    PARTS,
    PSEUDO,
    ROWS,
    TIMES_N,
    USUNIER,
    Grid,
    cells,
    grid,
    machines,
    readings,
    tried_machines,
)
from figures.kato2019.news20 import SMOOTHED_BY_N
from figures.kato2019.printed import TABLE_1, TABLES
from figures.kit.captions import Caption
from figures.kit.causes import Cause, cause_of
from figures.kit.findings import FigureFinding, nothing_to_compute
from figures.kit.judge import judge
from figures.kit.own_files import FILES, missing, stored_sets
from figures.kit.pixels import GREY
from figures.kit.readings import Reading, Tried
from figures.kit.script import Script
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table
from fwlab.experiments import Cell, CrossValidation
from fwlab.text import listed

QUICK = Reading("a few digits", {"rows": PARTS, "lapin": PSEUDO, "C": None, "unit": GAMMA})
# machines of these k choose a reading, all others confirm it
CHOOSING = (1, 10)
# a distance is a difference over twice its standard error
TOLERANCE = 1.0
NEAR = "accuracies within two standard errors"
HALF_DIGIT = 0.0005  # of a printed accuracy
CLAIMS = ("K19-table1",)
LAPIN = "UTk (Lapin) trains Usunier's loss, and not the one of UTk (Chu), as the text has it"


@dataclass(frozen=True)
class Chosen:
    """Accuracy on n_test rows and gap of the fit that is chosen for one entry of a table."""

    accuracy: float
    gap: float
    capped: bool
    n_test: int


Entries = dict[tuple[str, int], list[Chosen]]


def chosen_entries(values: dict[str, Any], chosen: Grid, name: str, reading: Reading) -> Entries:
    """Return an entry per row, k and column of a data set's table."""
    label = f"{name}, {reading.settings['rows']}"
    found = CrossValidation.of(label, list(machines(chosen, name)), chosen.protocol, values)
    entries = {}
    for row in ROWS:
        for k in chosen.ks:
            tried = tried_machines(row, k, reading, chosen)
            entries[row, k] = [
                choose(found, tried, j, reading.settings["C"]) for j in range(len(chosen.ks))
            ]
    return entries


def choose(found: CrossValidation, tried: list[str], column: int, C: float | None) -> Chosen:
    """Return the test accuracy of the machine and C that the folds prefer, or of this C."""
    machine, place = found.best(tried, column)
    fit = found.fit(machine, place if C is None else found.protocol.Cs.index(C))
    gap = fit["gap"] if fit["own_gap"] is None else fit["own_gap"]
    return Chosen(fit["accuracy"][column], gap, gap > found.protocol.tol, fit["n_test"])


def best_entries(entries: Entries) -> dict[str, list[Chosen]]:
    """Return the best of all k of each column, by row."""
    return {
        row: [
            max(column, key=lambda entry: entry.accuracy)
            for column in zip(*(line for (r, _), line in entries.items() if r == row), strict=True)
        ]
        for row in ROWS
    }


def distance(entry: Chosen, printed: float) -> float:
    """Return the difference over twice its standard error, for two test parts of one size."""
    error = math.sqrt(2 * printed * (1 - printed) / entry.n_test)
    return abs(entry.accuracy - printed) / (2 * error + HALF_DIGIT)


def finding(values: dict[str, Any], size: str, name: str) -> FigureFinding:
    """Return the finding of one of Tables 2 to 7."""
    if not stored_sets(values, [name]):
        return nothing_to_compute(CLAIMS)
    tried = [compared_with_print(values, size, name, reading) for reading in readings(name)]

    causes = partial(causes_of, values, size, name)
    told = [why([name])]
    if name == news20_table.NAME and news20_table.is_stored(values):
        told += told_trials(values)
    return judge(tried, TOLERANCE, NEAR, "; ".join(told), CLAIMS, causes)


def told_trials(values: dict[str, Any]) -> list[str]:
    """Return how many accuracies of UTk (ours) other readings of News20 have near, in words."""
    found = []
    for trial in news20_table.TRIALS:
        n = len(news20_table.TRIED_KS) * len(KS)
        counts = {f"C = {C:g}": near_in_trial(values, trial, C) for C in trial.Cs}
        if trial.validated:
            counts["the C that a fold prefers"] = near_in_trial(values, trial, None)
        told = ", ".join(f"{count} with {C}" for C, count in counts.items())
        found.append(f"{trial.name}, of {n}: {told}")
    ks = listed(str(k) for k in news20_table.TRIED_KS)
    return [f"tried on {ROWS['ours']} for k = {ks} alone, accuracies near: {'; '.join(found)}"]


def near_in_trial(values: dict[str, Any], trial: news20_table.TriedReading, C: float | None) -> int:
    """Return how many accuracies of a trial are near the printed ones."""
    fits = news20_table.fits_of(values, trial, C)
    return sum(
        distance(Chosen(fit["accuracy"][column], fit["gap"], False, fit["n_test"]), printed)
        <= TOLERANCE
        for k, line in fits.items()
        for column, (fit, printed) in enumerate(
            zip(line, TABLES[news20_table.NAME]["ours"][KS.index(k)], strict=True)
        )
    )


def causes_of(values: dict[str, Any], size: str, name: str, one: Tried) -> list[Cause]:
    """Return what may explain a table beside its reading: grey pixels, and Usunier's loss."""
    found = []
    for what, setting, other in ((GREY, "rows", BLACK_AND_WHITE), (LAPIN, "lapin", USUNIER)):
        if what == GREY and (name != "Caltech101" or one.reading.settings["rows"] != HALF):
            continue
        changed = replace(one.reading, settings={**one.reading.settings, setting: other})
        present = compared_with_print(values, size, name, changed)
        without, near = (mean_distance(tried) for tried in (one, present))
        number = f"mean distance {near:.2g} in place of {without:.2g} of two standard errors"
        if what == LAPIN:
            number = f"the two printed rows differ by up to {apart(name):.3f}"
        found.append(cause_of(what, number, present, one))
    return found


def mean_distance(one: Tried) -> float:
    return sum(one.cells.values()) / len(one.cells)


def apart(name: str) -> float:
    """Return the largest difference of the printed accuracies of UTk (Lapin) and UTk (Chu)."""
    rows = (TABLES[name][row] for row in ("Lapin", "Chu"))
    lines = zip(*rows, strict=True)
    return max(abs(a - b) for pair in lines for a, b in zip(*pair, strict=True))


def compared_with_print(values: dict[str, Any], size: str, name: str, reading: Reading) -> Tried:
    """Return the distances of all entries of a data set's table under a reading."""
    parts: tuple[dict[str, float], dict[str, float]] = {}, {}
    for (row, k), line in chosen_entries(values, grid(size), name, reading).items():
        for column, entry, printed in zip(KS, line, TABLES[name][row][KS.index(k)], strict=True):
            far = distance(entry, printed)
            parts[k not in CHOOSING][f"{ROWS[row]}, k = {k}, top-{column}"] = far
    return Tried(reading, *parts)


def finding_of_best(values: dict[str, Any], size: str) -> FigureFinding:
    """Return the finding of Table 1: one reading for all data sets, or each table's own choice."""
    names = stored_sets(values, NUMBERS)
    if not names:
        return nothing_to_compute(CLAIMS)
    tried = []
    for label, each in ways(values, size, names).items():
        parts: tuple[dict[str, float], dict[str, float]] = {}, {}
        for name, reading in each.items():
            best = best_entries(chosen_entries(values, grid(size), name, reading))
            for row, line in best.items():
                for column, entry, printed in zip(KS, line, TABLE_1[name][row], strict=True):
                    far = distance(entry, printed)
                    parts[column not in CHOOSING][f"{name}, {ROWS[row]}, top-{column}"] = far
        ranks = {reading.rank for reading in each.values()}
        reading = Reading(
            label,
            source="K19 7.4" if ranks == {0} else "",
            program=SMOOTHED_BY_N if max(ranks) == 1 else None,
        )
        tried.append(Tried(reading, *parts))
    what = f"{NEAR}, of {', '.join(names)}"
    return judge(tried, TOLERANCE, what, why(names), CLAIMS)


def ways(values: dict[str, Any], size: str, names: Iterable[str]) -> dict[str, dict[str, Reading]]:
    """Return the readings of all data sets that Table 1 compares, by what they have in common."""
    first = {name: readings(name)[0] for name in names}
    return {
        "the first reading of each table": first,
        "each table's own choice": {name: nearest(values, size, name) for name in names},
    }


def nearest(values: dict[str, Any], size: str, name: str) -> Reading:
    """Return the reading that a data set's own table chooses."""
    chosen = finding(values, size, name).reading
    return next(reading for reading in readings(name) if reading.name == chosen)


def plot_one(study: Study, name: str) -> list[Path]:
    """Save one of Tables 2 to 7, a row per machine and k, under the reading that it chooses."""
    chosen, stored = grid(study.size), stored_sets(study.values, [name])
    reading = shown(study, stored).get(name)
    entries = chosen_entries(study.values, chosen, name, reading) if reading else {}
    rows: list[list[Entry]] = []
    for row, label in ROWS.items():
        for i, k in enumerate(KS):
            printed = TABLES[name][row][i] if study.size != "quick" else (None,) * len(KS)
            rows.append([f"{label[:-1]}, k = {k})", *compared(entries.get((row, k), []), printed)])
    table = Table(["method", *[f"top-{k}" for k in KS]], rows)
    title = f"K19 Table {NUMBERS[name]}: top-k accuracies on {name}"
    used = [entry for line in entries.values() for entry in line]
    return study.save_table(table, caption(study, title, [name], used))


def plot_best(study: Study) -> list[Path]:
    """Save Table 1: all data sets, the best k of each column, under the tables' own readings."""
    chosen, stored = grid(study.size), stored_sets(study.values, NUMBERS)
    best = {
        name: best_entries(chosen_entries(study.values, chosen, name, reading))
        for name, reading in shown(study, stored).items()
    }
    rows: list[list[Entry]] = []
    for name in NUMBERS:
        for row, label in ROWS.items():
            printed = TABLE_1[name][row] if study.size != "quick" else (None,) * len(KS)
            rows.append([name, label, *compared(best.get(name, {}).get(row, []), printed)])
    table = Table(["data", "method", *[f"top-{k}" for k in KS]], rows)
    used = [entry for lines in best.values() for line in lines.values() for entry in line]
    title = "K19 Table 1: top-k accuracies, the best k of each column"
    return study.save_table(table, caption(study, title, list(NUMBERS), used))


def shown(study: Study, names: Iterable[str]) -> dict[str, Reading]:
    """Return the readings to show, by data set."""
    if study.size == "quick":
        return dict.fromkeys(names, QUICK)
    return {name: nearest(study.values, study.size, name) for name in names}


def compared(line: list[Chosen], printed: Sequence[float | None]) -> list[Compared]:
    """Return a row's entries beside the printed ones; a quick run has fewer columns."""
    found: list[Chosen | None] = [*line, *[None] * (len(printed) - len(line))]
    return [
        Compared(entry.accuracy if entry else None, p, mark="*" if entry and entry.capped else "")
        for entry, p in zip(found, printed, strict=True)
    ]


def caption(study: Study, title: str, names: list[str], used: list[Chosen]) -> Caption:
    stored = stored_sets(study.values, names)
    lacking = [name for name in names if name in FILES and name not in stored]
    notes = [f"{name}: {one.name}." for name, one in shown(study, stored).items()]
    notes += [told] if (told := missing(lacking)) else []
    capped = [entry for entry in used if entry.capped]
    if capped:
        worst = max(entry.gap for entry in capped)
        notes.append(f"* {len(capped)} fits met the cap; their largest certified gap: {worst:.1e}.")
    chosen = grid(study.size)
    protocol = chosen.protocol
    return Caption(
        title=title + (", on a few digits" if study.size == "quick" else ""),
        shows=" ".join(
            [
                "Test accuracies, ours (the paper's, difference). UTk (Chu) is SDCA on the pseudo "
                "top-k loss, judged by its own gap; at k = 1 all rows have one machine.",
                *notes,
            ]
        ),
        settings=(
            f"lam = 1/(n C), C in {protocol.Cs}; "
            f"smoothing in {chosen.smoothings[GAMMA]}, with n gamma n times one of "
            f"{chosen.smoothings[TIMES_N]} (0 for SDCA); {protocol.n_folds} stratified folds, "
            f"of which {len(protocol.held_out)} held out in turn, seed {protocol.rng}; "
            "each column's constants are those of its own best mean accuracy; `auto` with warm "
            f"starts along C, gap {protocol.tol:g}, with n gamma {protocol.tol:g}/(2 n gamma), or "
            f"{protocol.max_iter} iterations."
        ),
    )


REASONS = {
    "Caltech101": "Caltech101 is a 16 x 16 reduction of Silhouettes, none of whose parts has the "
    "paper's 6339 rows",
    "News20": "News20 is made anew from the raw messages",
    "Letter": "Letter has the usual cut into 15000 and 5000, which the paper does not name",
}


def why(names: Iterable[str]) -> str:
    """Return how our data differ from the paper's."""
    return "; ".join(REASONS[name] for name in names if name in REASONS)


def cells_of_table(size: str, name: str) -> list[Cell]:
    """Return the fits of one of Tables 2 to 7; for News20 other readings are fitted, too."""
    found = cells(size, [name])
    return found + news20_table.cells() if name == news20_table.NAME and found else found


# on two cores; the features of the other data sets are not available here
SECONDS = {
    "Caltech101": {"quick": 2, "standard": 300, "full": 5400},
    "Letter": {"quick": 2, "standard": 120, "full": 690},
    "News20": {"quick": 2, "standard": 420, "full": 5500},
}
SCRIPTS = {
    "table1": Script(
        "K19 Table 1: top-k accuracies on all data sets, the best k of each column.",
        {"quick": 6, "standard": 720, "full": 3.2 * 3600},
        partial(cells, names=NUMBERS),
        plot_best,
        finding_of_best,
    ),
    **{
        f"table{number}": Script(
            f"K19 Table {number}: top-k accuracies of weighted top-k SVMs and SDCA on {name}.",
            SECONDS.get(name, {"quick": 1, "standard": 1, "full": 1}),
            partial(cells_of_table, name=name),
            partial(plot_one, name=name),
            partial(finding, name=name),
        )
        for name, number in NUMBERS.items()
    },
}
