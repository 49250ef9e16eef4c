"""Commands write what they are asked to, where they are asked to, and forgive a damaged file.

A command that another one keeps out of a folder changes nothing there.
"""

import json
import os
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from command_line import compared, document
from devices import device, stdout_by_name

import fwlab
from fwlab.cli import main
from fwlab.distributed import PackedResult
from fwlab.experiments.lock import locked

ROOT = Path(fwlab.__file__).parents[1]
OUT_OF_CORE = ["solve", "--out-of-core", "--data", "X.npy", "--labels", "y.npy", "-k", "2"]
OUT_OF_CORE += ["--chunk-rows", "16", "--tol", "1e-2", "--out", "r"]


@pytest.fixture
def rows(folder: Path) -> Path:
    """Provide the working folder with features and labels for runs out of core."""
    with np.load("four.npz") as arrays:
        np.save("X.npy", arrays["X_train"])
        np.save("y.npy", arrays["y_train"])
    return folder


def said(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """Return the one line on stderr of a call that ends with this code."""
    assert main([*arguments]) == code
    err = capsys.readouterr().err
    assert err.startswith("fwlab: ") and err.count("\n") == 1, err
    return err


def contents(folder: str) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


# what keeps others out


def test_a_path_in_use_keeps_its_record(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The refused call is followed by a kill; the path goes on with its own C."""
    assert main([*OUT_OF_CORE, "--C", "10"]) == 0
    Path("r", "C=10.npz").unlink()
    before = contents("r")
    with locked(Path("r")):
        capsys.readouterr()
        refused = said(capsys, 2, *OUT_OF_CORE, "--C", "5")
        assert f"process {os.getpid()} on " in refused and "writes to 'r'." in refused
    before["r/.lock"] = Path("r", ".lock").read_bytes()
    assert contents("r") == before
    assert main(["solve", "--resume", "--out", "r", "--json"]) == 0
    (point,) = json.loads(capsys.readouterr().out)["path"]
    assert point["C"] == 10.0


def test_a_path_in_use_is_refused_before_x_is_read(
    rows: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fwlab.cli.out_of_core.OutOfCoreProblem", None)
    with locked(Path("r")):
        assert "to which no other run writes" in said(capsys, 2, *OUT_OF_CORE)


def test_a_comparison_in_use_keeps_its_record(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    compared(capsys, "--methods", "fw", "--max-iter", "2", "--out", "r")
    with locked(Path("r")):
        before = contents("r")
        for more in (["--methods", "afw"], ["--methods", "fw", "--max-iter", "3"]):
            assert main(["compare", "--data", "four.npz", "-k", "2", "--out", "r", *more]) == 2
            assert "to which no other run writes" in capsys.readouterr().err
        assert contents("r") == before


COMPARE = ["compare", "--data", "four.npz", "-k", "2", "--methods", "fw", "--max-iter"]
OF_TWO = {
    "path.toml": ([*OUT_OF_CORE, "--tol", "1e-2"], [*OUT_OF_CORE, "--tol", "0.1"]),
    "comparison.toml": ([*COMPARE, "2", "--out", "r"], [*COMPARE, "3", "--out", "r"]),
}


@pytest.mark.parametrize("name", OF_TWO)
def test_a_folder_is_looked_at_when_it_is_locked(
    rows: Path,
    capsys: pytest.CaptureFixture[str],
    undrawn: None,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """Another call makes the new folder its own just before this one locks it."""
    first, second = OF_TWO[name]
    others = [first]

    def late(folder: Path) -> AbstractContextManager[None]:
        if others:
            assert main(others.pop()) == 0
        return locked(folder)

    module = "fwlab.cli.out_of_core" if name == "path.toml" else "fwlab.cli.commands"
    monkeypatch.setattr(f"{module}.locked", late)
    assert main(second) == 2
    assert "and this one" in capsys.readouterr().err
    assert {"path.toml": "tol = 0.01", "comparison.toml": "max-iter = 2"}[name] in Path(
        "r", name
    ).read_text().splitlines()


@pytest.mark.deep
@pytest.mark.parametrize("name", OF_TWO)
def test_two_commands_never_share_a_new_folder(rows: Path, name: str) -> None:
    """Both start at once; the one that is refused leaves no trace of its flags."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    for _ in range(10):
        shutil.rmtree("r", ignore_errors=True)
        runs = [
            subprocess.Popen(
                [sys.executable, "-m", "fwlab", *call], env=env, stderr=subprocess.PIPE
            )
            for call in OF_TWO[name]
        ]
        errors = [run.communicate()[1].decode() for run in runs]
        codes = [run.returncode for run in runs]
        assert sorted(codes) == [0, 2], errors
        texts = {"path.toml": ("tol = 0.01", "tol = 0.1")}.get(
            name, ("max-iter = 2", "max-iter = 3")
        )
        assert texts[codes.index(0)] in Path("r", name).read_text().splitlines()


# where results go


@pytest.mark.parametrize("to_stdout", [False, True], ids=["null", "stdout"])
def test_a_page_goes_to_a_device_that_stays_one(
    folder: Path, capfd: pytest.CaptureFixture[str], undrawn: None, to_stdout: bool
) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'fwlab[report]'")
    path = stdout_by_name(folder) if to_stdout else device("null", folder)
    before = path.lstat()
    flags = ["--data", "four.npz", "-k", "2", "--methods", "fw", "--max-iter", "2"]
    assert main(["compare", *flags, "--html", str(path)]) == 0
    assert ("Plotly.newPlot(" in capfd.readouterr().out) == to_stdout
    assert os.path.samestat(path.lstat(), before)


def test_a_model_is_saved_through_a_link(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "far").mkdir()
    (folder / "model.npz").symlink_to("far/of-today.npz")
    document(capsys, "solve", "--save", "model.npz", "--max-iter", "2")
    assert (folder / "model.npz").is_symlink()
    assert fwlab.Model.load("far/of-today.npz").W.shape == (4, 5)
    assert (
        main(["predict", "--model", "model.npz", "--data", "four.npz", "--out", "/dev/null"]) == 0
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["solve", "--data", "four.npz", "--save", "."], "--save must name a file to write"),
        (["solve", "--data", "four.npz", "--save", "two.csv/m"], "'two.csv/m': Not a directory."),
        ([*OUT_OF_CORE, "--save", "."], "got '.': it is a folder, not a file."),
        (["predict", "--model", "m", "--data", "four.npz", "--out", "."], "--out must name a file"),
        (["compare", "--data", "four.npz", "--html", "."], "html must be a file in a folder that"),
        (["compare", "--data", "four.npz", "--out", "two.csv"], "'two.csv': Not a directory."),
        (["compare", "--data", "four.npz", "--out", "two.csv/r"], "'two.csv/r': Not a directory."),
    ],
)
def test_a_bad_place_is_refused_before_any_run(
    rows: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    before = contents(".")
    assert sentence in said(capsys, 2, *arguments)
    assert contents(".") == before


@pytest.mark.parametrize("run", ["in memory", "out of core"])
def test_a_result_that_cannot_be_saved_is_still_reported(
    rows: Path, capsys: pytest.CaptureFixture[str], run: str
) -> None:
    call = ["solve", "--data", "four.npz"] if run == "in memory" else OUT_OF_CORE[:-2]
    full = device("full", rows)
    assert main([*call, "--json", "--save", str(full)]) == 1
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (report["result"] if run == "in memory" else report["path"][0])["gap"] < 0.1
    assert err.splitlines()[-1] == f"fwlab: '{full}': No space left on device."


# damaged files


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)  # one byte may be one that no reader needs
    path.write_bytes(content)


def test_a_damaged_run_is_computed_again_and_a_line_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    flags = ["--methods", "fw,ascent", "--max-iter", "2", "--out", "r"]
    first = compared(capsys, *flags)
    (file,) = Path("r", "runs").glob("*-fw-*.npz")
    for content in (b"", b"PK\3\4", b"text", None):
        if content is None:
            damage(file)
        else:
            file.write_bytes(content)
        arguments = ["compare", "--data", "four.npz", "-k", "2", "--json", *flags]
        assert main(arguments) == 0
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if line.startswith("fwlab: ")]
        assert len(lines) == 1
        assert lines[0].startswith(f"fwlab: {file} cannot be read and counts as not stored: ")
        again = json.loads(out)["runs"]
        assert [run["stored"] for run in again] == [False, True]
        assert [run["gap"] for run in again] == [run["gap"] for run in first["runs"]]


def test_a_damaged_run_of_another_method_is_a_row(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    compared(capsys, "--methods", "fw", "--max-iter", "2", "--out", "r")
    (file,) = Path("r", "runs").glob("*-fw-*.npz")
    damage(file)
    again = compared(capsys, "--methods", "ascent", "--max-iter", "2", "--out", "r")
    assert [run["status"] for run in again["runs"]] == ["not stored", "MAX_ITER"]
    assert again["runs"][0]["message"] == f"runs/{file.name} cannot be read"


@pytest.mark.parametrize("name", ["C=0.1.npz", "C=1.unfinished.npz"])
def test_a_damaged_file_of_a_path_is_made_again_and_a_line_says_so(
    rows: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = [*OUT_OF_CORE, "--C", "0.1,1"]
    assert main([*path, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["path"]
    W = PackedResult.load("r/C=1.npz").W
    file = Path("r", name)
    if "unfinished" in name:
        Path("r", "C=1.npz").replace(file)
    damage(file)
    assert main([*path, "--json"]) == 0
    out, err = capsys.readouterr()
    assert f"fwlab: {file} is damaged" in err and "Traceback" not in err
    again = json.loads(out)["path"]
    assert [row["gap"] for row in again] == [row["gap"] for row in first]
    assert (PackedResult.load("r/C=1.npz").W == W).all()
    assert {p.name for p in Path("r").glob("C*")} == {"C=0.1.npz", "C=1.npz"}


RECORDS = {
    "comparison.toml": (
        ["compare", "--data", "four.npz", "-k", "2", "--methods", "fw", "--max-iter", "2"],
        "A new folder is needed, or this one without it and table.txt and comparison.csv",
    ),
    "path.toml": (OUT_OF_CORE[:-2], "Without it, and with all flags, the same path goes on."),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_was_cut_is_called_damaged(
    rows: Path, capsys: pytest.CaptureFixture[str], undrawn: None, name: str
) -> None:
    """A cut between two lines leaves a record of other settings."""
    call, advice = RECORDS[name]
    resume = [call[0], "--resume", "--out", "r"]
    assert main([*call, "--out", "r"]) == 0
    record, outcome = Path("r", name), contents("r")
    lines = record.read_text().splitlines(keepends=True)
    for kept in (3, 8, len(lines) - 1):
        record.write_text("".join(lines[:kept]))
        before = contents("r")
        capsys.readouterr()
        refused = said(capsys, 2, *call, "--out", "r")
        assert f"{record} cannot be read: it is damaged (it was cut off: its last" in refused
        assert advice in refused
        assert f"--resume {record} cannot be read: it was cut off" in said(capsys, 2, *resume)
        before["r/.lock"] = Path("r", ".lock").read_bytes()
        assert contents("r") == before
    record.unlink()
    if name == "comparison.toml":
        Path("r", "table.txt").unlink()
        Path("r", "comparison.csv").unlink()
    assert main([*call, "--out", "r"]) == 0
    assert contents("r").keys() == outcome.keys()


def test_a_record_without_problems_is_called_damaged(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    """Earlier versions wrote no mark at the end."""
    flags = ["--methods", "fw", "--max-iter", "2", "--out", "r"]
    compared(capsys, *flags)
    record = Path("r", "comparison.toml")
    text = record.read_text()
    old = "\n".join(line for line in text.splitlines() if "# end" not in line)
    record.write_text(old)
    assert compared(capsys, *flags)["runs"][0]["stored"]
    record.write_text("".join(old.partition("[problems")[0]))
    arguments = ["compare", "--data", "four.npz", "-k", "2", *flags]
    assert "it is damaged (it names no problem)" in said(capsys, 2, *arguments)
