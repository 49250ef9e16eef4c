"""A result on disk and on new rows, for every kernel."""

from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse

from fwlab.ranking import PatMat, Result, TopPushK, gram, machine, solve
from fwlab.ranking.machine import Machine

X = np.round(np.random.default_rng(0).normal(size=(12, 3)), 1)
Y = (np.arange(12) % 3 == 0).astype(int)
NEW = np.random.default_rng(1).normal(size=(7, 3))


def rbf(A, B):
    return np.exp(-0.4 * ((A[:, None] - B) ** 2).sum(axis=2))


KERNELS = {
    "linear": (X, NEW, "linear", None, X @ X.T, NEW @ X.T),
    "rbf": (X, NEW, "rbf", 0.4, rbf(X, X), rbf(NEW, X)),
    "precomputed": (rbf(X, X), rbf(NEW, X), "precomputed", None, rbf(X, X), rbf(NEW, X)),
}
for name in ("linear", "rbf"):
    rows, new, *rest = KERNELS[name]
    sparse = map(scipy.sparse.csr_matrix, (rows, new))
    KERNELS[f"{name}, sparse"] = (*sparse, *rest)


@pytest.mark.parametrize("objective", [TopPushK(2), PatMat(0.2, "hinge")], ids=["K", "tau"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("method", ["auto", "working-set"])
def test_new_rows_are_scored_by_the_definition(name, objective, method):
    rows, new, kernel, sigma, K, K_new = KERNELS[name]
    result = solve(rows, Y, objective, 2.0, kernel, sigma, method)
    c = np.zeros(len(Y))
    c[Y == 1], c[Y == 0] = result.alpha, -result.beta
    wanted = K_new @ c - result.threshold
    assert result.decision_function(new) == pytest.approx(wanted, abs=1e-12)
    assert (result.predict(new) == (result.decision_function(new) >= 0)).all()
    assert set(result.predict(new)) == {0, 1}
    losses = result.threshold - (K @ c)[Y == 1]
    cut = np.maximum(0, 1 + losses)
    primal = c @ K @ c / 2 + 2 * (cut**2 if objective.surrogate == "quadratic" else cut).sum()
    assert result.primal == pytest.approx(primal)


@pytest.mark.parametrize("objective", [TopPushK(2), PatMat(0.2)], ids=["K", "tau"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_result_comes_back_from_disk(name, objective, tmp_path):
    rows, new, kernel, sigma, _, _ = KERNELS[name]
    result = solve(rows, Y, objective, 2.0, kernel, sigma)
    result.save(tmp_path / "run.npz")
    again = Result.load(tmp_path / "run.npz")
    for field in fields(Result):
        if field.name not in ("trace", "machine"):
            ours, theirs = getattr(result, field.name), getattr(again, field.name)
            assert type(ours) is type(theirs) and np.array_equal(ours, theirs), field.name
    for column, values in result.trace.as_dict().items():
        assert np.array_equal(getattr(again.trace, column), values, equal_nan=True)
    assert np.array_equal(again.decision_function(new), result.decision_function(new))
    assert (again.w is None) == (result.w is None) == (kernel != "linear")


@pytest.mark.parametrize("name", KERNELS)
def test_new_rows_of_another_width_are_refused(name):
    rows, new, kernel, sigma, _, _ = KERNELS[name]
    result = solve(rows, Y, TopPushK(2), 2.0, kernel, sigma)
    with pytest.raises(ValueError, match=f"Z must have {rows.shape[1]} columns; got 2"):
        result.decision_function(new[:, :2])


def test_more_rows_than_a_chunk_are_scored(monkeypatch):
    monkeypatch.setattr(machine, "chunks", partial(gram.chunks, size=5))
    c = np.arange(12.0) - 5
    scores = Machine("rbf", c, X, 0.4).scores(NEW)
    assert scores == pytest.approx(rbf(NEW, X) @ c, abs=1e-13)


def test_a_row_at_the_threshold_is_positive():
    result = solve(X, Y, TopPushK(2), 2.0)
    scores = result.decision_function(NEW) + result.threshold
    at_row = replace(result, threshold=float(result.machine.scores(NEW)[2]))
    assert at_row.predict(NEW).tolist() == (scores >= scores[2]).astype(int).tolist()
    assert at_row.predict(NEW)[2] == 1


def test_the_trace_counts_the_rows_of_both_kinds():
    result = solve(X, Y, TopPushK(2), 2.0, method="subgradient", max_iter=3)
    numbers = np.count_nonzero(result.alpha), np.count_nonzero(result.beta)
    assert min(numbers) > 0 and result.trace.active[-1] == sum(numbers)
