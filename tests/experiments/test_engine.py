"""The engine of runs and cells: what is stored, what workers know, and what the bar shows."""

import json
import os
import threading

import cell_functions
import numpy as np
import pytest

import fwlab
from fwlab.experiments import compare, engine
from fwlab.experiments.cells import Cell, CellTask, run_cells
from fwlab.experiments.engine import Failure, Workers, outcomes
from fwlab.experiments.progress import Bar
from fwlab.solvers import registry
from fwlab.solvers.frank_wolfe import FrankWolfe


def cell_tasks(folder, function, numbers):
    return [
        CellTask.placed(Cell(f"x = {x}", function, {"x": x}, cost=1.0 + x), folder) for x in numbers
    ]


def small_problem():
    rng = np.random.default_rng(0)
    return fwlab.Problem(rng.normal(size=(12, 3)), np.arange(12) % 3, fwlab.TopK(2), 0.1)


def test_a_result_that_cannot_be_written_is_named_and_given(tmp_path):
    (tmp_path / "place").write_text("a file where a folder is needed")
    with pytest.warns(UserWarning, match="x = 1 will not be stored: its file cannot be written"):
        values = run_cells([Cell("x = 1", cell_functions.scaled, {"x": 1})], tmp_path / "place")
    assert values == {"x = 1": 2}


@pytest.mark.turns
def test_a_worker_stores_what_it_computed(tmp_path):
    tasks = cell_tasks(tmp_path, cell_functions.process, range(2))
    for task, done in outcomes(tasks, Workers(2)):
        assert json.loads(task.place.file.read_text()) == done.outcome
        assert done.outcome["value"] != os.getpid()
    assert all(done.is_read for _, done in outcomes(tasks, Workers(2)))


def test_the_files_of_this_machine_are_the_workers(tmp_path):
    assert Workers(2).share_files
    (task,) = cell_tasks(tmp_path, cell_functions.scaled, [1])
    place, done = engine.perform_elsewhere(7, task, False, {})
    assert (place, done.outcome["value"]) == (7, 2) and not task.place.file.exists()
    assert engine.perform_elsewhere(7, task, True, {})[1].outcome["value"] == 2
    assert task.place.file.exists()


def test_a_worker_learns_the_methods_of_the_program(tmp_path, monkeypatch):
    for name in registry.REGISTRY:
        monkeypatch.setitem(registry.REGISTRY, name, registry.REGISTRY[name])
    (task,) = cell_tasks(tmp_path, cell_functions.scaled, [1])
    _, done = engine.perform_elsewhere(0, task, False, {"fw": registry.REGISTRY["bcfw"]})
    assert registry.REGISTRY["fw"] is registry.REGISTRY["bcfw"]
    assert done.reason == engine.CHANGED


def test_stored_outcomes_come_first_and_begin_no_bar(tmp_path, capsys):
    tasks = cell_tasks(tmp_path, cell_functions.scaled, range(4))
    list(outcomes(tasks[2:]))
    capsys.readouterr()
    names = [(task.name, done.is_read) for task, done in outcomes(tasks)]
    assert names == [("x = 2", True), ("x = 3", True), ("x = 0", False), ("x = 1", False)]
    assert "4 of 4 runs" in capsys.readouterr().err
    list(outcomes(tasks))
    assert capsys.readouterr().err == ""


def test_the_bar_counts_stored_cells(tmp_path, capsys):
    tasks = cell_tasks(tmp_path, cell_functions.scaled, range(4))
    with Bar(tasks[1:], 4) as bar:
        bar.end(tasks[1])
        assert bar.bar.desc.startswith("2 of 4 runs, x = 1")


def test_the_bar_is_as_long_as_the_costs(tmp_path):
    tasks = cell_tasks(tmp_path, cell_functions.scaled, range(4))
    with Bar(tasks, 4) as bar:
        assert bar.bar.total == 1 + 2 + 3 + 4
        bar.end(tasks[3])
        assert bar.bar.n == 4


def test_what_cannot_be_sent_fails_and_the_others_run(tmp_path):
    tasks = cell_tasks(tmp_path, cell_functions.scaled, range(2))
    held = Cell("held", cell_functions.scaled, {"x": threading.Lock()})
    tasks.append(CellTask.placed(held, tmp_path))
    found = {task.name: done.outcome for task, done in outcomes(tasks, Workers(2))}
    assert isinstance(found["held"], Failure) and "cannot be sent" in found["held"].message
    assert found["x = 1"]["value"] == 2


def test_each_run_begins_with_the_method_as_it_was_given():
    class Growing(FrankWolfe):
        def start(self, state):
            object.__setattr__(self, "runs", getattr(self, "runs", 0) + 1)
            return super().start(state)

    method = Growing()
    compare({"a": small_problem(), "b": small_problem()}, [method], max_iter=1)
    assert not hasattr(method, "runs")
