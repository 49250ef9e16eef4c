"""A run that is interrupted, terminated, killed, or out of disk space: what was finished is there,
no half-written file passes for a whole one, and the user reads one sentence.

Each test starts a command as a user does, in a process of its own.
"""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fwlab

ROOT = Path(__file__).resolve().parents[2]
RUN = ["--data", "digits", "--normalize", "unit", "-k", "3"]
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


def heed_ctrl_c() -> None:
    """Undo what a shell does to commands in the background: they ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def small_files() -> None:
    """Let writes beyond 2 kB fail, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


def started(
    folder: Path,
    arguments: list[str],
    before: Callable[[], None] = heed_ctrl_c,
    also: Path | None = None,
) -> subprocess.Popen[str]:
    """Return a command in `folder`, which finds the modules of the folder `also` first."""
    path = [str(ROOT)] if also is None else [str(also), str(ROOT)]
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=before,
    )


def stored(folder: Path) -> list[Path]:
    """Return the files of finished runs or cells; drafts have hidden names."""
    kept = [*folder.glob("out/runs/*"), *folder.glob("results/figures/cells/*")]
    return [file for file in kept if not file.name.startswith(".")]


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
            run.stderr.readline()  # the first line of progress
        else:
            wait_for(lambda: stored(folder), run)
        run.send_signal(number)
        out, errors = run.communicate(timeout=100)
    assert "Traceback" not in errors, errors
    return run.returncode, out, errors


def ended(folder: Path, command: list[str], before: Callable[[], None] = heed_ctrl_c) -> str:
    """Return output of a command that ends by itself, both streams."""
    with started(folder, command, before) as run:
        out, errors = run.communicate(timeout=300)
    assert "Traceback" not in errors, errors
    return out + errors


each_signal = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


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
    program = "try:\n    import fwlab\nexcept KeyboardInterrupt:\n    print('mine')"
    with started(tmp_path, ["-c", program], also=tmp_path) as run:
        assert run.communicate(timeout=60)[0] == "mine\n"


@each_signal
def test_an_interrupted_comparison_keeps_what_is_finished(tmp_path, number):
    code, out, _ = stopped(tmp_path, COMPARE, number)
    assert code == 130 and "CONVERGED" in out and ("INTERRUPTED" in out or "not run" in out)
    assert len(stored(tmp_path)) == 1


@each_signal
def test_an_interrupted_figure_keeps_its_cells(tmp_path, number):
    code, _, errors = stopped(tmp_path, FIGURE, number)
    assert code == 130
    assert errors.strip().splitlines()[-1].endswith("the same command goes on from there.")
    assert len(stored(tmp_path)) == 1


@pytest.mark.deep
def test_a_killed_solve_leaves_the_old_file_or_a_whole_one(tmp_path):
    limit = ["-m", "fwlab", "solve", *RUN, "--max-iter", "3", "--save", "result.npz"]
    ended(tmp_path, limit)
    old = fwlab.Result.load(tmp_path / "result.npz")
    for delay in np.linspace(0.0, 2.0, 9):
        with started(tmp_path, [*limit[:-4], "--max-iter", "9", *limit[-2:]]) as run:
            time.sleep(delay)
            run.kill()
            run.communicate()
        assert fwlab.Result.load(tmp_path / "result.npz").nit in (old.nit, 9)


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


@pytest.mark.deep
def test_a_comparison_killed_at_any_moment_loses_nothing(tmp_path):
    """Thirty moments of one comparison: every file is whole, and the next call goes on."""
    delays = np.random.default_rng(0).permutation(np.linspace(0.5, 6.0, 30))
    for delay in delays:
        with started(tmp_path, COMPARE) as run:
            time.sleep(delay)
            run.kill()
            _, errors = run.communicate()
        assert "Traceback" not in errors, errors
        for file in stored(tmp_path):
            fwlab.Result.load(file)
        record = tmp_path / "out" / "comparison.toml"
        assert not record.exists() or record.read_text().endswith("# end\n")
    said = ended(tmp_path, COMPARE)
    assert "CONVERGED" in said and "damaged" not in said
    assert len(stored(tmp_path)) == 2
