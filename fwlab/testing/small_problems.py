"""The small problems on which `check_method` runs a method, the smallest first."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.cross_entropy import CrossEntropy
from fwlab.losses import MaxHinge, TopK, Usunier, WeightedUsunier
from fwlab.lp_norm import LpNorm
from fwlab.polytope_loss import PolytopeLoss
from fwlab.problem import Problem
from fwlab.solvers.method import Method
from fwlab.testing.shrinking import text_of
from fwlab.topk_entropy import TopKEntropy

# samples, classes, features
SIZES = ((1, 2, 1), (2, 3, 2), (6, 4, 3))
LAM = 0.25


class BoxLoss(PolytopeLoss):
    """The sum of |h_j| / 4 + 3 h_j / 4 over the wrong classes, and |h_y| / 4 - 3 h_y / 4.

    h is scores + delta. The domain is the box [1/2, 1]^m with the sign of its entry y turned. It
    does not hold 0, its points do not sum to 0, and no entry of a vertex is 0.
    """

    def value(self, scores: Floats, y: Integers) -> Any:
        h = self._turned(scores + self.costs(y, scores.shape[1]), y)
        return np.maximum(h, h / 2).sum(axis=1)

    def lmo(self, gradient: Floats, y: Integers) -> Any:
        return self._turned(np.where(self._turned(gradient, y) > 0, -1.0, -0.5), y)

    @staticmethod
    def _turned(points: Floats, y: Integers) -> Floats:
        return np.where(np.arange(points.shape[1]) == y[:, None], -points, points)


class WholeBoxLoss(BoxLoss):
    """The BoxLoss, with `contains` and `project`."""

    def contains(self, v: Floats, y: Integers) -> Any:
        turned = self._turned(v, y)
        return ((turned >= 0.5 - 1e-9) & (turned <= 1 + 1e-9)).all(axis=1)

    def project(self, c: Floats, y: Integers) -> Any:
        return self._turned(np.clip(self._turned(c, y), -1.0, -0.5), y)


@dataclass(frozen=True, eq=False)
class SmallProblem:
    """The arguments of a problem, and the start A0 of a run, if any; they can lose samples."""

    loss: Any
    X: Floats
    y: Integers
    n_classes: int
    options: dict[str, Any] = field(default_factory=dict)
    sample_weight: Floats | None = None
    A0: Floats | None = None

    def problem(self) -> Problem:
        return Problem(
            self.X,
            self.y,
            self.loss,
            LAM,
            n_classes=self.n_classes,
            sample_weight=self.sample_weight,
            **self.options,
        )

    def smaller(self) -> Iterator["SmallProblem"]:
        """Yield the problem without one of its samples or features, and with a simpler X."""
        n, d = self.X.shape
        for i in range(n if n > 1 else 0):
            smaller = self._without_sample(i)
            if smaller.sample_weight is None or smaller.sample_weight.any():
                yield smaller
        for j in range(d if d > 1 else 0):
            yield replace(self, X=np.delete(self.X, j, axis=1))
        if (np.round(self.X) != self.X).any():
            yield replace(self, X=np.round(self.X))

    def _without_sample(self, i: int) -> "SmallProblem":
        omega, A0 = self.sample_weight, self.A0
        return replace(
            self,
            X=np.delete(self.X, i, axis=0),
            y=np.delete(self.y, i),
            sample_weight=None if omega is None else np.delete(omega, i),
            A0=None if A0 is None else np.delete(A0, i, axis=0),
        )

    def __str__(self) -> str:
        parts = [f"loss={self.loss!r}", f"X={text_of(self.X)}", f"y={self.y.tolist()}"]
        parts += [f"lam={LAM}", f"n_classes={self.n_classes}"]
        parts += [f"{name}={value!r}" for name, value in self.options.items()]
        for name, part in (("sample_weight", self.sample_weight), ("A0", self.A0)):
            parts += [] if part is None else [f"{name}={text_of(part)}"]
        return ", ".join(parts)


def small_problems(method: Method) -> Iterator[SmallProblem]:
    """Yield problems for a method, those without options before the others of their size."""
    for size in SIZES:
        yield from _of_size(*size, method)


def _of_size(n: int, m: int, d: int, method: Method) -> Iterator[SmallProblem]:
    generator = np.random.default_rng(n)
    X, y = generator.standard_normal((n, d)), np.arange(n) % m
    smooth, omega = {"smoothing": 0.125}, np.where(np.arange(n) == 1, 0.0, 1.0 + np.arange(n) / 4)
    plain = SmallProblem(MaxHinge(), X, y, m)
    kinds = [
        plain,
        replace(plain, loss=TopK(2)),
        replace(plain, loss=WeightedUsunier([1.0, 0.5])),
        replace(plain, loss=TopK(2), options=smooth),
        replace(plain, loss=Usunier(2), sample_weight=omega),
        replace(plain, loss=TopK(2), sample_weight=omega, options=smooth),
        replace(plain, options={"kernel": "linear"}),
    ]
    if method.any_norm:
        kinds.append(replace(plain, loss=TopK(2), options={"regularizer": LpNorm(1.5)}))
    if method.takes_entropy:
        entropy = replace(plain, loss=CrossEntropy())
        kinds += [entropy, replace(entropy, sample_weight=omega)]
        if m > 2:
            kinds.append(replace(entropy, loss=TopKEntropy(2), sample_weight=omega))
    if method.any_loss:
        kinds += [
            replace(plain, loss=BoxLoss()),
            replace(plain, loss=BoxLoss(), sample_weight=omega),
            replace(plain, loss=WholeBoxLoss(), options=smooth),
        ]
    yield from kinds
    for kind in (kinds[1], kinds[5]):
        yield replace(kind, A0=_start(kind.problem(), generator))


def _start(problem: Problem, generator: np.random.Generator) -> Floats:
    """Return a feasible dual point that is no vertex, (n, m)."""
    A = np.zeros((problem.n_samples, problem.n_classes))
    for share in (0.5, 0.25):
        problem.lowest(generator.standard_normal(A.shape))[0].add_to(A, share)
    return A
