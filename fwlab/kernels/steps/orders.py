"""Draw random orders of rows. The state of the numbers is an array of one uint64, which is not 0.

The numbers are those of Marsaglia's xorshift (2003) with shifts 13, 7 and 17; the shuffle is Fisher
and Yates's.
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


@compiled(allocates=True)
def draw_blocks(order, block_size, state):
    """Set `order` to 0 .. n-1: blocks of rows in random order, and so the rows of each block."""
    n, place = len(order), 0
    starts = np.empty(-(-n // block_size), dtype=np.int64)
    for block in range(len(starts)):
        starts[block] = block * block_size
    shuffle(starts, state)
    for start in starts:
        rows = order[place : place + min(block_size, n - start)]
        for r in range(len(rows)):
            rows[r] = start + r
        shuffle(rows, state)
        place += len(rows)
