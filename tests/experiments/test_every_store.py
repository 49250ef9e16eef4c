"""No store answers for other code: it computes again, or refuses the folder."""

import contextlib
import io
import warnings

import numpy as np
import pytest
from visiting import LOSS, problem_of

import fwlab
from figures.kit.study import Study
from fwlab import distributed, versions
from fwlab.distributed.dask import state as dask_state
from fwlab.experiments import Cell, compare, run_cells
from fwlab.experiments.store import NotStored
from paper_checks import outcomes, run
from paper_checks.ledger import CLAIMS, Case, Claim
from paper_checks.modules import ClaimFile
from paper_checks.mutation import __main__ as mutation
from paper_checks.mutation.judging import MutantResult
from tests.distributed.on_cluster import DriverHere, client_of, on_cluster

FACTORS = """
import os
import threading
from pathlib import Path

ENVIRONMENT = float(os.environ["VISITOR_WEIGHT"])
FILE = float(Path(__file__).with_name("weight.txt").read_text())
UNRELATED = 1
LOCK = threading.Lock()
GENERATOR = (i for i in range(3))
"""
USES = "upper[0] = scaled(TOP) * self.factor() * factors.ENVIRONMENT * factors.FILE"


def out_of_core(loss):
    problem = problem_of(loss)
    return distributed.OutOfCoreProblem(problem.X, problem.y, loss, problem.lam, chunk_rows=5)


def compared(loss, folder):
    found = compare({"own": problem_of(loss)}, ["fw"], max_iter=3, out=folder)
    return found.results["own", "fw"].primal, bool(found.stored)


def primal_of(loss):
    return fwlab.solve(problem_of(loss), "fw", max_iter=3).primal


def answered_from(folder, value_of):
    """Return a value, and whether files in the folder answered: none was written, none warned."""
    before = {file.stat().st_mtime_ns for file in folder.glob("*.json")}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", NotStored)
        value = value_of()
    after = {file.stat().st_mtime_ns for file in folder.glob("*.json")}
    return value, bool(before) and before == after and not told


def cells(loss):
    return [Cell("one", primal_of, {"loss": loss})]


def in_a_cell(loss, folder):
    return answered_from(folder, lambda: run_cells(cells(loss), folder)["one"])


def in_a_figure(loss, folder):
    """Ask the cells of a figure; what `figures keep` copies has no key, and a replay judges it."""
    study = Study("own", "quick", folder)

    def computed():
        study.compute(cells(loss))
        return study.values["one"]

    return answered_from(folder / "cells", computed)


def in_the_ledger(loss, folder):
    """Ask the kept record of a claim whose form trains with the loss."""
    keep = folder / "records"
    told = io.StringIO()  # why the record is not kept
    CLAIMS["Visitor-1"] = Claim(
        "Visitor-1",
        "(1)",
        "The primal value is 0.",
        lambda case: outcomes.equal(primal_of(loss), 0.0),
        lambda rng, deep: [Case(kind="number", x=1)],
    )
    files = [ClaimFile("", "visitor.losses", ("Visitor-1",))]
    try:
        with contextlib.redirect_stderr(told):
            (found,), answered = answered_from(
                keep, lambda: [*run.run(["Visitor-1"], keep=keep, files=files)]
            )
    finally:
        del CLAIMS["Visitor-1"]
    return found["witness"], answered and not told.getvalue()


def along_a_path(loss, folder):
    problem = out_of_core(loss)
    C = 1.0 / (problem.lam * problem.n_samples)
    (point,) = distributed.path(problem, [C], folder, method="fw", max_iter=3, tol=1e-5)
    return point.result.primal, point.stored


def resumed(problem, folder):
    file = folder / "run.npz"
    found = distributed.solve(problem, "fw", max_iter=3, tol=1e-5, checkpoint=file)
    return found.primal, "Resumed" in found.message


def from_a_checkpoint(loss, folder):
    return resumed(out_of_core(loss), folder)


def from_a_checkpoint_of_dask(loss, folder):
    """Ask the checkpoint of a run on a cluster, which stores nothing else under a key."""
    return resumed(on_cluster(problem_of(loss), CLIENTS[0], 2), folder)


STORES = [
    compared,
    in_a_cell,
    in_a_figure,
    in_the_ledger,
    along_a_path,
    from_a_checkpoint,
    from_a_checkpoint_of_dask,
]
CLIENTS = []


@pytest.fixture(scope="module")
def cluster():
    """Provide a client to the stores on a cluster."""
    with client_of(1) as client:
        CLIENTS.append(client)
        yield
        CLIENTS.clear()


@pytest.fixture(autouse=True)
def cluster_if_needed(request, monkeypatch):
    if request.node.callspec.params.get("store") is from_a_checkpoint_of_dask:
        request.getfixturevalue("cluster")
        monkeypatch.setattr(dask_state, "Driver", DriverHere)


@pytest.fixture
def edited(visitor, monkeypatch):
    """Provide the visitor, whose loss depends on a file and on the environment, too."""
    source = LOSS.replace(
        "from visitor.helpers", "from visitor import factors\nfrom visitor.helpers"
    )
    visitor.write("losses", source.replace("upper[0] = scaled(TOP) * self.factor()", USES))
    visitor.write("factors", FACTORS)
    (visitor.folder / "visitor" / "weight.txt").write_text("1.0")
    monkeypatch.setenv("VISITOR_WEIGHT", "1.0")
    return visitor


def asked(store, loss, folder):
    """Return what a store answers, (None, False) for a folder that it refuses."""
    (folder / "comparison.toml").unlink(missing_ok=True)
    with warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("ignore", NotStored)
        return store(loss, folder)
    return None, False


def edit(module, old, new):
    return lambda visitor, patch: visitor.edit(module, old, new)


def in_the_file(visitor, patch):
    (visitor.folder / "visitor" / "weight.txt").write_text("2.0")


def at_run_time(name, value):
    """Return a change of a module that stays imported."""

    def change(visitor, patch):
        losses = visitor.imported()
        patch.setattr(losses, name, value)
        return losses

    return change


def of_a_method(visitor, patch):
    losses = visitor.imported()
    patch.setattr(losses.Base, "factor", lambda self: 2.0)
    return losses


def of_fwlab(visitor, patch):
    patch.setattr(fwlab.Problem, "lam_n", property(lambda self: 3.0))


def upgraded(visitor, patch):
    patch.setattr(np, "__version__", "99.0")


def fwlab_upgraded(visitor, patch):
    read = versions.Path.read_bytes
    versions.part_version.cache_clear()
    later = lambda file: b"later" if file.suffix == ".py" else read(file)  # noqa: E731
    patch.setattr(versions.Path, "read_bytes", later)


CHANGES = {
    "base class": edit("losses", "return 1.0", "return 2.0"),
    "method": edit("losses", "* self.weight", "* self.weight * 2"),
    "default": edit("losses", "weight: float = 1.0", "weight: float = 1.5"),
    "constant": edit("losses", "TOP = 0.5", "TOP = 0.7"),
    "helper in a second module": edit("helpers", "FACTOR * x", "FACTOR * x + 1"),
    "constant in a second module": edit("helpers", "FACTOR = 1.0", "FACTOR = 1.25"),
    "environment": lambda visitor, patch: patch.setenv("VISITOR_WEIGHT", "2.0"),
    "file": in_the_file,
    "at run time": at_run_time("TOP", 0.9),
    "patched method": of_a_method,
    "patched fwlab": of_fwlab,
    "another version of numpy": upgraded,
    "another version of fwlab": fwlab_upgraded,
}


@pytest.mark.turns
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_no_store_answers_for_other_code(edited, monkeypatch, store, change):
    loss = edited.imported().Mine()
    first, _ = asked(store, loss, edited.folder)
    assert asked(store, loss, edited.folder) == (first, True)
    assert asked(store, edited.imported().Mine(), edited.folder) == (first, True)
    with monkeypatch.context() as patch:
        losses = change(edited, patch) or edited.imported()
        assert not asked(store, losses.Mine(), edited.folder)[1]
    versions.part_version.cache_clear()


@pytest.mark.turns
@pytest.mark.parametrize("store", STORES)
def test_the_state_of_an_instance_and_captured_variables_count(edited, store):
    losses = edited.imported()

    def closed(w):
        class Closed(losses.Base):
            def factor(self):
                return w

        return Closed()

    plain, heavy = losses.Mine(), losses.Mine(2.0)
    for one, other in ((closed(0.5), closed(1.0)), (plain, heavy)):
        folder = edited.folder / type(one).__name__
        folder.mkdir()
        first, _ = asked(store, one, folder)
        assert asked(store, one, folder) == (first, True)
        second, answered = asked(store, other, folder)
        assert second != first and not answered


@pytest.mark.parametrize("store", STORES)
def test_what_code_does_not_reach_changes_nothing(edited, store):
    losses = edited.imported()
    first, _ = asked(store, losses.Mine(), edited.folder)
    edited.edit("factors", "UNRELATED = 1", "UNRELATED = 2  # and a comment")
    edited.edit("losses", "UNUSED = 1", "UNUSED = (i for i in range(3))")
    assert asked(store, edited.imported().Mine(), edited.folder) == (first, True)


@pytest.mark.parametrize("change", [of_fwlab, upgraded, fwlab_upgraded])
def test_scores_of_mutation_are_kept_for_the_same_code_alone(tmp_path, monkeypatch, capsys, change):
    """They judge the rows of the papers, so that nothing of a visitor enters."""
    folder, result = tmp_path / "scores", MutantResult("a change", ("a row",), "a row")

    def kept():
        return mutation.store_in(folder).read("change", [result.key], mutation.result_of)

    mutation.store_in(folder).add("change", result.key, result)
    assert kept() == {result.key: result}
    with monkeypatch.context() as patch:
        change(None, patch)
        mutation.store_in(folder).add("change", "another change", result)
        assert kept() == {}
        assert ("nothing is kept" in capsys.readouterr().err) == (change is of_fwlab)
    versions.part_version.cache_clear()
    assert kept() == {result.key: result}
