"""The store never answers with a result that other code made.

A visitor's package of two modules is imported, edited and imported again; each edit of something
that a run depends on makes another run, and no edit of a comment or docstring does.
"""

import importlib
import os
import sys

import numpy as np
import pytest

import fwlab
from fwlab.experiments import Cell, compare, run_cells
from fwlab.experiments import comparison as comparison_module
from fwlab.experiments.core_code import core_identity
from fwlab.experiments.store import NotStored, code_digest
from fwlab.solvers import registry
from fwlab.solvers.frank_wolfe import FrankWolfe

LOSS = '''
"""A loss of a visitor."""

from dataclasses import dataclass

import numpy as np

from fwlab.losses import Loss
from visitor.helpers import scaled

TOP = 0.5
UNUSED = 1


class Base(Loss):
    def bounds(self, m):
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

        monkeypatch.setattr(comparison_module, "solve", counted)

    def write(self, name, source):
        (self.folder / "visitor" / f"{name}.py").write_text(source)

    def edit(self, name, old, new):
        path = self.folder / "visitor" / f"{name}.py"
        source = path.read_text()
        assert source.count(old) == 1
        path.write_text(source.replace(old, new))

    def imported(self, name="losses"):
        """The package as a new process would see it."""
        for module in [m for m in sys.modules if m.split(".")[0] == "visitor"]:
            del sys.modules[module]
        for cache in self.folder.rglob("__pycache__"):
            for file in cache.iterdir():
                file.unlink()
        importlib.invalidate_caches()
        return importlib.import_module(f"visitor.{name}")

    def primal(self, loss=None, **options):
        """The stored or fresh primal value of fw on a small problem."""
        problem = problem_of(self.imported().Mine() if loss is None else loss)
        comparison = compare({"own": problem}, ["fw"], max_iter=3, out=self.folder, **options)
        return comparison.results["own", "fw"].primal


def problem_of(loss):
    rng = np.random.default_rng(0)
    return fwlab.Problem(rng.normal(size=(12, 4)), np.arange(12) % 3, loss, 0.1)


@pytest.fixture
def visitor(tmp_path, monkeypatch):
    yield Visitor(tmp_path, monkeypatch)
    for module in [m for m in sys.modules if m.split(".")[0] == "visitor"]:
        del sys.modules[module]


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("losses", "return 1.0", "return 2.0"),
        ("losses", "class Mine(Base)", "class Between(Base):\n    def factor(self):\n"
         "        return 3.0\n\n\n@dataclass(frozen=True)\nclass Mine(Between)"),
        ("losses", "* self.weight", "* self.weight**2 * 2"),
        ("losses", "TOP = 0.5", "TOP = 0.7"),
        ("losses", "weight: float = 1.0", "weight: float = 1.5"),
        ("losses", "UNUSED = 1\n", "UNUSED = 1\nTOP += 0.1\n"),
        ("helpers", "FACTOR * x", "FACTOR * x + 1"),
        ("helpers", "FACTOR = 1.0", "FACTOR = 1.25"),
    ],
    ids=["base", "new base", "method", "constant", "default", "augmented", "helper", "far"],
)  # fmt: skip
def test_an_edit_of_what_a_loss_reaches_is_another_run(visitor, module, old, new):
    before = visitor.primal()
    assert visitor.primal() == before and visitor.trained == 1
    visitor.edit(module, old, new)
    after = visitor.primal()
    assert visitor.trained == 2 and after != before
    assert after == fwlab.solve(problem_of(visitor.imported().Mine()), "fw", max_iter=3).primal


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# one weight", "# the only one"),
        ('"""The two weight vectors."""', '"""Upper and lower weights."""'),
        ("    def factor(self):\n        return 1.0", '    def factor(self):\n        """1."""\n\n'
         "        return 1.0"),
        ('"""A loss of a visitor."""', '"""A loss.\n\nLonger.\n"""'),
        ("UNUSED = 1", "UNUSED = 2"),
        ("def unused():\n    return 1", "def unused():\n    return 2"),
        ("scaled(TOP) * self.factor()", "(\n            scaled(TOP) * self.factor()\n        )"),
    ],
    ids=["comment", "docstring", "new docstring", "module", "unused", "function", "layout"],
)  # fmt: skip
def test_an_edit_of_nothing_that_runs_keeps_the_run(visitor, old, new):
    before = visitor.primal()
    visitor.edit("losses", old, new)
    assert visitor.primal() == before and visitor.trained == 1


def test_the_state_of_an_instance_counts(visitor):
    loss = visitor.imported().Mine()
    before = visitor.primal(loss)
    object.__setattr__(loss, "weight", 2.0)
    assert visitor.primal(loss) != before and visitor.trained == 2
    # an attribute that is no field counts too
    object.__setattr__(loss, "more", 1)
    visitor.primal(loss)
    assert visitor.trained == 3


def test_a_captured_variable_counts(visitor):
    Base = visitor.imported().Base

    def closed(w):
        class Closed(Base):
            def factor(self):
                return w

        return Closed()

    assert visitor.primal(closed(0.7)) != visitor.primal(closed(0.9))
    assert visitor.primal(closed(0.7)) == visitor.primal(closed(0.7))
    assert visitor.trained == 2


def test_a_class_patched_in_memory_counts(visitor, monkeypatch):
    loss = visitor.imported().Mine()
    before = visitor.primal(loss)
    monkeypatch.setattr(type(loss).__mro__[1], "factor", lambda self: 2.0)
    assert visitor.primal(loss) != before and visitor.trained == 2
    monkeypatch.setattr(sys.modules["visitor.losses"], "TOP", 0.9)
    visitor.primal(loss)
    assert visitor.trained == 3


def test_a_module_edited_after_its_import_is_what_was_imported(visitor):
    loss = visitor.imported().Mine()
    before = visitor.primal(loss)
    visitor.edit("helpers", "FACTOR = 1.0", "FACTOR = 2.0")
    assert visitor.primal(loss) == before and visitor.trained == 1
    assert visitor.primal() != before and visitor.trained == 2


def test_an_import_inside_a_method_is_followed(visitor):
    visitor.edit("losses", "from visitor.helpers import scaled\n", "")
    for line in ("from visitor.helpers import scaled", "from visitor import helpers",
                 "import visitor.helpers", "from .helpers import scaled"):  # fmt: skip
        uses = "helpers.scaled" if line.endswith(" helpers") else "scaled"
        if line.startswith("import"):
            uses = "visitor.helpers.scaled"
        source = LOSS.replace("from visitor.helpers import scaled\n", "")
        source = source.replace("upper[0] = scaled", f"{line}\n        upper[0] = {uses}")
        visitor.write("losses", source)
        visitor.write("helpers", HELPERS)
        before, trained = visitor.primal(), visitor.trained
        visitor.edit("helpers", "FACTOR * x", "FACTOR * x + 1")
        assert visitor.primal() != before and visitor.trained == trained + 1, line


# methods and the core


class NoOperation(FrankWolfe):
    def iterate(self, state, workspace):
        return 0.0


def test_a_method_replaced_in_the_registry_is_another_run(visitor, monkeypatch):
    before = visitor.primal()
    monkeypatch.setitem(registry.REGISTRY, "fw", lambda: NoOperation(line_search=True))
    assert visitor.primal() != before and visitor.trained == 2


def test_a_patched_method_of_the_core_is_another_run(visitor, monkeypatch):
    before = visitor.primal()
    monkeypatch.setattr(FrankWolfe, "iterate", NoOperation.iterate)
    assert visitor.primal() != before and visitor.trained == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fwlab.problem.moreau_envelope", None),
        ("fwlab.solvers.frank_wolfe.FrankWolfe.iterate", FrankWolfe.__init__),
        ("fwlab.losses.DOMAIN_TOLERANCE", 1e-3),
        ("fwlab.losses.MOST_VERTICES", True),
        ("fwlab.losses.TopK", fwlab.Usunier),
    ],
)
def test_every_patch_of_the_core_is_seen(monkeypatch, name, value):
    before = code_digest()
    monkeypatch.setattr(name, value)
    assert code_digest() != before
    monkeypatch.undo()
    assert code_digest() == before


def test_no_patch_is_seen_where_there_is_none():
    importlib.import_module("fwlab.cli")
    assert core_identity()[1] == []


def test_the_core_edited_after_its_import_is_not_stored(visitor, monkeypatch):
    monkeypatch.setattr("fwlab.experiments.core_code.IMPORTED", 0.0)
    with pytest.warns(NotStored, match=r"own fw will not be stored: .* was edited after"):
        visitor.primal()
    assert not list((visitor.folder / "runs").glob("*"))


def test_versions_are_part_of_every_key(monkeypatch):
    before = code_digest()
    monkeypatch.setattr("fwlab.experiments.store.environment", lambda: ["numpy 99"])
    assert code_digest() != before


# what cannot be identified


def test_compiled_code_is_run_and_not_stored(visitor):
    visitor.edit("helpers", "def scaled", "import numba\n\n\n@numba.njit\ndef scaled")
    with pytest.warns(NotStored, match=r"will not be stored: .*scaled has compiled code"):
        first = visitor.primal()
    with pytest.warns(NotStored):
        assert visitor.primal() == first
    assert visitor.trained == 2


def test_the_table_names_runs_that_are_not_stored(visitor):
    visitor.edit("helpers", "FACTOR * x", "eval('FACTOR') * x")
    problem = problem_of(visitor.imported().Mine())
    with pytest.warns(NotStored, match="own fw and 1 more"):
        found = compare({"own": problem}, ["fw", "bcfw"], max_iter=2, out=visitor.folder)
    assert set(found.not_stored) == {("own", "fw"), ("own", "bcfw")}
    assert "Not stored: own fw: " in found.table() and "a use of builtins.eval" in found.table()


# earlier runs, workers


CALLS = [0]


class Counting(NoOperation):
    def iterate(self, state, workspace):
        CALLS[0] += 1
        return float(CALLS[0])


def test_state_that_an_earlier_run_changed_is_seen(visitor, monkeypatch):
    for name in ("fw", "bcfw"):
        monkeypatch.setitem(registry.REGISTRY, name, lambda: Counting(line_search=True))
    problem = problem_of(fwlab.TopK(2))
    found = compare({"own": problem}, ["fw", "bcfw"], max_iter=2, out=visitor.folder)
    assert list(found.not_stored) == [("own", "bcfw")]
    assert "no longer what it was" in found.table()


def test_a_worker_with_other_code_does_not_answer_for_this_process(visitor, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(visitor.folder), prepend=os.pathsep)
    problem = problem_of(visitor.imported().Mine())
    visitor.edit("helpers", "FACTOR = 1.0", "FACTOR = 2.0")
    found = compare({"own": problem}, ["fw"], max_iter=2, out=visitor.folder, n_jobs=2)
    assert ("own", "fw") in found.not_stored
    assert not list((visitor.folder / "runs").glob("*"))


# cells


def cell_value(function, folder, **settings):
    return run_cells([Cell("one", function, settings)], folder)["one"]


def test_cells_follow_functions_constants_and_captured_variables(tmp_path):
    def closed(w):
        return lambda x: w * x

    assert cell_value(closed(2), tmp_path, x=3) == 6
    assert cell_value(closed(3), tmp_path, x=3) == 9
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_cells_that_cannot_be_identified_are_computed_each_time(tmp_path):
    def reads(x):
        return eval("x + 1")

    for _ in range(2):
        with pytest.warns(NotStored, match="one will not be stored"):
            assert cell_value(reads, tmp_path, x=1) == 2
    assert not list(tmp_path.glob("*.json"))


def test_a_stored_run_says_what_made_it(tmp_path):
    result = fwlab.solve(problem_of(fwlab.TopK(2)), "fw", max_iter=1)
    assert result.made_by["numba"] and result.made_by["processor"] and result.made_by["date"]
    result.save(tmp_path / "run.npz")
    assert fwlab.Result.load(tmp_path / "run.npz").made_by == result.made_by
