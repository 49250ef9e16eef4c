"""A kill, a full disk and a second writer at any moment of a run: every file is whole, and the next
call ends as if nothing had happened."""

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from commands import RUN, ended, small_files, started, stored

import fwlab

pytestmark = pytest.mark.deep
SOLVE = ["-m", "fwlab", "solve", *RUN, "--tol", "0", "--max-iter", "1500", "--save", "result.npz"]
COMPARE = ["-m", "fwlab", "compare", *RUN, "--methods", "ascent,fw-open-loop"]
COMPARE += ["--max-iter", "5000", "--out", "out"]
FIGURE = ["-m", "figures", "--file", "cells.py", "--quick"]
CELLS = '''"""Twelve cells that take a moment each."""

import time

from fwlab.experiments import Cell

SECONDS = {"quick": 1, "standard": 1, "full": 1}


def cells(size):
    return [Cell(str(number), cell, {"number": number}) for number in range(12)]


def cell(number):
    time.sleep(0.1)
    return {"entries": list(range(number, 2000))}


def plot(study):
    return []
'''
VALUES = {str(number): {"entries": list(range(number, 2000))} for number in range(12)}


def check_solve(folder: Path) -> int:
    """Check the file of a solve, if there is one; return the number of files."""
    file = folder / "result.npz"
    if file.exists():
        assert fwlab.Result.load(file).nit == 1500
    return int(file.exists())


def check_compare(folder: Path) -> int:
    """Check every file of a comparison; return the number of stored runs."""
    for file in stored(folder):
        fwlab.Result.load(file)
    record = folder / "out" / "comparison.toml"
    assert not record.exists() or record.read_text().endswith("# end\n")
    return len(stored(folder))


def check_figure(folder: Path) -> int:
    """Check every file of a figure; return the number of stored cells."""
    for file in stored(folder):
        assert json.loads(file.read_text())["value"] in VALUES.values()
    for file in folder.glob("results/figures/quick/cells.json"):
        assert json.loads(file.read_text())["values"] == VALUES
    return len(stored(folder))


# a command, the check of its files, how many there are in the end, its seconds, and its last word
CASES = {
    "solve": (SOLVE, check_solve, 1, 4.5, "MAX_ITER"),
    "compare": (COMPARE, check_compare, 2, 5.0, "CONVERGED"),
    "figure": (FIGURE, check_figure, 12, 6.0, "README.md"),
}
Case = tuple[list[str], Callable[[Path], int], int, float, str]
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.fixture(autouse=True)
def module_of_cells(tmp_path: Path) -> None:
    (tmp_path / "cells.py").write_text(CELLS)


def emptied(folder: Path) -> None:
    for name in ("out", "results"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "result.npz").unlink(missing_ok=True)


@each_case
def test_a_kill_at_any_moment_loses_nothing(tmp_path: Path, case: Case) -> None:
    """Thirty moments; whenever all is done, the next one begins anew."""
    command, check, whole, seconds, word = case
    finished = 0
    for delay in np.random.default_rng(0).permutation(np.linspace(0.3, seconds, 30)):
        with started(tmp_path, command) as run:
            time.sleep(delay)
            run.kill()
            _, errors = run.communicate()
        assert "Traceback" not in errors, errors
        before, finished = finished, check(tmp_path)
        assert finished >= before
        if finished == whole:
            emptied(tmp_path)
            finished = 0
    said = ended(tmp_path, command)
    assert word in said and "damaged" not in said
    assert check(tmp_path) == whole


@each_case
def test_a_disk_that_is_full_at_any_byte_is_named(tmp_path: Path, case: Case) -> None:
    """Thirty sizes of the largest file, from none to all of it: a whole file or none, no draft."""
    command, check, whole, _, _ = case
    ended(tmp_path, command)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    largest = max(file.stat().st_size for file in files)
    for limit in {int(size) for size in np.geomspace(1, largest, 30)}:
        emptied(tmp_path)
        said = ended(tmp_path, command, lambda limit=limit: small_files(limit))
        if check(tmp_path) < whole:
            assert re.search("'.+': File too large|File too large: '.+'", said)
        hidden = {file.name for file in tmp_path.rglob(".*") if file.is_file()}
        assert hidden <= {".lock"}


@each_case
def test_twenty_pairs_of_writers_into_one_place(tmp_path: Path, case: Case) -> None:
    """Both end well, or one is refused in a sentence; what is stored is whole."""
    command, check, whole, _, _ = case
    short = [{"1500": "3", "5000": "30"}.get(part, part) for part in command]
    for _ in range(20):
        emptied(tmp_path)
        with started(tmp_path, short) as one, started(tmp_path, short) as other:
            errors = [run.communicate(timeout=300)[1] for run in (one, other)]
        codes = sorted([one.returncode, other.returncode])
        assert codes in ([0, 0], [0, 2]) and not any("Traceback" in text for text in errors), errors
        if command is SOLVE:
            assert fwlab.Result.load(tmp_path / "result.npz").nit == 3
        else:
            assert check(tmp_path) == whole


def test_eight_first_compiles_at_once(tmp_path: Path) -> None:
    """They share a new cache of machine code, and all give the same bits as one that is warm."""
    results = []
    for names in ([str(number) for number in range(8)], ["warm"]):
        runs = []
        for name in names:
            command = [part.replace("1500", "5") for part in SOLVE[:-1]] + [f"{name}.npz"]
            runs.append(started(tmp_path, command, NUMBA_CACHE_DIR=str(tmp_path / "cache")))
        for run in runs:
            with run:
                _, errors = run.communicate(timeout=600)
            assert run.returncode == 0, errors
        results += [fwlab.Result.load(tmp_path / f"{name}.npz") for name in names]
    for result in results:
        assert np.array_equal(result.W, results[-1].W)
        assert result.gap == results[-1].gap
    files = [file.name for file in (tmp_path / "cache").glob("*/*/*")]
    assert len(files) > 5
    assert {name.partition(".")[2] for name in files} == {"code", "txt"}  # and no draft
