"""Tests that take turns are all tried by eight commits in a row of seeds, and by name."""

import os
import subprocess
import sys

import pytest
from in_turn import ROOT, TURNS, in_turn, seed_of_commit


def test_eight_seeds_try_each_test_once():
    tests = [f"tests/test_a.py::test_{name}[{i}]" for name in "abc" for i in range(100)]
    tests.append("tests/test_a.py::test_alone")
    turns = [in_turn(tests, seed) for seed in range(TURNS)]
    assert set.union(*turns) == set(tests)
    assert sum(map(len, turns)) == len(tests)
    for name in "abc":
        parts = [sum(f"test_{name}[" in test for test in turn) for turn in turns]
        assert sorted(parts) == [12, 12, 12, 12, 13, 13, 13, 13]


def test_outside_a_checkout_the_seed_is_zero(monkeypatch):
    monkeypatch.delenv("FWLAB_SEED", raising=False)
    monkeypatch.setenv("PATH", "")
    assert seed_of_commit() == 0
    monkeypatch.setenv("FWLAB_SEED", "5")
    assert seed_of_commit() == 5


@pytest.mark.turns
@pytest.mark.parametrize("case", range(TURNS))
def test_with_a_turn(case):
    """Does nothing: the test below looks which of these a commit tries."""


@pytest.mark.parametrize(
    ("place", "profile", "n"),
    [("", "dev", 1), ("::test_with_a_turn", "dev", TURNS), ("", "deep", TURNS)],
)
def test_a_name_or_the_deep_profile_tries_all(place, profile, n):
    file = "tests/architecture/test_turns.py"
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:xdist"]
    environment = {**os.environ, "HYPOTHESIS_PROFILE": profile}
    found = subprocess.run(
        [*command, file + place], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert found.stdout.count("::test_with_a_turn[") == n, found.stderr
