"""Test runs of `newton` on real data at every C and k, whatever gap they reach."""

import os

import numpy as np
import pytest

import fwlab

NAMES = (
    *("digits", "letter", "news20_svd1024", "news20", "synthetic-a", "synthetic-b"),
    *("fashion_mnist", "caltech101_sil16_derived", "spambase", "ionosphere"),
    *("winequality_red", "winequality_white"),
)
BUILT_IN = ("digits", "synthetic-a", "synthetic-b")
SECONDS = 1.0


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_runs_are_monotone_feasible_and_certified(name):
    if name not in BUILT_IN and not os.environ.get("FWLAB_DATA"):
        pytest.skip("FWLAB_DATA does not name the folder of the data sets")
    data = fwlab.datasets.load(name, normalize="unit")
    n, m = len(data.y_train), data.n_classes
    for k in sorted({1, min(3, m), max(1, m - 1)}):
        for loss in (fwlab.TopK(k), fwlab.Usunier(k)):
            for C in (0.01, 1.0, 100.0, 1000.0):
                problem = fwlab.Problem(data.X_train, data.y_train, loss, 1 / (C * n))
                result = fwlab.solve(
                    problem,
                    "newton",
                    tol=1e-9,
                    max_iter=10**5,
                    time_limit=SECONDS,
                    check_every=1,
                )
                falls = np.maximum.accumulate(result.trace.dual) - result.trace.dual
                assert falls.max() <= 1e-13 * max(1.0, abs(result.dual))
                assert result.infeasibility <= 1e-14
                assert result.primal == pytest.approx(problem.primal(result.W), rel=1e-13)
                assert result.dual == pytest.approx(problem.dual(result.A), rel=1e-13)
                assert result.gap == result.primal - result.dual
