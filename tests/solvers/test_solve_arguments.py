"""Test the arguments of solve: accepted ones, refused ones, and the progress that callers see."""

import signal
import sys
from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from solvers.solver_table import (
    BLOCK_METHODS,
    RANDOM_FIRST,
    Case,
    each_form,
    each_method,
    random_feasible,
)
from threadpoolctl import threadpool_info, threadpool_limits

import fwlab
from fwlab import threads as _threads
from fwlab.solvers import registry

pytestmark = pytest.mark.small


@each_method
@each_form
def test_the_callback_sees_but_cannot_touch(method, form):
    problem, seen = Case(form=form).problem(), []

    def look(progress):
        seen.append((progress.iteration, progress.primal, progress.dual, progress.gap))
        arrays = [progress.A] if form == "precomputed" else [progress.A, progress.W]
        assert progress.seconds >= 0.0
        assert (progress.W is None) == (form == "precomputed")
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = 1.0
        with pytest.raises(AttributeError):
            progress.gap = 0.0

    result = fwlab.solve(problem, method, tol=0.0, max_iter=3, callback=look, check_every=1)
    trace = result.trace
    columns = zip(trace.iteration, trace.primal, trace.dual, trace.gap, strict=True)
    for told, stored in zip(seen, columns, strict=True):
        assert told == pytest.approx(stored, abs=1e-13)


def test_errors_of_the_callback_are_the_callers():
    def fail(progress):
        raise RuntimeError("mine")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError, match="mine"):
        fwlab.solve(Case().problem(), callback=fail)
    assert signal.getsignal(signal.SIGINT) is before


@each_method
@pytest.mark.parametrize("weighted", [False, True])
def test_a_warm_start_is_used_and_left_alone(method, weighted):
    case = Case(weighted=weighted, smoothing=0.1)
    problem = case.problem()
    A0 = random_feasible(case, np.random.default_rng(1))
    copy = A0.copy()
    result = fwlab.solve(problem, method, A0=A0, tol=0.0, max_iter=3, check_every=1)
    assert_array_equal(A0, copy)
    assert result.trace.dual[0] == pytest.approx(problem.dual(A0), abs=1e-14)
    listed = fwlab.solve(problem, method, A0=A0.tolist(), tol=0.0, max_iter=3, check_every=1)
    assert_array_equal(listed.A, result.A)


def test_a_run_continues_where_another_ended():
    problem = Case().problem()
    options = {"tol": 0.0, "order": "cyclic"}
    whole = fwlab.solve(problem, max_iter=6, **options)
    half = fwlab.solve(problem, max_iter=3, **options)
    again = fwlab.solve(problem, max_iter=3, A0=half.A, **options)
    np.testing.assert_allclose(again.A, whole.A, atol=1e-13)


@each_method
def test_rng_may_be_a_generator(method):
    problem = Case().problem()
    generator = np.random.default_rng(5)
    first = fwlab.solve(problem, method, rng=generator, tol=0.0, max_iter=2)
    second = fwlab.solve(problem, method, rng=generator, tol=0.0, max_iter=2)
    seeded = fwlab.solve(problem, method, rng=5, tol=0.0, max_iter=2)
    assert_array_equal(first.A, seeded.A)
    assert np.array_equal(first.A, second.A) == (method not in {*BLOCK_METHODS, *RANDOM_FIRST})


@pytest.mark.parametrize("verbose, lines", [(0, 0), (1, 1), (2, 4)])
def test_verbose_speaks_on_stderr(verbose, lines, capsys):
    fwlab.solve(Case().problem(), tol=0.0, max_iter=3, verbose=verbose, check_every=1)
    out, err = capsys.readouterr()
    assert out == ""
    # a second may pass between two checkpoints of a busy machine
    assert len(err.splitlines()) == lines or (verbose == 1 and len(err.splitlines()) > 1)
    assert all("gap" in line and "ascent" in line for line in err.splitlines())


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_threads_are_limited_and_restored():
    inside = []

    def count(progress):
        inside.append(blas_threads())
        if progress.iteration == 1:
            raise RuntimeError

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        fwlab.solve(Case().problem(), tol=0.0, max_iter=1)
        assert blas_threads() == before
        with pytest.raises(RuntimeError):
            fwlab.solve(Case().problem(), tol=0.0, callback=count)
        assert blas_threads() == before
    assert 2 in before  # a library whose pool cannot grow stays at 1
    assert all(set(threads) == {1} for threads in inside)


def test_blas_is_looked_for_again_when_a_module_has_been_imported(monkeypatch):
    looked = []
    original = _threads.ThreadpoolController
    monkeypatch.setattr(_threads, "ThreadpoolController", lambda: looked.append(1) or original())
    fwlab.solve(Case().problem(), tol=0.0, max_iter=1)  # the first run imports modules
    _threads._controller.cache_clear()
    looked.clear()
    for _ in range(3):
        fwlab.solve(Case().problem(), tol=0.0, max_iter=1)
    assert len(looked) == 1
    monkeypatch.setitem(sys.modules, "a module that may load another BLAS", sys)
    fwlab.solve(Case().problem(), tol=0.0, max_iter=1)
    assert len(looked) == 2
    _threads._controller.cache_clear()


def never(progress):
    raise AssertionError("a run with bad arguments began")


BAD = [
    ({"problem": "digits"}, TypeError, "problem", "digits"),
    ({"method": "newtonian"}, ValueError, "method", "newtonian"),
    ({"method": None}, ValueError, "method", "None"),
    ({"method": ["fw"]}, (TypeError, ValueError), "method", "fw"),
    ({"blocks": 3}, TypeError, "blocks", "order"),
    ({"method": "fw", "order": "cyclic"}, TypeError, "order", "fw"),
    ({"order": "sideways"}, ValueError, "order", "sideways"),
    ({"order": None}, ValueError, "order", "None"),
    ({"block_size": 0}, ValueError, "block_size", "0"),
    ({"block_size": 2.5}, TypeError, "block_size", "2.5"),
    ({"block_size": 4, "order": "uniform"}, ValueError, "block_size", "4"),
    ({"tol": -1e-3}, ValueError, "tol", "-0.001"),
    ({"tol": np.nan}, ValueError, "tol", "nan"),
    ({"tol": "small"}, TypeError, "tol", "small"),
    ({"max_iter": -1}, ValueError, "max_iter", "-1"),
    ({"max_iter": 10.0}, TypeError, "max_iter", "10.0"),
    ({"time_limit": -1.0}, ValueError, "time_limit", "-1.0"),
    ({"time_limit": np.inf}, ValueError, "time_limit", "inf"),
    ({"time_limit": "1 s"}, TypeError, "time_limit", "1 s"),
    ({"check_every": 0}, ValueError, "check_every", "0"),
    ({"check_every": "often"}, ValueError, "check_every", "'often'"),
    ({"check_every": 1.5}, TypeError, "check_every", "1.5"),
    ({"verbose": 3}, ValueError, "verbose", "3"),
    ({"verbose": "yes"}, TypeError, "verbose", "yes"),
    ({"n_threads": 0}, ValueError, "n_threads", "0"),
    ({"n_threads": 2.0}, TypeError, "n_threads", "2.0"),
    ({"n_threads": None}, TypeError, "n_threads", "None"),
    ({"callback": 5}, TypeError, "callback", "5"),
    ({"rng": "seed"}, TypeError, "rng", "seed"),
    ({"rng": -1}, (TypeError, ValueError), "rng", "-1"),
    ({"rng": 0.5}, TypeError, "rng", "0.5"),
    ({"relative": "no"}, TypeError, "relative", "no"),
    ({"A0": np.zeros((12, 3))}, ValueError, "A0", "(12, 3)"),
    ({"A0": np.zeros(12)}, ValueError, "A0", "(12,)"),
    ({"A0": np.full((12, 4), np.nan)}, ValueError, "A0", "nan"),
    ({"A0": np.zeros((12, 4), complex)}, TypeError, "A0", "complex"),
    ({"A0": np.ones((12, 4))}, ValueError, "A0", "feasible"),
]


@pytest.mark.parametrize("change, error, name, value", BAD, ids=lambda part: str(part)[:40])
def test_bad_arguments_are_named(change, error, name, value):
    arguments = {"problem": Case().problem(), "callback": never, **change}
    with pytest.raises(error) as caught:
        fwlab.solve(**arguments)
    message = str(caught.value).partition(" Did you mean ")[0]
    assert name in message
    assert value in message
    assert message.endswith(".")
    assert ". " not in message and "\n" not in message  # one sentence


def test_an_argument_of_solve_is_guessed():
    assert set(registry.OF_SOLVE) < set(signature(fwlab.solve).parameters)
    for wrong, guess in (("maxiter", "max_iter"), ("odrer", "order"), ("timelimit", "time_limit")):
        with pytest.raises(TypeError, match=f"got '{wrong}'. Did you mean '{guess}'"):
            fwlab.solve(Case().problem(), "bcfw", **{wrong: 1})


def test_a_slightly_infeasible_start_is_refused():
    case = Case(weighted=True)
    A0 = random_feasible(case, np.random.default_rng(2))
    fwlab.solve(case.problem(), A0=A0, max_iter=0)
    unweighed = int(np.argmin(case.omega))
    for row in (0, unweighed):
        wrong = A0.copy()
        wrong[row, case.y[row]] += 1e-6
        with pytest.raises(ValueError, match="A0 must be feasible"):
            fwlab.solve(case.problem(), A0=wrong)
