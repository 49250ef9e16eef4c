"""A run stays within max_memory, whatever the size of X."""

import os
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from out_of_core import RowChunks, saved_csr

import fwlab
from fwlab import distributed
from fwlab.distributed import OutOfCoreProblem

N, D, M = 6000, 256, 10


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
    tracemalloc.start()
    try:
        return run(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def packed_bytes(A):
    return A.data.nbytes + A.indices.nbytes + A.indptr.nbytes


def least_memory(X, y):
    """Return the least bytes that a refusal names."""
    with pytest.raises(ValueError, match="max_memory must be at least") as caught:
        OutOfCoreProblem(X, y, fwlab.TopK(3), C=1.0, max_memory=1)
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
    # the result joins the packed chunks, and a step of fw adds two of them
    packed = packed_bytes(result.A)
    assert peak <= limit + 3 * packed, (peak, limit, packed)
    assert peak > limit / 4  # the plan is no excuse to take little


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
