"""Draw a random case: a problem, a method and the settings of a run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import fwlab
from fwlab.losses import LossOfRows
from sweep.arrays import hostile_features

Generator = np.random.Generator
# arrays that the library refuses at every scale
NOT_TAKEN = ("huge entry", "masked", "object")
MOST_SAMPLES, MOST_CLASSES, MOST_FEATURES = 40, 8, 10


@dataclass
class Case:
    """The arguments of a run; `ordinary` says that all scales lie between 1e-6 and 1e6."""

    kind: str
    method: str
    ordinary: bool
    problem: dict[str, Any]
    settings: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)

    def describe(self) -> str:
        X = self.problem["X"]
        rest = {name: value for name, value in self.problem.items() if name not in ("X", "y")}
        shown = f"{self.kind} {self.method}, X {X.shape} {X.dtype}, {rest}, {self.settings}"
        return " ".join(shown.split())[:400]


def draw(rng: Generator) -> Case:
    """Return a training run, or in one case of five a ranking run."""
    ordinary = bool(rng.random() < 0.5)
    return (_ranking if rng.random() < 0.2 else _training)(rng, ordinary)


def _training(rng: Generator, ordinary: bool) -> Case:
    n, m = int(rng.integers(1, MOST_SAMPLES + 1)), int(rng.integers(2, MOST_CLASSES + 1))
    X = rng.normal(size=(n, int(rng.integers(1, MOST_FEATURES + 1))))
    problem: dict[str, Any] = {"y": rng.integers(0, m, n), "n_classes": m}
    problem["X"], hostile = _features(rng, X, ordinary)
    problem["loss"] = _loss(rng, m)
    problem["lam"] = _size(rng, ordinary, 12)
    if rng.random() < 0.4:
        low, high = (-6, 6) if ordinary else (-300, 12)
        problem["smoothing"] = float(10.0 ** rng.uniform(low, high))
    if rng.random() < 0.3:
        problem["sample_weight"] = _sample_weight(rng, n, ordinary)
    methods = list(fwlab.methods())
    kernel = rng.choice(["none", "none", "linear", "precomputed"])
    if rng.random() < 0.2:
        problem["regularizer"] = fwlab.LpNorm(float(rng.choice([1.0, 1.02, 1.5, 2.0, 3.0, 10.0])))
        methods = ["direct", "alternate"]
    if kernel == "linear":
        problem["kernel"] = "linear"
    elif kernel == "precomputed" and hostile == "none" and np.abs(problem["X"]).max() < 1e70:
        problem["kernel"], problem["X"] = "precomputed", problem["X"] @ problem["X"].T
    elif rng.random() < 0.2:
        problem["storage"] = "float32"
    if isinstance(problem["loss"], fwlab.CrossEntropy | fwlab.TopKEntropy):
        problem.pop("smoothing", None)
        methods = ["lbfgs", "auto", "subgradient"]
        if isinstance(problem["loss"], fwlab.CrossEntropy):
            methods = ["ascent", "auto"] if "kernel" in problem else ["ascent", "newton", *methods]
    method = str(rng.choice(methods))
    return Case("training", method, ordinary and hostile not in NOT_TAKEN, problem, _settings(rng))


def _ranking(rng: Generator, ordinary: bool) -> Case:
    n = int(rng.integers(2, MOST_SAMPLES + 1))
    y = np.zeros(n, dtype=np.int64)
    n_positive = int(rng.integers(1, n))
    y[rng.permutation(n)[:n_positive]] = 1
    X = rng.normal(size=(n, int(rng.integers(1, MOST_FEATURES + 1))))
    problem: dict[str, Any] = {"y": y}
    problem["X"], hostile = _features(rng, X, ordinary)
    problem["objective"] = _objective(rng, n, n_positive)
    problem["C"] = _size(rng, ordinary, 12)
    kernel = str(rng.choice(["linear", "rbf", "precomputed"]))
    if kernel == "precomputed" and (hostile != "none" or np.abs(problem["X"]).max() > 1e70):
        kernel = "linear"
    if kernel == "precomputed":
        problem["X"] = problem["X"] @ problem["X"].T
    if kernel == "rbf":
        problem["sigma"] = _size(rng, ordinary, 12)
    problem["kernel"] = kernel
    settings = _settings(rng)
    settings.pop("relative")
    method = str(rng.choice(list(fwlab.ranking.methods())))
    return Case("ranking", method, ordinary and hostile not in NOT_TAKEN, problem, settings)


def _features(rng: Generator, X: np.ndarray, ordinary: bool) -> tuple[Any, str]:
    X = X * _size(rng, ordinary, 150)
    if rng.random() < 0.4:
        return hostile_features(rng, X)[::-1]
    return X, "none"


def _size(rng: Generator, ordinary: bool, digits: int) -> float:
    most = min(6, digits) if ordinary else digits
    return float(10.0 ** rng.uniform(-most, most)) if rng.random() < 0.7 else 1.0


def _sample_weight(rng: Generator, n: int, ordinary: bool) -> np.ndarray:
    most = 3 if ordinary else 140
    weights = 10.0 ** rng.uniform(-most, most, n)
    weights[rng.random(n) < 0.2] = 0.0
    weights[0] = 1.0
    return weights


def _loss(rng: Generator, m: int) -> LossOfRows:
    k = int(rng.integers(1, m + 1))
    rho = np.sort(rng.random(k))[::-1] * 10.0 ** rng.uniform(-3, 3)
    costs = rng.random((m, m)) * (1 - np.eye(m))
    losses: list[Callable[[], LossOfRows]] = [
        fwlab.MaxHinge,
        lambda: fwlab.StructuredHinge(costs),
        lambda: fwlab.TopK(k),
        lambda: fwlab.PseudoTopK(min(k, m - 1)),
        lambda: fwlab.Usunier(k),
        lambda: fwlab.WeightedTopK(rho),
        lambda: fwlab.WeightedUsunier(rho),
        fwlab.CrossEntropy,
        lambda: fwlab.TopKEntropy(min(k, m - 1)),
    ]
    return losses[int(rng.integers(len(losses)))]()


def _objective(rng: Generator, n: int, n_positive: int) -> Any:
    surrogate = str(rng.choice(["hinge", "quadratic"]))
    theta = float(10.0 ** rng.uniform(-2, 2))
    if rng.random() < 0.5:
        K = int(rng.integers(1, n - n_positive + 1))
        return fwlab.ranking.TopPushK(K, surrogate, theta)
    tau = float(10.0 ** rng.uniform(-4, -0.01)) * (n - n_positive) / n
    over = "all" if rng.random() < 0.3 else "negatives"
    return fwlab.ranking.PatMat(tau, surrogate, theta, over=over)


def _settings(rng: Generator) -> dict[str, Any]:
    return {
        "tol": float(10.0 ** rng.uniform(-14, -1)),
        "relative": bool(rng.random() < 0.5),
        "max_iter": int(10.0 ** rng.uniform(0, 2.3)),
        "rng": int(rng.integers(1000)),
        "time_limit": 3.0,
    }
