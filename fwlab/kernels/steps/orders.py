"""Draw random orders of rows. The state of the numbers is an array of one uint64, which is not 0.

Numbers: Marsaglia's xorshift (2003) with shifts 13, 7 and 17. Shuffle: Fisher and Yates.
"""

import numpy as np

from fwlab.kernels._jit import compiled


@compiled(inline=True)
def _next_number(state):
    """Go on to the next state."""
    state[0] ^= state[0] << np.uint64(13)
    state[0] ^= state[0] >> np.uint64(7)
    state[0] ^= state[0] << np.uint64(17)


@compiled
def shuffle(order, state):
    """Shuffle an array of fewer than 2^31 entries in place; the state goes on."""
    for last in range(len(order) - 1, 0, -1):
        _next_number(state)
        # a fraction of 31 bits times the number of places
        place = np.int64(((state[0] >> np.uint64(33)) * np.uint64(last + 1)) >> np.uint64(31))
        order[last], order[place] = order[place], order[last]


@compiled
def draw_blocks(order, starts, block_size, state):
    """Set `order` to 0 .. n-1: blocks of rows in random order, and so the rows of each block.

    `starts` are the first rows of all blocks, which are shuffled.
    """
    n, place = len(order), 0
    shuffle(starts, state)
    for start in starts:
        count = min(block_size, n - start)
        for r in range(count):
            order[place + r] = start + r
        shuffle(order[place : place + count], state)
        place += count
