"""Losses, scores and points for the tests of the reference; ties are common on purpose."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from reference import (
    Loss,
    MaxHinge,
    PseudoTopK,
    StructuredHinge,
    TopK,
    Usunier,
    WeightedTopK,
    WeightedUsunier,
)


def losses(m: int) -> st.SearchStrategy[Loss]:
    """Return any of the seven losses with rational parameters that suit m classes."""
    ks = st.integers(1, m)
    weights = st.lists(st.fractions(0, 2, max_denominator=4), min_size=1, max_size=m).map(
        lambda rho: tuple(sorted([*rho[:-1], rho[-1] + 1], reverse=True))
    )
    tables = st.lists(st.integers(0, 3), min_size=m * m, max_size=m * m).map(
        lambda entries: tuple(
            tuple(0 if i == j else entries[i * m + j] for j in range(m)) for i in range(m)
        )
    )
    return st.one_of(
        st.just(MaxHinge()),
        tables.map(StructuredHinge),
        ks.map(TopK),
        st.integers(1, m - 1).map(PseudoTopK),
        ks.map(Usunier),
        weights.map(WeightedTopK),
        weights.map(WeightedUsunier),
    )


@st.composite
def exact_cases(draw: st.DrawFn, largest: int = 5) -> tuple[Loss, list[Fraction], int]:
    """Draw (loss, m rational numbers from a coarse grid, y)."""
    m = draw(st.integers(2, largest))
    numbers = draw(st.lists(st.integers(-4, 4), min_size=m, max_size=m))
    scale = draw(st.sampled_from([1, 2, 3]))
    return draw(losses(m)), [Fraction(x, scale) for x in numbers], draw(st.integers(0, m - 1))


@st.composite
def float_cases(draw: st.DrawFn, largest: int = 8) -> tuple[Loss, np.ndarray, int]:
    """Draw (loss, m floats, y), half of the time from the grid of exact_cases."""
    loss, numbers, y = draw(exact_cases(largest))
    point = np.array(numbers, dtype=float)
    if draw(st.booleans()):
        seed = draw(st.integers(0, 2**32 - 1))
        point = point + np.random.default_rng(seed).normal(size=len(point))
    return loss, point, y


def grid_losses(m: int) -> list[Loss]:
    """Return one loss of every kind and every k, for tests that go through all of them."""
    table = tuple(tuple(abs(i - j) for j in range(m)) for i in range(m))
    return [
        MaxHinge(),
        StructuredHinge(table),
        *[TopK(k) for k in range(1, m + 1)],
        *[PseudoTopK(k) for k in range(1, m)],
        *[Usunier(k) for k in range(1, m + 1)],
        *[WeightedTopK(rho) for rho in weight_vectors(m)],
        *[WeightedUsunier(rho) for rho in weight_vectors(m)],
    ]


def weight_vectors(m: int) -> list[tuple[int, ...]]:
    """Return distinct weights, equal ones, zeros inside, and fewer than m."""
    return [tuple(range(m, 0, -1)), (1,) * m, (2, *[1] * (m - 1)), (2, 1)[:m], (3, *[0] * (m - 1))]
