"""L15 Tables 1 and 2: the machines, the choice of C and the table of each data set.

"alpha" is the machine that the paper's SDCA trains, on the pseudo top-k loss; "true" is the true
top-k SVM, which the paper intended. "beta" has Usunier's loss. Each column chooses C by its
accuracy on the validation part or, for a reader's own file, on a third of the training part.
"""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.findings import FigureFinding, nothing_to_compute
from figures.kit.judge import judge
from figures.kit.own_files import available, missing, stored_sets
from figures.kit.readings import Reading, Tried
from figures.kit.script import Script
from figures.kit.study import Study
from figures.kit.tables import Compared, Entry, Table
from figures.lapin2015 import printed
from fwlab import ranking
from fwlab.experiments import Cell, DataName, Fold, Protocol, split, sweep_cells

KS = (1, 2, 3, 4, 5, 10)
TRAINED = (1, 2, 3, 4, 5, 10, 20)
CALTECH = "Caltech101"
HERE = DataName("caltech101_sil28")
QUICK_DATA = DataName("digits", rows=150)
PRINTED = {
    CALTECH: printed.CALTECH,
    "Indoor67": printed.INDOOR,
    "SUN397": printed.SUN,
    "Places205": printed.PLACES,
    "ImageNet2012": printed.IMAGENET,
}
PROTOCOLS = {
    "quick": Protocol((1e-3, 1e-2), (1, 2), max_iter=20),
    "standard": Protocol((1e-3, 3e-3, 1e-2, 3e-2), KS, max_iter=60),
    "full": Protocol(tuple(10.0**p for p in range(-5, 4)), KS, max_iter=1000),
}
# TopPush has a weighted sum over the few positives of a class, not a mean over all rows
RANKING_CS = {"quick": (1e-3,), "standard": (1e-4, 1e-3, 1e-2, 1e-1)}
RANKING_CS["full"] = tuple(10.0**p for p in range(-5, 4))
RANKING_TOL = 1e-3
# two deviations of an accuracy near 0.8 on 2307 rows, in per cent
NEAR = 1.7
CLAIMS = {1: ("L15-table-gains", "L15-table-gains-text"), 2: ()}
# {number of the table: {data set: part of the files' names}}
TABLES = {
    1: {CALTECH: "", "Indoor67": "indoor67"},
    2: {name: name.lower() for name in ("SUN397", "Places205", "ImageNet2012")},
}


def choosing_fold(name: str, size: str) -> Fold:
    """Return the part on which C is chosen: in the quick size the test part, as it has no other."""
    if size == "quick":
        return "test"
    return "valid" if name == CALTECH else 0


def machines(size: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for k in TRAINED if size != "quick" else (1, 2):
        found[f"top-{k} SVM alpha"] = {"loss": fwlab.TopK(k), "method": "sdca-lapin"}
        found[f"top-{k} SVM true"] = {"loss": fwlab.TopK(k)}
        found[f"top-{k} SVM beta"] = {"loss": fwlab.Usunier(k)}
    return found


def cells(size: str, names: Collection[str]) -> list[Cell]:
    """Return all fits on the named data sets that can be loaded."""
    sources = available({CALTECH: QUICK_DATA if size == "quick" else HERE}, names, size)
    return [cell for name, data in sources.items() for cell in cells_of(name, data, size)]


def cells_of(name: str, data: DataName, size: str) -> list[Cell]:
    protocol = PROTOCOLS[size]
    folds = list(dict.fromkeys([choosing_fold(name, size), "test"]))
    settings = {"data": data, "protocol": protocol}
    made = sweep_cells(data, machines(size), protocol, folds, cost=8.0, data_name=name)
    for fold in folds:
        one = {**settings, "fold": fold}
        made.append(Cell(f"{name}, SVM OVA, fold {fold}", one_versus_all, one, 100.0))
        push = {**one, "Cs": RANKING_CS[size]}
        made.append(Cell(f"{name}, TopPush, fold {fold}", toppush, push, 100.0))
    return made


Machine = tuple[np.ndarray, float, Any]  # weights, threshold and certificate of one class


def one_versus_all(data: DataName, fold: Fold, protocol: Protocol) -> list[dict[str, Any]]:
    """Train a hinge SVM for each class against the others, and predict the largest score.

    The result is as in accuracy_path.
    """

    def fit(X: Any, positive: np.ndarray) -> list[Machine]:
        # the rows of W are w/2 and -w/2, so |W|^2 is half of |w|^2: twice the lam, half the C
        problem = fwlab.Problem(X, positive, fwlab.MaxHinge(), 1.0, n_classes=2)
        results = fwlab.path(
            problem,
            [C / 2 for C in protocol.Cs],
            tol=protocol.tol,
            max_iter=protocol.max_iter,
            check_every=protocol.check_every,
        )
        return [(r.W[1] - r.W[0], 0.0, r) for r in results if r.W is not None]

    return against_the_others(data, fold, protocol, protocol.Cs, fit)


def toppush(
    data: DataName, fold: Fold, protocol: Protocol, Cs: tuple[float, ...]
) -> list[dict[str, Any]]:
    """Train TopPush for each class against the others; thresholds make the scores comparable."""

    def fit(X: Any, positive: np.ndarray) -> list[Machine]:
        found = []
        for C in Cs:
            result = ranking.solve(
                X, positive, ranking.TopPush(), C=C, tol=RANKING_TOL, method="working-set"
            )
            signed = np.zeros(len(positive))
            signed[positive == 1], signed[positive == 0] = result.alpha, -result.beta
            found.append((signed @ X, result.threshold, result))
        return found

    return against_the_others(data, fold, protocol, Cs, fit)


def against_the_others(
    data: DataName,
    fold: Fold,
    protocol: Protocol,
    Cs: tuple[float, ...],
    fit: Callable[[Any, np.ndarray], list[Machine]],
) -> list[dict[str, Any]]:
    """Return the accuracies of the machines trained by `fit` for each class, one entry per C."""
    dataset = data.load()
    X, y, X_new, y_new = split(dataset, fold, protocol)
    machines = [fit(X, (y == c).astype(np.int64)) for c in range(dataset.n_classes)]
    entries = []
    for i, C in enumerate(Cs):
        weights, thresholds, results = zip(*(machine[i] for machine in machines), strict=True)
        scores = X_new @ np.array(weights).T - np.array(thresholds)
        accuracy = [fwlab.metrics.topk_accuracy(y_new, scores, k) for k in protocol.ks]
        entry = {"gap": max(r.gap for r in results), "own_gap": None, "accuracy": accuracy}
        capped = sum(not r.success for r in results)
        entries.append({"C": C, **entry, "status": f"{capped} of {len(results)} capped"})
    return entries


def finding(values: dict[str, Any], size: str, number: int) -> FigureFinding:
    """Return the finding of the paper's Table `number`, from the data sets that could be loaded."""
    names = stored_sets(values, TABLES[number])
    if not names:
        return nothing_to_compute(CLAIMS[number])
    cells = {
        key: d
        for name in names
        for machine in machine_names(size)
        if machine in PRINTED[name]
        for key, d in distances(values, name, machine, machine, size).items()
    }
    one = Tried(Reading("", source="L15 Algorithm 1, 6.2"), cells)
    what = f"accuracies on {', '.join(names)} within {NEAR:g} per cent"
    return judge([one], NEAR, what, claims=CLAIMS[number])


def distances(
    values: dict[str, Any], name: str, row: str, trained: str, size: str
) -> dict[str, float]:
    """Return the distances of a trained machine from the printed accuracies of a row."""
    fits = chosen_fits(values, name, trained, choosing_fold(name, size), size)
    accuracies = [100 * fit["accuracy"][j] for j, fit in enumerate(fits)]
    return {
        f"{name}, {row}, top-{k}": abs(ours - theirs)
        for k, ours, theirs in zip(KS, accuracies, PRINTED[name][row], strict=True)
    }


def plot(study: Study, number: int) -> list[Path]:
    """Save the paper's Table `number`, a part for each data set."""
    parts = TABLES[number].items()
    return [file for name, part in parts for file in save_table(study, name, number, part)]


def save_table(study: Study, name: str, number: int, part: str) -> list[Path]:
    """Save the table of one data set."""
    values, size, chosen = study.values, study.size, {}
    if stored_sets(values, [name]):
        fold = choosing_fold(name, size)
        chosen = {m: chosen_fits(values, name, m, fold, size) for m in machine_names(size)}
    rows: list[list[Entry]] = []
    for machine in [*PRINTED[name], *[m for m in chosen if m.endswith("true")]]:
        fits = chosen.get(machine, [])
        unprinted = size == "quick" or machine.endswith("true")
        line: list[Entry] = []
        for j in range(len(KS)):
            fit = fits[j] if j < len(fits) else None
            mark = "*" if fit and fit["capped"] else ""
            ours = None if fit is None else 100 * fit["accuracy"][j]
            paper = None if unprinted else PRINTED[name][machine][j]
            line.append(Compared(ours, paper, ".2f", mark))
        if size != "quick" or fits:
            rows.append([label(machine), *line])
    table = Table(["method", *[f"top-{k}" for k in KS]], rows)
    title = f"L15 Table {number}, {name}"
    return study.save_table(table, caption(title, values, name, chosen, size), part)


def machine_names(size: str) -> list[str]:
    return ["SVM OVA", "TopPush", *machines(size)]


def label(machine: str) -> str:
    return {"TopPush": "TopPush (ours: OVA)"}.get(machine, machine)


def chosen_fits(
    values: dict[str, Any], data: str, machine: str, fold: Fold, size: str
) -> list[dict[str, Any]]:
    """Return, for each column, the test entry of the C that is best on the fold."""
    test, held = (values[f"{data}, {machine}, fold {part}"] for part in ("test", fold))
    best = np.array([entry["accuracy"] for entry in held]).argmax(axis=0)
    return [judged(test[C], size) for C in best]


def judged(entry: dict[str, Any], size: str) -> dict[str, Any]:
    """Return the entry with the gap of the trained loss, and whether the fit reached its limit."""
    gap = entry["gap"] if entry["own_gap"] is None else entry["own_gap"]
    several = entry["status"].endswith("capped")
    capped = not entry["status"].startswith("0 ") if several else gap > PROTOCOLS[size].tol
    return {**entry, "gap": gap, "capped": capped}


def caption(
    title: str, values: dict[str, Any], name: str, chosen: dict[str, Any], size: str
) -> Caption:
    capped = {(m, f["C"]): f["gap"] for m, fits in chosen.items() for f in fits if f["capped"]}
    note = ""
    if capped:
        note = f" * {len(capped)} fits met the cap; their largest certified gap, of the loss "
        note += f"that was trained: {max(capped.values()):.1e}."
    protocol = PROTOCOLS[size]
    features = "features as shipped" if name == CALTECH else "unit rows"
    held_out = "validation part" if name == CALTECH else "third of the training part held out"
    return Caption(
        title=title + (", on digits" * (size == "quick")),
        shows=(
            "Test accuracies in per cent, ours (the paper's, difference). alpha: SDCA on the "
            "pseudo top-k loss, as in the paper; true: the top-k hinge, which the "
            "paper intended; beta: "
            "Usunier's loss; for Prec@k, Recall@k and W++ there are only printed "
            "values. Our TopPush is one "
            "class against the others, as in the paper's Table 2; its Table 1 has the reduction to "
            "one binary problem of section 2.3, another machine."
            + note
            + ("" if chosen or name == CALTECH else f" {missing([name])}")
        ),
        settings=(
            f"{features}; lam = 1/(n C), C in {protocol.Cs}, TopPush (quadratic, one class against "
            f"the others, scores less their thresholds) C in {RANKING_CS[size]}; each "
            f"column has the C with the best accuracy on the {held_out}; gap "
            f"{protocol.tol:g} or "
            f"{protocol.max_iter} iterations, warm starts along C; seed {protocol.rng}."
        ),
        agreement=which_loss(values, name, size) if chosen and size != "quick" else "",
    )


def which_loss(values: dict[str, Any], name: str, size: str) -> str:
    """Return how near the machines of both losses are to the printed rows "alpha"."""
    told = []
    for trained, loss in (("alpha", "pseudo top-k loss"), ("true", "top-k hinge")):
        far = [
            d
            for row in machines(size)
            if row.endswith("alpha") and row in PRINTED[name]
            for d in distances(values, name, row, row.replace("alpha", trained), size).values()
        ]
        near = sum(d <= NEAR for d in far)
        told.append(f"{loss} {near} of {len(far)}, on average by {np.mean(far):.2f}")
    return f"Entries of the rows alpha within {NEAR:g} per cent: {'; '.join(told)}."


SCRIPTS = {
    "table1": Script(
        "L15 Table 1, Caltech 101 and Indoor 67: top-k accuracies of the top-k SVMs and two "
        "baselines.",
        {"quick": 6, "standard": 240, "full": 5 * 3600},
        partial(cells, names=TABLES[1]),
        partial(plot, number=1),
        partial(finding, number=1),
    ),
    "table2": Script(
        "L15 Table 2: top-k accuracies on SUN 397, Places 205 and ImageNet 2012.",
        {"quick": 1, "standard": 1, "full": 1},
        partial(cells, names=TABLES[2]),
        partial(plot, number=2),
        partial(finding, number=2),
    ),
}
