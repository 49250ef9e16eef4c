"""The sums of a checksum, one for each block of 32-bit words."""

import numpy as np

from fwlab.kernels._jit import compiled


@compiled
def weigh_words(words, keys, sums):
    """Set sums to words @ keys modulo 2^64, for words (blocks, length) of 32 bits."""
    for i in range(words.shape[0]):
        total = np.uint64(0)
        for j in range(words.shape[1]):
            total += np.uint64(words[i, j]) * keys[j]
        sums[i] = total
