"""Random orders of rows from a run's generator (kernels.steps.orders)."""

import numpy as np

from fwlab.arrays import Integers
from fwlab.kernels.steps.orders import draw_blocks


def drawn_state(rng: np.random.Generator) -> Integers:
    """Return the state of the numbers that order rows, (1,)."""
    return rng.integers(1, 2**64, 1, dtype=np.uint64)


def random_blocks(n: int, block_size: int, rng: np.random.Generator) -> Integers:
    """Return 0 .. n-1: blocks of rows in random order, and the rows of each block, too."""
    order = np.empty(n, dtype=np.int64)
    draw_blocks(order, block_size, drawn_state(rng))
    return order
