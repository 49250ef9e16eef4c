"""Certificates of the cross-entropy on tensors, beside those on arrays of numpy."""

from dataclasses import replace

import numpy as np
import pytest
from solvers.tensor_libraries import LIBRARIES, LOSS, both, data

import fwlab
from fwlab.arrays import on_host
from fwlab.certificate import certificate_of, terms_of_part
from fwlab.operators import tensor_rows
from fwlab.operators.precision import DOUBLE, SINGLE
from fwlab.operators.sums import MARGIN, gamma, gamma_in_parts, square_in_parts
from fwlab.parts import Whole, norms_of_rows
from fwlab.rounding import distances
from fwlab.solvers.tensor_point import TensorPoint
from fwlab.tensor_certificate import certificate_of_machines, dual_point, machine_terms


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param()


def hostile(rng):
    n, d, m = (int(size) for size in rng.integers(2, (40, 12, 8)))
    X = (rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3)).astype(rng.choice(["f4", "f8"]))
    X[rng.random(n) < 0.1] = 0
    omega = rng.choice([0.0, 0.5, 1.0, 3.0], n) + (np.arange(n) == 0)
    settings = {"C": 10.0 ** rng.uniform(-4, 4), "n_classes": m, "sample_weight": omega}
    W = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-4, 2)
    return X, rng.integers(0, m, n), settings, W


@pytest.mark.parametrize("seed", range(4))
def test_gaps_are_those_of_numpy_within_both_errors(library, seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        X, y, settings, W = hostile(rng)
        k = int(rng.integers(1, settings["n_classes"]))
        loss = LOSS if rng.random() < 0.5 else fwlab.TopKEntropy(k)
        there, here = both(library, X, y, loss, **settings)
        terms, other = (machine_terms(there, M) for M in (W, 0.5 * W))
        A = on_host(dual_point(there, W))
        for found, machine in (
            (certificate_of_machines(there, terms, terms), W),
            (certificate_of_machines(there, other, terms), 0.5 * W),
        ):
            expected = certificate_of(here, A, machine)
            allowed = found.gap_error + expected.gap_error
            assert abs(found.primal - expected.primal) <= allowed
            assert abs(found.dual - expected.dual) <= allowed
            assert abs(found.gap - expected.gap) <= allowed
            assert found.gap_error <= 4 * expected.gap_error
            assert found.distance <= 1.1 * expected.distance


@pytest.mark.parametrize("seed", range(3))
def test_terms_and_their_errors_are_those_of_a_part(library, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X, y, omega = rng.normal(size=(9, 3)), rng.integers(0, 4, 9), rng.choice([0.0, 1.0, 3.0], 9)
    there, here = both(library, X, y, C=1.0, n_classes=4, sample_weight=omega + (y == y[0]))
    # BLAS sums parts of 1024 rows, and numpy counts them otherwise
    monkeypatch.setattr(
        tensor_rows.TensorRows, "column_error_norms", lambda self, x, m: gamma_in_parts(9) * x
    )
    W = 3.0 * rng.normal(size=(4, 3))
    found, A = machine_terms(there, W), on_host(dual_point(there, W))
    V = here.link(A)
    whole = Whole(9, 1, norms_of_rows(V), square_in_parts(W), square_in_parts(V))
    expected = terms_of_part(here, A, W, whole)
    # terms are multiplied by MARGIN once more, or once less
    for value, name in ((found.loss_error, "losses"), (found.dual_error, "dual")):
        assert value == pytest.approx(getattr(expected.errors, name), rel=1e-12, abs=0)
    for value, name in ((found.inner, "inner"), (found.total, "total")):
        assert value == pytest.approx(MARGIN * getattr(expected.errors, name), rel=1e-5, abs=0)
    value = here.lam / 2 * found.square + found.loss
    assert value == pytest.approx(expected.values.primal, rel=1e-13)
    assert found.dual(here.lam) == pytest.approx(expected.values.dual, rel=1e-12, abs=1e-15)
    assert found.is_feasible and found.infeasibility == pytest.approx(
        distances(here, A).max(), rel=1e-9, abs=0
    )
    link = here.link(A)
    assert found.V == pytest.approx(link, rel=1e-12, abs=1e-15)


def test_sums_of_parts_have_errors_of_their_own(library, monkeypatch):
    X, y = data(n=301)
    rows = both(library, X, y, C=1.0)[0].features
    assert rows.column_error_norms(np.ones(2), 4) == pytest.approx(gamma(301 + 1), rel=1e-14, abs=0)
    monkeypatch.setattr(tensor_rows, "ENTRIES_ON_HOST", 70)
    assert rows.column_error_norms(np.ones(2), 4) == pytest.approx(gamma(11 + 28), rel=1e-14, abs=0)
    # the scores of many classes are the larger array
    assert len(rows.slices(35)) == 151


def test_a_row_far_from_its_domain_is_infeasible(library, monkeypatch):
    X, y = data(n=4)
    weights = np.array([1.0, 1.0, 1.0, 1e-12])
    there, _ = both(library, X, y, C=1.0, n_classes=4, sample_weight=weights)
    W = np.zeros((4, 6))
    assert machine_terms(there, W).is_feasible
    off = lambda self, points, omega: 0.0 * omega + 1e-15  # noqa: E731  # one expression
    monkeypatch.setattr(type(there.polytopes), "distances_of_rows", off)
    assert not machine_terms(there, W).is_feasible


def test_errors_of_both_norms_count(library):
    X, y = data()
    there, _ = both(library, X, y, C=1.0)
    small, large = (machine_terms(there, scale * np.ones((4, 6))) for scale in (1.0, 1e6))
    certificate = certificate_of_machines(there, large, small)
    assert certificate.gap_error > there.lam / 2 * large.square * gamma_in_parts(24)
    dual = certificate_of_machines(there, small, replace(small, V=1e6 * small.V))
    assert dual.gap_error > there.lam / 2 * square_in_parts(1e6 * small.V) * gamma_in_parts(24)


def test_large_margins_in_float32(library):
    X, y = data(dtype="f4")
    there, here = both(library, X, y, C=1.0)
    W = np.random.default_rng(0).normal(size=(4, 6)) * 100
    found = TensorPoint.at(there, there.features.here(W), SINGLE)
    assert found.primal == pytest.approx(here.primal(W), rel=1e-5)


def test_an_infeasible_dual_point_certifies_nothing(library):
    X, y = data()
    there, _ = both(library, X, y, C=1.0)
    terms = replace(machine_terms(there, np.zeros((4, 6))), is_feasible=False)
    assert certificate_of_machines(there, terms, terms).dual == -np.inf


def test_gaps_hold_in_ball_arithmetic(library):
    pytest.importorskip("flint", reason="python-flint is not installed (extra verify)")
    rng = np.random.default_rng(7)
    for _ in range(25):
        X, y, settings, _ = hostile(rng)
        there, here = both(library, X, y, **settings)
        result = fwlab.solve(there, "lbfgs", tol=0.0, max_iter=int(rng.integers(0, 6)))
        on_arrays = replace(result, W=on_host(result.W), A=on_host(result.A))
        low, high = fwlab.verify(here, on_arrays).gap
        assert result.gap - result.gap_error <= low and high <= result.gap + result.gap_error


def test_parts_add_up(library, monkeypatch):
    X, y = data(n=301)
    there, _ = both(library, X, y, C=3.0, sample_weight=np.linspace(0, 2, 301))
    W = np.random.default_rng(1).normal(size=(4, 6))
    whole = machine_terms(there, W)
    point = TensorPoint.at(there, tensor_rows.tensor_rows(there.features).here(W), DOUBLE)
    monkeypatch.setattr(tensor_rows, "ENTRIES_ON_HOST", 70)
    assert len(there.features.slices(4)) == 28
    parts = machine_terms(there, W)
    for name in ("square", "loss", "conjugate"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), rel=1e-14)
    assert parts.V == pytest.approx(whole.V, rel=1e-12, abs=1e-14)
    # the sums of a part are shorter
    assert 0 < parts.total < whole.total and 0 < parts.inner < whole.inner
    again = TensorPoint.at(there, tensor_rows.tensor_rows(there.features).here(W), DOUBLE)
    assert again.primal == pytest.approx(point.primal, rel=1e-14)
    assert on_host(again.gradient) == pytest.approx(on_host(point.gradient), rel=1e-11, abs=1e-14)
