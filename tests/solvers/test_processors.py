"""The certified intervals of a run hold the same optimum on every processor that OpenBLAS knows."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info

CORES = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen")
RUN = """
import json, numpy as np, fwlab
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 20)), np.arange(300) % 5
ends = []
for arguments in ({}, {"smoothing": 0.1}, {"regularizer": fwlab.LpNorm(1.5)}, {"kernel": "linear"}):
    method = "direct" if "regularizer" in arguments else "ascent"
    problem = fwlab.Problem(X, y, fwlab.TopK(2), 0.01, **arguments)
    result = fwlab.solve(problem, method, tol=1e-9, max_iter=300)
    ends.append((result.dual - result.gap_error, result.primal + result.gap_error))
ranked = fwlab.ranking.solve(X, y == 0, fwlab.ranking.TopPush(), 1.0, tol=1e-9)
ends.append((ranked.dual - ranked.gap_error, ranked.primal + ranked.gap_error))
print(json.dumps(ends))
"""


def chosen_at_run_time():
    """Return whether numpy's BLAS takes the kernels of another processor from the environment."""
    assert np.eye(2) @ np.eye(2) is not None  # numpy has loaded its BLAS
    found = [info for info in threadpool_info() if info["internal_api"] == "openblas"]
    return any(info.get("architecture") in (*CORES, "SkylakeX") for info in found)


@pytest.mark.turns
@pytest.mark.skipif(
    not chosen_at_run_time(), reason="BLAS is not an OpenBLAS that takes OPENBLAS_CORETYPE"
)
def test_the_enclosures_of_all_processors_overlap():
    runs = []
    for core in CORES:
        environment = {**os.environ, "OPENBLAS_CORETYPE": core}
        found = subprocess.run(
            [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True
        )
        assert found.returncode == 0, found.stderr
        runs.append(json.loads(found.stdout))
    for ends in zip(*runs, strict=True):
        assert max(low for low, _ in ends) <= min(high for _, high in ends)
