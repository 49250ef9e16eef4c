"""Build data sets, losses and problems from the options of the command line."""

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fwlab import datasets, weights
from fwlab.arrays import Floats
from fwlab.checks.arguments import as_real
from fwlab.cli.flags import BadInput
from fwlab.cli.options import HINGES, LOSSES
from fwlab.cross_entropy import CrossEntropy, EntropyLoss
from fwlab.datasets.named import Dataset
from fwlab.losses import (
    Loss,
    MaxHinge,
    PseudoTopK,
    StructuredHinge,
    TopK,
    Usunier,
    WeightedTopK,
    WeightedUsunier,
)
from fwlab.npz import UnreadableFile, read_npy
from fwlab.problem import Problem
from fwlab.text import describe, describe_problem, did_you_mean, readable
from fwlab.topk_entropy import TopKEntropy

WITH_WEIGHTS = ("topk", "usunier", "weighted-topk", "weighted-usunier")


@dataclass(frozen=True, eq=False)
class NamedProblem:
    """A problem, its data set, and the line that describes both to the user."""

    name: str
    dataset: Dataset
    problem: Problem
    line: str

    def as_dict(self) -> dict[str, Any]:
        """Return everything that determines the problem, ready for JSON."""
        problem = self.problem
        return {
            "name": self.name,
            "data": self.dataset.name,
            "source": self.dataset.source,
            "sha256": self.dataset.sha256,
            "normalize": self.dataset.normalize,
            "n": problem.n_samples,
            "d": problem.n_features,
            "m": problem.n_classes,
            "loss": describe(problem.loss),
            "lam": problem.lam,
            "smoothing": problem.smoothing,
            "kernel": problem.kernel,
        }


def load_problems(options: Namespace) -> list[NamedProblem]:
    """Return one problem for each data set and loss that the options name.

    Raises BadInput, ValueError, TypeError or OSError with one sentence.
    """
    losses = _loss_names(options)
    loaded = {given: load(given, options) for given in _listed("data", options.data)}
    short = [dataset.name for dataset in loaded.values()]
    problems = []
    for given, dataset in loaded.items():
        # Two files in different folders can have the same name.
        name = dataset.name if short.count(dataset.name) == 1 else given
        for loss in losses:
            label = name if len(losses) == 1 else f"{name}/{loss}"
            problems.append(_named_problem(readable(label), loss, dataset, options))
    return problems


def named_problem(options: Namespace, dataset: Dataset) -> NamedProblem:
    """Return the problem of one data set and the one loss that the options name."""
    return _named_problem(readable(dataset.name), _one_loss(options), dataset, options)


def problem_flags(options: Namespace) -> dict[str, Any]:
    """Return the flags that name the problems, as a file of settings holds them."""
    names = ("normalize", "index_base", "k", "weights", "costs", "smoothing", "kernel")
    flags = {name: getattr(options, name) for name in names}
    flags |= {name: _listed(name, getattr(options, name)) for name in ("data", "loss")}
    flags |= {"C": options.C} if options.lam is None else {"lam": options.lam}
    return {name.replace("_", "-"): value for name, value in flags.items() if value is not None}


def load(name: str, options: Namespace) -> Dataset:
    """Load the data set `name` as the options say."""
    return datasets.load(name, normalize=none_or(options.normalize), index_base=options.index_base)


def none_or(value: str) -> str | None:
    """Return None for "none", and any other value as it is."""
    return None if value == "none" else value


def _named_problem(name: str, loss: str, dataset: Dataset, options: Namespace) -> NamedProblem:
    lam = options.lam
    if lam is None:
        lam = 1.0 / (as_real("C", options.C, positive=True) * len(dataset.y_train))
    problem = Problem(
        dataset.X_train,
        dataset.y_train,
        _loss(loss, dataset.n_classes, options),
        lam,
        smoothing=options.smoothing,
        kernel=none_or(options.kernel),
        n_classes=dataset.n_classes,
    )
    line = f"{describe_problem(name, problem)}, normalize = {dataset.normalize or 'none'}"
    return NamedProblem(name, dataset, problem, line)


def _loss_names(options: Namespace) -> list[str]:
    if options.loss == "all":
        return list(HINGES)
    names = _listed("loss", options.loss)
    for name in names:
        if name not in LOSSES:
            guess = did_you_mean(name, LOSSES)
            raise BadInput(
                f"--loss must be one of {', '.join(LOSSES)}, or all; got {name!r}.{guess}"
            )
    unweighted = [name for name in names if name not in WITH_WEIGHTS]
    if options.weights is not None and unweighted:
        raise BadInput(
            f"--weights needs --loss to be one of {', '.join(WITH_WEIGHTS)}; got {unweighted[0]!r}."
        )
    if options.costs is not None and "structured" not in names:
        raise BadInput(f"--costs needs --loss structured; got {options.loss!r}.")
    return names


def _listed(flag: str, text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if not name or names.count(name) > 1:
            problem = "a name twice" if name else "an empty name"
            raise BadInput(f"--{flag} must not hold {problem}; got {text!r}.")
    return names


def loss_of(options: Namespace, m: int) -> Any:
    """Return the one loss that the options name, for m classes."""
    return _loss(_one_loss(options), m, options)


def _one_loss(options: Namespace) -> str:
    names = _loss_names(options)
    if len(names) != 1:
        raise BadInput(f"--loss must be one name; got {options.loss!r}.")
    return names[0]


def _loss(name: str, m: int, options: Namespace) -> Loss | EntropyLoss:
    k, decay = options.k, options.weights
    if name == "cross-entropy":
        return CrossEntropy()
    if name == "topk-entropy":
        return TopKEntropy(k)
    if name == "max-hinge":
        return MaxHinge()
    if name == "pseudo-topk":
        return PseudoTopK(k)
    if name == "structured":
        return StructuredHinge(_costs(options.costs, m))
    # With --loss all, the weights are for weighted-topk and weighted-usunier only.
    plain = decay in (None, "flat") or options.loss == "all"
    if name == "topk" and plain:
        return TopK(k)
    if name == "usunier" and plain:
        return Usunier(k)
    rho = getattr(weights, decay or "linear")(k)
    return WeightedTopK(rho) if name in ("topk", "weighted-topk") else WeightedUsunier(rho)


def _costs(path: str | None, m: int) -> Floats:
    """Return the costs in a file, or |i - j| for classes i and j without a file."""
    if path is None:
        classes = np.arange(m, dtype=np.float64)
        return np.abs(classes[:, None] - classes)
    if not Path(path).is_file():
        raise BadInput(f"--costs must name a file; there is none at {path!r}.")
    try:
        if path.lower().endswith(".npy"):
            costs: Floats = read_npy(path)
        else:
            costs = np.loadtxt(path, delimiter=",", ndmin=2)
    except ValueError as error:
        reason = error.reason if isinstance(error, UnreadableFile) else error
        raise BadInput(f"--costs {path} cannot be read: {reason}") from error
    return costs
