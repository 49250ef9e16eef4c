"""A run shares its work on rows among threads; their number changes at most BLAS's rounding."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Thread

import numpy as np
import pytest
from solvers.solver_table import Case, each_form, each_method
from solvers.tensor_libraries import needs_torch
from threadpoolctl import threadpool_info, threadpool_limits

import fwlab
from fwlab.kernels.products.dense import SUMMED
from fwlab.operators.features import SHORT_ROWS, DenseFeatures
from fwlab.threads import (
    ROWS,
    OneBlasThread,
    for_parts,
    for_rows,
    one_blas_thread,
    run_threads,
    sum_of_parts,
    threads_in_blas,
    torch_threads,
)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_rows", [0, 1, ROWS, ROWS + 1, 10 * ROWS - 1, 100 * ROWS])
def test_each_row_is_worked_on_once_in_whole_groups(n_threads, n_rows):
    seen, starts = np.zeros(n_rows, dtype=int), []

    def work(rows):
        seen[rows] += 1
        starts.append(rows.start)

    with run_threads(n_threads):
        for_rows(work, n_rows)
    assert (seen == 1).all()
    assert all(start % ROWS == 0 for start in starts)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("number", [0, 1, 3, 11])
def test_each_thread_gets_one_range(n_threads, number):
    seen, names = [], {}

    def work(part):
        seen.extend(range(*part))
        names[part] = threading.current_thread().name

    with run_threads(n_threads):
        for_parts(work, number)
    assert sorted(seen) == list(range(number))
    assert len(names) == min(n_threads, max(number, 1))
    assert names[min(names)] == threading.current_thread().name  # the caller works, too
    lengths = [last - first for first, last in names]
    assert max(lengths) - min(lengths) <= 1


def test_an_error_in_a_range_reaches_the_caller():
    def work(part):
        if part[0] > 0:
            raise MemoryError(f"row {part[0]}")

    with run_threads(2), pytest.raises(MemoryError, match="row 2"):
        for_parts(work, 4)


def test_two_threads_work_at_the_same_time():
    meeting = threading.Barrier(2, timeout=60)
    with run_threads(2):
        for_rows(lambda rows: meeting.wait() if rows.start < 2 * ROWS else None, 8 * ROWS)


def test_an_error_in_a_thread_reaches_the_caller():
    def work(rows):
        raise MemoryError(f"row {rows.start}")

    with run_threads(2), pytest.raises(MemoryError, match="row 0"):
        for_rows(work, 3 * ROWS)


def test_threads_end_with_their_context():
    before = threading.active_count()
    with run_threads(3):
        for_rows(lambda rows: None, 9 * ROWS)
        assert threading.active_count() > before
    assert threading.active_count() == before
    with run_threads(1):
        for_rows(lambda rows: None, 9 * ROWS)
        assert threading.active_count() == before


@pytest.mark.parametrize("n_rows", [1, 10, 11, 95])
def test_parts_are_added_in_their_order(n_rows):
    values = np.random.default_rng(0).standard_normal((n_rows, 2, 3)) * 10.0 ** np.arange(3)

    def add(rows, out):
        for value in values[rows]:
            out += value

    expected = np.zeros((2, 3))
    for start in range(0, n_rows, 10):
        part = np.zeros((2, 3))
        add(slice(start, start + 10), part)
        expected += part
    for n_threads in (1, 2, 3, 20):
        with run_threads(n_threads):
            np.testing.assert_array_equal(sum_of_parts(add, n_rows, 10, (2, 3)), expected)


def largest_blas_pool():
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")


def test_blas_takes_the_threads_where_it_must():
    with threadpool_limits(3, user_api="blas"):
        before = largest_blas_pool()
        with run_threads(2):
            assert largest_blas_pool() == 1
            with threads_in_blas():
                assert largest_blas_pool() == 2
            assert largest_blas_pool() == 1
        assert largest_blas_pool() == before


def test_a_run_within_a_run_has_its_own_threads():
    def threads_of_work():
        names = set()
        for_rows(lambda rows: names.add(threading.current_thread().name), 9 * ROWS)
        return names

    main = {threading.current_thread().name}
    with run_threads(2):
        assert not threads_of_work() & main
        with run_threads(1):
            assert threads_of_work() == main
        assert not threads_of_work() & main


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_works_alone():
    """The threads of the pool do not exist in the child, which would wait for them."""
    with run_threads(2):
        for_rows(lambda rows: None, 9 * ROWS)
        child = os.fork()
        if child == 0:
            seen = []
            for_rows(lambda rows: seen.append(rows), 9 * ROWS)
            os._exit(0 if len(seen) == 1 else 1)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("d", [40, SHORT_ROWS + 2])
@pytest.mark.parametrize("storage", [np.float64, np.float32])
def test_products_in_several_parts(n_threads, d, storage):
    n, m = 2 * SUMMED + 77, 3
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((n, d)).astype(storage), rng.standard_normal((n, m))
    A[SUMMED:] *= rng.random((n - SUMMED, m)) < 0.1  # the first part is full
    columns = rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1)[:, :2]
    entries = rng.standard_normal((n, 2))
    U, features = np.zeros((n, m)), DenseFeatures(X)
    np.put_along_axis(U, columns, entries, axis=1)
    exact = X.astype(np.float64)
    with run_threads(n_threads):
        linear = features.transposed_product(A)
        vertices = features.transposed_vertex_product(columns, entries, m)
        scores = features.scores(linear)
    np.testing.assert_allclose(linear, A.T @ exact, rtol=0, atol=1e-11)
    np.testing.assert_allclose(vertices, U.T @ exact, rtol=0, atol=1e-11)
    np.testing.assert_allclose(scores, exact @ linear.T, rtol=1e-12, atol=1e-9)


@pytest.mark.turns
@pytest.mark.long
@each_method
@each_form
def test_the_number_of_threads_changes_no_more_than_the_rounding(method, form):
    problem = Case(form=form, smoothing=0.1, n=3 * ROWS + 5, d=40).problem()
    one, two = (fwlab.solve(problem, method, n_threads=k, tol=0.0, max_iter=3) for k in (1, 2))
    np.testing.assert_allclose(two.A, one.A, atol=1e-12)
    assert two.gap == pytest.approx(one.gap, abs=1e-12)


def wide(n, d, m, storage="float64"):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)).astype(storage), rng.integers(0, m, n)
    return fwlab.Problem(X, y, fwlab.TopK(2), 0.01, storage=storage)


@pytest.mark.parametrize("method", ["fw", "ascent", "pfw"])
@pytest.mark.parametrize("storage", ["float64", "float32"])
def test_products_in_parts_change_nothing(method, storage):
    """The products of long rows are the package's own, and A^T X is summed in several parts."""
    problem = wide(2 * SUMMED + 77, 130, 7, storage)
    one, three = (fwlab.solve(problem, method, n_threads=k, tol=0.0, max_iter=2) for k in (1, 3))
    assert_same_run(three, one)


def test_many_classes_by_blas_change_no_more_than_the_rounding():
    problem = wide(5 * ROWS, 130, 520)
    one, two = (fwlab.solve(problem, "fw", n_threads=k, tol=0.0, max_iter=2) for k in (1, 2))
    np.testing.assert_allclose(two.A, one.A, atol=1e-12)
    assert two.gap == pytest.approx(one.gap, abs=1e-12)
    assert two.gap_error < 1e-9


def assert_same_run(first, second):
    np.testing.assert_array_equal(first.A, second.A)
    np.testing.assert_array_equal(np.asarray(first.W), np.asarray(second.W))
    np.testing.assert_array_equal(first.trace.gap, second.trace.gap)
    assert first.gap_error == second.gap_error


def test_each_row_keeps_its_costs_and_its_label():
    rng, n, m = np.random.default_rng(0), 5 * ROWS + 3, 6
    scores, y = rng.standard_normal((n, m)), rng.integers(0, m, n)
    polytopes = fwlab.StructuredHinge(rng.random((m, m)) * (1 - np.eye(m))).polytopes(y, m)

    def answers(n_threads):
        with run_threads(n_threads):
            vertices = polytopes.compact_vertices(scores)
            return polytopes.values(scores), *vertices, polytopes.project(scores)

    for one, three in zip(answers(1), answers(3), strict=True):
        np.testing.assert_array_equal(three, one)


def test_threads_that_overlap_leave_blas_as_it_was():
    """The first thread inside ends before the second one, which then holds the limit alone."""
    both, first_left = Barrier(3), Event()

    def first():
        with one_blas_thread:
            both.wait()
        first_left.set()

    def second():
        with one_blas_thread:
            both.wait()
            first_left.wait()

    with threadpool_limits(2, user_api="blas"):
        before = largest_blas_pool()
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(first), pool.submit(second)]
            both.wait()
            for task in running:
                task.result()
        assert largest_blas_pool() == before
        with one_blas_thread:
            assert largest_blas_pool() == 1
        assert largest_blas_pool() == before


def test_the_last_one_out_lifts_the_limit(monkeypatch):
    told = []

    @contextmanager
    def limit(n_threads):
        told.append(n_threads)
        yield
        told.append("lifted")

    monkeypatch.setattr("fwlab.threads.blas_threads", limit)
    one = OneBlasThread()
    with one:
        with one:
            pass
        assert told == [1]
    assert told == [1, "lifted"]


class TorchOfThreads:
    """torch's numbers of threads: one for each thread, and one that new threads begin with."""

    def __init__(self, number):
        self.of_new, self.own = number, threading.local()

    def get_num_threads(self):
        self.own.number = getattr(self.own, "number", self.of_new)
        return self.own.number

    def set_num_threads(self, number):
        self.own.number = self.of_new = number


@pytest.mark.parametrize("library", ["stand-in", pytest.param("torch", marks=needs_torch)])
def test_overlapping_runs_leave_the_threads_of_torch(library, monkeypatch):
    if library == "torch":
        import torch
    else:
        torch = TorchOfThreads(3)
        monkeypatch.setitem(sys.modules, "torch", torch)
    before, seen, begun, may_end = torch.get_num_threads(), [], Event(), Event()

    def other_run():
        seen.append(torch.get_num_threads())
        with torch_threads(2):
            seen.append(torch.get_num_threads())
            begun.set()
            may_end.wait()
        seen.append(torch.get_num_threads())

    with torch_threads(1), torch_threads(4):
        assert torch.get_num_threads() == 4
        other = Thread(target=other_run)
        other.start()
        begun.wait()
    assert torch.get_num_threads() == before
    may_end.set()
    other.join()
    later = Thread(target=lambda: seen.append(torch.get_num_threads()))
    later.start()
    later.join()
    assert seen == [before, 2, before, before]
