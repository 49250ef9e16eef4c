"""Parts of the tables about linear heads: sets in three parts, the heads, and the choice of C."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

import fwlab
from fwlab.metrics import class_scores, topk_hits

# how each set is scaled
SETS: dict[str, str | None] = {
    "digits": "standard",
    "letter": "standard",
    "news20_svd1024": "unit",
    "fashion_mnist": "unit",
    "caltech101_sil28": "unit",
}
SEPARATIONS = {"hard": 0.2, "middling": 0.35, "easy": 0.6}
SYNTHETIC = {"n": 4_000, "d": 128, "m": 50}
MOST_ROWS, N_TEST = 6_000, 5_000
CS = tuple(10.0**e for e in range(-3, 4))
# CPU seconds of a fit after which no larger C is tried
LONG = 10.0


class ThreeParts(NamedTuple):
    """Samples and labels to train on, to validate on and to test on."""

    X_train: Any
    y_train: np.ndarray
    X_valid: Any
    y_valid: np.ndarray
    X_test: Any
    y_test: np.ndarray


def parts(name: str, normalize: str | None) -> ThreeParts:
    """Return a set in three parts, with at most MOST_ROWS rows in the first two.

    If it has no validation part, a fifth of its training part is used. Raises FileNotFoundError if
    the set is not here.
    """
    if name in SEPARATIONS:
        data = fwlab.datasets.synthetic(
            **SYNTHETIC, separation=SEPARATIONS[name], rng=0, normalize="unit", n_test=N_TEST
        )
    else:
        data = fwlab.datasets.load(name, normalize=normalize)
    X, y = data.X_train, data.y_train
    if len(y) > MOST_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=0)
    if data.X_valid is not None:
        valid = data.X_valid, data.y_valid
        return ThreeParts(X, y, *valid, data.X_test, data.y_test)
    X_train, X_valid, y_train, y_valid = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=0
    )
    return ThreeParts(X_train, y_train, X_valid, y_valid, data.X_test, data.y_test)


def data_sets(names: Iterable[str]) -> Iterator[tuple[str, ThreeParts]]:
    """Yield the named sets that are here, in three parts."""
    for name in names:
        try:
            yield name, parts(name, SETS.get(name))
        except FileNotFoundError:
            continue


def shape(data: ThreeParts) -> str:
    """Return the sizes of the part to train on: rows, features and classes."""
    return f"{data.X_train.shape[0]} x {data.X_train.shape[1]} x {len(np.unique(data.y_train))}"


KS = (1, 5, 10)


def topk_svc(k: int) -> Callable[[float, int], Any]:
    """Return a function of C and the number of rows that makes a TopKSVC."""
    options: dict[str, Any] = {"fit_intercept": True, "warm_start": True, "method": "auto"}
    return lambda C, n: fwlab.TopKSVC(k=k, C=C, **options)


# a head for C and the number of rows
HEADS: dict[str, Callable[[float, int], Any]] = {
    **{f"TopKSVC, k = {k}": topk_svc(k) for k in KS},
    "TopKClassifier": lambda C, n: fwlab.TopKClassifier(C=C, fit_intercept=True, warm_start=True),
    "LogisticRegression": lambda C, n: LogisticRegression(C=C, max_iter=1000, warm_start=True),
    "LinearSVC": lambda C, n: LinearSVC(C=C),
    "RidgeClassifier": lambda C, n: RidgeClassifier(alpha=1 / (2 * C)),
    "SGDClassifier": lambda C, n: SGDClassifier(alpha=1 / (C * n), average=True, random_state=0),
}


def heads(data: ThreeParts) -> list[str]:
    """Return the names of the heads for a set, with k smaller than the number of classes."""
    least = {f"TopKSVC, k = {k}": k + 1 for k in KS}
    return [name for name in HEADS if least.get(name, 2) <= len(np.unique(data.y_train))]


def accuracies(head: Any, X: Any, y: np.ndarray, ks: Iterable[int]) -> list[float]:
    """Return the top-k accuracy of a fitted head for each k."""
    scores = class_scores(head, X)
    return [float(topk_hits(y, scores, k).mean()) for k in ks]


def fitted(head: Any, X: Any, y: np.ndarray) -> Any:
    """Return the head after a fit, which may end at its library's default iteration limit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return head.fit(X, y)


class Choice(NamedTuple):
    """The best C for each k, all validation accuracies by C, and the CPU seconds of the choice."""

    C: list[float]
    accuracies: dict[float, list[float]]
    seconds: float


def choose(
    make: Callable[[float, int], Any],
    data: ThreeParts,
    ks: Iterable[int],
    Cs: Iterable[float] = CS,
) -> Choice:
    """Return the choice of C on the validation part, for the top-k accuracy of each k.

    C increases through Cs until two values in a row are worse than the best one for each k, or
    until a fit takes LONG seconds. Heads with `warm_start` start from the previous fit.
    """
    ks, Cs, n = list(ks), list(Cs), len(data.y_train)
    began = time.process_time()
    head, found = make(Cs[0], n), dict[float, list[float]]()
    for C in Cs:
        start = time.process_time()
        head.set_params(**make(C, n).get_params())
        fitted(head, data.X_train, data.y_train)
        long = time.process_time() - start > LONG
        found[C] = accuracies(head, data.X_valid, data.y_valid, ks)
        rows = np.array(list(found.values()))
        if long or (len(rows) > 2 and (rows[-2:] < rows.max(axis=0)).all()):
            break
    # the smallest of equal ones
    best = [Cs[i] for i in rows.argmax(axis=0)]
    return Choice(best, found, time.process_time() - began)
