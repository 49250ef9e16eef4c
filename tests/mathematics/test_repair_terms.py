"""Each term of the distance to the repaired row, with rounding errors that are large on purpose."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fwlab
from fwlab.kernels.domains.repair import VANISHING, repair_distance_rows
from fwlab.operators import repair as module
from fwlab.operators.repair import repair_distances

pytestmark = pytest.mark.small
ROUNDING, ROOM = 0.01, 0.7
KINDS = ("zero", "apart", "equal")


def weights_of(kind, m, rng):
    """Return the weights of a polytope, the lower ones 0, apart from the upper ones or equal."""
    upper = np.sort(rng.random(m - 1))[::-1]
    upper[rng.integers(1, m) :] = 0.0
    lower = {"zero": 0.0, "apart": 0.5, "equal": 1.0}[kind] * upper
    return upper, lower


def share(b, upper, lower, least, sum_upper):
    """Return t for b sorted downwards, from the sums of the formulas; b has no more zeros."""
    largest, bounds = np.cumsum(b), np.cumsum(upper)
    if (upper == lower).all():
        count = max(np.count_nonzero(b), np.count_nonzero(upper))
        T, U = (sums[: min(count, len(b) - 1)] for sums in (largest, bounds))
        excess = np.maximum(0.0, T * (1 + 2 * ROUNDING) - b.sum() / sum_upper * U)
        room = T - b.sum() / len(b) * np.arange(1, len(T) + 1) - ROUNDING * T
        return max((e / r if r > e else 1.0 for e, r in zip(excess, room, strict=True)), default=0)
    smallest, bounds = np.cumsum(b[::-1]), np.cumsum(lower[::-1])
    most = min(B / L for B, L in zip(smallest, bounds, strict=True) if L > 0)
    excess = max(0.0, least - most * (1 - ROUNDING))
    return excess / (excess + b.sum() * ROOM) * (1 + ROUNDING) if excess > 0 else 0.0


def by_hand(a, omega, y, upper, lower, sum_upper):
    wrong = np.delete(a, y)
    b = np.sort(np.maximum(-wrong, 0.0))[::-1]
    least = max(np.cumsum(b) / np.cumsum(upper)) * (1 + ROUNDING)
    moved = np.maximum(wrong, 0.0).sum()
    if lower.any():
        t = share(b, upper, lower, least, sum_upper)
        moved += t * np.abs(b - b.mean()).sum()
    shrunk = max(0.0, least - omega) / least * (1 + ROUNDING)
    return moved + 2 * shrunk * b.sum() + abs(a[y] - b.sum()) + ROUNDING * b.sum()


def weights_for_kernels(upper, lower):
    polytopes = fwlab.TopK(1).polytopes(np.zeros(1, dtype=np.int64), len(upper) + 1)
    counts = int(np.count_nonzero(upper)), int(np.count_nonzero(lower))
    return polytopes.weights.__class__(upper, lower, *counts, upper.sum(), lower.sum())


def distances(A, omega, y, upper, lower, sum_upper):
    out, room = np.empty(len(A)), 0.0 if (upper == lower).all() else ROOM
    polytope = weights_for_kernels(upper, lower)
    repair_distance_rows(A, omega, y, polytope, sum_upper, room, ROUNDING, out)
    return out


@pytest.mark.turns
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [2, 3, 5, 9])
def test_the_terms_add_up(kind, m):
    rng = np.random.default_rng(m)
    for _ in range(30):
        upper, lower = weights_of(kind, m, rng)
        y, omega, sum_upper = rng.integers(0, m, 8), rng.random(8) + 0.1, 1.1 * upper.sum()
        A = rng.normal(size=(8, m)) * (rng.random((8, m)) < 0.7)
        A[np.arange(8), y - 1] = -0.5  # an entry of a wrong class that is not 0
        found = distances(A, omega, y, upper, lower, sum_upper)
        for row, weight, label, distance in zip(A, omega, y, found, strict=True):
            expected = by_hand(row, weight, label, upper, lower, sum_upper)
            assert distance == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("size", "weight"), [(0.0, 1.0), (VANISHING / 8, 1.0), (0.25, 2.0**980)])
def test_rows_that_nearly_vanish_are_bounded_by_their_sizes(size, weight):
    A = np.array([[-size, 3.0, -size, 5.0]])
    upper = np.array([weight, 0.0, 0.0])
    found = distances(A, np.ones(1), np.array([3]), upper, 0 * upper, 1.0)
    assert_allclose(found, 3 * (3.0 + 5.0 + 2 * size), rtol=1e-15)


def test_what_the_kernel_is_given_and_what_is_added(monkeypatch):
    given = {}

    def kernel(A, omega, y, weights, sum_upper, room, rounding, out):
        given.update(sum_upper=sum_upper, room=room, rounding=rounding)
        out[:] = 2.0

    monkeypatch.setattr(module, "repair_distance_rows", kernel)
    loss = fwlab.WeightedTopK([3.0, 1.0])
    bound = repair_distances(np.zeros((2, 4)), np.ones(2), loss.polytopes(np.zeros(2, int), 4))
    assert_allclose(bound, 2.02 + 4 * module.SMALLEST, rtol=1e-15)
    assert given == {
        "sum_upper": 4.0,
        "room": pytest.approx((1 / 1.0 - 1 / 4.0) / 1.01, rel=1e-15),
        "rounding": 16 * 2.0**-53,
    }
