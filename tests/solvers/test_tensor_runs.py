"""The cross-entropy on tensors: steps, certificates and results beside those on arrays of numpy."""

from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from solvers.tensor_libraries import LIBRARIES, LOSS, both, data

import fwlab
from fwlab.arrays import on_host
from fwlab.certificate import certificate_of
from fwlab.operators import tensor_rows
from fwlab.operators.precision import (
    DOUBLE,
    SINGLE,
    TF32,
    precisions_of,
    products_of,
)
from fwlab.result import Certificate
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
        dual = expected.scale_and_dual(here)[1]
        assert point.gap == pytest.approx(expected.primal - dual, rel=2 * rel)


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


def test_a_run_without_a_factorisation(library, monkeypatch):
    monkeypatch.setattr(tensor_rows.TensorRows, "most_features", 3)
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


def state_at_zero(library, X, y):
    """Return the state of a run that starts from W = 0."""
    return TensorState(problem=both(library, X, y, C=1.0)[0], W=library.tensor(np.zeros((4, 6))))


def test_a_certificate_shows_that_rounding_decides(library):
    X, y = data(dtype="f4")
    state = state_at_zero(library, X, y)
    state.certify()
    assert not state.is_misled
    state.point = replace(state.point, gap=state.point.gap / 1.4)
    state.certify()
    assert not state.is_misled
    state.point = replace(state.point, gap=state.point.gap / 1.2)
    state.certify()
    assert state.is_misled


def test_rounding_of_the_certificate_does_not_mislead(library, monkeypatch):
    X, y = data()
    state = state_at_zero(library, X, y)
    state.point = replace(state.point, gap=0.0)
    for error, is_misled in ((2e-3, False), (0.5e-3, True)):
        found = Certificate(1.0, 0.999, 1e-3, 1e-3, gap_error=error)
        monkeypatch.setattr(tensor_lbfgs, "certificate_of_machines", lambda *_, c=found: c)
        state.certify()
        assert state.is_misled is is_misled
    # there is nothing more exact than float64
    state.precisions = (DOUBLE,)
    method = tensor_lbfgs.TensorLbfgs()
    method.iterate(state, method.start(state))
    assert state.precisions == (DOUBLE,) and state.n_steps == 1


def test_a_step_may_rise_by_rounding(library, monkeypatch):
    X, y = data()
    state, method = state_at_zero(library, X, y), tensor_lbfgs.TensorLbfgs()
    state.precisions = (DOUBLE,)
    workspace = method.start(state)
    workspace.history.image = 0.0 * workspace.history.image
    at, rise = TensorPoint.at, 0.5 * tensor_lbfgs.ROUNDING * state.point.primal

    def rounded(problem, W, precision):
        point = at(problem, W, precision)
        return replace(point, primal=point.primal + rise)

    monkeypatch.setattr(TensorPoint, "at", rounded)
    method.iterate(state, workspace)
    assert state.n_steps == 1


def test_the_seconds_of_a_certificate_are_predicted(library, monkeypatch):
    X, y = data()
    state = state_at_zero(library, X, y)
    monkeypatch.setattr(tensor_lbfgs, "shortest", lambda work: work() and 3.0)
    assert state.seconds_to_certify(0.0) == 3.0
    monkeypatch.setattr(tensor_rows, "ENTRIES_ON_HOST", 6 * 100)
    assert state.seconds_to_certify(0.0) == 9.0


def test_a_step_that_contradicts_convexity_sharpens(library, monkeypatch):
    X, y = data(dtype="f4")
    state = state_at_zero(library, X, y)
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
    state = state_at_zero(library, X, y)
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
