"""`fwlab predict`: labels of new samples by a stored model."""

import csv
import io
from argparse import Namespace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from fwlab.arrays import Integers
from fwlab.checks.arguments import as_integer
from fwlab.checks.labels import codes_of
from fwlab.cli.flags import BadInput, check_file
from fwlab.cli.output import bad_input, print_json
from fwlab.command import complain
from fwlab.datasets.new_samples import read_samples
from fwlab.datasets.readers import check_index_base
from fwlab.datasets.text_labels import (
    as_truth_values,
    codes_of_texts,
    require_labels,
    require_one_form,
)
from fwlab.files import write_text_atomically
from fwlab.metrics import topk_hits
from fwlab.model import Model


def predict(options: Namespace) -> int:
    """Run the command and return its exit code."""
    for flag, path in (("--model", options.model), ("--data", options.samples)):
        if path is None:
            raise BadInput(f"predict needs {flag} FILE.")
    path = Path(options.samples)
    check_file("--out", options.labels)
    with bad_input(OSError):
        check_index_base(path, options.index_base)
        model = Model.load(options.model)
        k = as_integer("topk", options.topk, low=1, high=len(model.classes))
        X, labels = read_samples(
            path,
            model.W.shape[1],
            model.classes,
            model.feature_names,
            model.label_name,
            model.index_base if options.index_base is None else options.index_base,
        )
        best, shares = model.predict_topk(X, k), None
        if options.probabilities:
            shares = -np.sort(-model.predict_proba(X), axis=1)[:, :k]
    report: dict[str, Any] = {"n": len(best)}
    if labels is not None:
        report |= accuracies(model, X, labels, k)
    if options.labels is not None:
        write_text_atomically(Path(options.labels), as_csv(best, shares))
    if options.json:
        if options.labels is None and shares is not None:
            report["probabilities"] = shares.tolist()
        print_json(**report, predictions=best.tolist() if options.labels is None else None)
    elif options.labels is None:
        print(as_csv(best, shares), end="")
    else:
        shown = ", ".join(f"{name} = {value:.6g}" for name, value in report.items())
        print(f"{shown}; written: {options.labels}")
    return 0


def accuracies(model: Model, X: Any, labels: np.ndarray | list[str], k: int) -> dict[str, float]:
    """Return the top-1 and the top-k accuracy; a label that the model does not have is wrong.

    If it has none of them, as in a file with labels to fill in, or if labels are missing, there is
    no accuracy, and a line on stderr says so.
    """
    try:
        codes = _codes(labels, model.classes)
    except (TypeError, ValueError) as error:
        complain(f"no accuracy: {error}")
        return {}
    scores = model.scores(X)
    names = {1: "accuracy", k: f"top_{k}_accuracy"} if k > 1 else {1: "accuracy"}
    return {name: float(topk_hits(codes, scores, j).mean()) for j, name in names.items()}


def _codes(labels: np.ndarray | list[str], classes: np.ndarray) -> Integers:
    """Return the place of each label in the classes, -1 for a label that is none.

    Truth values are compared with the texts of truth values, which a .csv file holds. Raises
    TypeError or ValueError if labels are missing, if they are no labels, or if none is a class.
    """
    require_labels("y", labels)
    texts = np.asarray(labels)
    if texts.dtype.kind == classes.dtype.kind == "U":
        require_one_form("y", [*texts.ravel().tolist(), *classes.tolist()])
    if texts.dtype.kind == "b":
        classes = as_truth_values(classes)
    elif isinstance(labels, list):
        codes = codes_of_texts(labels, classes)
        if codes.max() >= 0:
            return codes
    return codes_of(texts, classes)


def as_csv(best: np.ndarray, shares: np.ndarray | None = None) -> str:
    """Return the predictions (n, k) as text: one row per sample, the best label first.

    Their probabilities (n, k), if given, follow the labels.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    parts = {"top": best.tolist()} | ({} if shares is None else {"p": shares.tolist()})
    writer.writerow([f"{name}{place + 1}" for name in parts for place in range(best.shape[1])])
    writer.writerows(chain.from_iterable(row) for row in zip(*parts.values(), strict=True))
    return text.getvalue()
