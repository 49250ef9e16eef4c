"""The benchmark for benchopt runs, and its judge agrees with fwlab's certificates."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fwlab

ROOT = Path(__file__).parents[2]
DATA = "Gaussian classes[n=40,d=10,m=4]"


def test_benchopt_runs_it_and_no_machine_beats_the_bound(tmp_path):
    pytest.importorskip("benchopt", reason="benchopt is not installed")
    pandas = pytest.importorskip("pandas", reason="benchopt's results need pandas")
    # results go to a folder of the benchmark
    folder = shutil.copytree(ROOT / "figures" / "benchopt", tmp_path / "benchmark")
    command = [sys.executable, "-m", "benchopt", "run", str(folder), "-d", DATA]
    options = ["--max-runs", "6", "--n-repetitions", "1", "--no-plot", "--output", "found"]
    subprocess.run(
        [*command, *options],
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    table = pandas.read_parquet(folder / "outputs" / "found.parquet")
    of_one = table[table.p_obj_k == 1]
    assert set(of_one.solver_name.str.partition("[")[0]) == {"fwlab", "LinearSVC"}
    assert (table.objective_value >= 0).all()
    data = fwlab.datasets.synthetic(40, 10, 4, 0.1, rng=0, normalize="unit")
    for k, runs in table.groupby("p_obj_k"):
        problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(k), C=1)
        best = fwlab.solve(problem, tol=1e-8, max_iter=10**5)
        bounds = runs.objective_primal - runs.objective_value
        assert best.dual - 1e-8 <= bounds.min() <= bounds.max() <= best.primal
        assert runs.objective_value.min() < 1e-3 * best.primal
