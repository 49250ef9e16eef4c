"""A path over C out of core: warm starts, results in a folder, accuracies on validation samples."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from out_of_core import RowChunks, out_of_core
from solvers.solver_table import Case

import fwlab
from fwlab import Status, distributed
from fwlab.distributed import OutOfCoreProblem, ValidationSet

CS = [0.1, 1.0]


def problem():
    return out_of_core(Case(n=40).problem(), 7)


def test_each_run_starts_where_the_one_before_it_ended():
    points = list(distributed.path(problem(), CS, tol=1e-2))
    A0 = None
    for point, C in zip(points, CS, strict=True):
        given = fwlab.Problem(problem().source.X, problem().y, problem().loss, C=C, n_classes=4)
        alone = distributed.solve(out_of_core(given, 7), tol=1e-2, A0=A0)
        assert (point.C, point.file, point.stored, point.accuracies) == (C, None, False, ())
        assert_array_equal(point.result.W, alone.W)
        A0 = alone.A


def test_another_lam_gives_the_problem_that_has_it():
    case, lam = Case(n=40), 0.3
    other = out_of_core(case.problem(), 7).with_lam(lam)
    same = OutOfCoreProblem(
        case.X, case.y, case.entry.loss, lam, n_classes=4, sample_weight=None, chunk_rows=7
    )
    runs = [distributed.solve(one, tol=0.0, max_iter=3) for one in (other, same)]
    assert_array_equal(runs[0].W, runs[1].W)
    assert runs[0].gap == runs[1].gap


def test_ctrl_c_ends_the_path_and_the_next_call_goes_on(tmp_path):
    def press(progress):
        if progress.iteration == 1:
            raise KeyboardInterrupt

    options = {"tol": 1e-4, "check_every": 1}
    stopped = list(distributed.path(problem(), CS, tmp_path, callback=press, **options))
    assert [point.result.status for point in stopped] == [Status.INTERRUPTED]
    assert {file.name for file in tmp_path.iterdir()} == {".lock", "C=0.1.unfinished.npz"}
    points = list(distributed.path(problem(), CS, tmp_path, **options))
    plain = list(distributed.path(problem(), CS, **options))
    for point, other in zip(points, plain, strict=True):
        assert_array_equal(point.result.W, other.result.W)
    assert all(point.stored for point in distributed.path(problem(), CS, tmp_path, **options))


def test_results_of_other_settings_are_refused(tmp_path):
    list(distributed.path(problem(), CS, tmp_path, tol=1e-2))
    with pytest.raises(ValueError, match=r"out must be a new folder .* its tol is 0.01, and"):
        list(distributed.path(problem(), CS, tmp_path, tol=1e-3))
    with pytest.raises(ValueError, match="Cs must be finite"):
        distributed.path(problem(), [-1.0])
    with pytest.raises(TypeError, match="rng must be an integer"):
        distributed.path(problem(), CS, rng=np.random.default_rng(0))


def test_an_unknown_label_counts_as_wrong():
    case = Case(n=40)
    y = np.where(np.arange(40) < 10, 9, case.y)
    for X in (case.X, RowChunks(case.X, 11)):
        (point,) = distributed.path(problem(), [0.5], validation=(X, y), tol=1e-3)
        for found in point.accuracies:
            low, high = point.result.proved_accuracy(case.X, y, found.k)
            assert (found.low, found.high) == pytest.approx((low, high))
            scores = case.X[10:] @ point.result.W.T
            share = fwlab.metrics.topk_accuracy(y[10:], scores, found.k) * 30 / 40
            assert found.share == pytest.approx(share)
    with pytest.raises(ValueError, match=r"y must hold labels of the classes .* got none of them"):
        ValidationSet(case.X, np.full(40, 9), problem())


@pytest.mark.parametrize("X, y, sentence", [
    (np.ones((3, 5)), [0, 1], "validation must have one label per row of X, 3; got 2"),
    (np.ones((2, 4)), [0, 1], "validation must have 5 features; got 4"),
    (np.ones((2, 5)), [[0, 1]], r"y must be 1-D; got shape \(1, 2\)"),
])  # fmt: skip
def test_validation_samples_must_fit(X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        distributed.path(problem(), CS, validation=(X, np.array(y)))
