"""Results of runs on tensors: starts, predictions, files, certificates of heads, refusals."""

from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest
from solvers.tensor_libraries import ELSEWHERE, LIBRARIES, LOSS, both, data

import fwlab
from fwlab.arrays import on_host
from fwlab.excess import excess_test
from fwlab.operators.precision import (
    require_subnormals,
)
from fwlab.solvers import tensor_lbfgs
from fwlab.solvers.tensor_lbfgs import TensorState


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param()


def test_starts(library):
    X, y = data()
    there, here = both(library, X, y, C=1.0)
    near = fwlab.solve(here, "lbfgs", tol=1e-8)
    for A0 in (near.W, near.A, library.tensor(near.W), library.tensor(near.A)):
        result = fwlab.solve(there, "lbfgs", tol=1e-5, A0=A0)
        assert result.nit == 0 and result.success
    with pytest.raises(ValueError, match=r"A0 must be \(n, m\) = \(300, 4\), or a machine"):
        fwlab.solve(there, "lbfgs", A0=np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"A0 must be feasible; a row is"):
        fwlab.solve(there, "lbfgs", A0=np.ones((300, 4)))
    with pytest.raises(ValueError, match=r"A0 must be finite"):
        fwlab.solve(there, "lbfgs", A0=np.full((4, 6), np.nan))


@pytest.mark.parametrize("names", [None, np.array(["a", "b", "c", "d"])])
def test_predictions_answer_in_kind(library, names):
    X, y = data()
    labels = y if names is None else names[y]
    there = fwlab.Problem(library.tensor(X), labels, LOSS, C=1.0)
    result = fwlab.solve(there, "auto", tol=1e-6)
    here = fwlab.solve(fwlab.Problem(X, labels, LOSS, C=1.0), "lbfgs", tol=1e-6)
    for rows in (X, library.tensor(X)):
        found = result.predict(rows)
        assert isinstance(found, library.kind if names is None else np.ndarray)
        assert (on_host(found) == here.predict(X)).mean() > 0.99
        proved = result.proved(rows)
        assert isinstance(proved, library.kind)
        assert (on_host(result.predict(rows)) == here.predict(X))[on_host(proved)].all()
        low, high = result.proved_accuracy(rows, labels, k=2)
        assert 0 < low <= fwlab.metrics.topk_accuracy(y, X @ here.W.T, 2) <= high <= 1
    with pytest.raises(ValueError, match=r"X_new must have 6 columns; got 5"):
        result.predict(library.tensor(X[:, :5]))
    with pytest.raises(ValueError, match=r"X_new must be 2-D"):
        result.predict(library.tensor(X[0]))


def test_a_result_is_stored_as_arrays(library, tmp_path, monkeypatch):
    X, y = data()
    result = fwlab.solve(both(library, X, y, C=1.0)[0], "lbfgs")
    result.save(tmp_path / "result.npz")
    loaded = fwlab.Result.load(tmp_path / "result.npz")
    assert (loaded.W == on_host(result.W)).all() and (loaded.A == on_host(result.A)).all()
    monkeypatch.setattr(tensor_lbfgs, "MOST_KEPT", 1199)
    large = fwlab.solve(both(library, X, y, C=1.0)[0], "lbfgs")
    assert large.A is None and "A = " not in repr(large) and large.gap == result.gap
    large.save(tmp_path / "large.npz")
    assert fwlab.Result.load(tmp_path / "large.npz").A is None


@pytest.mark.parametrize("scale", [0.0, 1.0, 2.0])
def test_certify(library, scale):
    X, y = data()
    there, here = both(library, X, y, C=1.0)
    optimum = fwlab.solve(here, "lbfgs", tol=1e-12).primal
    W = scale * fwlab.solve(here, "lbfgs", tol=1e-3).W
    found, expected = fwlab.certify(there, library.tensor(W)), fwlab.certify(here, W)
    assert found.status is fwlab.ExcessStatus.KNOWN
    excess = here.primal(W) - optimum
    assert found.excess_low <= excess + 1e-12 and excess - 1e-12 <= found.excess
    assert found.excess <= 1.1 * found.excess_low
    assert found.primal == pytest.approx(expected.primal, abs=found.gap_error + expected.gap_error)
    assert found.hint == expected.hint
    proved = found.proved(library.tensor(X))
    assert isinstance(proved, library.kind)
    assert (on_host(proved) == found.proved(X)).all()
    assert found.proved_accuracy(library.tensor(X), y) == found.proved_accuracy(X, y)


def test_the_test_of_the_excess_certifies_both_machines(library):
    X, y = data()
    there, here = both(library, X, y, C=1.0)
    W = np.random.default_rng(0).normal(size=(4, 6))
    test, state = excess_test(there, W, 1.1), TensorState(problem=there, W=library.tensor(0.1 * W))
    own, other = test.certificates(SimpleNamespace(state=state))
    assert own.primal == pytest.approx(here.primal(W), rel=1e-13)
    assert other.primal == pytest.approx(here.primal(0.1 * W), rel=1e-13)
    assert own.dual == other.dual > -np.inf


def test_certify_names_another_constant(library):
    X, y = data()
    there, here = both(library, X, y, C=1.0)
    W = fwlab.solve(fwlab.Problem(X, y, LOSS, C=0.5), "lbfgs", tol=1e-9).W
    assert "rho = 2" in fwlab.certify(there, W).hint == fwlab.certify(here, W).hint


def test_certify_takes_a_regularised_intercept(library):
    X, y = data()
    there, here = both(library, np.column_stack([X, np.full(300, 2.0)]), y, C=1.0)
    W, b = np.random.default_rng(0).normal(size=(4, 6)), np.arange(4.0)
    found = fwlab.certify(there, library.tensor(W), library.tensor(b))
    assert found.W.tolist() == np.column_stack([W, b / 2]).tolist()
    assert found.primal == pytest.approx(here.primal(found.W), rel=1e-13)


def test_other_methods_and_functions_refuse_tensors(library):
    X, y = data()
    problem = both(library, X, y, C=1.0)[0]
    with pytest.raises(ValueError, match=r"but for lbfgs, auto"):
        fwlab.solve(problem, "ascent")
    for call in (
        lambda: problem.primal(np.zeros((4, 6))),
        lambda: problem.weights(np.zeros((300, 4))),
        lambda: problem.gap(np.zeros((300, 4))),
        lambda: problem.dual(np.zeros((300, 4))),
        lambda: problem.is_feasible(np.zeros((300, 4))),
        lambda: problem.infeasibility(library.tensor(np.zeros((300, 4)))),
        lambda: fwlab.verify(problem, fwlab.solve(problem, "lbfgs")),
    ):
        with pytest.raises(TypeError, match=r"X as an array of numpy; got a tensor on"):
            call()


def test_bad_tensors_are_refused(library):
    y = [0, 1, 1]
    for X, kind, sentence in (
        (np.ones((3, 2), dtype=int), TypeError, "X must be a tensor of a floating type"),
        (np.ones(3), ValueError, r"X must be 2-D with .* got shape \(3,\)"),
        (np.ones((3, 0)), ValueError, "X must be 2-D with at least one row and one column"),
        (np.array([[1.0, np.nan]] * 3), ValueError, "X must be finite"),
        (np.array([[1.0, np.inf]] * 3), ValueError, "X must be finite"),
        (np.ones((4, 2)), ValueError, "y must have one label per row of X, 4; got 3"),
    ):
        with pytest.raises(kind, match=sentence):
            fwlab.Problem(library.tensor(X), y, LOSS, C=1.0)


def test_a_device_without_float64_is_refused():
    try:
        lacking = array_api_strict.Device("no_float64")
    except ValueError:
        pytest.skip("this release of array_api_strict has no device without float64")
    X = array_api_strict.asarray(np.ones((3, 2), np.float32), device=lacking)
    with pytest.raises(TypeError, match=r"X must be on a device with float64, .* pass X on the ho"):
        fwlab.Problem(X, [0, 1, 1], LOSS, C=1.0)
    # a machine is copied
    W = array_api_strict.asarray(np.ones((2, 2), np.float32), device=lacking)
    problem = fwlab.Problem(np.ones((3, 2)), [0, 1, 1], LOSS, C=1.0)
    found = fwlab.certify(problem, W), fwlab.certify(problem, np.ones((2, 2)))
    assert found[0].excess == found[1].excess


def test_x_is_never_copied_to_the_host(library, monkeypatch):
    X, y = data(n=400, d=5, m=3)
    problem = both(library, X, y, C=1.0)[0]
    moved = []

    def watched(array):
        moved.append(np.shape(array))
        return on_host(array)

    for module in ("tensor_certificate", "operators.tensor_rows", "certification", "result"):
        monkeypatch.setattr(f"fwlab.{module}.on_host", watched)
    fwlab.solve(problem, "lbfgs", tol=1e-8)
    fwlab.certify(problem, np.zeros((3, 5)))
    assert moved and max(int(np.prod(shape)) for shape in moved) <= 400


def test_a_result_shares_no_memory_with_its_start(library):
    X, y = data()
    there, _ = both(library, X, y, C=1.0)
    W = np.random.default_rng(0).normal(size=(4, 6))
    for start in (W, library.tensor(W)):
        result = fwlab.solve(there, "lbfgs", A0=start, max_iter=0)
        found = fwlab.certify(there, start, time_limit=0)
        kept = on_host(result.W).copy()
        start[:, :] = 7.0
        assert (on_host(result.W) == kept).all() and (found.W == kept).all()
        W = kept.copy()


def test_a_bad_head_is_certified_from_zero(library):
    X, y = data()
    there, here = both(library, X, y, C=1.0)
    W = 1e3 * np.random.default_rng(0).normal(size=(4, 6))
    found = fwlab.certify(there, W)
    assert found.status is fwlab.ExcessStatus.KNOWN
    assert found.result.nit <= fwlab.certify(here, W).result.nit + 1


def test_the_dual_point_zero_bounds_a_start(library, monkeypatch):
    X, y = data()
    there, _ = both(library, X, y, C=1.0)
    # no scale of A(W) has a dual value above 0
    monkeypatch.setattr("fwlab.solvers.tensor_point.best_scale", lambda *_: (0.5, -1.0))
    W = 1e3 * np.random.default_rng(0).normal(size=(4, 6))
    there = there.with_lam(1e-9)
    result = fwlab.solve(there, "lbfgs", A0=W, max_iter=0)
    assert result.dual == 0.0 and not on_host(result.A).any() and result.infeasibility == 0.0


def test_labels_of_any_integers(library):
    X, y = data()
    for dtype in (np.uint16, np.uint64, ">i8"):
        there = fwlab.Problem(library.tensor(X), (y + 5).astype(dtype), LOSS, C=1.0)
        predicted = on_host(fwlab.solve(there, "lbfgs").predict(library.tensor(X)))
        assert predicted.dtype == np.int64 and set(predicted.tolist()) <= {5, 6, 7, 8}


def test_bad_new_samples_are_refused(library):
    X, y = data()
    result = fwlab.solve(both(library, X, y, C=1.0)[0], "lbfgs")
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"X_new must be finite"):
        result.predict(library.tensor(X))
    with pytest.raises(ValueError, match=r"X_new must be 2-D with at least one row"):
        result.predict(library.tensor(X[:0]))
    with pytest.raises(TypeError, match=r"X_new must hold real numbers; got .*complex128"):
        result.predict(library.tensor(X.astype(complex)))


def test_subnormal_numbers_must_count(library):
    X, y = data(dtype="f4")
    there, _ = both(library, X, y, C=1.0)
    xp = there.features.xp
    flushed = SimpleNamespace(
        asarray=lambda values, **options: xp.asarray([0.0 for _ in values], **options),
        float32=xp.float32,
        float64=xp.float64,
        astype=xp.astype,
    )
    with pytest.raises(RuntimeError, match=r"subnormal numbers must not be flushed to 0"):
        require_subnormals(flushed, there.features.device)


def test_a_time_limit_holds(library):
    X, y = data()
    result = fwlab.solve(both(library, X, y, C=1.0)[0], "lbfgs", tol=0.0, time_limit=1e-6)
    assert result.status is fwlab.Status.TIME_LIMIT and result.gap_error < 1e-9


def test_tensors_of_the_host_are_arrays_for_a_hinge():
    X, y = data()
    problem = fwlab.Problem(array_api_strict.asarray(X), y, fwlab.TopK(2), C=1.0)
    assert isinstance(problem.X, np.ndarray) and not problem.has_tensors
    elsewhere = array_api_strict.asarray(X, device=ELSEWHERE)
    with pytest.raises(TypeError, match=r"on array_api_strict.Device\('device1'\): pass an array"):
        fwlab.Problem(elsewhere, y, fwlab.TopK(2), C=1.0)


@pytest.mark.parametrize("form", ["backwards", "big-endian", "read-only"])
def test_arrays_of_any_form_beside_tensors(library, form):
    X, y = data()

    def formed(array):
        if form == "backwards":
            return array[::-1].copy()[::-1]
        copy = array.astype(array.dtype.newbyteorder(">") if form == "big-endian" else array.dtype)
        copy.setflags(write=False)
        return copy

    there = fwlab.Problem(library.tensor(X), formed(y), LOSS, C=1.0, sample_weight=formed(1.0 + y))
    result = fwlab.solve(there, "lbfgs", tol=1e-6)
    assert fwlab.solve(there, "lbfgs", tol=1e-6, A0=formed(on_host(result.W))).nit == 0
    found = fwlab.certify(there, formed(on_host(result.W)))
    expected = on_host(result.predict(library.tensor(X)))
    for answers in (result, found):
        assert answers.proved_accuracy(formed(X), formed(y)) == answers.proved_accuracy(X, y)
        assert (on_host(answers.proved(formed(X))) == on_host(answers.proved(X))).all()
    assert (on_host(result.predict(formed(X))) == expected).all()
