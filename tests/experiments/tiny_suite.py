"""A suite of tiny problems whose runs end by iterations, and made-up runs, for the tests."""

import numpy as np
import pytest

import fwlab
from fwlab.experiments import suite_problems
from fwlab.experiments.suite_problems import Size, SuiteData
from fwlab.result import Result, Status

SETS = ("digits", "wide", "tall", "many")


def make_tiny(patch: pytest.MonkeyPatch, iterations: int) -> None:
    """Give the sets of size small 20 samples each, and let iterations end all runs."""
    sets = {name: SuiteData(None, drawn=(20, 4, 5, 1.0)) for name in SETS}
    patch.setitem(suite_problems.SIZES, "small", Size(sets, 600.0))
    patch.setattr("fwlab.experiments.suite.MOST_ITERATIONS", iterations)


def made_up_run(primal, dual, calls, cpu, status=Status.MAX_ITER):
    """Return the result of a run with these checkpoints; projections are twice the LMOs `calls`."""
    primal, dual, zeros = np.array(primal), np.array(dual), np.zeros(len(primal), dtype=int)
    trace = fwlab.Trace(
        *(np.arange(len(primal)), np.array(cpu), primal, dual, primal - dual, np.array(calls)),
        *(zeros, zeros, np.zeros(len(primal))),
        cpu_seconds=np.array(cpu),
        n_projections=2 * np.array(calls),
        n_rows=np.array(calls, dtype=float),
    )
    last = (primal[-1], dual[-1], primal[-1] - dual[-1], 0.0, False, status, "its message")
    return Result(None, None, *last, len(primal) - 1, 1.0, "m", trace, 1.0)
