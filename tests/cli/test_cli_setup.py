"""fwlab data, info, warmup, --help and --version."""

import json
import math
import os
import subprocess
import sys
from inspect import signature
from pathlib import Path

import numba
import numpy as np
import pytest
import scipy.sparse
from numba.core import event

import fwlab
from fwlab import launch
from fwlab import provenance as _provenance
from fwlab.cli import main
from fwlab.cli import reports as _cli_setup
from fwlab.cli.flags import DEFAULTS
from fwlab.cli.options import LOSSES
from fwlab.cli.output import print_json
from fwlab.kernels.steps.panels import PANEL_ROWS
from fwlab.operators.features import SHORT_ROWS
from fwlab.solvers.compiling import TOLD
from fwlab.solvers.panel_groups import FEWEST_PANELS, LEAST_CLASSES, LEAST_GROUPS

ROOT = Path(__file__).parents[2]


def test_defaults_are_those_of_the_functions():
    parameters = signature(fwlab.solve).parameters
    for name in ("tol", "relative", "max_iter", "time_limit", "rng", "n_threads"):
        assert DEFAULTS[name] == parameters[name].default, name
    # the method follows the loss
    assert DEFAULTS["method"] is None and parameters["method"].default == "ascent"
    assert DEFAULTS["jobs"] == signature(fwlab.compare).parameters["n_jobs"].default


def test_data_lists_what_is_at_hand(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sets").mkdir()
    (folder / "sets" / "letter.npz").touch()
    (folder / "sets" / "news20_svd1024_train.npz").touch()  # one of its two files
    monkeypatch.setenv("FWLAB_DATA", str(folder / "sets"))
    assert main(["data", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["data"]}
    assert list(rows) == list(fwlab.datasets.names())
    at_hand = {name for name, row in rows.items() if row["at_hand"]}
    assert at_hand == {"digits", "synthetic-a", "synthetic-b", "letter"}
    assert main(["data"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert {line.split()[0] for line in lines if line.split()[1] == "yes"} == at_hand


def test_data_describes_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "four.npz", "--normalize", "unit"]) == 0
    described, _, table = capsys.readouterr().out.partition("\n\n")
    data = fwlab.datasets.load("four.npz", normalize="unit")
    assert described == fwlab.datasets.describe(data)
    lines = table.splitlines()
    assert [line.split() for line in lines[:3:2]] == [["class", "train", "test"], ["0", "7", "3"]]
    assert lines[-2].startswith("features: values from -0.") and "; 0 constant" in lines[-2]
    assert lines[-1] == (
        "duplicates: 0 train rows repeat an earlier one, 0 of them with another label; "
        "0 test rows are train rows"
    )
    assert main(["data", "four.npz", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["n"], document["d"], document["m"]) == ({"train": 28, "test": 12}, 5, 4)
    assert document["classes"][3] == {"class": 3, "train": 7, "test": 3}
    assert document["duplicates"]["test"] == 0 and document["features"]["constant"] == 0


def test_data_of_many_classes_shows_the_first(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(
        "many.npz", X=np.ones((60, 1)), y=np.repeat(np.arange(25), [1] * 10 + [3] * 10 + [4] * 5)
    )
    assert main(["data", "many.npz"]) == 0
    out = capsys.readouterr().out
    assert ".. and 5 more, of 4 to 4 train samples" in out
    assert "values from 1 to 1; 1 constant" in out


def test_info(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["numpy"] == np.__version__
    assert document["data folder"] == str(folder / "cache")
    assert main(["info"]) == 0
    assert np.__version__ in capsys.readouterr().out


def test_missing_packages_are_named_so() -> None:
    assert _cli_setup.installed("no-such-package-anywhere") == "not installed"


def test_a_document_has_no_infinity(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(gaps=[math.inf, -math.inf, 1.5], more={"error": math.nan, "pair": (math.inf, 2)})
    document = json.loads(capsys.readouterr().out)
    assert document["gaps"] == [None, None, 1.5]
    assert document["more"] == {"error": None, "pair": [None, 2]}


@pytest.mark.turns
def test_warmup_covers_every_method_and_storage(capsys: pytest.CaptureFixture[str]) -> None:
    others = ["losses", "losses, many classes", "projections"]
    assert main(["warmup", "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)["parts"]
    names = [
        f"{method}, {storage}{length}"
        for method in fwlab.methods()
        for length in ("", ", long rows")
        for storage in ("dense", "sparse", "gram")
    ]
    assert [row["part"] for row in parts] == [*others, *names, "ascent, threads"]
    assert all(row["seconds"] >= 0 for row in parts)
    assert main(["warmup"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(parts)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled without the JIT")
@pytest.mark.parametrize(("d", "n_classes"), [(5, 3), (5, 80), (200, 3), (200, 80)])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
def test_no_solve_compiles_after_a_warmup(form, d: int, n_classes: int) -> None:
    main(["warmup"])
    X = np.random.default_rng(0).normal(size=(160, d))
    problem = fwlab.Problem(form(X), np.arange(160) % n_classes, fwlab.TopK(2), C=1.0)
    compiled = event.RecordingListener()
    with event.install_listener("numba:compile", compiled):
        for method in ("auto", "ascent", "fw", "bcpfw"):
            fwlab.solve(problem, method, max_iter=60)
    assert not compiled.buffer


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled without the JIT")
def test_threads_compile_nothing_after_a_warmup() -> None:
    main(["warmup"])
    X = np.random.default_rng(0).normal(
        size=(FEWEST_PANELS * LEAST_GROUPS * PANEL_ROWS, SHORT_ROWS)
    )
    y = np.arange(len(X)) % LEAST_CLASSES
    problem = fwlab.Problem(X, y, fwlab.TopK(2), C=1.0)
    compiled = event.RecordingListener()
    with event.install_listener("numba:compile", compiled):
        fwlab.solve(problem, "ascent", max_iter=5, n_threads=2)
    assert not compiled.buffer


def test_methods_and_losses_have_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["methods"] == fwlab.methods()
    assert main(["losses", "--json"]) == 0
    losses = json.loads(capsys.readouterr().out)["losses"]
    assert set(losses) == set(LOSSES) and all(losses.values())
    for command, names in (("methods", fwlab.methods()), ("losses", losses)):
        assert main([command]) == 0
        lines = capsys.readouterr().out.splitlines()[2:]
        assert [line.split()[0] for line in lines] == list(names)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["compare", "--help"], ["solve", "--help"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(arguments)
    assert "fwlab" in capsys.readouterr().out


def test_version_and_module() -> None:
    command = [sys.executable, "-m", "fwlab", "--version"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert out == f"fwlab {fwlab.__version__}\n"


@pytest.mark.turns
@pytest.mark.parametrize(
    "command",
    ["fwlab --help", "fwlab solve --max-iter 1", "figures list", "paper_checks --list"],
)
def test_a_reader_that_is_gone_ends_the_command_without_a_traceback(command: str) -> None:
    program = [sys.executable, "-m", *command.split()]
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdout=pipe, stderr=pipe, env=buffered, cwd=ROOT) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        complaints = process.stderr.read()
    # it may compile
    assert (process.returncode, complaints.replace(f"{TOLD}\n".encode(), b"")) == (141, b"")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file of users")
def test_a_user_without_a_name_and_a_home_starts(tmp_path: Path) -> None:
    """As in a container that runs with a number that is in no file of users."""
    program = (
        "import pwd, sys\n"
        "def no_user(number): raise KeyError(number)\n"
        "pwd.getpwuid = no_user\n"
        "from fwlab.cli import main\n"
        "sys.exit(main(['info', '--json']))\n"
    )
    absent = {"HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "FWLAB_DATA", "FWLAB_DATA_CACHE"}
    environment = {name: value for name, value in os.environ.items() if name not in absent}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "TMPDIR": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert Path(document["kernel cache"]).is_dir()
    for name in ("kernel cache", "data folder"):
        assert Path(document[name]).is_relative_to(tmp_path)


def test_ctrl_c_at_the_start_ends_a_process_without_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(descriptor: int, text: bytes) -> int:
        raise OSError(9, "Bad file descriptor")

    codes: list[int] = []
    monkeypatch.setattr(os, "write", closed)
    monkeypatch.setattr(os, "_exit", codes.append)
    launch.end_quietly(2, None)
    assert codes == [130]


def test_what_the_system_does_not_say_about_itself_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_provenance, "CPU_INFO", tmp_path)  # a folder, so it cannot be read
    assert _provenance._processor() != ""
    (tmp_path / "cpuinfo").write_bytes(b"model name\t: \xff-1\n")
    monkeypatch.setattr(_provenance, "CPU_INFO", tmp_path / "cpuinfo")
    assert _provenance._processor() == "\N{REPLACEMENT CHARACTER}-1"
    shown = subprocess.CompletedProcess([], 0, stdout=b" M caf\xe9.py\n")
    monkeypatch.setattr(_provenance.subprocess, "run", lambda *command, **options: shown)
    assert _provenance._git("status") == "M caf\N{REPLACEMENT CHARACTER}.py"
