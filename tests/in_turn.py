"""Long tests that commits try in turn: each commit another part of them, the deep profile all."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def seed_of_commit() -> int:
    """Return FWLAB_SEED, or else a number made of the commit's hash; 0 outside a checkout."""
    if "FWLAB_SEED" in os.environ:
        return int(os.environ["FWLAB_SEED"])
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(commit[:7], 16)


def in_turn(values: Iterable[Any], parts: int) -> list[Any]:
    """Return the values as parameters of a test: one of `parts` is this commit's, others deep."""
    return [
        pytest.param(value, marks=() if (i + seed_of_commit()) % parts == 0 else pytest.mark.deep)
        for i, value in enumerate(values)
    ]
