"""Commands where stdout or stderr is closed, missing, of few letters or full, and out of memory."""

import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwlab
from figures import __main__ as figures
from fwlab import distributed
from fwlab.cli import commands, main
from fwlab.command import run_command
from fwlab.experiments.cells import Cell, run_cells
from paper_checks import __main__ as paper_checks

ITERATIONS = ["-k", "1", "--max-iter", "2"]
SUBGRADIENT = ["--data", "schön.csv", *ITERATIONS]
ARGUMENTS = {
    "data": ["data", "schön.csv"],
    "solve": ["solve", "--method", "subgradient", *SUBGRADIENT, "--save", "model.npz"],
    "predict": ["predict", "--model", "model.npz", "--data", "schön.csv"],
    "compare": ["compare", "--methods", "subgradient", *SUBGRADIENT],
}


@pytest.fixture
def names(folder: Path) -> Path:
    """Provide a file with an umlaut in its name and labels of two alphabets."""
    rows = [f"{i % 2},{i % 3},{('café', '猫')[i % 2]}" for i in range(12)]
    (folder / "schön.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return folder


def written(arguments: list[str], encoding: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a command writes to a stdout with this encoding."""
    stdout = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stdout)
    assert main(arguments) == 0
    assert stdout.errors == "strict"
    stdout.flush()
    return stdout.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize(
    ("encoding", "name", "labels"),
    [
        ("ascii", r"sch\xf6n.csv", [r"caf\xe9", r"\u732b"]),
        ("latin-1", "schön.csv", ["café", r"\u732b"]),
        ("cp1252", "schön.csv", ["café", r"\u732b"]),
        ("utf-8", "schön.csv", ["café", "猫"]),
    ],
)
def test_letters_that_stdout_lacks_are_escaped(
    names: Path,
    encoding: str,
    name: str,
    labels: list[str],
    monkeypatch: pytest.MonkeyPatch,
    undrawn: None,
) -> None:
    texts = {name: written(ARGUMENTS[name], encoding, monkeypatch) for name in ARGUMENTS}
    assert all(name in texts[command] for command in ("data", "solve", "compare"))
    assert set(texts["predict"].split()) <= {"top1", *labels}
    assert all(f"\n{label} " in texts["data"] for label in labels)


def test_a_file_name_that_is_no_text_is_escaped(
    names: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = os.fsdecode(b"sch\xf6n.csv")
    try:
        Path("schön.csv").rename(name)
    except OSError:
        pytest.skip("this file system takes no such name")
    arguments = ["compare", "--data", name, "--methods", "subgradient", "--html", "page.html"]
    out = written([*arguments, *ITERATIONS], "utf-8", monkeypatch)
    assert out.startswith(r"sch\udcf6n.csv: TopK(k=1), n = 12")
    for file in ("table.txt", "comparison.csv"):
        assert r"sch\udcf6n.csv" in Path("results", file).read_text("utf-8")


PROBLEM = fwlab.Problem(np.eye(6, 4), np.arange(6) % 3, fwlab.TopK(1), 1.0)


def number() -> float:
    return 1.0


def some_cells() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run_cells([Cell("one", number, {})], folder)


PROGRESS = {
    "solve": lambda: fwlab.solve(PROBLEM, "subgradient", max_iter=2, verbose=2),
    "compare": lambda: fwlab.compare({"a": PROBLEM}, ["subgradient"], max_iter=2),
    "compare with lines": lambda: fwlab.compare(
        {"a": PROBLEM}, ["subgradient"], max_iter=2, verbose=1
    ),
    "cells": some_cells,
    "verify": lambda: fwlab.verify(PROBLEM, fwlab.solve(PROBLEM, "subgradient", max_iter=2)),
    "chunks": lambda: distributed.solve(
        distributed.OutOfCoreProblem(np.eye(6, 4), np.arange(6) % 3, fwlab.TopK(1), 1.0),
        max_iter=1,
        verbose=1,
    ),
}


@pytest.mark.parametrize("there", ["none", "closed"])
@pytest.mark.parametrize("work", PROGRESS)
def test_progress_without_stderr_goes_nowhere(
    work: str, there: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if work == "verify":
        pytest.importorskip("flint")
    monkeypatch.setattr("fwlab.balls.SECONDS", 0.0)
    monkeypatch.setattr("fwlab.distributed.problem.SECONDS_BETWEEN_LINES", 0.0)
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", None if there == "none" else closed)
    PROGRESS[work]()
    assert capsys.readouterr().out == ""


def closed(descriptor: str, *arguments: str) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a command whose descriptor is closed."""
    command = f'exec "$0" -m fwlab "$@" {descriptor}>&-'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, *arguments], capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes descriptors")
def test_a_closed_stdout_is_no_error(folder: Path) -> None:
    arguments = ["--data", "two.csv", "--method", "subgradient", *ITERATIONS, "--save", "a.npz"]
    assert closed("1", "solve", *arguments) == (0, "", "")
    assert len(fwlab.Model.load("a.npz").classes) == 2


@pytest.mark.turns
@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes descriptors")
@pytest.mark.skipif(np.__version__ < "2.1", reason="numpy 2.0 itself writes to stderr")
def test_what_a_closed_stderr_would_get_is_not_in_the_document(folder: Path) -> None:
    arguments = ["--data", "two.csv", "--methods", "subgradient", *ITERATIONS, "--json"]
    code, out, _ = closed("2", "compare", *arguments)
    assert code == 0 and len(json.loads(out)["runs"]) == 1
    assert closed("2", "compare", "--jobs", "none") == (2, "", "")


@pytest.mark.parametrize("text", ["", "Unable to allocate 8.00 TiB for an array"])
@pytest.mark.parametrize(
    ("main", "words", "code", "sentence"),
    [
        (main, ["info"], 2, "fwlab: 'info' takes more memory than there is."),
        (figures.main, ["list"], 1, "figures: there is not enough memory."),
        (paper_checks.main, ["--list"], 1, "paper_checks: there is not enough memory."),
    ],
)
def test_too_little_memory_is_one_sentence(
    main: Any,
    words: list[str],
    code: int,
    sentence: str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def huge(*arguments: Any) -> int:
        raise MemoryError(text)

    monkeypatch.setitem(commands.COMMANDS, "info", huge)
    monkeypatch.setattr(figures, "listing", huge)
    monkeypatch.setattr(paper_checks, "files_of", huge)
    assert main(words) == code
    assert capsys.readouterr() == ("", f"{sentence} {text}".rstrip() + "\n")


class Full(io.StringIO):
    """A stream on a full disk."""

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("streams", [("stdout",), ("stdout", "stderr")])
def test_a_full_disk_is_one_sentence(
    streams: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in streams:
        monkeypatch.setattr(sys, name, Full())
    assert main(["methods"]) == 1
    errors = capsys.readouterr().err
    assert errors == ("" if "stderr" in streams else "fwlab: No space left on device.\n")
    monkeypatch.undo()


@pytest.mark.parametrize("raised", [None, KeyboardInterrupt(), MemoryError(), OSError()])
def test_a_command_leaves_the_streams_as_they_were(
    raised: BaseException | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command() -> int:
        print("é", file=sys.stdout)
        print("é", file=sys.stderr)
        if raised is not None:
            raise raised
        return 7

    stderr = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="replace")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        patch.setattr(sys, "stderr", stderr)
        code = run_command("name", command)
        assert sys.stdout is None and sys.stderr is stderr and stderr.errors == "replace"
    assert code == {type(None): 7, KeyboardInterrupt: 130}.get(type(raised), 1)
    assert stderr.buffer.getvalue().startswith(rb"\xe9")
