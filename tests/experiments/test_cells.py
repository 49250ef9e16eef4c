"""Cells: found again by content, kept when the run is killed, the same on every backend."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cell_functions
import killed_run
import numpy as np
import pytest
from local_cluster import NO_PUBLIC_PORT

import fwlab
from fwlab.experiments import engine
from fwlab.experiments.cells import Cell, CellsFailed, CellTask, run_cells
from fwlab.experiments.data_name import DataName

HERE = Path(__file__).parent


def cells_of(function, numbers=range(4), **settings):
    return [Cell(f"x = {x}", function, {"x": x, **settings}) for x in numbers]


def stored(folder):
    return {file.name: file.stat().st_mtime_ns for file in folder.glob("*.json")}


def test_results_come_in_order_and_are_found_again(tmp_path):
    first = run_cells(cells_of(cell_functions.scaled), tmp_path)
    assert first == {f"x = {x}": 2 * x for x in range(4)}
    files = stored(tmp_path)
    more = run_cells(cells_of(cell_functions.scaled, range(5, -1, -1)), tmp_path)
    assert list(more.values()) == [10, 8, 6, 4, 2, 0]
    assert {name: stored(tmp_path)[name] for name in files} == files


def test_fresh_and_stored_results_are_the_same(tmp_path):
    fresh = run_cells(cells_of(cell_functions.shaped, [0]), tmp_path)
    assert fresh["x = 0"] == {"array": [0.0, 1 / 3, 2 / 3], "number": 0.1, "none": None}
    assert run_cells(cells_of(cell_functions.shaped, [0]), tmp_path) == fresh


def test_a_damaged_file_is_computed_again(tmp_path):
    run_cells(cells_of(cell_functions.scaled), tmp_path)
    damaged = min(tmp_path.glob("*.json"))
    for text in ("", '{"value": 1', "[]", '{"seconds": 1}'):
        damaged.write_text(text)
        assert run_cells(cells_of(cell_functions.scaled), tmp_path)["x = 3"] == 6
        assert "value" in json.loads(damaged.read_text())


def keys(cells, tmp_path):
    return {CellTask.placed(cell, tmp_path).place.file.name for cell in cells}


def test_data_settings_and_code_make_another_cell(tmp_path, monkeypatch):
    base = cells_of(cell_functions.scaled, [1], data=DataName("digits"))
    others = {
        "setting": cells_of(cell_functions.scaled, [1.0], data=DataName("digits")),
        "data": cells_of(cell_functions.scaled, [1], data=DataName("digits", rows=20)),
        "normalize": cells_of(cell_functions.scaled, [1], data=DataName("digits", "unit")),
        "function": cells_of(cell_functions.helper, [1], data=DataName("digits")),
    }
    found = {name: keys(cells, tmp_path) for name, cells in others.items()}
    assert keys(base, tmp_path) == keys(list(base), tmp_path)
    assert len({*keys(base, tmp_path), *(k for some in found.values() for k in some)}) == 5
    before = keys(base, tmp_path)
    monkeypatch.setattr("numpy.__version__", "99")
    assert not keys(base, tmp_path) & before


def test_other_numbers_under_the_same_name_are_other_data(tmp_path):
    rng = np.random.default_rng(0)
    made = set()
    for _ in range(2):
        X, y = rng.normal(size=(6, 2)), np.arange(6) % 2
        np.savez(tmp_path / "own.npz", X=X, y=y)
        cells = cells_of(cell_functions.scaled, [1], data=DataName(str(tmp_path / "own.npz")))
        made |= keys(cells, tmp_path)
    assert len(made) == 2


def test_a_record_says_what_made_it(tmp_path):
    run_cells(cells_of(cell_functions.scaled, [1]), tmp_path)
    (file,) = tmp_path.glob("*.json")
    made_by = json.loads(file.read_text())["made_by"]
    assert {"fwlab", "commit", "python", "numpy", "scipy", "numba", "processor", "date"} == set(
        made_by
    )
    assert made_by["numpy"] == np.__version__


def test_two_cells_of_one_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="different names"):
        run_cells(cells_of(cell_functions.scaled, [1, 1]), tmp_path)


def test_a_failed_cell_is_named_and_the_others_are_kept(tmp_path, capsys):
    with pytest.raises(CellsFailed, match=r"1 of 4 cells failed; 'x = 1': ArithmeticError: one"):
        run_cells(cells_of(cell_functions.failing), tmp_path)
    assert "Traceback" in capsys.readouterr().err
    assert len(stored(tmp_path)) == 3


def test_ctrl_c_keeps_finished_cells(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_cells(cells_of(cell_functions.interrupted), tmp_path)
    assert len(stored(tmp_path)) == 2


def test_an_interrupted_run_is_no_result(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_cells(cells_of(cell_functions.pressed, [1]), tmp_path)
    assert not stored(tmp_path)


def test_progress_shows_the_time_left(tmp_path, capsys):
    run_cells(cells_of(cell_functions.scaled), tmp_path)
    out, err = capsys.readouterr()
    assert out == ""
    assert "4 of 4 cells, x = 3" in err and "left]" in err


def test_each_cell_has_one_blas_thread(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    for n_jobs in (1, 2):
        folder = tmp_path / str(n_jobs)
        for counts in run_cells(cells_of(cell_functions.threads), folder, n_jobs).values():
            assert set(counts) == {1}


def test_processes_are_used_and_agree(tmp_path):
    pids = run_cells(cells_of(cell_functions.process), tmp_path / "pids", n_jobs=2)
    assert os.getpid() not in pids.values()
    several = run_cells(cells_of(cell_functions.scaled), tmp_path / "several", n_jobs=2)
    assert list(several.items()) == [(f"x = {x}", 2 * x) for x in range(4)]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_jobs": 0}, "n_jobs must be at least 1; got 0."),
        ({"backend": "mpi"}, "backend must be one of loky, dask; got 'mpi'."),
        ({"backend": "dask"}, "scheduler needs the address of a scheduler"),
        ({"scheduler": "tcp://here:1"}, "scheduler is for backend dask"),
    ],
)
def test_bad_arguments_get_a_sentence(tmp_path, arguments, sentence):
    with pytest.raises(ValueError, match=sentence.replace(".", r"\.")):
        run_cells(cells_of(cell_functions.scaled), tmp_path, **arguments)
    assert not stored(tmp_path)


def test_without_distributed_dask_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'fwlab\[dask\]'"):
        run_cells(cells_of(cell_functions.scaled), tmp_path, backend="dask", scheduler="tcp://a:1")


@pytest.mark.turns
@pytest.mark.filterwarnings("ignore")  # the cluster's own
def test_a_dask_cluster_does_the_same_work(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), str(HERE.parents[1])]))
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, **NO_PUBLIC_PORT) as cluster:
        cells = cells_of(cell_functions.process, [0]) + cells_of(cell_functions.scaled, [1, 2])
        address = cluster.scheduler_address
        values = run_cells(cells, tmp_path, backend="dask", scheduler=address)
    assert values.pop("x = 0") != os.getpid()
    assert values == {"x = 1": 2, "x = 2": 4}
    assert len(stored(tmp_path)) == 3


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_without_workers_gets_a_sentence(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=0, **NO_PUBLIC_PORT) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(ValueError, match="must have workers with 2 threads in all"):
            run_cells(cells_of(cell_functions.scaled), tmp_path, backend="dask", scheduler=address)


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_does_not_answer_gets_a_sentence(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(engine, "SECONDS_TO_CONNECT", 0.3)
    with pytest.raises(OSError, match="no dask scheduler answers at 'tcp:"):
        run_cells(
            cells_of(cell_functions.scaled), tmp_path, backend="dask", scheduler="tcp://127.0.0.1:9"
        )


@pytest.mark.turns
def test_a_run_killed_three_times_ends_with_the_same_numbers(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    command = [sys.executable, str(HERE / "killed_run.py")]
    for folder in (whole, killed):
        folder.mkdir()
    killed_run.main(whole)
    kept = 0
    for _ in range(3):
        run = subprocess.Popen([*command, str(killed)], stderr=subprocess.DEVNULL)
        wait_for(lambda before=kept: len(list(killed.glob("cells/*.json"))) > before, run)
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        kept = len(list(killed.glob("cells/*.json")))
    assert 3 <= kept < 9
    subprocess.run([*command, str(killed)], check=True, capture_output=True, timeout=600)
    first, last = (json.loads((f / "values.json").read_text()) for f in (whole, killed))
    assert first == last and len(first) == 9
    times = [file.name.rpartition(" ")[0] for file in (killed / "computed").iterdir()]
    # a cell may have ended without being stored, at most one per kill
    assert len(times) <= 9 + 3 and set(times) == set(first)


def test_workers_store_what_they_finish_when_their_parent_is_killed(tmp_path):
    code = (
        "import cell_functions; from fwlab.experiments.cells import Cell, run_cells; "
        "cells = [Cell(str(x), cell_functions.slow, {'x': x}) for x in (0.5, 0.6)]; "
        f"run_cells(cells, {str(tmp_path)!r}, n_jobs=2)"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=HERE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
    )
    wait_for(lambda: list(tmp_path.glob("*.json")), run)
    run.send_signal(signal.SIGKILL)
    run.wait()
    limit = time.monotonic() + 60
    while len(stored(tmp_path)) < 2 and time.monotonic() < limit:
        time.sleep(0.05)
    assert len(stored(tmp_path)) == 2


def wait_for(condition, run):
    limit = time.monotonic() + 300
    while not condition():
        assert run.poll() is None and time.monotonic() < limit
        time.sleep(0.005)


def test_data_names_join_and_cut(tmp_path):
    rng = np.random.default_rng(0)
    parts = {}
    for part, n in (("train", 6), ("valid", 4), ("test", 5)):
        parts |= {f"X_{part}": rng.normal(size=(n, 2)), f"y_{part}": np.arange(n) % 2}
    np.savez(tmp_path / "own.npz", **parts)
    name = str(tmp_path / "own.npz")
    joined = DataName(name, join_valid=True).load()
    assert joined.y_valid is None and len(joined.y_train) == 10
    assert np.array_equal(joined.X_train[6:], parts["X_valid"])
    cut = DataName(name, rows=3).load()
    assert [len(cut.y_train), len(cut.y_valid), len(cut.y_test)] == [3, 3, 3]
    assert isinstance(cut, fwlab.datasets.Dataset)
