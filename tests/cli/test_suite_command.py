"""`fwlab suite`: methods from files, folders compared, exit codes and bad input."""

import json
import sys
from pathlib import Path

import pytest

from fwlab.cli import main
from fwlab.cli.suite_options import SIZES as CHOICES
from fwlab.experiments.suite_problems import SIZES

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'fwlab[report]'")
RULES = '''import fwlab


class Still(fwlab.StepRule):
    """Never moves."""

    def __call__(self, direction, memory):
        return 0.0


class Broken(Still):
    def __call__(self, direction, memory):
        return 1 / 0


class Stopped(Still):
    def __call__(self, direction, memory):
        raise KeyboardInterrupt


PAIR = fwlab.Pairwise(step=Still())
'''


@pytest.fixture
def rules(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Provide a file of step rules in the working folder, and short runs."""
    monkeypatch.setattr("fwlab.experiments.suite.MOST_ITERATIONS", 2)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (folder / "own_rules.py").write_text(RULES)
    yield "own_rules.py"
    sys.modules.pop("own_rules", None)


def suite(*arguments: str, problems: str = "tall top-3 C=1") -> int:
    return main(["suite", "--problems", problems, *arguments])


def test_sizes_are_those_of_the_suite() -> None:
    assert CHOICES == tuple(SIZES)


def test_a_rule_in_a_file(rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert suite("--method", f"{rules}:Still", "--out", "one") == 0
    out = capsys.readouterr().out
    assert "Worst problem: tall top-3 C=1" in out
    assert out.endswith(
        f"written: {Path('one/suite.html')}, {Path('one/suite.tex')}, "
        f"{Path('one/worst_problem.npz')}\n"
    )
    assert suite("--method", f"{rules}:PAIR", "--out", "two", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["version"], document["size"], document["method"]) == (1, "small", "PAIR")
    assert document["methods"][-1]["method"] == "PAIR" and document["worst"] == "tall top-3 C=1"
    assert Path(document["files"]["page"]).is_file()

    assert main(["suite", "--compare", "one", "two", "--html", "both.html"]) == 0
    assert "Cost of PAIR / cost of Still:" in capsys.readouterr().out
    assert Path("both.html").is_file()
    assert main(["suite", "--compare", "one", "two", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["problems"] == ["tall top-3 C=1"]


def test_a_run_that_fails_and_one_that_stops(
    rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert suite("--method", f"{rules}:Broken", "--out", "broken") == 1
    out = capsys.readouterr().out
    assert "Broken failed on tall top-3 C=1: ZeroDivisionError: division by zero" in out
    assert suite("--method", f"{rules}:Stopped", "--out", "stopped") == 130
    said = capsys.readouterr().err
    assert "interrupted; the same command goes on from the finished runs in stopped." in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "suite needs --method FILE:NAME, or --compare DIR DIR."),
        (["--method", "own_rules.py:Stil"], "defines no 'Stil'. Did you mean 'Still'?"),
        (["--method", "no.py:Still"], "no.py: there is no such file; a Python file is needed."),
        (["--method", "fww"], "method must be one of"),
        (["--method", "own_rules.py:RULES"], "the file defines no 'RULES'."),
        (["--method", "fw", "--html", "page.html"], "--html goes with --compare"),
        (["--method", "fw", "--size", "smal"], "Did you mean 'small'?"),
        (["--method", "fw", "--compare", "a", "b"], "not allowed with argument"),
        (["--compare", "a", "b"], "compare needs two folders of suites; 'a' holds none."),
    ],
)
def test_bad_input(
    rules: str, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert suite(*arguments) == 2
    assert sentence in capsys.readouterr().err
    assert not Path("suite").exists()
