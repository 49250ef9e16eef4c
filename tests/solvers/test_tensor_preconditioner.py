"""The preconditioners of runs on tensors: at W = 0 and by class, and when they are renewed."""

import numpy as np
import pytest
from solvers.entropy_problems import separable
from solvers.tensor_libraries import LIBRARIES, both, data

import fwlab
from fwlab.arrays import on_host
from fwlab.operators import tensor_rows
from fwlab.operators.precision import DOUBLE, SINGLE, TF32
from fwlab.solvers import lbfgs, tensor_lbfgs, tensor_preconditioner
from fwlab.solvers.lbfgs import SmoothPoint
from fwlab.solvers.tensor_preconditioner import JITTER, inverse_at_zero


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param()


def matrix_of(inverse, library, d):
    """Return the matrix (d, d) of a map of the rows of matrices."""
    return on_host(inverse(library.tensor(np.eye(d))))


def test_at_zero_it_is_the_inverse_hessian(library):
    X, y = data()
    omega = np.linspace(0.1, 2, 300)
    there, here = both(library, X, y, C=2.0, sample_weight=omega)
    M = here.lam * np.eye(6) + 0.25 * 0.75 * (X * omega[:, None]).T @ X / 300
    inverse = matrix_of(inverse_at_zero(there), library, 6)
    # M is float32, and well conditioned
    assert np.abs(inverse @ M - np.eye(6)).max() <= 300 * 2.0**-23 * np.linalg.cond(M)
    wide, _ = both(library, X[:5], np.array([0, 1, 0, 1, 1]), C=2.0)
    diagonal = wide.lam + 0.25 * (X[:5] ** 2).sum(axis=0) / 5
    found = matrix_of(inverse_at_zero(wide), library, 6)
    assert found == pytest.approx(np.diag(1 / diagonal), rel=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_a_singular_one_is_lifted(library, scale):
    X = scale * np.outer(np.linspace(1, 2, 300), [1.0, 2.0, 2.0])
    there, here = both(library, X, np.arange(300) % 2, C=1e30)
    M = 0.25 * X.T @ X / 300
    M += (here.lam + JITTER * M.max()) * np.eye(3)
    found, along = matrix_of(inverse_at_zero(there), library, 3), np.array([0.0, 1.0, -1.0])
    # the entries of M are float32, with errors of a quarter of what lifts it
    assert (found @ along)[1:] == pytest.approx(np.linalg.solve(M, along)[1:], rel=0.5, abs=0)


def image_by_class(here, W, G, scales):
    """Return G without its mean, times the inverse blocks of the classes, without its mean.

    The blocks are from their definition, in features whose scales are 1.
    """
    omega, X, n = here.sample_weight[:, None], here.X / scales, here.n_samples
    p = np.abs(SmoothPoint.at(here, W, np.empty((n, len(W)))).A) / np.where(omega > 0, omega, 1.0)
    rest, image = (G - G.mean(axis=0)) / scales, np.empty_like(G)
    for j, weights in enumerate((omega * p * (1 - p)).T):
        M = np.diag(here.lam / scales**2) + (X * weights[:, None]).T @ X / n
        image[j] = np.linalg.solve(M, rest[j]) / scales
    return image - image.mean(axis=0)


@pytest.mark.parametrize("loss", [fwlab.CrossEntropy(), fwlab.TopKEntropy(2)])
@pytest.mark.parametrize(("precision", "digits"), [(DOUBLE, 2.0**-40), (TF32, 2.0**-22)])
def test_by_class_it_is_the_inverse_of_the_blocks(library, loss, precision, digits, monkeypatch):
    monkeypatch.setattr(tensor_rows, "ENTRIES_ON_HOST", 144 * 70)
    (X, y), scales = data(), 2.0 ** np.arange(-9, 9, 3)
    there, here = both(library, scales * X, y, loss, C=1e3, sample_weight=np.linspace(0, 2, 300))
    W, G = np.random.default_rng(1).normal(size=(2, 4, 6)) / scales
    expected = image_by_class(here, W, G, scales)
    found = tensor_preconditioner.inverse_by_class(there, library.tensor(W), precision)
    # the share of the diagonal, times the condition of a block with features of scale 1
    allowed = 100 * digits * np.abs(expected).max(axis=0)
    assert (np.abs(on_host(found(library.tensor(G))) - expected) <= allowed).all()


def test_features_that_repeat_have_blocks(library):
    X, y = data(dtype="f4")
    there, _ = both(library, np.hstack([X, X, 0 * X]), y, C=1e30)
    for precision in (SINGLE, DOUBLE):
        W = library.tensor(np.ones((4, 18)))
        image = tensor_preconditioner.inverse_by_class(there, W, precision)(W + 0.0 * W)
        assert np.isfinite(on_host(image)).all()


def test_renewals_come_later_than_on_arrays_and_then_ever_rarer(library, monkeypatch):
    problem, steps, plain = both(library, *separable(), C=1e6)[0], [], tensor_lbfgs._renew
    monkeypatch.setattr(
        tensor_lbfgs, "_renew", lambda *of: steps.append(of[0].n_steps) or plain(*of)
    )
    fwlab.solve(problem, "lbfgs", tol=0.0, max_iter=60)
    assert steps == [6, 15, 29, 50]
    monkeypatch.setattr(lbfgs, "cost_by_class", lambda problem: 5.0)
    fwlab.solve(problem, "lbfgs", tol=0.0, max_iter=30)
    assert steps[4:] == [10, 25]
    monkeypatch.setattr(lbfgs, "MOST_COST", 0.0)
    fwlab.solve(problem, "lbfgs", tol=0.0, max_iter=60)
    assert len(steps) == 6


def test_a_warm_start_begins_with_the_blocks_of_its_point(library, monkeypatch):
    X, y = data()
    problem, taken = both(library, X, y, C=1.0)[0], []
    plain = tensor_lbfgs.inverse_by_class
    first = fwlab.solve(problem, "lbfgs", tol=1e-5)
    monkeypatch.setattr(tensor_lbfgs, "inverse_by_class", lambda *of: taken.append(1) or plain(*of))
    fwlab.solve(problem, "lbfgs", tol=1e-5, max_iter=1)
    assert not taken
    fwlab.solve(problem, "lbfgs", tol=1e-5, A0=first.W, max_iter=1)
    assert taken == [1]


@pytest.mark.parametrize("kind", ["lengths", "mean", "features"])
def test_rows_that_need_renewals_take_as_many_steps_as_on_arrays(library, kind):
    X, y = data(n=500, d=8, m=5)
    rng = np.random.default_rng(0)
    if kind == "lengths":
        X = X * 10.0 ** (0.4 * rng.normal(size=(500, 1)))
    X = X + 30.0 if kind == "mean" else X
    X = X * 10.0 ** np.linspace(-2, 2, 8) if kind == "features" else X
    there, here = both(library, X, y, C=100.0)
    found, expected = (fwlab.solve(p, "lbfgs", tol=1e-5) for p in (there, here))
    assert found.success and found.nit <= 1.3 * expected.nit + 3
