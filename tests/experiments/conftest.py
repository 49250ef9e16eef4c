"""The visitor whose code the tests of the store edit, and a machine without other work."""

import sys

import pytest
from visiting import Visitor


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Let no run of this process be one of a loaded machine."""
    monkeypatch.setattr("fwlab.experiments.runs.busy", lambda: {"load": "0.50", "processors": "2"})
    monkeypatch.setattr("fwlab.experiments.load.LEAST_SHARE", 0.0)


@pytest.fixture(autouse=True)
def closed():
    """Close what pyplot still holds after a test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def visitor(tmp_path, monkeypatch):
    yield Visitor(tmp_path, monkeypatch)
    for module in [m for m in sys.modules if m.split(".")[0] == "visitor"]:
        del sys.modules[module]
