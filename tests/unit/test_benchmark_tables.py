"""The timing tables are made; no time is asserted."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from figures.benchmarks import projections

ROOT = Path(__file__).parents[2]


def test_projection_table(monkeypatch, capsys):
    monkeypatch.setattr(projections, "SIZES", (3, 40))
    projections.run(quick=True)
    head, names, *lines = capsys.readouterr().out.splitlines()
    assert "ratio to np.partition" in head and names.split()[:5] == [
        "regime", "d", "k", "active", "partition"
    ]  # fmt: skip
    # k < d: one line for d = 3, three for d = 40, in either regime
    assert [line.split()[0] for line in lines] == ["sum"] * 4 + ["cone"] * 4
    for line in lines:
        assert len(re.findall(r"\d+\.\d\d \( *\d+\.\d\d\)", line)) == 5


@pytest.mark.parametrize(
    ("arguments", "code", "text"), [([], 0, "projections "), (["nothing"], 2, "there are: ")]
)
def test_command(arguments, code, text):
    command = [sys.executable, "-m", "figures.benchmarks", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code and text in done.stdout + done.stderr
