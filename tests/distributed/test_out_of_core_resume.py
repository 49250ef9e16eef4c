"""A run out of core that was killed goes on from its checkpoint as if nobody had killed it."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from out_of_core import RowChunks, out_of_core
from solvers.solver_table import Case

import fwlab
from fwlab import Status, distributed
from fwlab.distributed.checkpoint import Checkpoint, difference
from fwlab.identity import digest

ROWS = 7
CASES = [Case(n=40), Case("TopK-1", form="sparse", n=40), Case(n=40, smoothing=0.5, weighted=True)]


class Killed(Exception):
    """Stands for the end of a process."""


def killed_and_resumed(outside, file, left, method="ascent", **options):
    """Return the result of a run that is killed each time it has read `left` chunks."""
    chunks, kills = outside.chunks, 0

    def counted(order=None):
        for part in chunks(order):
            if outside.left == 0:
                raise Killed
            outside.left -= 1
            yield part

    outside.chunks = counted
    while True:
        outside.left = left
        try:
            result = distributed.solve(
                outside, method, checkpoint=file, checkpoint_every=0.0, **options
            )
        except Killed:
            kills += 1
            assert kills < 100, "the run does not get on"
        else:
            return result, kills


def assert_same(run, other):
    assert_array_equal(run.W, other.W)
    assert_array_equal(run.A.toarray(), other.A.toarray())
    for name in ("primal", "dual", "gap", "gap_error", "nit", "status", "infeasibility"):
        assert getattr(run, name) == getattr(other, name), name
    for name in ("iteration", "gap", "dual", "n_lmo", "n_steps", "step"):
        assert_array_equal(getattr(run.trace, name), getattr(other.trace, name), name)


@pytest.mark.turns
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("method, options", [
    ("ascent", {"tol": 1e-3}),
    ("ascent", {"tol": 1e-3, "source": RowChunks}),
    ("ascent", {"tol": 1e-2, "order": "gap"}),
    ("bcfw", {"tol": 0.0, "max_iter": 5, "step": "adaptive"}),
    ("fw", {"tol": 0.0, "max_iter": 6, "check_every": 2}),
])  # fmt: skip
def test_a_killed_run_ends_with_the_same_numbers(case, method, options, tmp_path):
    problem, options = case.problem(), dict(options)
    source = options.pop("source", None)
    outside = out_of_core(problem, ROWS, source and source(problem.X, ROWS))
    plain = distributed.solve(outside, method, **options)
    # the link and the first judgement of each start take chunks, too
    run, kills = killed_and_resumed(outside, tmp_path / "run.npz", 22, method, **options)
    assert kills > 1
    assert_same(run, plain)
    assert "Resumed after iteration" in run.message


def test_a_finished_run_ends_at_once_and_goes_on_with_another_limit(tmp_path):
    problem, file = out_of_core(CASES[0].problem(), ROWS), tmp_path / "run.npz"
    plain = distributed.solve(problem, tol=0.0, max_iter=12)
    short = distributed.solve(problem, tol=0.0, max_iter=5, checkpoint=file)
    assert_same(distributed.solve(problem, tol=0.0, max_iter=5, checkpoint=file), short)
    longer = distributed.solve(problem, tol=0.0, max_iter=12, checkpoint=file)
    assert_array_equal(longer.W, plain.W)
    assert longer.made_by["run"] == short.made_by["run"]
    assert distributed.solve(problem, tol=0.0, max_iter=12, checkpoint=file).nit == 12
    with_less = distributed.solve(problem, tol=0.0, max_iter=3, checkpoint=file)
    assert (with_less.nit, with_less.dual) == (12, plain.dual)
    other = distributed.solve(problem, tol=0.0, max_iter=1, checkpoint=tmp_path / "other.npz")
    assert other.made_by["run"] != short.made_by["run"]


def test_another_tol_is_met_from_the_checkpoint(tmp_path):
    problem, file = out_of_core(CASES[0].problem(), ROWS), tmp_path / "run.npz"
    distributed.solve(problem, tol=1e-2, checkpoint=file)
    result = distributed.solve(problem, tol=1e-7, checkpoint=file)
    assert result.success and result.gap <= 1e-7
    assert distributed.solve(problem, tol=1e-1, checkpoint=file).success


def test_ctrl_c_in_a_pass_loses_no_chunk(tmp_path):
    from test_out_of_core_solve import PressesCtrlC

    problem, file = CASES[0].problem(), tmp_path / "run.npz"
    X = PressesCtrlC(problem.X, ROWS)
    outside = out_of_core(problem, ROWS, X)
    for pressed in (4, 3):
        X.interrupted = X.passes + pressed
        stopped = distributed.solve(outside, tol=0.0, max_iter=6, checkpoint=file)
        assert stopped.status is Status.INTERRUPTED
    result = distributed.solve(outside, tol=0.0, max_iter=6, checkpoint=file)
    assert_same(result, distributed.solve(outside, tol=0.0, max_iter=6))


@pytest.mark.parametrize("change, sentence", [
    ({"lam": 0.3}, "its lam is 0.1, and this one's is 0.3"),
    ({"loss": fwlab.TopK(1)}, r"its loss is .*, and this one's is TopK\(k=1\)"),
    ({"X": -1.0}, "its X is float64 "),
    ({"chunk_rows": 8}, "its chunks is"),
    ({"rng": 1}, "its rng is"),
    ({"method": "bcfw"}, "its method is Ascent"),
    ({"A0": True}, "its start is"),
    ({"smoothing": 0.5}, "its smoothing is 0.0, and this one's is 0.5"),
    ({"sample_weight": np.arange(1.0, 41.0)}, "its sample_weight is"),
    ({"y": np.arange(40) % 4}, "its y is"),
    ({"n_classes": 7}, "its classes is"),
])  # fmt: skip
def test_a_checkpoint_of_another_run_is_refused(change, sentence, tmp_path):
    problem, file = replace(CASES[0]).problem(), tmp_path / "run.npz"
    base = {"lam": 0.1, "loss": problem.loss, "chunk_rows": ROWS, "y": problem.y, "n_classes": 6}
    options = {"max_iter": 2, "checkpoint": file}

    def made(X=1.0, **changed):
        return distributed.OutOfCoreProblem(X * problem.X, **{**base, **changed})

    first = distributed.solve(made(), **options)
    of_problem = {
        n: v for n, v in change.items() if n in (*base, "X", "smoothing", "sample_weight")
    }
    of_run = {n: v for n, v in change.items() if n not in of_problem}
    if "A0" in of_run:
        of_run["A0"] = 0.5 * first.A
    with pytest.raises(ValueError, match=f"checkpoint must be a new file or .*{sentence}"):
        distributed.solve(made(**of_problem), **options, **of_run)


def test_a_run_starts_from_the_dual_point_of_a_checkpoint_of_another_run(tmp_path):
    problem, file = out_of_core(CASES[0].problem(), ROWS), tmp_path / "run.npz"
    first = distributed.solve(problem, max_iter=3, tol=0.0, checkpoint=file)
    with pytest.raises(ValueError, match=r"A0='.*run.npz' and a new file start from its dual"):
        distributed.solve(problem, "bcfw", checkpoint=file)
    for start in (file, str(file)):
        runs = [
            distributed.solve(problem, "bcfw", tol=0.0, max_iter=2, A0=A0)
            for A0 in (start, first.A)
        ]
        assert_array_equal(runs[0].W, runs[1].W)
    C = 1.0 / (problem.lam * problem.n_samples)
    paths = [
        list(distributed.path(problem, [C], max_iter=2, tol=0.0, A0=A0)) for A0 in (file, first.A)
    ]
    assert_array_equal(paths[0][0].result.W, paths[1][0].result.W)
    with pytest.raises(ValueError, match=r"A0 must be \(n, m\)"):
        distributed.solve(out_of_core(Case(n=50).problem(), ROWS), A0=file)
    with pytest.raises(FileNotFoundError):
        distributed.solve(problem, A0=tmp_path / "none.npz")


@pytest.mark.parametrize("content", [b"", b"PK\3\4 cut", None])
def test_a_damaged_file_is_refused(content, tmp_path):
    problem, file = out_of_core(CASES[0].problem(), ROWS), tmp_path / "run.npz"
    if content is None:
        np.savez(file, W=np.eye(2))
    else:
        file.write_bytes(content)
    with pytest.raises(ValueError, match=r"path must name a file that Checkpoint\.save wrote"):
        distributed.solve(problem, checkpoint=file)
    with pytest.raises(ValueError, match=r"checkpoint must name a file; .* is a folder"):
        distributed.solve(problem, checkpoint=tmp_path)


@pytest.fixture
def stored(tmp_path):
    """Return a problem, a file, and the checkpoint of three passes in it."""
    problem, file = out_of_core(CASES[0].problem(), ROWS), tmp_path / "run.npz"
    distributed.solve(problem, tol=0.0, max_iter=3, checkpoint=file)
    return problem, file, Checkpoint.load(file)


def test_an_infeasible_checkpoint_is_refused(stored):
    problem, file, checkpoint = stored
    packed = [2.0 * rows for rows in checkpoint.packed]
    replace(checkpoint, packed=packed).save(file)
    with pytest.raises(ValueError, match="checkpoint must be feasible; a row from 0 to 6 is not"):
        distributed.solve(problem, checkpoint=file)


def test_a_fingerprint_tells_types_and_shapes_and_entries_apart():
    ones = np.ones((2, 3))
    others = [ones.T, ones.astype(np.float32), ones.ravel(), ones + 1e-16, ones - 1e-16]
    prints = [digest(array) for array in (ones, *others)]
    assert len(set(prints)) == 5 and prints[4] == prints[0]
    assert digest(np.asfortranarray(ones)) == prints[0]
    assert digest(np.array(["a"])) != digest(np.array(["b"]))
    assert digest(np.empty(0)) != digest(np.empty((0, 0)))


KILL_ITSELF = """
import os, signal, sys
import numpy as np
import fwlab
from fwlab import distributed

rng = np.random.default_rng(0)
y = np.arange(60) % 4
X = rng.normal(size=(60, 5)) + 2 * np.eye(4, 5)[y]
problem = distributed.OutOfCoreProblem(X, y, fwlab.TopK(2), C=1.0, chunk_rows=16)

def kill(progress):
    if progress.iteration == 3 and sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)

result = distributed.solve(
    problem, tol=0.0, max_iter=8, callback=kill, check_every=1,
    checkpoint=sys.argv[1], checkpoint_every=0.0,
)
print(result.W.tobytes().hex())
"""


@pytest.mark.turns
@pytest.mark.long
def test_a_process_that_was_really_killed(tmp_path):
    def run(file, *what):
        command = [sys.executable, "-c", KILL_ITSELF, str(tmp_path / file), *what]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=Path(fwlab.__file__).parents[1]
        )

    assert run("run.npz", "kill").returncode == -9
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]
    resumed, plain = run("run.npz", "go on"), run("other.npz", "go on")
    assert resumed.returncode == plain.returncode == 0, resumed.stderr
    assert resumed.stdout == plain.stdout


def test_the_first_difference_is_that_of_the_asked_run():
    found = difference({"chunks": 1, "loss": "TopK"}, {"loss": "MaxHinge", "chunks": 2})
    assert found == "its loss is TopK, and this one's is MaxHinge"
