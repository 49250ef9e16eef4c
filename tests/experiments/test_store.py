"""The store never answers with a result that other code made.

A visitor's package of two modules is imported, edited and imported again; each edit of something
that a run depends on makes another run, and no edit of a comment or docstring does.
"""

import os
import subprocess
import sys

import pytest
from joblib.externals.loky import get_reusable_executor
from visiting import HELPERS, LOSS, ROOT, problem_of

import fwlab
from fwlab.experiments import Cell, compare, run_cells
from fwlab.experiments.store import NotStored


@pytest.mark.turns
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


def test_a_problem_counts_as_it_is_and_not_as_it_was_built(visitor):
    """A problem keeps what its loss said when it was built."""
    losses = visitor.imported()
    problem = problem_of(losses.Mine())

    def primal(problem):
        visitor.forget_settings()
        return (
            compare({"own": problem}, ["fw"], max_iter=3, out=visitor.folder)
            .results["own", "fw"]
            .primal
        )

    before = primal(problem)
    losses.TOP = 0.9
    assert primal(problem) == before
    fresh = primal(problem_of(losses.Mine()))
    assert fresh != before
    assert primal(problem_of(losses.Mine())) == fresh
    changed = problem_of(losses.Mine())
    changed.X *= 2
    # the steps shall have the new lengths of the rows
    changed = changed.with_lam(changed.lam)
    assert primal(changed) != fresh


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


@pytest.mark.turns
@pytest.mark.parametrize(
    "use",
    [
        "getattr(helpers, 'scaled')",
        "TABLE['scaled']",
        "Held.function",
        "functools.partial(helpers.scaled)",
        "functools.cache(helpers.scaled)",
        "wrapped",
    ],
)
def test_no_detour_hides_a_helper(visitor, use):
    more = """
import functools
from visitor import helpers

TABLE = {"scaled": helpers.scaled}


class Meta(type):
    function = staticmethod(helpers.scaled)


class Held(metaclass=Meta):
    pass


@functools.wraps(print)
def wrapped(x):
    return helpers.scaled(x)

"""
    source = LOSS.replace("from visitor.helpers import scaled\n", more)
    visitor.write("losses", source.replace("upper[0] = scaled", f"upper[0] = {use}"))
    before = visitor.primal()
    assert visitor.primal() == before and visitor.trained == 1
    visitor.edit("helpers", "FACTOR = 1.0", "FACTOR = 1.25")
    assert visitor.primal() != before and visitor.trained == 2


@pytest.mark.turns
def test_a_script_that_is_edited_runs_again(visitor):
    """Losses of __main__ are followed like others, in worker processes too."""
    script = visitor.folder / "script.py"
    main = """
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    problem = fwlab.Problem(rng.normal(size=(12, 4)), np.arange(12) % 3, Mine(), 0.1)
    found = fwlab.compare({"own": problem}, ["fw"], max_iter=3, out="out", n_jobs=JOBS)
    print(found.not_stored, found.results["own", "fw"].primal)
"""
    printed = []
    for edit in ("", "", "TOP = 0.7\n"):
        for jobs in (1, 2):
            source = LOSS + edit + "\nimport fwlab\n" + main.replace("JOBS", str(jobs))
            script.write_text(source)
            run = subprocess.run(
                [sys.executable, script],
                cwd=visitor.folder,
                env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{visitor.folder}"},
                capture_output=True,
                text=True,
                check=True,
            )
            printed.append(run.stdout)
    assert printed[:4] == [printed[0]] * 4 and printed[4:] == [printed[4]] * 2
    assert printed[0] != printed[4] and all(line.startswith("{} ") for line in printed)
    assert len(list((visitor.folder / "out" / "runs").iterdir())) == 2


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


@pytest.mark.turns
def test_a_worker_with_other_code_does_not_answer_for_this_process(visitor, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(visitor.folder), prepend=os.pathsep)
    get_reusable_executor().shutdown(wait=True)  # workers of earlier tests have another path
    problem = problem_of(visitor.imported().Mine())
    visitor.edit("losses", "return super().factor() * self.weight", "return 7.0")
    both = compare({"own": problem}, ["fw"], max_iter=2, out=visitor.folder, n_jobs=2)
    alone = compare({"own": problem}, ["fw"], max_iter=2)
    assert both.results["own", "fw"].primal == alone.results["own", "fw"].primal
    assert both.not_stored == {}


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
