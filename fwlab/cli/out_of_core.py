"""`fwlab solve --out-of-core`: a path over C on features that stay in a file."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.checks.arguments import as_positive_reals
from fwlab.checks.labels import plain_labels
from fwlab.cli.flags import BadInput
from fwlab.cli.options import ENTROPIES, PATH_RECORD
from fwlab.cli.output import bad_input, print_json
from fwlab.cli.problems import loss_of
from fwlab.command import complain
from fwlab.datasets.text_labels import require_labels
from fwlab.distributed import OutOfCoreProblem, PathPoint, ValidationSet
from fwlab.distributed.path import unlocked_path
from fwlab.distributed.solve import OutOfCoreProgress, check_method
from fwlab.distributed.sources import file_array
from fwlab.experiments.lock import locked
from fwlab.launch import INTERRUPTED
from fwlab.model import Model
from fwlab.npz import UnreadableFile, map_npy
from fwlab.result import Status
from fwlab.text import format_table
from fwlab.toml_text import read_toml, write_toml

# flags that only a run out of core takes, by the name of the option
OWN = {
    "label_file": "labels",
    "validation": "validation",
    "validation_labels": "validation-labels",
    "folder": "out",
    "max_memory": "max-memory",
    "chunk_rows": "chunk-rows",
}
# flags with only one value out of core, and the reason
FIXED = {
    "normalize": ("none", "the file holds the features as they are used"),
    "index_base": (None, "it reads .npy files"),
    "kernel": ("none", "a Gram matrix would not fit"),
    "n_threads": (1, "each chunk is visited by one thread"),
    "verify": (False, "ball arithmetic needs X in memory"),
    "proved": (False, "--validation prints the proved intervals"),
}
COMMENT = "`fwlab solve --resume --out FOLDER` goes on with this path."
# flags that a later call for the same folder may change
FREE = {"command", "folder", "resume", "json", "verbose", "strict", "save", "config", "n_threads"}
# the same, but recorded: a later call without the flag takes the last value
CHANGEABLE = {"C", "max-memory"}


def refuse_own_flags(options: Namespace) -> None:
    """Raise BadInput if a run in memory has a flag of runs out of core."""
    for name, flag in OWN.items():
        if getattr(options, name) is not None:
            raise BadInput(f"--{flag} needs --out-of-core.")
    if isinstance(options.C, list):
        given = ",".join(f"{C:g}" for C in options.C)
        raise BadInput(f"--C takes several numbers only with --out-of-core; got {given}.")


def solve_out_of_core(options: Namespace, settings: dict[str, Any]) -> int:
    """Run the command and return its exit code."""
    folder = None if options.folder is None else Path(options.folder)
    with bad_input(OSError):
        _check(options)
        y = _labels_of_rows(options)
    with ExitStack() as held:
        with bad_input(OSError):
            # before anything in the folder is read
            held.enter_context(locked(folder))
            stored = {} if folder is None else _recorded(folder)
            # max_memory chooses the rows of a chunk in the first call alone: they change numbers
            options.chunk_rows = options.chunk_rows or stored.get(OWN["chunk_rows"])
            problem = _problem(options, y)
            options.chunk_rows = problem.chunk_rows
            validation = _validation(options, problem)
        reports = sys.stderr if options.json else sys.stdout
        print(f"{options.data}: {', '.join(problem.facts)}", file=reports)
        print(*problem.notes, file=reports, flush=True)
        if folder is not None:
            _record(folder, _flags(options), stored)
        return _solve_path(options, problem, validation, settings)


def _solve_path(
    options: Namespace,
    problem: OutOfCoreProblem,
    validation: ValidationSet | None,
    settings: dict[str, Any],
) -> int:
    """Run the path in its locked folder, report it, and return the exit code."""
    rows: list[dict[str, Any]] = []
    status, unsaved = None, None
    for point in _with_bad_input(_points(options, problem, validation, settings)):
        status = point.result.status
        rows.append(_row(point))
        print(f"{'' if rows[1:] else chr(10)}{_table(rows)}", file=sys.stderr, flush=True)
        if options.save is not None:
            model = Model.of(point.result, problem.classes, settings=settings)
            try:
                point.result.save(options.save, model.as_arrays())
            except OSError as error:
                unsaved = error
        del point  # so that the next run has its memory
    if options.json:
        print_json(options=_flags(options), path=rows)
    else:
        print(_table(rows))
    if unsaved is not None:
        raise unsaved
    if status is Status.INTERRUPTED:
        if options.folder is not None:
            complain(f"interrupted; fwlab solve --resume --out {options.folder} goes on from here.")
        return INTERRUPTED
    return int(options.strict and not all(row["success"] for row in rows))


def _check(options: Namespace) -> None:
    """Raise an error with one sentence if flags do not fit together, before X is read."""
    for name, (allowed, reason) in FIXED.items():
        value = getattr(options, name)
        if value != allowed:
            flag = name.replace("_", "-")
            shown = f"needs --{flag} {allowed}" if allowed else f"takes no --{flag}"
            raise BadInput(f"--out-of-core {shown}: {reason}.")
    as_positive_reals("C", _Cs(options))
    check_method(options.method, options.loss in ENTROPIES)
    if options.label_file is None:
        raise BadInput("--out-of-core needs --labels FILE, a .npy file with a label per row.")
    if (options.validation is None) != (options.validation_labels is None):
        raise BadInput("--validation and --validation-labels need each other; got one of them.")
    if options.folder is None and len(_Cs(options)) > 1:
        raise BadInput("several C need --out DIR, where each result is stored when it is done.")
    if options.save is not None and len(_Cs(options)) > 1:
        raise BadInput("--save takes one C; --out DIR stores the result of each C.")


def _Cs(options: Namespace) -> list[float]:
    return options.C if isinstance(options.C, list) else [options.C]


def _labels_of_rows(options: Namespace) -> np.ndarray:
    """Return the labels of the rows of X. Raises BadInput if the files do not fit together."""
    X, y = file_array("--data", options.data, ndim=2), _labels("--labels", options.label_file)
    if len(y) != X.shape[0]:
        raise BadInput(
            f"--labels must hold {X.shape[0]} labels, one per row of --data; got {len(y)}."
        )
    return y


def _problem(options: Namespace, y: np.ndarray) -> OutOfCoreProblem:
    scale = {"C": _Cs(options)[0]} if options.lam is None else {"lam": options.lam}
    return OutOfCoreProblem(
        options.data,
        y,
        loss_of(options, len(np.unique(y))),
        **scale,
        smoothing=options.smoothing,
        max_memory=options.max_memory or "1GB",
        chunk_rows=options.chunk_rows,
    )


def _validation(options: Namespace, problem: OutOfCoreProblem) -> ValidationSet | None:
    if options.validation is None:
        return None
    file_array("--validation", options.validation, ndim=2)
    labels = _labels("--validation-labels", options.validation_labels)
    return ValidationSet(options.validation, labels, problem)


def _labels(flag: str, path: str) -> np.ndarray:
    """Return the labels in a .npy file."""
    if not Path(path).is_file():
        raise BadInput(f"{flag} must name an existing .npy file; got {path!r}.")
    try:
        labels = map_npy(path)
    except UnreadableFile as error:
        raise BadInput(
            f"{flag} must name a whole .npy file; {path!r} cannot be read: {error.reason}"
        ) from error
    if labels.ndim != 1:
        raise BadInput(f"{flag} must hold a label per row, 1-D; {path!r} has shape {labels.shape}.")
    try:
        require_labels("y", labels)
        return plain_labels(np.array(labels))
    except (TypeError, ValueError) as error:
        raise BadInput(f"{flag} {path!r}: {error}") from error


def _with_bad_input(points: Iterator[PathPoint]) -> Iterator[PathPoint]:
    """Yield the points; the one-sentence errors of a run become BadInput."""
    while True:
        with bad_input():
            point = next(points, None)
        if point is None:
            return
        yield point
        del point


def _points(
    options: Namespace,
    problem: OutOfCoreProblem,
    validation: ValidationSet | None,
    settings: dict[str, Any],
) -> Iterator[PathPoint]:
    verbose = int(options.verbose or sys.stderr.isatty())
    Cs = _Cs(options) if options.lam is None else [1.0 / problem.lam_n]
    return unlocked_path(
        problem,
        Cs,
        options.folder,
        validation,
        method=options.method,
        verbose=verbose,
        callback=_accuracy_shown(problem, validation) if verbose and validation else None,
        **settings,
    )


def _recorded(folder: Path) -> dict[str, Any]:
    """Return the flags in the folder, none if it holds no path."""
    path = folder / PATH_RECORD
    if not path.is_file():
        return {}
    try:
        return read_toml(path)
    except ValueError as error:
        raise BadInput(
            f"{path} cannot be read: it is damaged ({error}). Without it, and with all flags, the "
            "same path goes on."
        ) from error


def _record(folder: Path, flags: dict[str, Any], stored: dict[str, Any]) -> None:
    """Write the flags to the folder. Raises BadInput if it holds a path with other flags."""
    for name in (name for name in {**stored, **flags} if stored and name not in CHANGEABLE):
        if stored.get(name) != flags.get(name):
            raise BadInput(
                f"--out must be a new folder or the folder of this path; {str(folder)!r} holds "
                f"one with {name} = {stored.get(name)!r}, and this one has {flags.get(name)!r}."
            )
    write_toml(folder / PATH_RECORD, COMMENT, flags)


def _flags(options: Namespace) -> dict[str, Any]:
    """Return the flags that determine the path, as a file of settings holds them."""
    given = {n: v for n, v in vars(options).items() if n not in FREE and v not in (None, False)}
    flags = {OWN.get(name, name.replace("_", "-")): value for name, value in given.items()}
    return {**flags, "C": ",".join(map(repr, _Cs(options)))}


def _accuracy_shown(
    problem: OutOfCoreProblem, validation: ValidationSet
) -> Callable[[OutOfCoreProgress], None]:
    """Return a callback that prints the accuracy of the current machine."""
    k = getattr(problem.loss, "k", 1)

    def show(progress: OutOfCoreProgress) -> None:
        share = validation.accuracy(progress.W, k)
        text = f"iteration {progress.iteration}: gap {progress.gap:.3e}, "
        print(f"{text}validation top-{k} accuracy {share:.4f}", file=sys.stderr, flush=True)

    return show


def _row(point: PathPoint) -> dict[str, Any]:
    """Return what the report says of one C."""
    result = point.result
    row: dict[str, Any] = {
        "C": point.C,
        "status": result.status.name,
        "message": result.message,
        "iterations": result.nit,
        "wall_seconds": result.wall_seconds,
        "primal": result.primal,
        "dual": result.dual,
        "gap": result.gap,
        "gap_error": result.gap_error,
        "success": result.success,
        "stored": point.stored,
        "file": None if point.file is None else str(point.file),
    }
    for found in point.accuracies:
        row[f"validation_top_{found.k}_accuracy"] = found.share
        row[f"validation_top_{found.k}_accuracy_of_the_optimum"] = [found.low, found.high]
    return row


def _table(rows: list[dict[str, Any]]) -> str:
    """Return one line per C."""
    accuracies = [name for name in rows[0] if name.endswith("accuracy")]
    header = ["C", "status", "gap", "iterations", "seconds"]
    for name in accuracies:
        header += [name.removeprefix("validation_").replace("_", " "), "of the optimum"]
    cells = []
    for row in rows:
        line = [f"{row['C']:.6g}", row["status"], f"{row['gap']:.3e}", str(row["iterations"])]
        line.append(f"{row['wall_seconds']:.1f}")
        for name in accuracies:
            low, high = row[f"{name}_of_the_optimum"]
            line += [f"{row[name]:.4f}", f"[{low:.4f}, {high:.4f}]"]
        cells.append(line)
    return format_table(header, cells, right=header[2:])
