"""A visitor's package, installed into an environment of its own: compared, stored, edited."""

import json

import numpy as np
import pytest
from environment import Environment

STUDY = """
import json
import sys
from pathlib import Path

import numpy as np

import fwlab
from fwlab.experiments import Cell, run_cells, runs
from guest.losses import OrderedL1, Staircase
from guest.methods import Blend, Damped

rng = np.random.default_rng(0)
X, y = rng.normal(size=(12, 4)), np.arange(12) % 3
LOSSES = {"ordered": OrderedL1(), "stairs": Staircase()}


def by_name(name):
    return fwlab.solve(fwlab.Problem(X, y, fwlab.TopK(2), 0.1), name, max_iter=3).dual


def refuse(*arguments, **options):
    raise AssertionError("something is solved")


if __name__ == "__main__":
    jobs, solving = int(sys.argv[1]), sys.argv[2]
    if solving == "nothing":
        runs.solve = refuse
    problems = {name: fwlab.Problem(X, y, loss, 0.1) for name, loss in LOSSES.items()}
    methods = ["fw", "guest-fw", Blend(), fwlab.Pairwise(step=Damped())]
    # an edited default is another setting, which the folder's record would refuse
    Path("store/comparison.toml").unlink(missing_ok=True)
    found = fwlab.compare(problems, methods, n_jobs=jobs, max_iter=4, out="store")
    assert not found.failures and not found.not_stored, found.table()
    cells = [Cell(name, by_name, {"name": name}) for name in ("fw", "guest-fw")]
    numbers = {" ".join(key): [r.dual, r.seconds] for key, r in found.results.items()}
    stored = run_cells(cells, "cells", n_jobs=jobs)
    stored["written"] = sorted(file.stat().st_mtime_ns for file in Path("cells").iterdir())
    print(json.dumps([numbers, stored]))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    made = Environment(tmp_path_factory.mktemp("visitor"))
    (made.folder / "study.py").write_text(STUDY)
    return made


def study(environment, jobs=1, solving="anything"):
    return json.loads(environment.run("study.py", str(jobs), solving))


@pytest.mark.turns
def test_runs_are_stored_and_only_those_that_an_edit_reaches_run_again(environment):
    first = study(environment, jobs=2)
    assert len(first[0]) == 8
    assert study(environment, solving="nothing") == first

    environment.edit("losses.py", "top: float = 1.0", "top: float = 1.5")
    environment.edit("helpers.py", "DAMPING = 0.9", "DAMPING = 0.8")
    second = study(environment)
    kept = {key for key in first[0] if first[0][key] == second[0][key]}
    # not the loss whose constant is another, nor the methods that use the helper
    assert kept == {"stairs fw", "stairs Blend(share=0.5)"}
    assert second[1]["fw"] == first[1]["fw"] and second[1]["guest-fw"] != first[1]["guest-fw"]


@pytest.mark.turns
def test_the_command_line_sees_the_entry_point(environment):
    rng = np.random.default_rng(0)
    np.savez(environment.folder / "own.npz", X=rng.normal(size=(12, 4)), y=np.arange(12) % 3)
    options = ["--data", "own.npz", "--loss", "topk", "-k", "2", "--methods", "fw,guest-fw"]
    text = environment.run("-m", "fwlab", "compare", *options, "--max-iter", "1")
    assert [x.split()[1] for x in text.splitlines() if x.endswith("MAX_ITER")] == ["fw", "guest-fw"]
