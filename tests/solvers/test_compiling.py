"""The clock on the terminal while a first call compiles."""

import io
import sys
import time

import numba
import pytest

from fwlab.solvers import compiling
from fwlab.solvers.compiling import compiling_shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown_during(work, stream, monkeypatch):
    """Return the text that stderr, replaced by `stream`, gets during the work and 0.1 s more."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(compiling, "SECONDS_UNSEEN", 0.01)
    with compiling_shown():
        work()
        time.sleep(0.1)
    return stream.getvalue()


def compile_something():
    numba.njit(lambda x: x + 1)(2)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing compiles")
def test_a_clock_runs_while_something_compiles(monkeypatch):
    lines = shown_during(compile_something, Terminal(), monkeypatch).split("\r")
    assert "Compiling (about 10 s, once): 0 s" in lines
    assert lines[-1] == "" and set(lines[-2]) == {" "}


def test_nothing_is_shown_where_nothing_compiles(monkeypatch):
    assert shown_during(lambda: None, Terminal(), monkeypatch) == ""


def test_nothing_is_shown_in_a_pipe(monkeypatch):
    assert shown_during(compile_something, io.StringIO(), monkeypatch) == ""
