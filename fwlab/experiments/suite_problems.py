"""The problems of the suite: a fixed list for each size, of data, losses, C and smoothing.

Any change of this list, of the limits or of what a problem is needs another SUITE_VERSION: pages of
two versions are not compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

import numpy as np

from fwlab import datasets, weights
from fwlab.arrays import Floats, Integers
from fwlab.cross_entropy import CrossEntropy
from fwlab.losses import (
    MaxHinge,
    PseudoTopK,
    StructuredHinge,
    TopK,
    Usunier,
    WeightedTopK,
    WeightedUsunier,
)
from fwlab.problem import Problem
from fwlab.text import did_you_mean
from fwlab.topk_entropy import TopKEntropy

SUITE_VERSION = 1
MakeLoss = Callable[[int], Any]


@dataclass(frozen=True)
class SuiteData:
    """The data of a problem: random rows of a named set, or samples of Gaussian classes.

    name is a name for `datasets.load`, or None for Gaussian classes with (n, d, m, separation).
    """

    name: str | None
    rows: int = 0
    drawn: tuple[int, int, int, float] | None = None

    def load(self) -> tuple[Floats, Integers, int, str | None]:
        """Return X with rows of length 1, y, the number of classes, and the file's sha256.

        Raises FileNotFoundError or OSError if the files of the set are missing.
        """
        if self.drawn is not None:
            data = datasets.synthetic(*self.drawn, rng=0, normalize="unit")
            return data.X_train, data.y_train, data.n_classes, None
        assert self.name is not None
        data = datasets.load(self.name, normalize="unit")
        kept = np.random.default_rng(0).permutation(len(data.y_train))[: self.rows]
        return data.X_train[kept], data.y_train[kept], data.n_classes, data.sha256


@dataclass(frozen=True)
class Size:
    """The data of a size by name, and the seconds that each run may take.

    The first four are crossed with GRID and CS, the last two with OTHERS.
    """

    sets: dict[str, SuiteData]
    time_limit: float


GAUSSIAN = {
    "wide": SuiteData(None, drawn=(200, 500, 10, 0.1)),
    "tall": SuiteData(None, drawn=(1000, 10, 5, 1.0)),
    "many": SuiteData(None, drawn=(300, 30, 40, 0.5)),
}
SIZES = {
    "small": Size({"digits": SuiteData("digits", 300), **GAUSSIAN}, 0.25),
    "medium": Size(
        {
            "synthetic-a": SuiteData("synthetic-a", 1000),
            "letter": SuiteData("letter", 2000),
            "fashion": SuiteData("fashion_mnist", 1000),
            "news20": SuiteData("news20_svd1024", 1000),
            "caltech101": SuiteData("caltech101_sil28", 1000),
            "digits": SuiteData("digits", 1000),
        },
        2.5,
    ),
    "large": Size(
        {
            "synthetic-b": SuiteData("synthetic-b", 15935),
            "letter": SuiteData("letter", 15000),
            "fashion": SuiteData("fashion_mnist", 10000),
            "news20": SuiteData("news20_svd1024", 15935),
            "caltech101": SuiteData("caltech101_sil28", 4100),
            "digits": SuiteData("digits", 1797),
        },
        30.0,
    ),
}
# a loss for m classes, and the smoothing constant
GRID: dict[str, tuple[MakeLoss, float]] = {
    "max-hinge": (lambda m: MaxHinge(), 0.0),
    "top-3": (lambda m: TopK(3), 0.0),
    "usunier-3": (lambda m: Usunier(3), 0.0),
    "top-3-smooth": (lambda m: TopK(3), 1.0),
}
OTHERS: dict[str, tuple[MakeLoss, float]] = {
    "weighted-top-3": (lambda m: WeightedTopK(weights.linear(3)), 0.0),
    "weighted-usunier-3": (lambda m: WeightedUsunier(weights.linear(3)), 0.0),
    "pseudo-top-3": (lambda m: PseudoTopK(3), 0.0),
    "structured": (lambda m: StructuredHinge(distances(m)), 0.0),
    "cross-entropy": (lambda m: CrossEntropy(), 0.0),
    "top-3-entropy": (lambda m: TopKEntropy(3), 0.0),
}
CS = (0.1, 1.0, 10.0)

# Frank-Wolfe on all rows at once and row by row, and exact steps of a block, which all count LMOs
# and projections; lbfgs takes the entropies, which Frank-Wolfe refuses
BUILT_IN = ("fw", "afw", "pfw", "bcfw", "bcpfw", "ascent", "lbfgs")


@dataclass(frozen=True, eq=False)
class Suite:
    """The problems of a size that can be made here.

    Attributes
    ----------
    size : str
    problems : dict of Problem
    sha256 : dict
        The checksum of the file that a problem's data come from, None without a file.
    missing : dict
        Why a set of the list is not here, by the set's name.
    n_listed : int
        The number of problems that were asked for, with missing sets included.
    """

    size: str
    problems: dict[str, Problem]
    sha256: dict[str, str | None]
    missing: dict[str, str]
    n_listed: int


def listed_problems(size: str) -> dict[str, tuple[str, str, float]]:
    """Return set, loss and C of each problem of a size, by its name."""
    sets = list(SIZES[size].sets)
    found = [*product(sets[:4], GRID, CS), *product(sets[-2:], OTHERS, CS[1:2])]
    return {f"{data} {loss} C={C:g}": (data, loss, C) for data, loss, C in found}


def load_suite(size: str, chosen: Sequence[str] | None = None) -> Suite:
    """Return the problems of a size, or only the problems that a pattern names.

    Raises ValueError if a pattern names no problem, or if no problem can be made here.
    """
    names = chosen_names(size, chosen)
    sources = SIZES[size].sets
    loaded: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for data in dict.fromkeys(data for data, _, _ in names.values()):
        try:
            loaded[data] = sources[data].load()
        except OSError as error:
            missing[data] = " ".join(str(error).split())
    here = {name: parts for name, parts in names.items() if parts[0] in loaded}
    if not here:
        raise ValueError(f"problems must have data that are here; missing: {', '.join(missing)}.")
    problems = {name: made_problem(loaded[data], loss, C) for name, (data, loss, C) in here.items()}
    sha256 = {name: loaded[data][3] for name, (data, _, _) in here.items()}
    return Suite(size, problems, sha256, missing, len(names))


def chosen_names(size: str, chosen: Sequence[str] | None) -> dict[str, tuple[str, str, float]]:
    """Return the listed problems whose names match a pattern, in the order of the list."""
    if size not in SIZES:
        raise ValueError(
            f"size must be one of {', '.join(SIZES)}; got {size!r}.{did_you_mean(size, SIZES)}"
        )
    listed = listed_problems(size)
    if chosen is None:
        return listed
    if isinstance(chosen, str) or not all(isinstance(pattern, str) for pattern in chosen):
        raise TypeError(f"problems must be a list of names or patterns; got {chosen!r}.")
    for pattern in chosen:
        if not any(fnmatchcase(name, pattern) for name in listed):
            raise ValueError(
                f"problems must name problems of size {size}, such as 'digits top-3 C=1' or "
                f"'digits *'; got {pattern!r}.{did_you_mean(pattern, listed)}"
            )
    return {
        name: parts
        for name, parts in listed.items()
        if any(fnmatchcase(name, pattern) for pattern in chosen)
    }


def made_problem(data: tuple[Floats, Integers, int, str | None], loss: str, C: float) -> Problem:
    """Return the problem of loaded data, the name of a loss, and C; lam = 1/(C n)."""
    X, y, m, _ = data
    make, smoothing = (GRID | OTHERS)[loss]
    return Problem(X, y, make(m), 1 / (C * len(y)), smoothing=smoothing, n_classes=m)


def distances(m: int) -> Floats:
    """Return the costs |i - j| of m classes."""
    classes = np.arange(m, dtype=np.float64)
    costs: Floats = np.abs(classes[:, None] - classes)
    return costs
