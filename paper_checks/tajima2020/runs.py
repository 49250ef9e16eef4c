"""Run T20's methods on rows drawn from data sets, and estimate the effects.

The loss and the regularisation are the paper's. The draws do not depend on the ledger's seed, so a
verdict uses the same rows in every run. An effect is the mean over the draws of the logarithm of a
ratio of objective errors, with its 95 % confidence interval by Student's t.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
from scipy import stats

import fwlab
from paper_checks.cases import Rng
from paper_checks.data_sets import data_set
from paper_checks.ledger import Case

WEIGHTS = np.arange(5, 0, -1) / 15  # rho_j = max(0, 6 - j)/15
METHODS = {"PG": "subgradient", "StdFW": "fw-open-loop", "LSFW": "fw"}
STEPS = 200
# the relative accuracy of the least primal value
SOLVED = 1e-6

# fwlab's versions: Caltech101 reduced again to 16 x 16, News20 rebuilt from the messages
HERE = {"Caltech101": "caltech101_sil16_derived", "News20": "news20_svd1024"}
LOW, HIGH = ("Caltech101", "News20"), ("CUB200", "Flower102", "Indoor67")
SYNTHETIC = "synthetic, d > n"
OTHERS = {"digits": 150, "letter": 150, SYNTHETIC: 100}
REMADE = (
    "on 200 rows drawn at random, several times; Caltech101 reduced again to 16 x 16 "
    "and News20 rebuilt from the messages, rows of length 1"
)


def draws(
    rng: Rng, deep: bool, rows: Mapping[str, int] | None = None, number: int = 6
) -> Iterator[Case]:
    """Yield data sets with the rows to draw and the draws: four times the draws if deep."""
    for name, size in (rows or dict.fromkeys(LOW, 200) | OTHERS).items():
        if name != SYNTHETIC:
            data_set(HERE.get(name, name), normalize=None)
        count = 4 * number if deep else number
        yield Case(kind=f"{name}, {size} rows", data=name, rows=size, draws=tuple(range(count)))


@lru_cache(maxsize=32)
def problem(
    name: str, rows: int, draw: int, smoothing: float = 0.0, part: float = 1.0
) -> fwlab.Problem:
    """Return the problem with lam = 1/n for some rows, of length 1, and some of the features."""
    if name == SYNTHETIC:
        data = fwlab.datasets.synthetic(rows, 6 * rows, 10, 0.1, rng=draw)
    else:
        data = data_set(HERE.get(name, name), normalize=None)
    X, y = data.X_train, data.y_train
    rng = np.random.default_rng(draw)
    chosen = rng.choice(len(y), rows, replace=False)
    features = rng.permutation(X.shape[1])[: int(part * X.shape[1])]
    X = X[np.ix_(chosen, features)].astype(float)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    classes, labels = np.unique(y[chosen], return_inverse=True)
    loss = fwlab.WeightedUsunier(WEIGHTS[: len(classes)])
    return fwlab.Problem(X / np.where(lengths, lengths, 1), labels, loss, 1 / rows, smoothing)


@lru_cache(maxsize=1024)
def error_after(
    method: str,
    name: str,
    rows: int,
    draw: int,
    smoothing: float = 0.0,
    part: float = 1.0,
    steps: int = STEPS,
) -> float:
    """Return P(w_t) - min P after t steps, but at least the accuracy of the minimum."""
    tried = problem(name, rows, draw, smoothing, part)
    found = fwlab.solve(tried, METHODS[method], tol=0, max_iter=steps, check_every=steps)
    least, accuracy = least_value(name, rows, draw, smoothing, part)
    return max(found.primal - least, accuracy)


@lru_cache(maxsize=1024)
def least_value(
    name: str, rows: int, draw: int, smoothing: float, part: float
) -> tuple[float, float]:
    """Return the least primal value and its certified accuracy."""
    found = fwlab.solve(problem(name, rows, draw, smoothing, part), "auto", tol=SOLVED)
    return found.dual, max(found.gap, SOLVED)


def interval(larger: list[float], smaller: list[float]) -> tuple[float, float]:
    """Return the confidence interval of the mean of log(larger/smaller)."""
    logs = np.log(np.divide(larger, smaller))
    width = stats.t.ppf(0.975, len(logs) - 1) * np.std(logs, ddof=1) / np.sqrt(len(logs))
    return float(np.mean(logs) - width), float(np.mean(logs) + width)


def ratio(case: Case, slow: str, fast: str, steps: int = STEPS) -> tuple[float, float]:
    """Return the interval of the log of the errors of two methods."""
    slower, faster = (
        [error_after(method, case.data, case.rows, draw, steps=steps) for draw in case.draws]
        for method in (slow, fast)
    )
    return interval(slower, faster)
