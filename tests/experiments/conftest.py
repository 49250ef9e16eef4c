"""The visitor whose code the tests of the store edit."""

import sys

import pytest
from visiting import Visitor


@pytest.fixture
def visitor(tmp_path, monkeypatch):
    yield Visitor(tmp_path, monkeypatch)
    for module in [m for m in sys.modules if m.split(".")[0] == "visitor"]:
        del sys.modules[module]
