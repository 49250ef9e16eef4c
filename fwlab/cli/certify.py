"""`fwlab certify`: how far a machine in a file is from the optimum of a problem."""

from argparse import Namespace
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fwlab.arrays import Floats
from fwlab.certification import Certification
from fwlab.certification import certify as certification_of
from fwlab.cli.flags import BadInput
from fwlab.cli.output import bad_input, print_json
from fwlab.cli.problems import load, named_problem
from fwlab.cli.reports import print_report, proved_report
from fwlab.datasets.named import Dataset
from fwlab.launch import INTERRUPTED
from fwlab.model import Model
from fwlab.npz import UnreadableFile, read_npy
from fwlab.result import Status

PARTS = ("X_train", "X_valid", "X_test")


def certify(options: Namespace) -> int:
    """Run the command and return its exit code."""
    if (options.model is None) == (options.machine is None):
        given = "both" if options.model else "neither"
        raise BadInput(f"certify needs --model FILE or --weights FILE; got {given}.")
    with bad_input(OSError):
        dataset, W, intercept = _machine_on_data(options)
        named = named_problem(options, _with_constant(dataset, options.intercept_scaling))
        found = certification_of(
            named.problem, W, intercept, factor=options.factor, time_limit=options.time_limit
        )
    report = _report(found) | proved_report(found, named)
    if options.json:
        print_json(problem=named.as_dict(), certification=report)
    else:
        print(named.line)
        print_report(report)
    if found.result.status is Status.INTERRUPTED:
        return INTERRUPTED
    return int(options.strict and not found.status.is_settled)


def _machine_on_data(options: Namespace) -> tuple[Dataset, Floats, Floats | None]:
    """Return the data as the machine takes them, and the machine."""
    dataset = load(options.data, options)
    if options.model is None:
        return dataset, _array("--weights", options.machine), _intercept(options)
    if options.intercept is not None or options.normalize != "none":
        flag = "--intercept" if options.intercept is not None else "--normalize"
        raise BadInput(f"--model brings its own intercept and normalisation; got {flag} beside it.")
    model = Model.load(options.model)
    if model.W.shape[1] != dataset.X_train.shape[1]:
        raise BadInput(
            f"--data must have the {model.W.shape[1]} features of --model; {options.data!r} has "
            f"{dataset.X_train.shape[1]}."
        )
    if list(map(str, model.classes)) != list(map(str, dataset.classes)):
        raise BadInput(
            f"--data must have the classes of --model, {_some(model.classes)}; {options.data!r} "
            f"has {_some(dataset.classes)}."
        )
    return _scaled(dataset, model), model.W, model.intercept if model.intercept.any() else None


def _scaled(dataset: Dataset, model: Model) -> Dataset:
    """Return the data with the normalisation of a model."""
    parts: dict[str, Any] = {}
    for name in PARTS:
        X = getattr(dataset, name)
        if X is not None:
            parts[name] = X.copy()
            model.scaling.apply(parts[name])
    return replace(dataset, **parts, normalize=model.scaling.normalize, scaling=model.scaling)


def _with_constant(dataset: Dataset, constant: float | None) -> Dataset:
    """Return the data with a constant last feature, if there is to be one."""
    if constant is None:
        return dataset
    parts: dict[str, Any] = {}
    for name in PARTS:
        X = getattr(dataset, name)
        if X is not None:
            column = np.full((X.shape[0], 1), constant)
            together = sp.hstack([X, column], format="csr") if sp.issparse(X) else None
            parts[name] = np.hstack([X, column]) if together is None else together
    return replace(dataset, **parts)


def _intercept(options: Namespace) -> Floats | None:
    return None if options.intercept is None else _array("--intercept", options.intercept)


def _array(flag: str, path: str) -> Floats:
    """Return the array in an .npy file. Raises BadInput with the flag."""
    try:
        return read_npy(path)
    except OSError as error:
        raise BadInput(f"{flag} {path} cannot be read: {error.strerror or error}.") from error
    except UnreadableFile as error:
        raise BadInput(f"{flag} {path} cannot be read: {error.reason}") from error


def _some(classes: Any) -> str:
    shown = list(map(str, classes))
    return ", ".join(shown if len(shown) <= 5 else [*shown[:5], ".."])


def _report(found: Certification) -> dict[str, Any]:
    return {
        "status": found.status.name,
        "message": found.message,
        "excess": found.excess,
        "excess_low": found.excess_low,
        "distance": found.distance,
        "primal": found.primal,
        "gap_error": found.gap_error,
        "wall_seconds": found.result.wall_seconds,
    }
