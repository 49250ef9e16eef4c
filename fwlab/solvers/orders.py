"""Random orders of rows from a run's generator (kernels.steps.orders)."""

import numpy as np
from numpy.typing import NDArray

from fwlab.arrays import Integers
from fwlab.kernels.steps.orders import draw_blocks


def drawn_state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return the state of the numbers that order rows, (1,)."""
    return np.array([drawn_number(rng)], dtype=np.uint64)


def drawn_number(rng: np.random.Generator) -> int:
    """Return an odd number of 64 bits: a state of 0 would stay 0."""
    return int(rng.bit_generator.random_raw()) | 1


def random_blocks(n: int, block_size: int, rng: np.random.Generator) -> Integers:
    """Return 0 .. n-1: blocks of rows in random order, and the rows of each block, too."""
    order = np.empty(n, dtype=np.int64)
    draw_blocks(order, np.arange(0, n, block_size), block_size, drawn_state(rng))
    return order
