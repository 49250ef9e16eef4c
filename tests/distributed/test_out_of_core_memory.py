"""A run stays within max_memory, whatever the size of X."""

import gc
import os
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from out_of_core import RowChunks, saved_csr
from scipy.sparse import csr_array

import fwlab
from fwlab import distributed
from fwlab.distributed import OutOfCoreProblem
from fwlab.distributed.memory import ENTRIES, EntropyMemory, Memory, as_bytes
from fwlab.kernels.steps.ascent_passes import COST_OF_CLASS, MOST_COST_OF_ONE
from fwlab.operators.scores import rows_of_part
from fwlab.solvers.blocks import BLOCK_ROWS

N, D, M = 6000, 256, 10
TOP = fwlab.TopK(3)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a .npy file of float32 numbers, 6 MB, a CSR matrix in three files, and labels."""
    folder = tmp_path_factory.mktemp("X")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D), dtype=np.float32)
    np.save(folder / "X.npy", X)
    sparse = saved_csr(folder, X * (X > 1))
    return folder / "X.npy", sparse, rng.integers(0, M, N)


def peak_of(run):
    """Return the result and the most bytes that numpy and Python took at once."""
    gc.collect()  # so that cycles of the run are collected when they are in a new process
    tracemalloc.start()
    try:
        return run(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def packed_bytes(A):
    return A.data.nbytes + A.indices.nbytes + A.indptr.nbytes


def least_memory(X, y, loss=TOP):
    """Return the least bytes that a refusal names."""
    with pytest.raises(ValueError, match="max_memory must be at least") as caught:
        OutOfCoreProblem(X, y, loss, C=1.0, max_memory=1)
    assert "got 1." in str(caught.value)
    return int(re.search(r"at least (\d+) bytes", str(caught.value))[1])


@pytest.mark.parametrize("kind, method", [("dense", "ascent"), ("sparse", "fw")])
def test_the_least_memory_is_enough_and_kept(kind, method, files):
    path, sparse, y = files
    X = path if kind == "dense" else sparse
    limit = least_memory(X, y)
    assert limit < 0.6 * 4 * N * D if kind == "dense" else True

    def run():
        problem = OutOfCoreProblem(X, y, fwlab.TopK(3), C=1.0, max_memory=limit)
        return distributed.solve(problem, method, tol=0.0, max_iter=2, check_every=2)

    run()  # compiles, which takes memory of its own
    result, peak = peak_of(run)
    # the result joins the packed chunks, as the vertices do in a step of fw
    packed = packed_bytes(result.A)
    # how far the reader of the next chunk is at the peak differs from run to run by up to 70 kB
    assert peak <= limit + 2 * packed + 2**17, (peak, limit, packed)
    assert peak > limit / 4  # the plan is no excuse to take little


@pytest.mark.parametrize("is_sparse, n, d", [(False, 1500, D), (False, N, 40), (True, 1500, D)])
def test_the_least_memory_is_enough_with_an_entropy(is_sparse, n, d, files, tmp_path):
    """With a factor of X^T X, with renewals by class, and with a diagonal."""
    X, y = np.load(files[0])[:n, :d], files[2][:n]
    np.save(tmp_path / "X.npy", X)
    given = saved_csr(tmp_path, X * (X > 1)) if is_sparse else tmp_path / "X.npy"
    limit = least_memory(given, y, fwlab.CrossEntropy())

    def run(max_iter=1):
        problem = OutOfCoreProblem(given, y, fwlab.CrossEntropy(), C=1.0, max_memory=limit)
        # away from 0 the preconditioner is the renewed one
        return distributed.solve(problem, tol=0.0, max_iter=max_iter, A0=np.full((M, d), 0.01))

    run(0)  # imports, which take memory of their own
    result, peak = peak_of(run)
    assert result.nit == 1 and limit / 4 < peak <= limit + 2**17, (peak, limit)


def test_more_memory_makes_longer_chunks(files):
    path, _, y = files
    least = least_memory(path, y)
    rows = [
        OutOfCoreProblem(path, y, fwlab.TopK(3), C=1.0, max_memory=limit).chunk_rows
        for limit in (least, 2 * least, "1GB")
    ]
    assert rows[0] < rows[1] < rows[2] == N
    with pytest.raises(ValueError, match="max_memory must be at least"):
        OutOfCoreProblem(path, y, fwlab.TopK(3), C=1.0, max_memory=2 * least, chunk_rows=N)


def test_a_chunk_of_an_iterable_that_is_too_large_is_named(files):
    path, _, y = files
    X = np.load(path)
    with pytest.raises(ValueError, match=r"max_memory must be .* chunks of 3000 rows"):
        OutOfCoreProblem(RowChunks(X, 3000), y, fwlab.TopK(3), C=1.0, max_memory="8MB")


@pytest.fixture
def living():
    """Provide a function that returns the bytes of the entries of all dual points that live."""
    before = {id(made): made for made in gc.get_objects() if type(made) is csr_array}

    def count():
        made = [a for a in gc.get_objects() if type(a) is csr_array and id(a) not in before]
        buffers = {}
        for array in (rows.data for rows in made if rows.shape[1] == M):
            while isinstance(array.base, np.ndarray):
                array = array.base
            buffers[id(array)] = array.nbytes
        return sum(buffers.values())

    return count


@pytest.mark.turns
@pytest.mark.parametrize("method", ["ascent", "fw"])
def test_a_run_holds_its_dual_point_once(method, files, living, tmp_path):
    """Also after a resume, and in a path whose points the caller deletes."""
    path, _, y = files
    seen = []

    def note(progress):
        seen.append((living(), sum(rows.data.nbytes for rows in progress.state.packed)))

    problem = OutOfCoreProblem(path, y, fwlab.TopK(3), C=1.0, chunk_rows=1000)
    options = {"method": method, "tol": 0.0, "check_every": 1, "callback": note}
    for max_iter in (3, 5):
        distributed.solve(problem, max_iter=max_iter, checkpoint=tmp_path / "run.npz", **options)
    for point in distributed.path(problem, [0.1, 1.0, 10.0], max_iter=2, **options):
        del point
    assert [alive for alive, _ in seen] == [own for _, own in seen]
    assert len(seen) == 4 + 3 + 3 * 3 and seen[-1][0] > 8 * N


def resident_file_bytes():
    """Return the resident bytes of mapped files."""
    text = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"RssFile:\s+(\d+) kB", text)[1])


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc tells the memory")
def test_no_page_of_a_memory_map_becomes_resident(files):
    path, _, y = files
    mapped = np.load(path, mmap_mode="r")
    distributed.solve(OutOfCoreProblem(mapped, y, fwlab.TopK(3), C=1.0), max_iter=1, tol=0.0)
    before = resident_file_bytes()
    problem = OutOfCoreProblem(mapped, y, fwlab.TopK(3), C=1.0, max_memory="9MB")
    distributed.solve(problem, max_iter=1, tol=0.0)
    assert resident_file_bytes() - before < path.stat().st_size / 10
    mapped.sum()  # the control: what a read through the map would have done
    assert resident_file_bytes() - before > path.stat().st_size / 2


@pytest.mark.parametrize(
    "given, size", [("500MB", 5e8), ("2 GiB", 2**31), ("203300", 203300), (" 1.5kb ", 1500), (7, 7)]
)
def test_memory_is_a_number_of_bytes_with_or_without_a_unit(given, size):
    assert as_bytes("max_memory", given) == size


@pytest.mark.parametrize("given", ["", "MB", "5 apples", "-1MB", "1e3"])
def test_other_texts_are_no_memory(given):
    with pytest.raises(ValueError, match="max_memory must be bytes or a text such as"):
        as_bytes("max_memory", given)


def test_the_memory_of_a_run_by_hand():
    """Five arrays like W, six like A of the longest chunk and of a part, the classes that faces
    list, what a row takes, and three chunks."""
    n, d, m, rows, chunk = 1000, 7, 5, 10, 1111
    listed = MOST_COST_OF_ONE / COST_OF_CLASS
    like_a = 6 * m * (rows + min(rows, rows_of_part(m))) + listed * m * rows
    expected = 8 * (5 * m * d + like_a + (14 + BLOCK_ROWS) * n) + 3 * chunk
    assert Memory(1, n, d, m).needed(rows, chunk) == int(expected)


def test_the_memory_of_a_run_with_an_entropy_by_hand():
    """A part, arrays like W, ten more with renewals, the preconditioner, and what rows take."""
    n, m, rows, chunk = 1000, 5, 10, 1111
    dense, sparse = (EntropyMemory(1, n, 7, m, is_sparse) for is_sparse in (False, True))
    expected = 9 * rows * 7 + 42 * m * 7 + (6 + 5 * m) * 49 + ENTRIES + 24 * n
    assert dense.needed(rows, chunk) == 8 * expected + 3 * chunk
    assert sparse.needed(rows, chunk) == 8 * (9 * rows * m + 32 * m * 7 + 24 * n) + 3 * chunk
    assert dense.numbers(10**9) - dense.numbers(0) == 9 * ENTRIES
    # many features are no reason for renewals, and more than samples none for a factor
    wide, wider = (EntropyMemory(1, n, d, m, False).numbers(0) for d in (200, 1001))
    assert wide == 32 * m * 200 + 6 * 200**2 + 24 * n
    assert wider == 32 * m * 1001 + 24 * n
