"""Our own: how small a gap must be to know the labels and the accuracy of the optimum.

`Result.proved` says which test labels are proved to be the exact optimum's, and
`Result.proved_accuracy` gives an interval that contains the optimum's accuracy. Both are computed
at decreasing gaps, together with the share of labels that differ from the optimum's.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fwlab
from figures.kit.captions import Caption
from figures.kit.study import Study
from figures.kit.style import label_curves, log_axes, new_figure, series, state
from figures.kit.tables import Table
from figures.own.subsets import DIGITS, REAL, random_rows
from fwlab.experiments import Cell, DataName

DATA = {name: REAL[name] for name in ("letter", "News20", "Fashion")}
ROWS = {"quick": 100, "standard": 4000, "full": 4000}
SMALLEST = {"quick": 4, "standard": 10, "full": 10}  # powers of ten
# shares of the labels that the title names
RIGHT, PROVED = 0.99, 0.9
SECONDS = {"quick": 2, "standard": 60, "full": 60}


def cells(size: str) -> list[Cell]:
    data = DIGITS if size == "quick" else DATA
    settings = {"rows": ROWS[size], "smallest": SMALLEST[size]}
    return [Cell(name, proofs_at_gaps, {"data": one, **settings}) for name, one in data.items()]


def proofs_at_gaps(data: DataName, rows: int, smallest: int) -> dict[str, list[Any]]:
    """Return what machines with gaps below 0.1, 0.01, .. prove about the test part.

    Each run continues the one before. changed: the share of rows whose label differs from a label
    that the last machine proves.
    """
    part = data.load()
    X, y = random_rows(data, rows)
    problem = fwlab.Problem(X, y, fwlab.MaxHinge(), 1 / len(y), n_classes=part.n_classes)
    found: dict[str, list[Any]] = {"gap": [], "proved": [], "interval": [], "accuracy": []}
    labels, A = [], None
    for power in range(1, smallest + 1):
        result = fwlab.solve(problem, "auto", 10.0**-power, max_iter=5000, A0=A)
        A = result.A
        labels.append(result.predict(part.X_test))
        found["gap"].append(result.gap + result.gap_error)
        found["proved"].append(result.proved(part.X_test).mean())
        found["interval"].append(result.proved_accuracy(part.X_test, part.y_test))
        found["accuracy"].append(np.mean(labels[-1] == part.y_test))
    known = result.proved(part.X_test)
    return {**found, "changed": [np.mean(known & (one != labels[-1])) for one in labels]}


def plot(study: Study) -> list[Path]:
    """Draw what is not yet known against the gap: labels above, accuracy below."""
    values = study.values
    figure = new_figure(6.6)
    state(figure, title_of(values))
    labels, accuracy = figure.subplots(2, 1, sharex=True)
    log_axes(labels, "")
    log_axes(accuracy, "certified gap")
    labels.set_ylabel("share of the test labels")
    accuracy.set_ylabel("accuracy, difference")
    labels.set_title("labels not proved, and (dotted) labels that change", fontsize="medium")
    accuracy.set_title(
        "width of the proved interval, and (dotted) distance from the last", fontsize="medium"
    )
    for index, (name, value) in enumerate(values.items()):
        style = series(index)
        dotted = {**style, "linestyle": ":", "markerfacecolor": "white"}
        dotted["markeredgecolor"] = style["color"]
        final = np.abs(np.subtract(value["accuracy"], value["accuracy"][-1]))
        drawn = (
            (labels, style, 1 - np.array(value["proved"]), name),
            (labels, dotted, np.array(value["changed"]), f"{name} changes"),
            (accuracy, style, np.diff(value["interval"])[:, 0], name),
            (accuracy, dotted, final, f"{name} moves"),
        )
        for ax, own, y, label in drawn:
            ax.plot(value["gap"], np.where(y > 0, y, np.nan), **own, label=label)
    labels.invert_xaxis()
    label_curves([labels, accuracy], fontsize=7.5)
    caption = _caption(values, study.size)
    return [
        *study.save_figure(figure, caption),
        *study.save_table(_table(values), caption, "table"),
    ]


def title_of(values: dict[str, Any]) -> str:
    """Return at which gaps almost all labels are right, and at which they are proved."""
    right = first_power(values, "changed", lambda share: share <= 1 - RIGHT)
    proved = first_power(values, "proved", lambda share: share >= PROVED)
    return (
        f"At a gap of {right}, {RIGHT:.0%} of the labels are the optimum's on every set; "
        f"to prove {PROVED:.0%} of them takes {proved}"
    )


def first_power(values: dict[str, Any], name: str, small: Callable[[float], bool]) -> str:
    """Return the first power of ten from which a share stays small on every set."""
    n_gaps = len(next(iter(values.values()))[name])
    met = [all(small(value[name][i]) for value in values.values()) for i in range(n_gaps)]
    later = [i for i in range(n_gaps) if all(met[i:])]
    return f"1e-{later[0] + 1}" if later else f"less than 1e-{n_gaps}"


def _table(values: dict[str, Any]) -> Table:
    rows = []
    for name, value in values.items():
        columns = (value[c] for c in ("gap", "proved", "changed", "interval", "accuracy"))
        for gap, proved, changed, (low, high), accuracy in zip(*columns, strict=True):
            shares = [f"{share:.4f}" for share in (proved, changed, low, high, accuracy)]
            rows.append([name, f"{gap:.1e}", *shares])
    header = ["data", "gap", "labels proved", "labels that change"]
    return Table([*header, "accuracy at least", "at most", "of this machine"], rows)


def _caption(values: dict[str, Any], size: str) -> Caption:
    return Caption(
        title="How small a gap is small enough",
        shows=(
            "Above, the share of test labels that are not proved to be the exact optimum's, and of "
            "those that differ from labels proved at the smallest gap. Below, the width of the "
            "interval that is proved to hold the optimum's accuracy, and how far the accuracy "
            "is from the one at the smallest gap. A dotted curve ends where it is 0."
        ),
        settings=(
            f"max hinge, lam = 1/n, unit rows, {ROWS[size]} random training rows, whole test "
            "parts; `auto`, each run from the one before; the gap includes its rounding error; "
            "seed 0."
        ),
        agreement=f"No paper has this figure. {title_of(values)}.",
    )
