"""A run that is interrupted, terminated, killed, or out of disk space: what was finished is there,
no half-written file passes for a whole one, and the user reads one sentence.

Each test starts a command as a user does, in a process of its own.
"""

import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from commands import RUN, ended, small_files, started, stored

import fwlab

SOLVE = ["-m", "fwlab", "solve", *RUN, "--tol", "0", "--max-iter", "1000000000"]
SOLVE += ["--verbose", "--save", "result.npz"]
# ascent ends in a second, fw-open-loop takes several
COMPARE = ["-m", "fwlab", "compare", *RUN, "--methods", "ascent,fw-open-loop"]
COMPARE += ["--max-iter", "20000", "--out", "out"]
FIGURE = ["-m", "figures", "--file", "slow.py", "--quick"]
SLOW = '''"""A cell that ends at once, and one that waits."""

import time
from pathlib import Path

from fwlab.experiments import Cell

SECONDS = {"quick": 1, "standard": 1, "full": 1}


def cells(size):
    return [Cell("first", cell, {"seconds": 0}), Cell("second", cell, {"seconds": 3600})]


def cell(seconds):
    time.sleep(seconds)
    return {"entries": list(range(20000))}


def plot(study):
    return []
'''


def wait_for(condition: Callable[[], object], run: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 300
    while not condition():
        assert run.poll() is None and time.monotonic() < end, run.communicate()
        time.sleep(0.01)


def stopped(folder: Path, command: list[str], number: int) -> tuple[int, str, str]:
    """Return exit code and output of a command that got a signal when its first part was done."""
    (folder / "slow.py").write_text(SLOW)
    with started(folder, command) as run:
        if command is SOLVE:
            next(line for line in run.stderr if "gap" in line)  # the first line of progress
        else:
            wait_for(lambda: stored(folder), run)
            time.sleep(0.5)  # the file is there a moment before the command knows
        run.send_signal(number)
        out, errors = run.communicate(timeout=100)
    assert "Traceback" not in errors, errors
    return run.returncode, out, errors


each_signal = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@pytest.mark.turns
@each_signal
def test_an_interrupted_solve_saves_its_certificate(tmp_path, number):
    code, out, _ = stopped(tmp_path, SOLVE, number)
    assert code == 130 and "INTERRUPTED" in out
    result = fwlab.Result.load(tmp_path / "result.npz")
    assert result.status.name == "INTERRUPTED" and 0 <= result.gap < np.inf


@pytest.mark.parametrize(
    "command",
    [["-m", "fwlab", "info"], ["-X", "dev", "-m", "fwlab", "info"], ["scripts/fwlab", "info"]],
    ids=["module", "options", "script"],
)
def test_ctrl_c_while_fwlab_is_imported_is_one_sentence(tmp_path, command):
    """A numba that presses Ctrl-C stands for the second that the imports take."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "fwlab").write_text("from fwlab.cli import main\nmain()\n")
    press = "import signal, time\nsignal.raise_signal(signal.SIGINT)\ntime.sleep(9)\n"
    (tmp_path / "numba.py").write_text(press)
    with started(tmp_path, command, also=tmp_path) as run:
        out, errors = run.communicate(timeout=60)
    assert (run.returncode, out, errors) == (130, "", "fwlab: interrupted.\n")


def test_ctrl_c_in_a_program_that_imports_fwlab_is_the_program_s(tmp_path):
    (tmp_path / "numba.py").write_text("raise KeyboardInterrupt")
    program = (
        "try:\n    import fwlab\n    fwlab.solve\nexcept KeyboardInterrupt:\n    print('mine')"
    )
    with started(tmp_path, ["-c", program], also=tmp_path) as run:
        assert run.communicate(timeout=60)[0] == "mine\n"


@pytest.mark.turns
@each_signal
def test_an_interrupted_comparison_keeps_what_is_finished(tmp_path, number):
    code, out, _ = stopped(tmp_path, COMPARE, number)
    assert code == 130 and "CONVERGED" in out and ("INTERRUPTED" in out or "not run" in out)
    # the run that was interrupted is kept, too, if it had begun
    assert any("-ascent-" in file.name for file in stored(tmp_path))


@pytest.mark.turns
@each_signal
def test_an_interrupted_figure_keeps_its_cells(tmp_path, number):
    code, _, errors = stopped(tmp_path, FIGURE, number)
    assert code == 130
    assert errors.strip().splitlines()[-1].endswith("the same command resumes from there.")
    assert len(stored(tmp_path)) == 1


@pytest.mark.deep
def test_a_killed_comparison_goes_on_from_what_is_finished(tmp_path):
    assert stopped(tmp_path, COMPARE, signal.SIGKILL)[0] == -signal.SIGKILL
    (kept,) = stored(tmp_path)
    before = kept.stat().st_mtime_ns
    assert "CONVERGED" in ended(tmp_path, COMPARE)
    assert kept.stat().st_mtime_ns == before and len(stored(tmp_path)) == 2


@pytest.mark.deep
def test_a_killed_figure_goes_on_from_its_cells(tmp_path):
    assert stopped(tmp_path, FIGURE, signal.SIGKILL)[0] == -signal.SIGKILL
    (kept,) = stored(tmp_path)
    before = kept.stat().st_mtime_ns
    (tmp_path / "slow.py").write_text(SLOW.replace("3600", "1"))
    ended(tmp_path, FIGURE)
    assert kept.stat().st_mtime_ns == before and len(stored(tmp_path)) == 2


@pytest.mark.deep
@pytest.mark.parametrize(
    ("command", "result"),
    [
        ([*SOLVE[:-4], "9", *SOLVE[-3:]], "MAX_ITER"),
        (COMPARE, "CONVERGED"),
        (FIGURE, "figures: slow: "),
    ],
)
def test_on_a_full_disk_the_numbers_are_printed(tmp_path, command, result):
    """One sentence names the file; nothing half-written is left, and no draft of it."""
    (tmp_path / "slow.py").write_text(SLOW.replace("3600", "0"))
    said = ended(tmp_path, command, small_files)
    assert result in said
    assert re.search("'.+': File too large|File too large: '.+'", said.splitlines()[-1])
    assert not stored(tmp_path) and not (tmp_path / "result.npz").exists()
    hidden = {file.name for file in tmp_path.rglob(".*") if file.is_file()}
    assert hidden <= {".lock"}
