"""The orders of long rows, and projections onto permutahedra against exact pools."""

import os
from fractions import Fraction

import numpy as np
import pytest

from fwlab import project_permutahedron
from fwlab.kernels.domains import permutahedron, row_orders
from fwlab.kernels.domains.row_orders import MOVES, descending_orders

pytestmark = pytest.mark.small
DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
ROWS, SEEDS = (40, 100) if DEEP else (3, 4)
EPS = np.finfo(float).eps


def rows_of(kind, d, rng):
    a = rng.normal(size=(ROWS, d))
    return {
        "normal": a,
        "ties": np.round(2 * a) / 2,
        "equal": np.full((ROWS, d), 0.1),
        "nearly sorted": np.sort(a) + rng.normal(size=(ROWS, d)) / d,
        "last bits": 1.0 + rng.integers(-3, 4, (ROWS, d)) * EPS,
        "large offset": 1e8 + a,
        "zeros": np.where(a > 0, 0.0, -0.0),
        "denormal": rng.integers(-9, 10, (ROWS, d)) * 5e-324,
        "spike": np.where(np.arange(d) == d // 3, 1e150, a),
        "all sizes": np.sign(a) * 10.0 ** rng.uniform(-30, 30, (ROWS, d)),
    }[kind]


KINDS = ("normal", "ties", "equal", "nearly sorted", "last bits", "large offset", "zeros",
         "denormal", "spike", "all sizes")  # fmt: skip
each_kind = pytest.mark.parametrize("kind", KINDS)


def exact_residual(ordered, rho):
    """Return `ordered`, which does not increase, less the fit to ordered - rho, in fractions."""
    pools = []
    for value, weight in zip(ordered, rho, strict=True):
        total, size = Fraction(value) - Fraction(weight), 1
        while pools and total * pools[-1][1] >= pools[-1][0] * size:
            total, size = total + pools[-1][0], size + pools[-1][1]
            pools.pop()
        pools.append((total, size))
    means = [total / size for total, size in pools for _ in range(size)]
    return [Fraction(value) - mean for value, mean in zip(ordered, means, strict=True)]


def weights(d, rng):
    few = np.where(np.arange(d) < min(d, 5), 1.0 / min(d, 5), 0.0)
    return rng.choice([few, np.arange(d) / d, rng.normal(size=d), rng.integers(0, 4, d) / 2.0])


@each_kind
@pytest.mark.parametrize("d", [1, 2, 63, 64, 65, 128, 129, 700])
def test_rows_are_ordered(kind, d):
    points = rows_of(kind, d, np.random.default_rng(d))
    order = descending_orders(points)
    np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(d), (ROWS, 1)))
    ordered = np.take_along_axis(points, order, axis=1)
    assert (np.diff(ordered) <= 0).all()


def test_keys_that_cannot_tell_the_entries_apart_leave_the_row_to_argsort(monkeypatch):
    """Keys of 300 entries lose 9 bits; the entries of each row differ only in these."""
    rng = np.random.default_rng(0)
    points = np.stack([1.0 + rng.permutation(300) * EPS, rng.normal(size=300)])
    sorted_by_numpy = []
    argsort = np.argsort
    monkeypatch.setattr(np, "argsort", lambda a: sorted_by_numpy.append(len(a)) or argsort(a))
    order = descending_orders(points)
    assert sorted_by_numpy == [300]
    assert (np.diff(np.take_along_axis(points, order, axis=1)) < 0).all()


def test_a_row_stops_after_its_moves():
    """A reversed row of equal keys takes d^2 / 2 moves; the search ends long before."""
    d = 4 * MOVES
    row, keys = np.arange(d) * EPS + 1.0, np.arange(d)
    assert not row_orders.order_of_keys(row, keys, 63)
    assert (keys[d // 2 + MOVES :] == np.arange(d // 2 + MOVES, d)).all()


@each_kind
@pytest.mark.parametrize("seed", range(SEEDS))
def test_rows_are_those_of_exact_pools(kind, seed):
    rng = np.random.default_rng(seed)
    d = int(rng.choice([3, 20, 64, 65, 100, 300, 500]))
    points, rho = rows_of(kind, d, rng), weights(d, rng)
    for row, x in zip(points, project_permutahedron(points, rho), strict=True):
        order = np.argsort(-row)
        expected = exact_residual(row[order].tolist(), sorted(rho.tolist(), reverse=True))
        bound = 8 * EPS * max(np.abs(row).max(), np.abs(rho).max())
        errors = [
            float(abs(Fraction(a) - b)) for a, b in zip(x[order].tolist(), expected, strict=True)
        ]
        assert max(errors) <= bound


@each_kind
@pytest.mark.parametrize("d", [7, 64, 65, 2000])
def test_equal_entries_have_equal_projections(kind, d):
    rng = np.random.default_rng(d)
    points = rows_of(kind, d, rng)
    first, second = slice(d // 2), slice(d // 2, d // 2 * 2)
    points[:, second] = points[:, first]
    x = project_permutahedron(points, rng.normal(size=d))
    np.testing.assert_array_equal(x[:, second], x[:, first])


def test_equal_entries_share_a_pool_where_sums_round():
    weights = 0.3 + np.random.default_rng(0).integers(-1, 2, 200) * EPS / 4
    assert len(set(project_permutahedron(np.full(200, 0.7), weights))) == 1


def test_a_long_pool_keeps_its_digits():
    """The plain mean of these weights is wrong by 50 units in the last place."""
    x = project_permutahedron(np.full(30_000, 0.7), np.full(30_000, 0.1))
    np.testing.assert_allclose(x, 0.1, rtol=2 * EPS)


@pytest.mark.parametrize("d", [3, 64, 65, 3000])
def test_chunks_of_rows_are_the_rows(d):
    rng = np.random.default_rng(d)
    points, rho = rng.normal(size=(permutahedron.CHUNK // 3000 * 2 + 1, d)), rng.normal(size=d)
    x = project_permutahedron(points, rho)
    for row, projected in zip(points, x, strict=True):
        np.testing.assert_array_equal(project_permutahedron(row, rho), projected)


@each_kind
def test_the_compiled_rows_equal_their_source(kind):
    rng = np.random.default_rng(1)
    points = rows_of(kind, 150, rng)
    rho, order = -np.sort(-weights(150, rng)), descending_orders(points)
    compiled, plain = np.empty_like(points), np.empty_like(points)
    kernel = permutahedron.project_sorted_rows
    kernel(points, order, rho, compiled)
    getattr(kernel, "py_func", kernel)(points, order, rho, plain)
    bound = 8 * EPS * max(np.abs(points).max(), np.abs(rho).max())
    np.testing.assert_allclose(compiled, plain, rtol=0, atol=bound)
