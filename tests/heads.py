"""The data of the tests that certify machines from elsewhere."""

import numpy as np

N, M, D = 80, 3, 4


def _drawn():
    rng = np.random.default_rng(0)
    y = np.arange(N) % M
    return rng.normal(size=(M, D))[y] + rng.normal(size=(N, D)), y


X, Y = _drawn()
