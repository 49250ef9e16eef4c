"""Seeds and repetitions on the command line."""

import json
import tomllib
from pathlib import Path

import pytest
from command_line import compared

from fwlab.cli import main

OPTIONS = ["--methods", "fw,bcfw", "--max-iter", "3"]


def runs_of(document: dict) -> list[tuple[str, int, int]]:
    return [(run["method"], run["seed"], run["repetition"]) for run in document["runs"]]


def test_seeds_and_repetitions_are_runs(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    document = compared(capsys, *OPTIONS, "--seeds", "4,2", "--repeat", "2", "--out", "one")
    rounds = [(method, seed, r) for method in ("fw", "bcfw") for seed in (4, 2) for r in (0, 1)]
    assert runs_of(document) == rounds
    assert all(run["cpu_seconds"] > 0 for run in document["runs"])
    record = tomllib.loads((folder / "one" / "comparison.toml").read_text())
    assert (record["seeds"], record["repeat"]) == ("4,2", 2)
    lines = (folder / "one" / "table.txt").read_text().splitlines()
    assert lines[2].split()[:3] == ["problem", "method", "runs"]
    assert lines[4].split()[1:3] == ["fw", "4"]


def test_again_and_resume_repeat_all_of_them(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    first = compared(capsys, *OPTIONS, "--seeds", "4,2", "--repeat", "2", "--out", "one")
    assert main(["compare", "--again", "one", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert runs_of(again) == runs_of(first)
    gaps = [[run["gap"] for run in document["runs"]] for document in (first, again)]
    assert gaps[0] == gaps[1] and not any(run["stored"] for run in again["runs"])
    assert main(["compare", "--resume", "--out", "one", "--json"]) == 0
    assert all(run["stored"] for run in json.loads(capsys.readouterr().out)["runs"])


def test_a_flag_overrides_the_seeds_of_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    (folder / "run.toml").write_text('seeds = "1,2"\nrepeat = 1\nmax-iter = 2\nmethods = "fw"\n')
    document = compared(capsys, "--config", "run.toml", "--out", "one")
    assert runs_of(document) == [("fw", 1, 0), ("fw", 2, 0)]
    document = compared(capsys, "--config", "run.toml", "--rng", "9", "--out", "two")
    assert runs_of(document) == [("fw", 9, 0)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seeds", "1,x"], "must be a whole number, such as 1000 or 1e3; got 'x'"),
        (["--seeds", "1,1"], "rng must name each seed once; got [1, 1]"),
        (["--seeds", "1", "--rng", "2"], "not allowed with argument"),
        (["--repeat", "0"], "repeat must be at least 1; got 0"),
        (["--n-threads", "0"], "n_threads must be at least 1; got 0"),
    ],
)
def test_bad_input_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["compare", "--data", "four.npz", *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1 and not (folder / "results").exists()
