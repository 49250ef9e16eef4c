"""A working folder with small data sets for the tests of the command line."""

from pathlib import Path

import numpy as np
import pytest

from fwlab import experiments


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide the working folder, with data sets of four and of two classes."""
    generator = np.random.default_rng(5)
    X, y = generator.standard_normal((40, 5)), np.arange(40) % 4
    X += 2.0 * np.eye(4, 5)[y]
    parts = {"X_train": X[:28], "y_train": y[:28], "X_test": X[28:], "y_test": y[28:]}
    np.savez(tmp_path / "four.npz", **parts)
    rows = [",".join(map(str, [*x, int(label > 1)])) for x, label in zip(X, y, strict=True)]
    (tmp_path / "two.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FWLAB_DATA", raising=False)
    monkeypatch.delenv("FWLAB_DATA_URL", raising=False)
    monkeypatch.setenv("FWLAB_DATA_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no figures: a figure takes a second, and most tests need none."""
    monkeypatch.setattr(
        experiments.Comparison, "plot", lambda self, path: (Path("a.png"), Path("a.pdf"))
    )
