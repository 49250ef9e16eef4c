"""Methods, step rules and losses of a script, and of code that runs as a notebook runs it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from files import ROOT

import fwlab

OWN = '''
from dataclasses import dataclass

import numpy as np

import fwlab

GAMMA = 0.7


def helper(x):
    return GAMMA * x


class Rule(fwlab.StepRule):
    def __call__(self, direction, memory):
        return helper(direction.limit) / (direction.iteration + 1)


@dataclass(frozen=True)
class Own(fwlab.FrankWolfe):
    """A method of one's own."""

    step: fwlab.StepRule = Rule()


class Farthest(fwlab.PolytopeLoss):
    def value(self, scores, y):
        return np.ptp(scores + self.costs(y, scores.shape[1]), axis=1)

    def lmo(self, gradient, y):
        units = np.eye(gradient.shape[1])
        return units[gradient.argmin(axis=1)] - units[gradient.argmax(axis=1)]


def dual_of(name):
    problem = fwlab.Problem(np.eye(3), [0, 1, 2], fwlab.TopK(2), 0.1)
    return fwlab.solve(problem, name, max_iter=3).dual
'''
SCRIPT = """
import json
import warnings

from fwlab.experiments import Cell, run_cells, runs


def refuse(*arguments, **options):
    raise AssertionError("something is solved")


def duals(own, jobs, out):
    problems = {"topk": fwlab.Problem(np.eye(4), [0, 1, 2, 0], fwlab.TopK(2), 0.1)}
    problems["own"] = fwlab.Problem(np.eye(4), [0, 1, 2, 0], own["Farthest"](), 0.1)
    methods = ["named", own["Own"](), fwlab.Pairwise(step=own["Rule"]())]
    found = fwlab.compare(problems, methods, n_jobs=jobs, max_iter=4, out=out)
    assert not found.failures and not found.not_stored, found.table()
    cell = Cell("cell", own["dual_of"], {"name": "named"})
    return [r.dual for r in found.results.values()], run_cells([cell], out, n_jobs=jobs)["cell"]


if __name__ == "__main__":
    warnings.simplefilter("error")
    notebook = {}
    exec(NOTEBOOK, notebook)
    printed, solve = [], runs.solve
    for own, out in ((globals(), "script"), (notebook, "notebook")):
        fwlab.register_method("named", own["Own"])
        first = duals(own, 2, out)
        runs.solve = refuse
        again = duals(own, 1, out)
        runs.solve = solve
        own["GAMMA"] = 0.5
        printed.append([first, again, duals(own, 1, out)])
    print(json.dumps(printed))
"""


@pytest.mark.turns
def test_objects_of_a_script_and_of_a_notebook_are_stored_and_followed(tmp_path):
    (tmp_path / "script.py").write_text(f"{OWN}\nNOTEBOOK = {OWN!r}\n{SCRIPT}")
    run = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    for first, again, edited in json.loads(run.stdout):
        assert again == first
        assert all(new != old for new, old in zip(edited[0], first[0], strict=True))
        assert edited[1] != first[1]


NOTEBOOK_CELLS = {
    "imports": "import numpy as np, fwlab",
    "others": (
        "import logging, os, threading\n"
        "LOG, LOCK = logging.getLogger('other'), threading.Lock()\n"
        "GENERATOR, FILE, UNUSED = (i for i in range(3)), open(os.devnull), np.random.normal()"
    ),
    "constant": "WEIGHT = 0.5",
    "loss": (
        "class Mine(fwlab.Loss):\n"
        "    def polytope_weights(self, m):\n"
        "        return np.full(m - 1, WEIGHT / m), np.zeros(m - 1)"
    ),
    "run": (
        "rng = np.random.default_rng(0)\n"
        "problem = fwlab.Problem(rng.normal(size=(12, 4)), np.arange(12) % 3, Mine(), 0.1)\n"
        "found = fwlab.compare(problem, 'fw', max_iter=3, out='out')\n"
        "print(len(found.stored), found.not_stored, found.results['problem', 'fw'].primal)"
    ),
}
FORGET = "import os; os.remove('out/comparison.toml')"  # or the folder refuses another loss
NOTEBOOK_RUNNER = """
import sys
import linecache

cells = eval(sys.argv[1])
for number, source in enumerate(cells):
    name = f"<ipython-input-{number}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    exec(compile(source, name, "exec"), globals())
"""


@pytest.mark.turns
def test_a_notebook_runs_cell_by_cell_and_finds_its_runs_again(tmp_path):
    """Twice in one process, then in another, with other cells between; then with a new constant."""
    imports, others, constant, loss, run = NOTEBOOK_CELLS.values()
    processes = [
        [imports, constant, loss, run, others, run, constant, loss, others, run],
        [imports, others, constant, others, loss, others, run],
        [imports, constant, loss, "WEIGHT = 0.7", FORGET, run],
    ]
    printed = []
    for cells in processes:
        ran = subprocess.run(
            [sys.executable, "-c", NOTEBOOK_RUNNER, repr(cells)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
        printed += ran.stdout.splitlines()
    first, *again, edited = (line.split() for line in printed)
    assert first[:2] == edited[:2] == ["0", "{}"] and first[2] != edited[2]
    assert again == [["1", *first[1:]]] * 3


@dataclass(frozen=True)
class Scheduled(fwlab.StepRule):
    """Its options cannot be hashed."""

    steps: list

    def __call__(self, direction, memory):
        return min(self.steps[direction.iteration % len(self.steps)], direction.limit)


@pytest.mark.parametrize("steps", [[0.5, 0.25], np.array([0.5, 0.25])], ids=["list", "array"])
def test_options_that_cannot_be_hashed(steps, tmp_path):
    problem = fwlab.Problem(np.eye(3), [0, 1, 2], fwlab.TopK(2), 0.1)
    method = fwlab.FrankWolfe(step=Scheduled(steps))
    found = fwlab.compare(problem, [method], max_iter=4, out=tmp_path)
    [result] = found.results.values()
    assert not found.not_stored and result.trace.step[1:].tolist() == [0.5, 0.25, 0.5, 0.25]
