"""X that changes after a problem in memory was made of it is noticed; all else is copied."""

import pickle

import numpy as np
import pytest
import scipy.sparse

import fwlab
from fwlab import Status
from fwlab.solvers.same_data import changed_row

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 5)), np.arange(40) % 4
CHANGED = "X must not change while a problem uses it; row 7 has another length now"


def memory_map(folder, X):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r+")


# how X is given; each shares its numbers with the problem that is made of it
FORMS = {
    "dense": (lambda X, _: X.copy(), {}),
    "read-only": (lambda X, _: X.copy(), {}),
    "memory map": (lambda X, folder: memory_map(folder, X), {}),
    "sparse": (lambda X, _: scipy.sparse.csr_matrix(X), {}),
    "float32": (lambda X, _: X.astype(np.float32), {"storage": "float32"}),
    "gram": (lambda X, _: X.copy(), {"kernel": "linear"}),
    "sparse gram": (lambda X, _: scipy.sparse.csr_matrix(X), {"kernel": "linear"}),
}


def made(form, folder):
    """Return a problem and a function that scales row 7 of the X that it was made of."""
    make, options = FORMS[form]
    held = make(X, folder)

    def scale(factor):
        values = held.data.reshape(40, 5) if scipy.sparse.issparse(held) else held
        values[7] *= factor

    given = held
    if form == "read-only":
        given = held.view()
        given.flags.writeable = False
    return fwlab.Problem(given, Y, fwlab.TopK(2), 0.1, **options), scale


@pytest.mark.parametrize("form", FORMS)
def test_a_row_that_changed_before_the_run_is_refused(form, tmp_path):
    problem, scale = made(form, tmp_path)
    scale(1.01)
    with pytest.raises(ValueError, match=CHANGED):
        fwlab.solve(problem)
    with pytest.raises(ValueError, match=CHANGED):
        fwlab.solve(problem, "fw")


@pytest.mark.turns
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["ascent", "fw", "subgradient"])
def test_a_row_that_changes_during_the_run_certifies_nothing(form, method, tmp_path):
    problem, scale = made(form, tmp_path)

    def change(progress):
        if progress.iteration == 2:
            scale(1.01)

    result = fwlab.solve(problem, method, tol=0.0, max_iter=4, check_every=1, callback=change)
    assert result.status is Status.INCONSISTENT and not result.success
    assert result.distance == np.inf
    assert CHANGED in result.message


@pytest.mark.parametrize("form", FORMS)
def test_an_x_that_stays_is_no_change(form, tmp_path):
    """Neither is one whose lengths differ by rounding errors, as on another processor."""
    problem, scale = made(form, tmp_path)
    assert not changed_row(problem)
    assert not changed_row(pickle.loads(pickle.dumps(problem)))
    assert not changed_row(problem.with_lam(1e-7)) and not changed_row(problem.with_gram())
    if form != "float32":
        scale(1 + 1e-16)
        assert not changed_row(problem)
    scale(1 + 1e-6)
    assert CHANGED in changed_row(problem)


@pytest.mark.parametrize("size", [1e-160, 1e-70, 1e70])
@pytest.mark.parametrize("lam", [1e-100, 1.0, 1e100])
def test_tiny_and_huge_numbers_are_no_change(size, lam):
    try:
        problem = fwlab.Problem(size * X, Y, fwlab.TopK(2), lam)
    except ValueError as error:
        assert "must keep all products below" in str(error)
    else:
        assert not changed_row(problem)


def test_another_lam_after_the_change_belongs_to_the_new_rows():
    held = X.copy()
    problem = fwlab.Problem(held, Y, fwlab.TopK(2), 0.1)
    held[7] *= 3
    other, fresh = problem.with_lam(0.2), fwlab.Problem(held, Y, fwlab.TopK(2), 0.2)
    np.testing.assert_array_equal(fwlab.solve(other).W, fwlab.solve(fresh).W)


def test_everything_but_x_is_copied():
    """A Gram matrix, labels, weights and costs that change later change no number."""
    K, y, weight, costs = X @ X.T, Y.copy(), np.linspace(0.5, 1.5, 40), 1.0 - np.eye(4)
    K = (K + K.T) / 2
    loss = fwlab.StructuredHinge(costs)
    problem = fwlab.Problem(K, y, loss, 0.1, kernel="precomputed", sample_weight=weight)
    plain = fwlab.solve(problem, tol=1e-8)
    K[:], y[:], weight[:], costs[:] = -K, 0, 1.0, 0.0
    again = fwlab.solve(problem, tol=1e-8)
    np.testing.assert_array_equal(again.A, plain.A)
    assert (again.gap, again.primal) == (plain.gap, plain.primal) and again.success
