"""Cells for the tests: at the top of a module, as worker processes need them."""

import os

SCALE = 2


def helper(x):
    return SCALE * x


def scaled(x):
    return helper(x)


def threads(x):
    """Return threads that BLAS may use in the cell."""
    from threadpoolctl import threadpool_info

    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def process(x):
    return os.getpid()


def failing(x):
    if x == 1:
        raise ArithmeticError("one is too many")
    return x


def interrupted(x):
    if x == 2:
        raise KeyboardInterrupt
    return x


def pressed(x):
    """Return a run that Ctrl-C ends in its third iteration."""
    import signal

    import fwlab

    def press(state):
        if state.iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    data = fwlab.datasets.synthetic(20, 3, 3, 1.0, rng=0)
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), 0.1, n_classes=3)
    return fwlab.solve(problem, tol=0.0, max_iter=50, callback=press, check_every=1).nit


def slow(x):
    import time

    time.sleep(x)
    return x


def shaped(x):
    import numpy as np

    return {"array": np.arange(3) / 3, "number": np.float64(0.1), "none": None}
