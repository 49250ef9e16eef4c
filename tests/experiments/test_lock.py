"""Two comparisons never write to one folder at once; a killed one does not keep others out."""

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fwlab
from fwlab.experiments.lock import locked

PROBLEM = fwlab.Problem(np.eye(3), [0, 1, 2], fwlab.TopK(1), lam=0.1)


def test_a_killed_comparison_leaves_no_lock(tmp_path):
    script = Path(__file__).with_name("holding_run.py")
    command = [sys.executable, str(script), str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == "begun\n"
            begun = (tmp_path / "out" / "comparison.toml").read_bytes()
            with pytest.raises(ValueError, match=rf"process {other.pid} on .*out'\.$"):
                fwlab.compare(PROBLEM, "fw", max_iter=1, out=tmp_path / "out")
            assert (tmp_path / "out" / "comparison.toml").read_bytes() == begun
        finally:
            other.kill()
    (tmp_path / "out" / "comparison.toml").unlink()  # of other settings
    assert fwlab.compare(PROBLEM, "fw", max_iter=1, out=tmp_path / "out").results


def test_a_comparison_ends_its_lock_however_it_ends(tmp_path):
    with pytest.raises(KeyboardInterrupt), locked(tmp_path):
        raise KeyboardInterrupt
    with locked(tmp_path), locked(tmp_path / "another"), locked(None):
        with pytest.raises(ValueError, match="to which no other run writes; process"):
            fwlab.compare(PROBLEM, "fw", max_iter=1, out=tmp_path)
        fwlab.compare(PROBLEM, "fw", max_iter=1)
    fwlab.compare(PROBLEM, "fw", max_iter=1, out=tmp_path)


def test_a_file_system_without_locks_is_used_unlocked_and_a_line_says_so(
    tmp_path, monkeypatch, capsys
):
    def refuse(*arguments, **options):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("filelock.lock_descriptor", refuse)
    with locked(tmp_path), locked(tmp_path):
        pass
    said = f"fwlab: {tmp_path} cannot be locked (No locks available); let no other run write to it."
    assert capsys.readouterr().err.splitlines() == [said, said]


def test_the_name_of_the_holder_is_read_beyond_the_locked_byte(tmp_path):
    """Windows lets nobody but the holder read the first byte."""
    with locked(tmp_path):
        assert (tmp_path / ".lock").read_bytes()[1:].startswith(b"process ")


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(NotADirectoryError, match=r"out'$"), locked(tmp_path / "out"):
        pass
