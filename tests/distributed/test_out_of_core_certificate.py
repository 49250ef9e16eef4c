"""The certificate of a run out of core bounds its rounding errors, judged in ball arithmetic."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from loss_table import entries, seeds
from numpy.testing import assert_array_equal
from out_of_core import dense, out_of_core

import fwlab
from fwlab import distributed
from fwlab.certificate import certificate_of
from fwlab.distributed import OutOfCoreProblem

M = 4


def drawn_problem(seed, kind, smoothing, scale, form):
    """Return a problem in memory on 12 rows of very different sizes, some of them 0."""
    rng = np.random.default_rng(seed)
    y = np.arange(12) % M
    X = rng.normal(size=(12, 3)) * 10.0 ** rng.uniform(-scale, scale, (12, 1))
    X *= rng.random((12, 3)) < 0.8
    weight = rng.uniform(0.25, 2.0, 12) * (rng.random(12) < 0.9)
    weight[0] = 1.0
    losses = [entry.loss for entry in entries(M, y)]
    storage = "float32" if form == "float32" else "float64"
    X = X.astype(storage)
    X = scipy.sparse.csr_matrix(X) if form == "sparse" else X
    return fwlab.Problem(
        X,
        y,
        losses[kind % len(losses)],
        10.0 ** rng.uniform(-3, 1),
        smoothing=smoothing,
        n_classes=M,
        sample_weight=weight,
        storage=storage,
    )


def assert_enclosed(problem, result):
    """The exact numbers of ball arithmetic lie within the rounding error of the computed ones."""
    exact = fwlab.verify(problem, dense(result))
    assert result.gap - result.gap_error <= exact.gap[0]
    assert exact.gap[1] <= result.gap + result.gap_error
    assert exact.gap[1] >= 0


@pytest.mark.turns
@given(
    seeds,
    st.integers(0, 100),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([0.0, 3.0, 8.0]),
    st.sampled_from(["dense", "float32", "sparse"]),
    st.integers(1, 12),
    st.sampled_from(["ascent", "bcfw", "fw"]),
)
def test_the_exact_gap_lies_within_its_error(seed, kind, smoothing, scale, form, rows, method):
    pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")
    problem = drawn_problem(seed, kind, smoothing, scale, form)
    result = distributed.solve(out_of_core(problem, rows), method, tol=0.0, max_iter=2, rng=seed)
    assert_enclosed(problem, result)
    inside = certificate_of(problem, result.A.toarray(), result.W)
    assert result.gap_error <= 3 * inside.gap_error
    assert abs(result.gap - inside.gap) <= result.gap_error + inside.gap_error


@pytest.mark.small
def test_a_wrong_gap_shows():
    """The bound is no more than rounding: a gap that is wrong by 1e-9 of itself is outside."""
    pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")
    problem = drawn_problem(0, 3, 0.0, 0.0, "dense")
    result = distributed.solve(out_of_core(problem, 5), tol=0.0, max_iter=3)
    moved = replace(result, gap=result.gap * (1 + 1e-9))
    assert_enclosed(problem, result)
    with pytest.raises(AssertionError):
        assert_enclosed(problem, moved)


@pytest.mark.turns
@pytest.mark.small
def test_the_certified_problem_is_that_of_the_stored_float32_numbers(tmp_path):
    """Rounding X to float32 moves the optimum by far more than the bound."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 5)), np.arange(30) % 3
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    problem = OutOfCoreProblem(tmp_path / "X.npy", y, fwlab.TopK(2), 0.1, chunk_rows=7)
    result = distributed.solve(problem, tol=1e-10)
    assert result.success
    assert result.message.endswith(
        "X is stored as float32, and the certificate is that of the stored X."
    )
    stored = fwlab.solve(fwlab.Problem(X.astype(np.float32), y, fwlab.TopK(2), 0.1), tol=1e-10)
    given = fwlab.solve(fwlab.Problem(X, y, fwlab.TopK(2), 0.1), tol=1e-10)
    assert abs(result.primal - stored.primal) < 1e-10
    assert abs(result.primal - given.primal) > 1e-9


@pytest.mark.small
def test_an_iterate_that_drifted_by_rounding_is_certified_from_scratch():
    outside = out_of_core(drawn_problem(0, 3, 0.0, 0.0, "dense"), 5)

    def drift(progress):
        if progress.iteration == 2:
            progress.state.link *= 1 + 1e-14
            raise StopIteration

    result = distributed.solve(outside, tol=0.0, callback=drift, check_every=1)
    plain = distributed.solve(outside, tol=0.0, max_iter=2)
    assert_array_equal(result.W, plain.W)
    assert (result.gap, result.trace.gap[-1]) == (plain.gap, plain.gap)


@pytest.mark.small
def test_an_infeasible_row_certifies_nothing():
    problem = drawn_problem(0, 3, 0.0, 0.0, "dense")

    def spoil(progress):
        rows = progress.state.packed[1].toarray()
        rows[0] = [1.0, 0.0, 0.0, 0.0]
        progress.state.pack(1, rows)
        progress.state.link[:] = problem.link(progress.state.A.toarray())
        raise StopIteration

    result = distributed.solve(out_of_core(problem, 5), tol=0.0, callback=spoil)
    assert (result.gap, result.gap_error, result.dual) == (np.inf, np.inf, -np.inf)
    assert not result.success and result.infeasibility > 0.4
