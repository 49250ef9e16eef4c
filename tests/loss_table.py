"""Every loss beside its reference, and hypothesis strategies for losses, scores and labels.

All tests of the losses read this table: a new loss is one line in `entries`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import fwlab.losses
import reference.losses

SMALL_M = range(2, 9)  # sizes at which the reference is asked
MANY_CLASSES = st.sampled_from([2, 3, 5, 8, 31, 32, 33, 34, 65, 400]) | st.integers(2, 50)
halves = st.integers(-6, 6).map(lambda i: i / 2)
seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True, eq=False)
class Entry:
    """One loss: the class of this name in fwlab and in reference, with the same arguments."""

    kind: str
    arguments: tuple[Any, ...]

    @cached_property
    def loss(self) -> Any:
        return getattr(fwlab.losses, self.kind)(*self.arguments)

    @cached_property
    def reference(self) -> Any:
        """The reference with exactly the same numbers, as fractions."""
        return getattr(reference.losses, self.kind)(*[as_fractions(a) for a in self.arguments])

    @property
    def exact_in_binary(self) -> bool:
        """Whether 1/k, weights and costs are multiples of 1/64: sums of small ones are exact."""
        return all(
            a in (1, 2, 4, 8) if type(a) is int else not np.any(np.multiply(a, 64.0) % 1)
            for a in self.arguments
        )

    @property
    def weight_sum(self) -> float:
        """Sum of rho; 1 for the losses without weights."""
        return float(self.arguments[0].sum()) if self.kind.startswith("Weighted") else 1.0

    @property
    def size(self) -> float:
        """A bound on the sum of the weights and on every cost."""
        costs = self.arguments[0].max() if self.kind == "StructuredHinge" else 1.0
        return max(1.0, self.weight_sum, costs)

    def __str__(self) -> str:
        shown = [str(np.asarray(a).tolist()).replace(" ", "") for a in self.arguments]
        return f"{self.kind}({','.join(shown)})"[:60]


def as_fractions(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return [as_fractions(a) for a in argument]
    return Fraction(argument) if isinstance(argument, float) else argument


def entries(m: int, y: Iterable[int], ks: Iterable[int] | None = None) -> list[Entry]:
    """Return every loss for m classes; costs per sample belong to samples with labels y."""
    ks = range(1, m + 1) if ks is None else sorted(ks)
    rhos = weight_vectors(m)
    return [
        Entry("MaxHinge", ()),
        *[Entry("StructuredHinge", (costs,)) for costs in cost_tables(m)],
        Entry("StructuredHinge", (sample_costs(m, y), True)),
        *[Entry("TopK", (k,)) for k in ks],
        *[Entry("PseudoTopK", (k,)) for k in ks if k < m],
        *[Entry("Usunier", (k,)) for k in ks],
        *[Entry("WeightedTopK", (rho,)) for rho in rhos],
        *[Entry("WeightedUsunier", (rho,)) for rho in rhos],
    ]


def weight_vectors(m: int) -> list[np.ndarray]:
    """Return weights with zeros, with equal ones, with a positive last one, short ones."""
    j = np.arange(m)
    return [
        np.array([1.5]),
        np.array([1.0, 1.0, 0.5, 0.25])[: max(1, m - 1)],
        np.where(j == 0, 2.0, 0.0) + np.where(j == 1, 0.5, 0.0),
        np.full(m, 0.25),
        np.where(j < m - 1, 0.5, 0.0),
        (m - j) / 8,
        2.0 ** -(np.minimum(j, 11) // 2),
        np.exp(-j / 3),
    ]


def cost_tables(m: int) -> list[np.ndarray]:
    """Return a distance between classes, and costs that are not symmetric and often 0."""
    i, j = np.indices((m, m))
    return [abs(i - j) * 1.0, np.where(i == j, 0.0, (i + 2 * j) % 4 / 2)]


def sample_costs(m: int, y: Iterable[int]) -> np.ndarray:
    rows = [(np.arange(m) + i) % 3 * (np.arange(m) != label) / 2 for i, label in enumerate(y)]
    return np.array(rows).reshape(-1, m)


def batch(m: int, seed: object) -> tuple[np.ndarray, np.ndarray]:
    """Return four rows, two of them rich in ties, and labels with the first and last class."""
    rng = np.random.default_rng(crc32(str(seed).encode()))
    tied = rng.integers(-3, 4, (2, m)) / 2
    return np.vstack([1.5 * rng.standard_normal((2, m)), tied]), labels(m)


def labels(m: int) -> np.ndarray:
    return np.array([0, m - 1, m // 2, m - 1])


def some_ks(m: int) -> set[int]:
    return set(range(1, m + 1)) if m < 10 else {1, 2, 5, m // 2, m - 1, m}


SMALL_ENTRIES = [(m, entry) for m in SMALL_M for entry in entries(m, labels(m))]
LARGE_ENTRIES = [(m, e) for m in (33, 65, 400) for e in entries(m, labels(m), some_ks(m))]


def entry_id(argument: object) -> str:
    return f"m={argument}" if isinstance(argument, int) else str(argument)


@dataclass(frozen=True, eq=False)
class Case:
    """A loss with scores (n, m), some of them tied, and labels y (n,)."""

    entry: Entry
    scores: np.ndarray
    y: np.ndarray

    @property
    def loss(self) -> Any:
        return self.entry.loss

    @property
    def m(self) -> int:
        return self.scores.shape[1]

    @property
    def rounding(self) -> float:
        """The rounding error allowed for a loss value."""
        largest = self.entry.size + abs(self.scores).max(initial=1.0)
        return 8 * np.finfo(np.float64).eps * self.m * self.entry.size * largest


@st.composite
def cases(draw: Any, sizes: st.SearchStrategy[int] = MANY_CLASSES) -> Case:
    m = draw(sizes)
    n = draw(st.integers(1, 4))
    y = np.array(draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n)))
    entry = draw(st.sampled_from(entries(m, y, some_ks(m))))
    return Case(entry, draw(score_rows(n, m)), y)


def score_rows(n: int, m: int) -> st.SearchStrategy[np.ndarray]:
    normal = seeds.map(lambda seed: np.random.default_rng(seed).standard_normal((n, m)))
    if m < 10:
        return arrays(np.float64, (n, m), elements=halves) | normal
    tied = seeds.map(lambda seed: np.random.default_rng(seed).integers(-4, 5, (n, m)) / 2)
    return tied | normal


def domain_points(loss: Any, m: int, y: np.ndarray, seed: int) -> np.ndarray:
    """Return random points of the effective domains, (n, m): combinations of subgradients and 0."""
    rng = np.random.default_rng(seed)
    points = np.zeros((len(y), m))
    shares = rng.dirichlet(np.ones(4), len(y)) * rng.choice([0.5, 1.0])
    for share in shares.T:
        points += share[:, None] * loss.subgradient(2 * rng.standard_normal((len(y), m)), y)
    return points
