"""CrossEntropy and TopKEntropy out of core have the optimum in memory, and no array is (n, m)."""

import re
import signal
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from out_of_core import out_of_core

import fwlab
from fwlab import Status, distributed
from fwlab.certificate import certificate_of
from fwlab.distributed import OutOfCoreProblem, PackedResult, entropies
from fwlab.distributed.entropies import PassWatch, rows_as_one_part
from fwlab.operators.precision import DOUBLE
from fwlab.operators.sums import gamma
from fwlab.solvers import preconditioner, tensor_preconditioner
from fwlab.solvers.lbfgs import SmoothPoint
from fwlab.solvers.tensor_point import TensorPoint
from fwlab.tensor_certificate import certificate_of_machines, machine_terms

N, D, M = 60, 6, 5
FORMS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": lambda X: scipy.sparse.csr_matrix(X * (X > 0.3)),
}


def problem_of(form="dense", loss=None, weighted=True, C=10.0, n=N):
    rng = np.random.default_rng(3)
    X, omega = rng.normal(size=(n, D)), rng.uniform(0.2, 3.0, n)
    y = (X @ rng.normal(size=(D, M)) + rng.normal(size=(n, M))).argmax(axis=1)
    omega[::9] = 0.0
    weight = omega if weighted else None
    loss = loss or fwlab.CrossEntropy()
    return fwlab.Problem(FORMS[form](X), y, loss, C=C, n_classes=M, sample_weight=weight)


def outside_of(problem, chunk_rows=13):
    return out_of_core(problem, chunk_rows)


def rows_of(problem, chunk_rows=13):
    return rows_as_one_part(outside_of(problem, chunk_rows), PassWatch())


@pytest.fixture
def small_parts(monkeypatch):
    """Cut chunks into parts of five rows, or of six with a sparse X."""
    monkeypatch.setattr(entropies, "ENTRIES", 5 * D)


@pytest.fixture
def W():
    return np.random.default_rng(5).normal(size=(M, D))


@pytest.mark.parametrize("form, rows, loss", [
    ("dense", N, fwlab.CrossEntropy()),
    ("dense", 13, fwlab.CrossEntropy()),
    ("float32", N, fwlab.CrossEntropy()),
    ("float32", 13, fwlab.CrossEntropy()),
    ("sparse", N, fwlab.CrossEntropy()),
    ("sparse", 13, fwlab.CrossEntropy()),
    ("dense", 13, fwlab.TopKEntropy(2)),
])  # fmt: skip
def test_the_optimum_is_the_one_in_memory(form, rows, loss):
    problem = problem_of(form, loss, C=1.0)
    inside = fwlab.solve(problem, "lbfgs", tol=1e-7)
    outside = distributed.solve(outside_of(problem, rows), tol=1e-7)
    assert outside.success and outside.A is None and outside.method == "lbfgs"
    for one, other in [(inside, outside), (outside, inside)]:
        assert one.dual - one.gap_error <= other.primal + other.gap_error
    assert outside.gap <= 1e-7 and 0 < outside.gap_error < 1e-11
    assert abs(problem.primal(outside.W) - outside.primal) <= outside.gap_error
    assert np.linalg.norm(outside.W - inside.W) <= outside.distance + inside.distance
    assert_array_equal(outside.predict(problem.X), inside.predict(problem.X))


@pytest.mark.small
@pytest.mark.parametrize("form", FORMS)
def test_a_point_is_the_one_in_memory(form, W, small_parts):
    problem = problem_of(form)
    expected = SmoothPoint.at(problem, W, np.empty((N, M)))
    found = TensorPoint.at(rows_of(problem), W, DOUBLE)
    assert_allclose(found.primal, expected.primal, rtol=1e-14)
    assert_allclose(found.gradient, expected.gradient(problem.lam), atol=1e-13)


@pytest.mark.small
@pytest.mark.parametrize("rows", [N, 13])
@pytest.mark.parametrize("form", FORMS)
def test_the_certificate_is_the_one_in_memory(form, rows, W, small_parts):
    """The bounds differ by the additions of parts and the longest columns."""
    problem, view = problem_of(form), rows_of(problem_of(form), rows)
    terms = machine_terms(view, W)
    found = certificate_of_machines(view, terms, terms)
    A = (
        problem.sample_weight[:, None]
        * problem.polytopes.losses_and_duals(problem.features.scores(W))[1]
    )
    expected = certificate_of(problem, A, W)
    error = found.gap_error + expected.gap_error
    assert abs(found.gap - expected.gap) <= error
    assert abs(found.primal - expected.primal) <= error
    assert abs(found.dual - expected.dual) <= error
    assert expected.gap_error / 4 < found.gap_error < 4 * expected.gap_error
    assert_allclose(terms.V, problem.link(A), atol=1e-13)


@pytest.mark.small
def test_errors_count_the_longest_part_and_the_longest_row(monkeypatch):
    problem = problem_of("sparse")
    chunks = [problem.X[:2], problem.X[2:40], problem.X[40:]]
    outside = OutOfCoreProblem(chunks, problem.y, problem.loss, C=1.0, n_classes=M)
    features = rows_as_one_part(outside, PassWatch()).features
    assert features.row_terms() == np.diff(problem.X.indptr).max() < D
    found = features.column_error_norms(np.ones(N), M)
    assert_array_equal(found, gamma(38 + 3) * np.ones(N))
    monkeypatch.setattr(entropies, "ENTRIES", 10 * M)
    assert [c.stop - c.start for c in features.slices(M)] == [2, 10, 10, 10, 8, 10, 10]
    starts = [0, *(c.stop for c in features.slices(M))]
    assert [c.start for c in features.slices(M)] == starts[:-1] and starts[-1] == N


@pytest.mark.small
@pytest.mark.parametrize("form", FORMS)
def test_the_preconditioner_is_the_one_in_memory(form, W, small_parts):
    """Up to sums in float32; of a sparse X it is the diagonal."""
    problem = problem_of(form)
    found = tensor_preconditioner.inverse_at_zero(rows_of(problem))(W)
    G = W.T if form == "sparse" else W
    expected = preconditioner.inverse_at_zero(problem)(G)
    assert_allclose(found, expected.T if form == "sparse" else expected, rtol=1e-4)
    assert preconditioner.cost_by_class(rows_of(problem)) == preconditioner.cost_by_class(problem)


def test_a_path_starts_each_run_at_the_last_machine(tmp_path):
    outside = outside_of(problem_of())
    points = list(distributed.path(outside, [0.1, 1.0], out=tmp_path, tol=1e-6))
    assert [point.result.success for point in points] == [True, True]
    at_C = outside.with_lam(1.0 / N)
    alone = distributed.solve(at_C, tol=1e-6, A0=points[0].result.W)
    assert_array_equal(points[1].result.W, alone.W)
    again = list(distributed.path(outside, [0.1, 1.0], out=tmp_path, tol=1e-6))
    assert all(point.stored for point in again)
    assert_array_equal(again[1].result.W, alone.W)
    assert again[1].result.A is None and again[1].result.distance == alone.distance


def test_validation_samples_have_an_interval():
    problem = problem_of()
    validation = problem.X, problem.y
    outside = outside_of(problem)
    (point,) = distributed.path(outside, [1.0], validation=validation, tol=1e-9)
    inside = fwlab.solve(problem_of(C=1.0), "lbfgs", tol=1e-9)
    (found,) = point.accuracies
    assert 0 < found.low <= np.mean(inside.predict(problem.X) == problem.y) <= found.high
    assert point.result.proved(problem.X).mean() > 0.5


class Killed(Exception):
    """Stands for the end of a process."""


def acting(outside, at, act):
    """Let a problem act before it gives the chunk of this number, counted from now on."""
    chunks, given = outside.chunks, iter(range(10**9))

    def counted(order=None):
        for part in chunks(order):
            if next(given) == at:
                act()
            yield part

    outside.chunks = counted


def kill():
    raise Killed


def test_a_killed_run_goes_on_from_its_machine(tmp_path):
    outside, file = outside_of(problem_of()), tmp_path / "run.npz"
    options = {"tol": 1e-6, "checkpoint": file, "checkpoint_every": 0.0}
    plain = distributed.solve(outside, tol=1e-6)
    broken = outside_of(problem_of())
    acting(broken, 5 * 6, kill)
    with pytest.raises(Killed):
        distributed.solve(broken, **options)
    run = distributed.solve(outside, **options)
    found = re.search(r"It began with the W after step (\d) of the checkpoint", run.message)
    assert int(found[1]) > 0 and run.success and run.nit < plain.nit
    assert run.trace.primal[0] < plain.trace.primal[0]
    # a finished run ends at once; the file starts another one
    assert distributed.solve(outside, **options).nit == 0
    with pytest.raises(ValueError, match=r"another run: its lam is .* from its W\."):
        distributed.solve(outside.with_lam(1.0), **options)
    assert distributed.solve(outside, tol=1e-6, A0=file).nit == 0


def test_ctrl_c_in_a_pass_ends_it():
    outside = outside_of(problem_of())
    plain = distributed.solve(outside, tol=0.0, max_iter=2)
    read, chunks = [], outside.chunks

    def counted(order=None):
        for part in chunks(order):
            read.append(part.n_samples)
            if len(read) == 5 * 4 + 2:  # point, preconditioner, two steps, two chunks of the third
                signal.raise_signal(signal.SIGINT)
            yield part

    outside.chunks = counted
    run = distributed.solve(outside, tol=0.0, max_iter=50)
    assert run.status is Status.INTERRUPTED
    assert len(read) == 5 * 4 + 2 + 5  # the certificate
    assert_array_equal(run.W, plain.W)
    assert run.gap == plain.gap > 0


def test_a_run_holds_nothing_of_the_size_of_the_scores(monkeypatch):
    """Of 60 samples, parts of five rows are seen at a time."""
    monkeypatch.setattr(entropies, "ENTRIES", 5 * D)
    seen, taken = [], fwlab.operators.simplices.cross_entropies

    def noted(scores, y):
        seen.append(scores.shape)
        return taken(scores, y)

    monkeypatch.setattr("fwlab.operators.simplices.cross_entropies", noted)
    distributed.solve(outside_of(problem_of()), tol=1e-4)
    assert max(shape[0] for shape in seen) == 5


def test_progress_has_the_machine_and_no_dual_point(capsys, monkeypatch):
    monkeypatch.setattr("fwlab.distributed.problem.SECONDS_BETWEEN_LINES", 0.0)
    seen = []

    def note(progress):
        seen.append((progress.A, progress.W, progress.state.seconds_to_certify(0.0)))
        assert not progress.W.flags.writeable

    run = distributed.solve(outside_of(problem_of()), tol=1e-3, callback=note, verbose=1)
    assert [A for A, _, _ in seen] == [None] * (run.nit + 1)
    assert_array_equal(seen[-1][1], run.W)
    assert seen[0][2] == 0 and all(seconds > 0 for _, _, seconds in seen[1:])
    assert re.search(r"^pass: (22|43)% of X, \d s left$", capsys.readouterr().err, re.MULTILINE)
    assert len(run.trace.gap) == run.nit + 1 and all(a >= b for a, b in pairwise(run.trace.primal))


def test_a_result_is_saved_without_a_dual_point(tmp_path):
    run = distributed.solve(outside_of(problem_of()), tol=1e-3)
    run.save(tmp_path / "run.npz")
    read = PackedResult.load(tmp_path / "run.npz")
    assert read.A is None and read.gap == run.gap
    assert_array_equal(read.W, run.W)


def test_a_start_may_be_a_dual_point_or_a_machine(W):
    problem = problem_of()
    A = 0.5 * fwlab.solve(problem, "lbfgs", tol=1e-3).A
    for given in (A, scipy.sparse.csr_array(A)):
        run = distributed.solve(outside_of(problem), tol=1e-5, A0=given, max_iter=0)
        assert_allclose(run.W, problem.link(A), atol=1e-13)
    assert_array_equal(distributed.solve(outside_of(problem), A0=W, max_iter=0).W, W)
    with pytest.raises(ValueError, match=r"A0 must be \(n, m\) = .* or a machine \(m, d\)"):
        distributed.solve(outside_of(problem), A0=np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"A0 must be \(n, m\) = \(60, 5\) if it is sparse"):
        distributed.solve(outside_of(problem), A0=scipy.sparse.csr_array((2, 2)))
    with pytest.raises(ValueError, match=r"A0 must be feasible; a row is .* away"):
        distributed.solve(outside_of(problem), A0=scipy.sparse.csr_array(A + 1.0))


def test_checkpoints_of_hinges_and_entropies_are_apart(tmp_path):
    problem = problem_of(weighted=False)
    hinge = outside_of(fwlab.Problem(problem.X, problem.y, fwlab.TopK(1), C=10.0), 20)
    entropy = outside_of(problem)
    one, other = tmp_path / "hinge.npz", tmp_path / "entropy.npz"
    distributed.solve(hinge, tol=1e-1, checkpoint=one)
    distributed.solve(entropy, tol=1e-1, checkpoint=other)
    for run, file in ((entropy, one), (hinge, other)):
        with pytest.raises(ValueError, match=r"another run: its loss is .* start "):
            distributed.solve(run, checkpoint=file)
    with pytest.raises(ValueError, match=r"A0 must name a checkpoint that holds a dual point; .*W"):
        distributed.solve(hinge, A0=other)
    # both losses have the same dual domain
    assert distributed.solve(entropy, A0=one, max_iter=0).W.any()


@pytest.mark.parametrize("method", ["ascent", "fw", "newton"])
def test_other_methods_are_refused(method):
    sentence = f'method must be "lbfgs" or "auto" out of core with an entropy; got {method!r}'
    with pytest.raises(ValueError, match=sentence):
        distributed.solve(outside_of(problem_of()), method)


def test_smoothing_is_refused():
    problem = problem_of()
    with pytest.raises(ValueError, match="smoothing must be 0 with CrossEntropy"):
        OutOfCoreProblem(problem.X, problem.y, fwlab.CrossEntropy(), C=1.0, smoothing=0.1)


def test_auto_is_ascent_for_hinges():
    hinge = fwlab.Problem(problem_of().X, problem_of().y, fwlab.TopK(2), C=1.0)
    assert distributed.solve(out_of_core(hinge, 13), "auto", tol=1e-2).method == "ascent"


def test_values_beyond_float32_are_computed_in_float64(W):
    """A warning of an overflow would be an error here."""
    problem, start = problem_of(), 1e39 * W
    run = distributed.solve(outside_of(problem), A0=start, max_iter=1)
    assert_allclose(run.trace.primal[0], problem.primal(start), rtol=1e-12)
    assert run.primal < run.trace.primal[0]
