"""Collect what commands print: on data, on the installation, and on proved labels."""

import os
import platform
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy.sparse

from fwlab import datasets, projections
from fwlab.certification import Certification
from fwlab.cli.problems import NamedProblem
from fwlab.datasets.files import FILE_SETS, cache_folder
from fwlab.kernels._jit import cache_folder as kernel_folder
from fwlab.kernels.domains.sorting import COUNTING_LENGTH
from fwlab.losses import TopK
from fwlab.operators.features import SHORT_ROWS
from fwlab.problem import Problem
from fwlab.provenance import installed
from fwlab.release import __version__
from fwlab.result import Result
from fwlab.solvers.panel_groups import LEAST_CLASSES
from fwlab.solvers.registry import build, names
from fwlab.solvers.warm_up import warm_up
from fwlab.text import format_table
from fwlab.threads import run_threads

MOST_CLASSES = 20
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib")


def data_rows() -> list[dict[str, Any]]:
    """Return for each named set whether `load` finds it without a download, and its source."""
    folder = data_folder()
    rows = []
    for name in datasets.names():
        files = FILE_SETS[name].files if name in FILE_SETS else ()
        source = FILE_SETS[name].source if name in FILE_SETS else "built in"
        at_hand = all((folder / file).is_file() for file in files)
        rows.append({"name": name, "at_hand": at_hand, "source": source})
    return rows


def overview_text(overview: dict[str, Any]) -> str:
    """Return what `datasets.overview` found, as a table of the classes and a few sentences."""
    classes, scales, repeated = (overview[part] for part in ("classes", "features", "duplicates"))
    parts = [part for part in classes[0] if part != "class"]
    cells = [[str(value) for value in row.values()] for row in classes[:MOST_CLASSES]]
    lines = ["", format_table(("class", *parts), cells, right=parts)]
    if len(classes) > MOST_CLASSES:
        rest = [row["train"] for row in classes[MOST_CLASSES:]]
        lines.append(f".. and {len(rest)} more, of {min(rest)} to {max(rest)} train samples")
    low, high = scales["smallest_deviation"], scales["largest_deviation"]
    spread = "" if low is None else f"; standard deviations from {low:.3g} to {high:.3g}"
    lines += [
        "",
        f"features: values from {scales['smallest']:.4g} to {scales['largest']:.4g}{spread}; "
        f"{scales['constant']} constant",
        f"duplicates: {repeated['train']} train rows repeat an earlier one, "
        f"{repeated['train_with_another_label']} of them with another label"
        + "".join(f"; {repeated[part]} {part} rows are train rows" for part in parts[1:]),
    ]
    return "\n".join(lines)


def data_folder() -> Path:
    """Return the folder in which `load` looks for the files of named sets first."""
    return Path(os.environ.get("FWLAB_DATA") or cache_folder())


def installation() -> dict[str, Any]:
    """Return versions, folders and numbers of threads."""
    return {
        "python": platform.python_version(),
        "fwlab": __version__,
        **{package: installed(package) for package in PACKAGES},
        "platform": platform.platform(),
        "kernel cache": str(kernel_folder() or "none"),
        "data folder": str(data_folder()),
        "processors": os.cpu_count(),
        "threads of a solve": 1,
        "JIT": "off" if getattr(numba.config, "DISABLE_JIT", False) else "on",
    }


def warmup_rows() -> list[dict[str, Any]]:
    """Compile and cache every kernel, and return the seconds that each part took.

    Long rows of X, and rows of scores of many classes, have kernels of their own.
    """
    X, y, more = np.eye(2), np.array([0, 1]), np.eye(2, SHORT_ROWS)
    many = COUNTING_LENGTH + 2
    tiny = {
        "dense": Problem(X, y, TopK(1), 1.0),
        "sparse": Problem(scipy.sparse.csr_matrix(X), y, TopK(1), 1.0),
        "gram": Problem(X, y, TopK(1), 1.0, kernel="precomputed"),
        "dense, long rows": Problem(more, y, TopK(1), 1.0, n_classes=many),
        "sparse, long rows": Problem(
            scipy.sparse.csr_matrix(more), y, TopK(1), 1.0, n_classes=many
        ),
        "gram, long rows": Problem(X, y, TopK(1), 1.0, kernel="precomputed", n_classes=many),
    }
    parts: dict[str, Callable[[], object]] = {
        "losses": partial(_use_loss, 3),
        "losses, many classes": partial(_use_loss, many),
        "projections": _use_projections,
    }
    for method in names():
        for storage, problem in tiny.items():
            parts[f"{method}, {storage}"] = partial(warm_up, problem, build(method, {}))
    parts["ascent, threads"] = _use_threads
    return [{"part": part, "seconds": _seconds(work)} for part, work in parts.items()]


def _use_loss(n_classes: int) -> None:
    scores, y, loss = np.zeros((1, n_classes)), np.array([0]), TopK(2)
    for method in (loss.value, loss.subgradient, loss.lmo, loss.conjugate, loss.project):
        method(scores, y)
    loss.in_domain(scores, y)
    loss.moreau(scores, y, 1.0)


def _use_threads() -> None:
    X, y = np.eye(2, SHORT_ROWS), np.array([0, 1])
    with run_threads(2):
        warm_up(Problem(X, y, TopK(1), 1.0, n_classes=LEAST_CLASSES), build("ascent", {}))


def _use_projections() -> None:
    a = np.array([[2.0, 1.0, 0.5]])
    projections.project_topk_simplex(a, 2)
    projections.project_topk_cone(a, 2)
    projections.project_knapsack(a)
    projections.project_permutahedron(a, [0.5, 0.5, 0.0])


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def proved_report(result: Result | Certification, named: NamedProblem) -> dict[str, Any]:
    """Return the share of labels that are proved to be the optimum's, and its accuracies."""
    k = getattr(named.problem.loss, "k", 1)
    report: dict[str, Any] = {}
    for part, X, y in parts_of(named.dataset):
        report[f"{part}_labels_proved"] = float(result.proved(X).mean())
        report[f"{part}_accuracy_of_the_optimum"] = list(result.proved_accuracy(X, y))
        if k > 1:
            name = f"{part}_top_{k}_accuracy_of_the_optimum"
            report[name] = list(result.proved_accuracy(X, y, k))
    return report


def parts_of(dataset: datasets.Dataset) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, samples and labels of the parts that a data set has."""
    for part in ("train", "valid", "test"):
        X, y = getattr(dataset, f"X_{part}"), getattr(dataset, f"y_{part}")
        if y is not None:
            yield part, X, y


def print_report(report: dict[str, Any]) -> None:
    """Print names and values as two columns."""
    width = max(map(len, report))
    for name, value in report.items():
        print(f"{name.replace('_', ' '):<{width}}  {_shown_value(value)}")


def _shown_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(repr, value))}]"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
