"""Test that `compare --again` repeats a stored comparison and `--resume` continues one."""

import json
import re
import signal
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import compared

import fwlab
from fwlab.cli import main
from fwlab.experiments import runs
from fwlab.experiments.lock import locked
from fwlab.result import Result

OPTIONS = ["--methods", "fw,bcfw", "--max-iter", "5", "--normalize", "standard", "--C", "3"]


def again(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict:
    assert main(["compare", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["compare", *arguments]) == 2
    out, err = capsys.readouterr()
    assert "\nwritten" not in out and err.startswith("fwlab: ")
    return err


@pytest.mark.turns
@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--lam", "0.2", "--loss", "topk,usunier", "--weights", "linear", "--smoothing", "0.5"],
        ["--loss", "all", "--relative", "--time-limit", "60", "--check-every", "auto"],
        ["--kernel", "linear", "--rng", "3", "--tol", "1e-3"],
    ],
    ids=["plain", "lam", "all", "kernel"],
)
def test_again_repeats_it(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None, more: list[str]
) -> None:
    options = OPTIONS[:-2] if "--lam" in more else OPTIONS
    first = compared(capsys, *options, *more, "--out", "one")
    second = again(capsys, "--again", "one")
    assert second["problems"] == first["problems"]
    numbers = [
        [[run[name] for name in ("problem", "method", "iterations", "gap")] for run in d["runs"]]
        for d in (first, second)
    ]
    assert numbers[0] == numbers[1]
    assert not any(run["stored"] for run in second["runs"])
    old, new = (
        tomllib.loads((folder / name / "comparison.toml").read_text())
        for name in ("one", "one-again")
    )
    for document in (old, new):
        del document["environment"], document["clocks"]
    assert old == new


def test_each_repetition_has_a_folder(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    compared(capsys, *OPTIONS, "--out", "one")
    again(capsys, "--again", "one")
    again(capsys, "--again", "one/")
    again(capsys, "--again", "one", "--out", "mine")
    found = {path.name for path in folder.iterdir() if (path / "comparison.toml").is_file()}
    assert found == {"one", "one-again", "one-again2", "mine"}


def test_a_record_is_a_config(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    first = compared(capsys, *OPTIONS, "--out", "one")
    second = again(capsys, "--config", "one/comparison.toml", "--out", "two", "--methods", "fw")
    assert second["problems"] == first["problems"]
    assert [run["method"] for run in second["runs"]] == ["fw"]


def test_other_data_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    compared(capsys, *OPTIONS, "--out", "one")
    arrays = dict(np.load("four.npz"))
    arrays["X_train"][0, 0] += 1.0
    np.savez("four.npz", **arrays)
    assert "the data of 'four.npz' are not those" in refused(capsys, "--again", "one")
    assert not (folder / "one-again").exists()


def test_a_folder_of_another_comparison_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    data = ["--data", "four.npz", "-k", "2"]
    compared(capsys, *OPTIONS, "--out", "one")
    before = (folder / "one" / "table.txt").read_bytes()
    assert "max-iter = 5, and this one max-iter = 6" in refused(
        capsys, *data, *OPTIONS, "--max-iter", "6", "--out", "one"
    )
    assert "normalize = 'standard'" in refused(
        capsys, *data, *OPTIONS, "--normalize", "unit", "--out", "one"
    )
    assert (folder / "one" / "table.txt").read_bytes() == before
    added = compared(capsys, *OPTIONS[2:], "--methods", "afw", "--out", "one")
    assert [run["method"] for run in added["runs"]] == ["fw", "bcfw", "afw"]
    assert [run["stored"] for run in added["runs"]] == [True, True, False]


@pytest.mark.turns
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--again", "nowhere"], "--again needs the folder of a comparison; 'nowhere' holds no"),
        (["--again", "one", "--tol", "1"], "--again repeats the stored settings; got --tol"),
        (["--again", "one", "--config", "a.toml"], "got --config beside it"),
        (["--again", "program"], "that of 'program' was made by fwlab.compare in a program"),
        (["--again", "broken"], "--again broken/comparison.toml cannot be read"),
        (["--again", "edited"], "--again edited/comparison.toml: .*invalid float value: 'x'"),
        (["--again", "later"], "has the key 'max-iters'; .* Did you mean 'max-iter'"),
        (["--resume", "--out", "nowhere"], "--resume needs the folder of a comparison; 'nowhere'"),
        (["--resume", "--config", "a.toml"], "--resume goes on with the stored settings"),
        (["--resume", "--out", "one", "--tol", "1"], "it has tol = 1e-05, and this one tol = 1.0"),
    ],
)
def test_what_cannot_be_repeated_is_one_sentence(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    undrawn: None,
    arguments: list[str],
    words: str,
) -> None:
    compared(capsys, *OPTIONS, "--out", "one")
    problem = fwlab.Problem(np.eye(3), [0, 1, 2], fwlab.TopK(1), 0.1)
    fwlab.compare(problem, "fw", max_iter=1, out="program")
    for name, text in (("broken", "= 1"), ("edited", 'tol = "x"'), ("later", "max-iters = 1")):
        Path(name).mkdir()
        Path(name, "comparison.toml").write_text(text)
    capsys.readouterr()
    message = refused(capsys, *arguments)
    assert message.count("\n") == 1
    assert re.search(words, message), message


def test_resume_goes_on_with_all_that_is_left(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, undrawn: None
) -> None:
    pressed = []

    def solve(*args: object, callback: Callable, **options: object) -> Result:
        def press(progress: object) -> None:
            callback(progress)
            if progress.iteration == 3 and not pressed:
                pressed.append(True)
                signal.raise_signal(signal.SIGINT)

        return fwlab.solve(*args, callback=press, **options)

    monkeypatch.setattr(runs, "solve", solve)
    arguments = ["--methods", "fw,afw", "--tol", "0", "--max-iter", "9", "--out", "one"]
    compared(capsys, *arguments, code=130)
    document = again(capsys, "--resume", "--out", "one")
    assert [run["iterations"] for run in document["runs"]] == [9, 9]
    assert [run["resumed"] for run in document["runs"]] == ["iteration 3", None]


def test_a_folder_in_use_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    with locked(folder / "one"):
        assert "out must be a folder to which no other" in refused(capsys, "--out", "one")
    assert [file.name for file in (folder / "one").iterdir()] == [".lock"]
    compared(capsys, *OPTIONS, "--out", "one")
