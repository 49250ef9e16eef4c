"""The reference stands alone: it imports numpy, scipy, cvxpy, the standard library, itself."""

import ast
import sys
from pathlib import Path

import pytest

import reference

ALLOWED = {"numpy", "scipy", "cvxpy", "reference", *sys.stdlib_module_names}
FILES = sorted(Path(reference.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_imports(file):
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(node.module.split(".")[0])
    assert names <= ALLOWED


def test_every_file_was_looked_at():
    assert len(FILES) >= 13
