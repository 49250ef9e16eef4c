"""The command of the sweep: which runs it makes."""

from argparse import Namespace

import pytest

pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")

from sweep import __main__ as command


@pytest.mark.parametrize(("only", "made"), [(None, [3, 4]), (7, [7])])
def test_a_stopped_sweep_goes_on_where_it_was(monkeypatch, only, made):
    monkeypatch.setattr(command, "run", lambda seed, index: (seed, index))
    options = Namespace(seed=5, runs=2, first=3, jobs=1, only=only)
    assert list(command.runs(options)) == [(5, index) for index in made]
