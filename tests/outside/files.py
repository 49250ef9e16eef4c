"""Commands of the project run in a visitor's folder, and files that a visitor writes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from figures.kit import script
from paper_checks.ledger import CLAIMS

ROOT = Path(__file__).parents[2]


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `python -m ...` in a folder, with the project on the path."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
    )


def ran(folder: Path, *arguments: str) -> str:
    """Run `python -m ...` in a folder to its good end; return what it printed."""
    process = started(folder, *arguments)
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return printed


def written(folder: Path, name: str, text: str) -> Path:
    """Write a file in a folder, which is made if need be."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return folder / name


@contextmanager
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo at the end what an import of files has changed in this process."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", sys.dont_write_bytecode)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")
    modules, claims, scripts = set(sys.modules), dict(CLAIMS), dict(script._scripts())
    yield
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if not Path(file).is_relative_to(ROOT) and "site-packages" not in file:
            del sys.modules[name]
    for registry, before in ((CLAIMS, claims), (script._scripts(), scripts)):
        registry.clear()
        registry.update(before)
