"""Results: storing, prediction, scipy's shape."""

import os
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from solvers.solver_table import (
    Case,
    each_form,
    each_smoothing,
)

import fwlab
from fwlab import Status

pytestmark = pytest.mark.small


def same(one, two):
    """Return whether results are equal, bit for bit."""
    for name in one.__dataclass_fields__:
        a, b = getattr(one, name), getattr(two, name)
        if name == "trace":
            assert a.as_dict().keys() == b.as_dict().keys()
            for column in a.as_dict():
                assert_array_equal(a.as_dict()[column], b.as_dict()[column])
        elif isinstance(a, np.ndarray):
            assert_array_equal(a, b)
            assert a.dtype == b.dtype
        else:
            assert a == b
            assert type(a) is type(b)


@each_form
@each_smoothing
def test_results_can_be_stored(form, smoothing, tmp_path):
    problem = Case(form=form, smoothing=smoothing).problem()
    for name, options in {"done": {"tol": 0.5}, "cut.short": {"tol": 1e-9}}.items():
        result = fwlab.solve(problem, max_iter=2, **options, check_every=1)
        result.save(tmp_path / name)
        loaded = fwlab.Result.load(tmp_path / name)
        same(result, loaded)
        assert (loaded.W is None) == (form == "precomputed")
        result.trace.save(tmp_path / "trace.npz")
        trace = fwlab.Trace.load(tmp_path / "trace.npz")
        same(replace(result, trace=trace), result)
    assert sorted(os.listdir(tmp_path)) == ["cut.short", "done", "trace.npz"]


@pytest.mark.parametrize("status", Status)
def test_every_status_can_be_stored(status, tmp_path):
    result = fwlab.solve(Case().problem(), max_iter=1)
    changed = replace(result, status=status)
    changed.save(tmp_path / "result")
    same(fwlab.Result.load(tmp_path / "result"), changed)


@each_form
def test_predict(form):
    case = Case(form=form, n=24)
    problem = case.problem()
    result = fwlab.solve(problem, tol=1e-3)
    X_new = np.random.default_rng(9).normal(size=(15, case.d))
    expected = (X_new @ case.X.T @ result.A).argmax(axis=1)
    rows = X_new @ case.X.T if form == "precomputed" else X_new
    predictions = [result.predict(rows), result.predict(scipy.sparse.csr_matrix(rows))]
    predictions.append(problem.scores(result.A, rows).argmax(axis=1))
    for predicted in predictions:
        assert_array_equal(predicted, expected)
        assert predicted.dtype.kind == "i"
    assert len(set(expected)) > 1
    np.testing.assert_allclose(
        problem.scores(result.A, rows), X_new @ case.X.T @ result.A / (case.lam * case.n)
    )


def test_predict_breaks_ties_to_the_lowest_class():
    result = fwlab.solve(Case().problem(), max_iter=0)
    assert_array_equal(result.predict(np.ones((3, 5))), 0)


@each_form
def test_to_optimize_result(form):
    result = fwlab.solve(Case(form=form).problem(), max_iter=2)
    converted = result.to_optimize_result()
    assert_array_equal(converted.x, result.A if result.W is None else result.W)
    assert converted.fun == result.primal
    assert (converted.dual, converted.gap) == (result.dual, result.gap)
    assert (converted.success, converted.nit) == (False, 2)
    assert converted.message == result.message


def test_methods_are_listed_with_a_sentence():
    assert {"fw", "fw-open-loop", "bcfw", "ascent"} <= set(fwlab.methods())
    for sentence in fwlab.methods().values():
        assert sentence.endswith(".")
