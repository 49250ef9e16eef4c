"""Calls of the command line that answer with their JSON document, for the tests."""

import json

import pytest

from fwlab.cli import main


def compared(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict:
    """The JSON document of `compare` on four.npz."""
    assert main(["compare", "--data", "four.npz", "-k", "2", "--json", *arguments]) == code
    return json.loads(capsys.readouterr().out)


def solved(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict:
    """The JSON document of `solve` on four.npz."""
    assert main(["solve", "--data", "four.npz", "-k", "2", "--json", *arguments]) == code
    return json.loads(capsys.readouterr().out)
