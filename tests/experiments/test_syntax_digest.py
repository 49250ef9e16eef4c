"""The hash of syntax: it changes with what code does, and with nothing else."""

import ast
import os
import subprocess
import sys

import pytest

from fwlab.experiments import DataName, syntax_digest
from fwlab.experiments import syntax as _syntax
from fwlab.experiments.syntax import syntax

HELPER = """
    LIMITS = {{"low": {low}}}

    class Base:
        def width(self):
            return {width}

    class Step(Base):
        def __call__(self, x):
            return x + self.width()

    def helper(x):
        "{doc}"
        return Step()(x) + LIMITS["low"]  # {doc}

    def plot():
        return {plot}
"""
CELL = """
    import numpy as np
    from part import helper

    def cell(x):
        return float(np.sqrt(helper(x)))
"""
GIVEN = {"low": 1, "width": 2, "doc": "Help.", "plot": 3}


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return a function: the hash of a cell whose helper has these parts."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def of(cell=CELL, **parts):
        for name, text in (("part", HELPER.format(**(GIVEN | parts))), ("one_cell", cell)):
            (tmp_path / f"{name}.py").write_text("if True:\n" + text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        _syntax.inspect.linecache.clearcache()
        import one_cell

        return syntax_digest([one_cell.cell])

    return of


def test_what_the_code_does_counts(digest):
    found = [digest(), digest(low=5), digest(width=5), digest(CELL.replace("sqrt", "exp"))]
    assert len(set(found)) == 4


def test_what_the_cell_does_not_reach_does_not_count(digest):
    assert digest() == digest(plot=5) == digest(doc="Help more.")


def test_the_core_counts(digest, monkeypatch):
    before = digest()
    monkeypatch.setattr(_syntax, "core_syntax", lambda: "another solver")
    assert digest() != before


def test_all_of_the_core_is_read():
    text = _syntax.core_syntax()
    assert "problem.py: " in text and "block.py: " in text and "cells.py: " not in text
    assert all(f"\n{name}.py: " not in text for name in _syntax.NOT_COMPUTING)


def test_fields_that_older_grammars_lack_are_left_out():
    function = ast.parse("def f(): pass").body[0]
    before = syntax(function)
    function.type_params = []
    assert syntax(function) == before
    assert syntax(ast.parse("f(1)")) != syntax(ast.parse("f(2)"))


DIGITS = DataName("digits")


def digits():
    return DIGITS.load()


def test_data_stand_for_the_code_that_reads_them():
    found = {}
    _syntax._follow(digits, found)
    assert any(name.endswith(":digits") for name in found)
    assert not [name for name in found if name.startswith("fwlab.datasets")]


def test_every_process_finds_the_same_hash():
    code = (
        "from fwlab.experiments import syntax_digest\n"
        "from figures.kit.script import script, script_names\n"
        "cells = [cell for name in script_names() for cell in script(name).cells('quick')]\n"
        "print(syntax_digest(sorted({c.function for c in cells}, key=lambda f: f.__qualname__)))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    ]
    assert runs[0] == runs[1] != ""
