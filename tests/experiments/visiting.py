"""A visitor's package of two modules, imported, edited and imported again."""

import importlib
import sys
from pathlib import Path

import numpy as np

import fwlab
from fwlab.experiments import compare, runs

ROOT = Path(__file__).parents[2]
LOSS = '''
"""A loss of a visitor."""

from dataclasses import dataclass

import numpy as np

from fwlab.losses import Loss
from visitor.helpers import scaled

TOP = 0.5
UNUSED = 1


class Base(Loss):
    def polytope_weights(self, m):
        """The two weight vectors."""
        upper = np.zeros(m - 1)
        upper[0] = scaled(TOP) * self.factor()  # one weight
        return upper, 0 * upper

    def factor(self):
        return 1.0


@dataclass(frozen=True)
class Mine(Base):
    weight: float = 1.0

    def factor(self):
        return super().factor() * self.weight


def unused():
    return 1
'''
HELPERS = """
def scaled(x):
    return FACTOR * x

FACTOR = 1.0
"""


class Visitor:
    """A visitor's package in a folder of its own, and how often its loss is trained."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.trained = folder, 0
        (folder / "visitor").mkdir()
        (folder / "visitor" / "__init__.py").touch()
        self.write("losses", LOSS)
        self.write("helpers", HELPERS)
        monkeypatch.syspath_prepend(folder)
        plain = fwlab.solve

        def counted(*args, **options):
            self.trained += 1
            return plain(*args, **options)

        monkeypatch.setattr(runs, "solve", counted)

    def write(self, name, source):
        (self.folder / "visitor" / f"{name}.py").write_text(source)

    def edit(self, name, old, new):
        path = self.folder / "visitor" / f"{name}.py"
        source = path.read_text()
        assert source.count(old) == 1
        path.write_text(source.replace(old, new))

    def imported(self, name="losses"):
        """Return the package as a new process would see it."""
        for module in [m for m in sys.modules if m.split(".")[0] == "visitor"]:
            del sys.modules[module]
        for cache in self.folder.rglob("__pycache__"):
            for file in cache.iterdir():
                file.unlink()
        importlib.invalidate_caches()
        return importlib.import_module(f"visitor.{name}")

    def forget_settings(self):
        """Let the folder take a comparison with other settings; the runs stay."""
        (self.folder / "comparison.toml").unlink(missing_ok=True)

    def primal(self, loss=None, **options):
        """Return the stored or fresh primal value of fw on a small problem."""
        problem = problem_of(self.imported().Mine() if loss is None else loss)
        self.forget_settings()
        comparison = compare({"own": problem}, ["fw"], max_iter=3, out=self.folder, **options)
        return comparison.results["own", "fw"].primal


def problem_of(loss):
    rng = np.random.default_rng(0)
    return fwlab.Problem(rng.normal(size=(12, 4)), np.arange(12) % 3, loss, 0.1)
