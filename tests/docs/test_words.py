"""Words of the pages: one notation, terms of the glossary, sources of the page on peers."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from fwlab.docs.markdown import HERE

PAGES = sorted([*(HERE / "pages").glob("*.md"), *(HERE / "templates").glob("*.md")])
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`]*`|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUESTIONS = (HERE / "pages" / "questions.md").read_text("utf-8")
GLOSSARY = (HERE / "pages" / "glossary.md").read_text("utf-8")
PEERS = (HERE / "pages" / "peers.md").read_text("utf-8")
ROOT = HERE.parents[1]


def prose(text: str) -> str:
    """Return a page without its code."""
    return INLINE.sub("", FENCED.sub("", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_prose_writes_lambda_as_a_letter(page):
    assert re.findall(r"\blam\b|\blambda\b", prose(page.read_text("utf-8"))) == []


def test_code_is_no_prose():
    text = "λ is `lam`\n```python\nlam = 1\n```\nand {{ lam }}"
    assert re.findall("lam", prose(text)) == []


@pytest.mark.parametrize(
    "term",
    [
        *("oracle call", "pass", "gap", "certified", "proved", "atom", "block", "link", "excess"),
        *("ledger", "slip, misprint", "severity", "outcome", "primal and dual", "n gamma"),
        *("Fenchel conjugate", "Moreau envelope", "pseudo top-k"),
    ],
)
def test_the_glossary_has_the_term(term):
    assert re.search(rf"^{term}\n  \S", GLOSSARY, re.MULTILINE)


def questions() -> dict[str, str]:
    """Return {question: its answer}."""
    parts = re.split(r"^## (.*)\n", QUESTIONS, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("question", questions())
def test_an_answer_is_short_and_has_a_link(question):
    answer = questions()[question]
    words = FENCED.sub("", answer).strip()
    assert 1 <= len(words.splitlines()) <= 6
    assert re.search(r"\]\([\w/.-]+\.(md|rst)(#[\w-]+)?\)", answer)


def commands() -> list[str]:
    """Return the lines of the shell blocks of the page of questions."""
    return [line for block in SHELL.findall(QUESTIONS) for line in block.splitlines()]


@pytest.mark.parametrize("command", commands())
def test_a_command_of_an_answer_runs(command, tmp_path):
    generator = np.random.default_rng(0)
    y = generator.integers(3, size=60)
    rows = generator.normal(size=(60, 4)) + np.eye(3, 4)[y]
    lines = [
        ",".join([*(f"{number:.4f}" for number in row), f"c{label}"])
        for row, label in zip(rows, y, strict=True)
    ]
    (tmp_path / "train.csv").write_text("\n".join(["a,b,c,d,label", *lines]), "utf-8")
    program, *arguments = command.split()
    scripts = Path(sysconfig.get_path("scripts"))
    start = [sys.executable] if program == "python" else [str(scripts / program)]
    done = subprocess.run(
        [*start, *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_each_cell_about_a_peer_has_its_source():
    rows = [line.strip("| ").split(" | ") for line in PEERS.splitlines() if line.startswith("| ")]
    assert len(rows) == 9 and {len(row) for row in rows} == {4}
    for name, *cells in rows[1:]:
        assert "](http" in name
        *told, known = cells
        assert [cell for cell in told if "](" not in cell] == []
        assert re.match("run: |read", known)
        assert "](" in known or "`" in known or "could not be installed here" in known


def test_every_peer_is_on_the_page():
    names = "FrankWolfe.jl libsdca scikit-learn cyanure dual-fw-svm benchopt smooth-topk".split()
    assert [name for name in names if f"| [{name}](" not in PEERS] == []
    assert PEERS.count("| [libsdca](") == 2  # the old one and the new one
