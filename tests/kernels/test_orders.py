"""Random orders of rows: permutations, every one equally likely, blocks kept together."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from fwlab.kernels.steps.orders import draw_blocks, shuffle
from fwlab.solvers.orders import drawn_state, random_blocks

pytestmark = pytest.mark.small
N_DRAWS = 6000


def drawn(n, size, seed):
    order = np.empty(n, dtype=np.int64)
    draw_blocks(order, np.arange(0, n, size), size, np.array([seed], dtype=np.uint64))
    return order


@pytest.mark.parametrize("size", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 33])
def test_blocks_stay_together(n, size):
    for seed in (1, 2, 2**63 - 1):
        order = drawn(n, size, seed)
        np.testing.assert_array_equal(np.sort(order), np.arange(n))
        blocks = order // size
        assert np.count_nonzero(np.diff(blocks)) == -(-n // size) - 1


def test_the_numbers_of_xorshift_by_hand():
    """A shuffle of two entries draws one number, whose highest bit but one decides."""
    state, number, mask = np.array([12345], dtype=np.uint64), 12345, 2**64 - 1
    for _ in range(40):
        number ^= number << 13 & mask
        number ^= number >> 7
        number ^= number << 17 & mask
        order = np.arange(2)
        shuffle(order, state)
        assert int(state[0]) == number
        assert order[0] == 1 - (number >> 63)


def test_a_state_is_not_0():
    """Half of all drawn numbers are even; of these 0 would stay 0."""
    rng = np.random.default_rng(0)
    assert all(int(drawn_state(rng)[0]) % 2 == 1 for _ in range(20))


def test_blocks_of_a_generator_stay_together():
    rng = np.random.default_rng(0)
    one, other = random_blocks(33, 8, rng), random_blocks(33, 8, rng)
    assert (one != other).any()
    for order in (one, other):
        assert np.count_nonzero(np.diff(order // 8)) == 4


def assert_uniform(counts, kinds):
    """Fail for one of a million seeds if all kinds are equally likely."""
    assert len(counts) == kinds
    assert chisquare(list(counts.values())).pvalue > 1e-6


def test_every_order_is_as_likely():
    seeds = np.random.default_rng(0).integers(1, 2**63, N_DRAWS)
    counts = Counter(tuple(drawn(4, 1, int(seed)).tolist()) for seed in seeds)
    assert_uniform(counts, len(list(permutations(range(4)))))


def test_every_order_of_blocks_and_of_their_rows_is_as_likely():
    seeds = np.random.default_rng(1).integers(1, 2**63, N_DRAWS)
    counts = Counter(tuple(drawn(6, 2, int(seed)).tolist()) for seed in seeds)
    assert_uniform(counts, 6 * 2**3)


def test_shuffles_of_one_seed_follow_each_other_at_random():
    order, state, counts = np.arange(4), np.array([12345], dtype=np.uint64), Counter()
    for _ in range(N_DRAWS):
        before = order.copy()
        shuffle(order, state)
        counts[tuple(np.argsort(before)[order].tolist())] += 1
    assert_uniform(counts, 24)
