"""The store sees methods that are replaced, the core patched in memory, and other versions."""

import contextlib
import copy
import functools
import importlib
import subprocess
import sys

import pytest
from visiting import problem_of

import fwlab
from fwlab import versions
from fwlab.experiments import compare
from fwlab.experiments.store import NotStored
from fwlab.identity import identity
from fwlab.solvers import registry
from fwlab.solvers.frank_wolfe import FrankWolfe
from fwlab.versions import Unidentifiable


class NoOperation(FrankWolfe):
    def iterate(self, state, workspace):
        return 0.0


def test_a_method_replaced_in_the_registry_is_another_run(visitor, monkeypatch):
    before = visitor.primal()
    monkeypatch.setitem(registry.REGISTRY, "fw", lambda: NoOperation())
    assert visitor.primal() != before and visitor.trained == 2


def test_a_patched_method_of_the_core_is_run_and_not_stored(visitor, monkeypatch):
    before = visitor.primal()
    with monkeypatch.context() as patched:
        patched.setattr(FrankWolfe, "iterate", NoOperation.iterate)
        with pytest.warns(NotStored, match="frank_wolfe has an attribute iterate that a program"):
            assert visitor.primal() != before
    assert visitor.primal() == before and visitor.trained == 2


def wrapper(function):
    @functools.wraps(function)
    def called(*arguments):
        return function(*arguments)

    return called


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fwlab.primal_dual.moreau_envelope", None),
        ("fwlab.problem.Problem.lam_n", property(lambda self: 1.0)),
        ("fwlab.primal_dual.PrimalDual.lam_n", property(lambda self: 1.0)),
        ("fwlab.problem.Problem.objective", wrapper(fwlab.Problem.objective)),
        ("fwlab.losses.MaxHinge.polytopes", lambda self, y, m: None),
        ("fwlab.solvers.frank_wolfe.FrankWolfe.iterate", FrankWolfe.__init__),
        ("fwlab.losses.DOMAIN_TOLERANCE", 1e-3),
        ("fwlab.losses.MOST_VERTICES", True),
        ("fwlab.losses.TopK", fwlab.Usunier),
        ("fwlab.losses.np", functools),
    ],
)
def test_every_patch_of_the_core_is_seen(monkeypatch, name, value):
    before = identity()
    monkeypatch.setattr(name, value, raising=False)
    with pytest.raises(Unidentifiable, match=f"has an attribute {name.rpartition('.')[2]} that"):
        identity()
    monkeypatch.undo()
    assert identity() == before


@pytest.mark.parametrize("part", ["__code__", "__defaults__", "__kwdefaults__"])
def test_a_function_that_is_changed_in_place_is_seen(monkeypatch, part):
    identity()
    other = {"rng": 7} if part == "__kwdefaults__" else getattr(fwlab.verify, part)
    monkeypatch.setattr(fwlab.solve, part, other)
    with pytest.raises(Unidentifiable, match="has an attribute solve that"):
        identity()


def changed(function):
    """Return a function that does something else, with the arguments of the given one."""
    return function.__code__.replace(co_consts=(*function.__code__.co_consts, "changed"))


@pytest.mark.parametrize(
    "function",
    [
        vars(fwlab.primal_dual.PrimalDual)["lam_n"].fget,
        vars(fwlab.operators.domains.RowPolytopes)["layout"].func,
        vars(fwlab.Result)["load"].__func__,
    ],
    ids=["property", "cached property", "class method"],
)
def test_a_function_inside_a_member_that_is_changed_in_place_is_seen(monkeypatch, function):
    identity()
    monkeypatch.setattr(function, "__code__", changed(function))
    with pytest.raises(Unidentifiable, match=f"has an attribute {function.__name__} that"):
        identity()


def test_a_class_with_other_bases_is_seen():
    bases = FrankWolfe.__bases__
    identity()
    try:
        FrankWolfe.__bases__ = (type("Other", bases, {}),)
        with pytest.raises(Unidentifiable, match="has an attribute FrankWolfe that"):
            identity()
    finally:
        FrankWolfe.__bases__ = bases


def test_a_patch_of_another_part_counts_where_it_is_reached(monkeypatch):
    def reaches(folder):
        return fwlab.path(folder, [1.0])

    identity(reaches)
    monkeypatch.setattr("fwlab.experiments.path.solve", None)
    assert identity(len)
    with pytest.raises(Unidentifiable, match=r"\.path has an attribute solve that"):
        identity(reaches)


def test_no_patch_is_seen_where_there_is_none():
    for module in ("cli", "newton_or_not", "distributed", "testing", "estimators"):
        with contextlib.suppress(ImportError):
            importlib.import_module(f"fwlab.{module}")
    copy.copy(fwlab.TopK(2))  # copyreg adds a name to the class
    assert identity()


def test_a_warning_is_no_patch(monkeypatch):
    """Python notes in the globals of a module which warnings it has shown."""
    monkeypatch.setitem(vars(fwlab.projections), "__warningregistry__", {"version": 1})
    assert identity()


def test_the_core_edited_after_its_import_is_not_stored(visitor, monkeypatch):
    monkeypatch.setitem(versions.STATES["fwlab"], versions.__file__, None)
    with pytest.warns(NotStored, match=r"own fw will not be stored: .* was edited after"):
        visitor.primal()
    assert not list((visitor.folder / "runs").glob("*"))


def test_versions_are_part_of_every_key(monkeypatch):
    before = identity()
    monkeypatch.setattr("numpy.__version__", "99")
    assert identity() != before


CALLS = [0]


class Counting(NoOperation):
    def iterate(self, state, workspace):
        CALLS[0] += 1
        return float(CALLS[0])


def test_state_that_an_earlier_run_changed_is_seen(visitor, monkeypatch):
    for name in ("fw", "bcfw"):
        monkeypatch.setitem(registry.REGISTRY, name, lambda: Counting())
    problem = problem_of(fwlab.TopK(2))
    found = compare({"own": problem}, ["fw", "bcfw"], max_iter=2, out=visitor.folder)
    assert list(found.not_stored) == [("own", "bcfw")]
    assert len(list(visitor.folder.glob("runs/*.npz"))) == 1
    assert "no longer what it was" in found.table()


def test_a_part_is_identified_by_its_sources(tmp_path, monkeypatch):
    file = tmp_path / "one.py"
    monkeypatch.setattr(versions, "FOLDER", tmp_path)
    monkeypatch.setitem(versions.STATES, "fwlab.made", {str(file): None})
    found = set()
    for text in ("x = 1", "x = 2", "x = 2  # two"):
        file.write_text(text)
        versions.part_version.cache_clear()
        found.add(versions.part_version("fwlab.made"))
    versions.part_version.cache_clear()
    assert len(found) == 3


def test_a_patch_before_the_first_key_is_seen(tmp_path):
    code = (
        "import fwlab, fwlab.solvers.frank_wolfe as module\n"
        "from fwlab.identity import identity\n"
        "module.FrankWolfe.iterate = None\n"
        "try:\n"
        "    identity()\n"
        "except TypeError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith(
        "fwlab.solvers.frank_wolfe has an attribute iterate that a program"
    )
