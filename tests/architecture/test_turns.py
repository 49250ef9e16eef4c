"""Tests that take turns are all tried by three commits in a row of seeds, and by name."""

import subprocess
import sys

from in_turn import ROOT, THIRDS, is_its_turn, seed_of_commit


def test_each_test_has_a_turn():
    tests = [f"tests/test_a.py::test_{i}" for i in range(300)]
    turns = [[is_its_turn(test, seed) for seed in range(THIRDS)] for test in tests]
    assert all(turn.count(True) == 1 for turn in turns)
    assert all(70 < sum(column) < 130 for column in zip(*turns, strict=True))


def test_outside_a_checkout_the_seed_is_zero(monkeypatch):
    monkeypatch.delenv("FWLAB_SEED", raising=False)
    monkeypatch.setenv("PATH", "")
    assert seed_of_commit() == 0
    monkeypatch.setenv("FWLAB_SEED", "5")
    assert seed_of_commit() == 5


def collected(monkeypatch, *arguments, **environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:xdist", *arguments]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {line for line in run.stdout.splitlines() if "::" in line}


def test_three_seeds_try_all_and_a_name_or_deep_tries_it_always(monkeypatch):
    file = "tests/kernels/test_way_back.py"
    parts = [collected(monkeypatch, file, FWLAB_SEED=str(seed)) for seed in range(THIRDS)]
    whole = collected(monkeypatch, file, HYPOTHESIS_PROFILE="deep")
    assert set.union(*parts) == whole and all(part < whole for part in parts)
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "dev")
    for test in sorted(whole)[:2]:
        for seed in range(THIRDS):
            assert collected(monkeypatch, test, FWLAB_SEED=str(seed)) == {test}
