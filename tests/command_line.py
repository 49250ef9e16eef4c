"""Calls of the command line that answer with their JSON document, for the tests."""

import json

import pytest

from fwlab.cli import main


def compared(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict:
    """Return the JSON document of `compare`, on four.npz unless other data are given."""
    return document(capsys, "compare", *arguments, code=code)


def solved(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict:
    """Return the JSON document of `solve`, on four.npz unless other data are given."""
    return document(capsys, "solve", *arguments, code=code)


def document(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict:
    """Return the JSON document of a command with the exit code that it must have."""
    data = [] if "--data" in arguments else ["--data", "four.npz"]
    assert main([arguments[0], *data, "-k", "2", "--json", *arguments[1:]]) == code
    return json.loads(capsys.readouterr().out)
