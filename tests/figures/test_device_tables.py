"""The tables of heads on a device, at small sizes on a CPU; no time is asserted."""

import json
import sys

import pytest

from figures.benchmarks import device


def test_device_tables(capsys, tmp_path, monkeypatch):
    """The tables of heads on a device are made whole at small sizes on a CPU."""
    pytest.importorskip("torch", reason="torch is not installed (extra torch)")
    out = tmp_path / "record.json"
    arguments = ["device", "--quick", "--out", str(out), "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert device.main() == 0
    record = json.loads(out.read_text("utf-8"))
    heads = [row for row in record["heads"] if "C" in row]
    assert [row["C"] for row in heads] == list(device.CS)
    assert all(row["status"] == "CONVERGED" and row["gap"] <= device.TOL for row in heads)
    assert capsys.readouterr().out.count("CONVERGED") == len(heads)


def test_device_tables_need_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"device needs torch: pip install 'fwlab\[torch\]'"):
        device.run(quick=True)
