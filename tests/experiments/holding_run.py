"""A comparison for the tests to kill: python holding_run.py FOLDER says "begun" and never ends."""

import sys
import time

import numpy as np

import fwlab


class Sleeping(fwlab.FrankWolfe):
    """A method that waits for the end of its process."""

    def start(self, state):
        print("begun", flush=True)
        time.sleep(600)


if __name__ == "__main__":
    problem = fwlab.Problem(np.eye(3), [0, 1, 2], fwlab.TopK(1), lam=0.1)
    fwlab.compare(problem, Sleeping(), out=sys.argv[1])
