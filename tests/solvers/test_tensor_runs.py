"""The cross-entropy on tensors: steps, certificates and results beside those on arrays of numpy."""

from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from solvers.tensor_libraries import LIBRARIES, LOSS, both, data

import fwlab
from fwlab.arrays import on_host
from fwlab.certificate import certificate_of
from fwlab.excess import excess_test
from fwlab.operators import tensor_rows
from fwlab.operators.precision import DOUBLE, SINGLE, TF32, precisions_of, products_of
from fwlab.solvers import tensor_lbfgs
from fwlab.solvers.lbfgs import SmoothPoint
from fwlab.solvers.tensor_lbfgs import TensorState
from fwlab.solvers.tensor_point import TensorPoint


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param()


# ------------------------------------------------------------------ steps


@pytest.mark.parametrize("weighted", [False, True])
def test_a_point_is_that_of_numpy(library, weighted):
    X, y = data()
    settings = {"sample_weight": np.linspace(0, 2, 300)} if weighted else {}
    there, here = both(library, X, y, C=2.0, **settings)
    W = np.random.default_rng(1).normal(size=(4, 6))
    expected = SmoothPoint.at(here, W, np.empty((300, 4)))
    rows = tensor_rows.tensor_rows(there.features)
    # SINGLE rounds X, W, each score and each sum of 300 rows
    for precision, rel in ((DOUBLE, 1e-13), (SINGLE, 300 * 2.0**-22)):
        point = TensorPoint.at(there, rows.here(W), precision)
        assert point.primal == pytest.approx(expected.primal, rel=rel)
        size = np.abs(expected.gradient(here.lam)).max()
        assert on_host(point.gradient) == pytest.approx(expected.gradient(here.lam), abs=rel * size)
        assert point.gap == pytest.approx(expected.primal - expected.dual(here.lam), rel=2 * rel)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_run_reaches_the_optimum_of_numpy(library, C, dtype):
    X, y = data(dtype=dtype)
    loss = LOSS if dtype == "f4" else fwlab.TopKEntropy(2)
    there, here = both(library, X, y, loss, C=C)
    found = fwlab.solve(there, "lbfgs", tol=1e-7, relative=True)
    expected = fwlab.solve(here, "lbfgs", tol=1e-7, relative=True)
    assert found.success and found.status is fwlab.Status.CONVERGED
    assert abs(found.primal - expected.primal) <= 1.01e-7 * expected.primal
    assert isinstance(found.W, library.kind) and isinstance(found.A, library.kind)
    certificate = certificate_of(here, on_host(found.A), on_host(found.W))
    assert abs(certificate.gap - found.gap) <= certificate.gap_error + found.gap_error
    assert len(found.trace.gap) == found.nit + 1 and found.trace.gap[-1] == found.gap


def test_the_preconditioner_is_the_inverse_hessian_at_zero(library):
    X, y = data()
    omega = np.linspace(0.1, 2, 300)
    there, here = both(library, X, y, C=2.0, sample_weight=omega)
    M = here.lam * np.eye(6) + 0.25 * 0.75 * (X * omega[:, None]).T @ X / 300
    inverse = on_host(tensor_lbfgs.inverse_at_zero(there))
    # M is float32, and well conditioned
    assert np.abs(inverse @ M - np.eye(6)).max() <= 300 * 2.0**-23 * np.linalg.cond(M)
    wide, _ = both(library, X[:5], np.array([0, 1, 0, 1, 1]), C=2.0)
    diagonal = wide.lam + 0.25 * (X[:5] ** 2).sum(axis=0) / 5
    assert on_host(tensor_lbfgs.inverse_at_zero(wide)) == pytest.approx(1 / diagonal, rel=1e-5)


def test_a_run_without_a_factorisation(library, monkeypatch):
    monkeypatch.setattr(tensor_lbfgs, "MOST_FEATURES", 3)
    X, y = data()
    there, _ = both(library, X, y, C=1.0)
    assert fwlab.solve(there, "lbfgs", tol=1e-8).success


def precisions(problem, **options):
    """Return the precisions of a run's checkpoints, and its result."""
    seen = []
    result = fwlab.solve(
        problem, "lbfgs", callback=lambda p: seen.append(p.state.precisions[0]), **options
    )
    return seen, result


def test_a_loose_run_stays_in_float32(library):
    X, y = data(dtype="f4")
    seen, result = precisions(both(library, X, y, C=1.0)[0], tol=1e-3)
    assert result.success and set(seen) == {SINGLE}


def test_a_tight_run_ends_in_float64(library):
    X, y = data(dtype="f4")
    seen, result = precisions(both(library, X, y, C=100.0)[0], tol=1e-11)
    assert result.success and seen[0] is SINGLE and seen[-1] is DOUBLE
    # once, and never back
    assert seen.index(DOUBLE) == seen.count(SINGLE)


def test_a_start_beyond_float32_begins_in_float64(library):
    X, y = data()
    with np.errstate(over="ignore", invalid="ignore"):
        seen, result = precisions(both(library, 1e37 * X, y, C=1e-74)[0], tol=1e-6)
    assert result.success and set(seen) == {DOUBLE}


def test_a_certificate_shows_that_rounding_decides(library):
    X, y = data(dtype="f4")
    state = TensorState(problem=both(library, X, y, C=1.0)[0], W=library.tensor(np.zeros((4, 6))))
    state.certify()
    assert not state.is_misled
    state.point = replace(state.point, gap=state.point.gap / 1.4)
    state.certify()
    assert not state.is_misled
    state.point = replace(state.point, gap=state.point.gap / 1.2)
    state.certify()
    assert state.is_misled


def test_a_step_that_contradicts_convexity_sharpens(library, monkeypatch):
    X, y = data(dtype="f4")
    problem = both(library, X, y, C=1.0)[0]
    state = TensorState(problem=problem, W=library.tensor(np.zeros((4, 6))))
    method = tensor_lbfgs.TensorLbfgs()
    workspace = method.start(state)
    at = TensorPoint.at

    def wrong(problem, W, precision):
        point = at(problem, W, precision)
        return point if precision is DOUBLE else replace(point, primal=point.primal + 1.0)

    monkeypatch.setattr(TensorPoint, "at", wrong)
    method.iterate(state, workspace)
    assert state.precisions == (DOUBLE,) and state.n_steps == 0
    method.iterate(state, workspace)
    assert state.n_steps == 1 and state.point.primal < np.log(4)


def test_a_long_step_is_halved(library):
    """P rises along the step, as a convex function may."""
    X, y = data(dtype="f4")
    problem = both(library, X, y, C=1.0)[0]
    state = TensorState(problem=problem, W=library.tensor(np.zeros((4, 6))))
    method = tensor_lbfgs.TensorLbfgs()
    workspace = method.start(state)
    workspace.history.image = 64.0 * workspace.history.image
    method.iterate(state, workspace)
    assert state.precisions[0] is SINGLE and state.n_steps == 1 and state.step < 1


@pytest.mark.parametrize(
    ("new", "rise", "expected"),
    [
        (1.5, 0.5, False),
        (1.5, 0.49, True),
        (1.5, 0.495, False),
        (0.9, -0.05, False),
        (0.9, -0.2, True),
        (1.0, -0.2, True),
        (np.nan, 1.0, True),
        (1.5, np.nan, True),
        (np.inf, 1.0, True),
    ],
)
def test_what_contradicts_convexity(new, rise, expected):
    assert tensor_lbfgs.contradicts(1.0, new, rise) is expected


def test_rounding_ends_a_run(library):
    X, y = data()
    result = fwlab.solve(both(library, X, y, C=1.0)[0], "lbfgs", tol=1e-15, max_iter=200)
    assert result.status is fwlab.Status.ROUNDING_FLOOR and result.gap <= result.gap_error


# ------------------------------------------------------------------ starts, results, refusals


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


def test_a_time_limit_holds(library):
    X, y = data()
    result = fwlab.solve(both(library, X, y, C=1.0)[0], "lbfgs", tol=0.0, time_limit=1e-6)
    assert result.status is fwlab.Status.TIME_LIMIT and result.gap_error < 1e-9


def test_other_arrays_stay_arrays_of_numpy(library):
    X, y = data()
    problem = fwlab.Problem(library.tensor(X), y, fwlab.TopK(2), C=1.0)
    assert isinstance(problem.X, np.ndarray) and not problem.has_tensors


# ------------------------------------------------------------------ precisions


def test_precisions_of_devices():
    assert precisions_of("cpu") == (SINGLE, DOUBLE)
    assert precisions_of("cuda:1") == (TF32, SINGLE, DOUBLE)


@pytest.mark.parametrize(("name", "values"), [("fp32_precision", ("tf32", "ieee"))])
def test_products_restore_the_setting(name, values, monkeypatch):
    settings = SimpleNamespace(**{name: "none"})
    torch = ModuleType("torch")
    torch.backends = SimpleNamespace(cuda=SimpleNamespace(matmul=settings))
    monkeypatch.setitem(__import__("sys").modules, "torch", torch)
    for precision, value in zip((TF32, SINGLE), values, strict=True):
        with products_of("cuda", precision):
            assert getattr(settings, name) == value
        assert getattr(settings, name) == "none"
    with products_of("cpu", TF32):
        assert getattr(settings, name) == "none"
