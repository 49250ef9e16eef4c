"""Bad input of the command line is one sentence and exit code 2; a TOML file stands below flags."""

import json
import re
from pathlib import Path

import pytest
from command_line import solved

from fwlab.cli import commands, main
from fwlab.experiments import runs

BAD = [
    (["nosuch"], "invalid choice: 'nosuch'"),
    (["compair"], r"invalid choice: 'compair' .*\. Did you mean 'compare'\?"),
    (["compare", "--method=fw"], r"--method=fw\. Did you mean '--methods'\?"),
    (["compare", "--methods", "awf"], r"got 'awf'\. Did you mean 'afw'\?"),
    (["solve", "--method", "ASCENT"], r"got 'ASCENT'\. Did you mean 'ascent'\?"),
    (["solve", "--loss", "topkk"], r"got 'topkk'\. Did you mean 'topk'\?"),
    (["solve", "--data", "digit"], r"got 'digit'\. Did you mean 'digits'\?"),
    (["solve", "--normalize", "units"], r"'units' .*\. Did you mean 'unit'\?"),
    (
        ["compare", "--config", "near.toml"],
        "the key 'max-iters'; .* Did you mean 'max-iter'",
    ),
    (["compare", "--methods", "fw", "--methods", "fw"], "each method once; got 'fw' twice"),
    (["solve", "--data", "four.npz", "--data", "two.csv", "-k", "1"], "got 2 problems"),
    (["compare", "--nosuch", "1"], "unrecognized arguments: --nosuch 1"),
    (["--verison"], r"unrecognized arguments: --verison\. Did you mean '--version'\?"),
    (["solve", "four.npz"], r"arguments: four.npz\. A value follows its flag"),
    (
        ["compare", "--methods", "fw,", "afw"],
        r"afw\. .* joined by commas without spaces",
    ),
    (["compare", "--meth", "fw"], "unrecognized arguments: --meth fw"),
    (["compare", "--tol", "x"], "--tol: invalid float value: 'x'"),
    (["compare", "--tol", "-1"], "tol must be .*>= 0.*; got -1.0"),
    (["compare", "--tol", "nan"], "tol must be .*; got nan"),
    (["compare", "--max-iter", "1.5"], "--max-iter: must be a whole number.*1e3; got '1.5'"),
    (["compare", "--max-iter", "inf"], "must be a whole number.*; got 'inf'"),
    (["compare", "--max-iter", "1e99"], "must be a whole number.*; got '1e99'"),
    (["compare", "--max-iter", "-1"], "max_iter must be at least 0; got -1"),
    (["compare", "--time-limit", "-1"], "time_limit must be .*; got -1"),
    (["compare", "--check-every", "0"], "check_every must be at least 1; got 0"),
    (["compare", "--rng", "-1"], "rng must be at least 0; got -1"),
    (["compare", "--jobs", "0"], "jobs must be at least 1; got 0"),
    (["solve", "--n-threads", "0"], "n_threads must be at least 1; got 0"),
    (["compare", "--methods", "fw,nosuch"], "method must be one of fw"),
    (["compare", "--methods", "fw,fw"], "each method once; got 'fw' twice"),
    (["compare", "--methods", ""], "method must be one of fw"),
    (["compare", "--data", "nosuch"], "got 'nosuch'"),
    (["compare", "--data", "nosuch.csv"], "'nosuch.csv' is not an existing file"),
    (["compare", "--data", "letter"], "'letter.npz' is not in the cache"),
    (["compare", "--data", "four.npz,four.npz"], "--data must not hold a name twice"),
    (["compare", "--data", "four.npz,"], "--data must not hold an empty name"),
    (["compare", "--data", "broken.csv"], "broken.csv"),
    (["compare", "--normalize", "max"], "--normalize: invalid choice: 'max'"),
    (["compare", "--loss", "nosuch"], "--loss must be one of max-hinge.*got 'nosuch'"),
    (["compare", "--loss", "topk,topk"], "--loss must not hold a name twice"),
    (["compare", "-k", "0"], "k must be at least 1; got 0"),
    (["compare", "-k", "5"], "k must be in 1..4; got 5"),
    (["compare", "-k", "two"], "must be a whole number.*; got 'two'"),
    (["compare", "--loss", "max-hinge", "--weights", "linear"], "--weights needs --loss"),
    (["compare", "--costs", "costs.npy"], "--costs needs --loss structured; got 'topk'"),
    (["compare", "--loss", "structured", "--costs", "nosuch.npy"], "none at 'nosuch.npy'"),
    (["compare", "--loss", "structured", "--costs", "wrong.csv"], "zero diagonal; got 1.0"),
    (["compare", "--loss", "structured", "--costs", "broken.csv"], "broken.csv cannot be read"),
    (["compare", "--C", "0"], "C must be .*> 0.*; got 0.0"),
    (["compare", "--lam", "0"], "lam must be .*> 0.*; got 0.0"),
    (["compare", "--C", "1", "--lam", "1"], "--lam: not allowed with argument --C"),
    (["compare", "--smoothing", "-1"], "smoothing must be .*>= 0.*; got -1.0"),
    (["compare", "--kernel", "rbf"], "--kernel: invalid choice: 'rbf'"),
    (["compare", "--out", "four.npz/out"], "four.npz"),
    (["compare", "--config", "nosuch.toml"], "--config nosuch.toml cannot be read"),
    (["compare", "--config", "broken.toml"], "--config broken.toml cannot be read"),
    (["compare", "--config", "unknown.toml"], "has the key 'colour'; allowed are"),
    (["compare", "--config", "value.toml"], "--config value.toml: .*invalid float value: 'x'"),
    (["compare", "--config", "list.toml"], "tol must be a string, a number or a list of strings"),
    (["compare", "--config", "switch.toml"], "strict must be true or false; got 'yes'"),
    (["compare", "--config", "flag.toml"], "tol must be a string, .*got True"),
    (
        ["solve", "--data", "four.npz,two.csv", "-k", "1"],
        "solve takes one data set and one loss; got 2",
    ),
    (["solve", "--method", "nosuch"], "method must be one of fw"),
    (["solve", "--methods", "fw"], "unrecognized arguments: --methods fw"),
    (["data", "nosuch"], "got 'nosuch'"),
    (["info", "--tol", "1"], "unrecognized arguments"),
]


@pytest.mark.parametrize(
    ("arguments", "words"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD]
)
def test_bad_input_is_one_sentence(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    (folder / "broken.csv").write_text("1,2,3\n4,five,6\n")
    (folder / "wrong.csv").write_text("\n".join(["1,1,1,1"] * 4))
    (folder / "broken.toml").write_text("tol = = 1")
    (folder / "unknown.toml").write_text('colour = "red"')
    (folder / "near.toml").write_text("max-iters = 3")
    (folder / "value.toml").write_text('tol = "x"')
    (folder / "list.toml").write_text("tol = [1, 2]")
    (folder / "switch.toml").write_text('strict = "yes"')
    (folder / "flag.toml").write_text("tol = true")
    monkeypatch.setattr(runs, "solve", None)
    monkeypatch.setattr(commands, "solve", None)
    if arguments[:1] in (["compare"], ["solve"]) and "--data" not in arguments:
        arguments = [arguments[0], "--data", "four.npz", *arguments[1:]]
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("fwlab: ")
    assert re.search(words, err)


# a TOML file


def test_config_is_overridden_by_flags(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    (folder / "run.toml").write_text(
        'data = "four.npz"\nmethods = ["fw", "ascent"]\nk = 1\nC = 3.0\nmax-iter = 3\n'
        'tol = 0.5\nrelative = true\nstrict = false\nout = "there"\nnormalize = "unit"\n'
    )
    assert main(["compare", "--config", "run.toml", "--json", "--tol", "1e-7", "-k", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    options = document["options"]
    assert (options["tol"], options["k"], options["C"]) == (1e-7, 2, 3.0)
    assert (options["max_iter"], options["relative"], options["strict"]) == (3, True, False)
    assert [run["method"] for run in document["runs"]] == ["fw", "ascent"]
    assert document["problems"][0]["normalize"] == "unit"
    assert (folder / "there" / "comparison.csv").is_file()


@pytest.mark.parametrize(
    ("stored", "given", "lam"),
    [
        ("C = 2.0", ["--lam", "0.25"], 0.25),
        ("lam = 0.25", ["--C", "2"], 1 / 56),
        ("lam = 0.25", [], 0.25),
    ],
)
def test_either_constant_replaces_the_other_of_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str], stored: str, given: list[str], lam: float
) -> None:
    (folder / "run.toml").write_text(stored)
    document = solved(capsys, "--config", "run.toml", *given, "--max-iter", "1")
    assert document["problem"]["lam"] == lam


@pytest.mark.filterwarnings("default:.*index of the rows")
def test_a_warning_is_a_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{row},{row % 3},{row % 2}" for row in range(12)]
    (folder / "counted.csv").write_text("\n".join(["id,size,y", *rows]))
    assert main(["data", "counted.csv"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("counted.csv: n = 12 train, d = 2")
    assert err.startswith("fwlab: 'counted.csv': the feature id seems to be an index of the rows; ")
    assert err.count("\n") == 1
