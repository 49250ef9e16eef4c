"""X in files, in memory and in iterables gives the same rows; what cannot be read is named."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from out_of_core import RowChunks, saved, saved_csr

import fwlab
from fwlab import distributed
from fwlab.distributed import CsrFiles, OutOfCoreProblem

pytestmark = pytest.mark.small

N, D = 11, 3
Y = np.arange(N) % 3
X64 = np.random.default_rng(0).normal(size=(N, D))
X64[::4, 1] = 0.0
SPARSE = scipy.sparse.csr_matrix(X64)


def made(X, y=Y, **options):
    options = {"chunk_rows": 4, "lam": 0.1, **options}
    return OutOfCoreProblem(X, y, fwlab.TopK(2), **options)


def rows_of(problem):
    """Return all rows that a pass gives; a dense chunk is copied, as the next one overwrites it."""
    dense = [p.X.toarray() if scipy.sparse.issparse(p.X) else p.X.copy() for p in problem.chunks()]
    return np.concatenate(dense)


def memory_map(folder, X=X64):
    return np.load(saved(folder, X), mmap_mode="r")


def raw_map(folder):
    """Return a map that begins in the middle of a file, and that another array comes after."""
    (folder / "raw").write_bytes(b"header!" + X64.tobytes() + b"more")
    return np.memmap(folder / "raw", np.float64, "r", offset=7, shape=X64.shape)


SOURCES = {
    "path": lambda folder: saved(folder, X64),
    "text of a path": lambda folder: str(saved(folder, X64)),
    "memory map": memory_map,
    "raw memory map": raw_map,
    "part of a memory map": lambda folder: memory_map(folder, np.tile(X64, (3, 1)))[N : 2 * N],
    "part of a part": lambda folder: memory_map(folder, np.tile(X64, (3, 1)))[2:][
        N - 2 : 2 * N - 2
    ],
    "CSR files": lambda folder: saved_csr(folder, X64),
    "CSR files, short pointers": lambda folder: saved_csr(folder, X64, np.int32),
    "array": lambda folder: X64,
    "array in columns": lambda folder: np.asfortranarray(X64),
    "CSR": lambda folder: SPARSE,
    "COO": lambda folder: SPARSE.tocoo(),
    "iterable": lambda folder: RowChunks(X64, 4),
    "list": lambda folder: [X64[:4], X64[4:8].tolist(), X64[8:]],
    "iterable of CSR": lambda folder: RowChunks(SPARSE, 4),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_rows_each_time(name, tmp_path):
    problem = made(SOURCES[name](tmp_path))
    assert [part.n_samples for part in problem.parts] == [4, 4, 3]
    for _ in range(2):
        assert_array_equal(rows_of(problem), X64)
    in_memory = fwlab.Problem(X64, Y, fwlab.TopK(2), 0.1)
    np.testing.assert_allclose(problem.curvatures, in_memory.curvatures, rtol=1e-15)


@pytest.mark.parametrize("dtype, stored", [
    ("f4", "f4"), ("f2", "f4"), ("i2", "f4"), ("?", "f4"), ("f8", "f8"), ("i4", "f8"),
    (">f4", "f4"), (">f8", "f8"), ("i8", "f8"),
])  # fmt: skip
@pytest.mark.parametrize("form", ["file", "CSR files", "array"])
def test_numbers_are_stored_in_float32_if_it_holds_them(dtype, stored, form, tmp_path):
    X = (8 * X64).astype(dtype)
    source = {"file": saved, "CSR files": saved_csr, "array": lambda _, X: X}[form](tmp_path, X)
    problem = made(source)
    assert {part.X.dtype for part in problem.chunks()} == {np.dtype(stored)}
    assert_array_equal(rows_of(problem), X.astype(np.float64))
    assert ("X is stored as float32" in problem.notes[-1]) == (stored == "f4")


def test_a_pass_that_ends_early_leaves_the_next_one_whole(tmp_path):
    problem = made(saved(tmp_path, X64))
    assert_array_equal(problem.first_part().X, X64[:4])
    for _ in problem.chunks():
        break
    assert_array_equal(rows_of(problem), X64)


def truncated(folder):
    path = saved(folder, X64)
    path.write_bytes(path.read_bytes()[:-1])
    return path


def with_nan(place):
    X = X64.copy()
    X[place] = np.nan
    return X


def text_file(folder):
    (folder / "X.npy").write_text("1,2,3")
    return folder / "X.npy"


def csr_with(folder, **arrays):
    files = saved_csr(folder, X64)
    parts = {"data": files.data.whole(), "indices": files.indices.whole(), "indptr": files.indptr}
    for name, array in {**parts, **arrays}.items():
        np.save(folder / f"{name}.npy", array)
    return CsrFiles(*(folder / f"{name}.npy" for name in parts), n_features=D)


INDICES, INDPTR = SPARSE.indices, SPARSE.indptr
REFUSED = {
    "missing": (lambda f: f / "no.npy", FileNotFoundError, "X must name an existing .npy file"),
    "truncated": (truncated, ValueError, "X must name a whole .npy file"),
    "text": (text_file, ValueError, "X must name a whole .npy file"),
    "1-D": (lambda f: saved(f, X64[0]), ValueError, r"X must be 2-D; got shape \(3,\)"),
    "strings": (lambda f: saved(f, X64.astype("U5")), TypeError, "X must hold real numbers"),
    "complex": (lambda f: saved(f, X64 + 0j), TypeError, "X must hold real numbers"),
    "columns": (lambda f: saved(f, np.asfortranarray(X64)), ValueError, "stored row by row"),
    "every other row": (lambda f: memory_map(f)[::2], ValueError, "stored row by row"),
    "empty": (lambda f: saved(f, X64[:0]), ValueError, "X must have at least one entry"),
    "copy on write": (
        lambda f: np.load(saved(f, X64), mmap_mode="c"), ValueError, "not a copy on write"
    ),
    "an iterator": (lambda f: iter([X64]), TypeError, "X must be iterable again and again"),
    "a number": (lambda f: 3, TypeError, "X must be an array, a memory map, a .npy path"),
    "NaN in a file": (lambda f: saved(f, with_nan((9, 1))), ValueError, r"X\[8:11\] must be f"),
    "NaN in a chunk": (lambda f: RowChunks(with_nan((9, 1)), 4), ValueError, "chunk 2 of X must"),
    "another width": (
        lambda f: [X64[:4], X64[4:, :2]], ValueError, r"X\[4:11\] must have 3 columns.*got 2"
    ),
    "another type": (
        lambda f: [X64[:4].astype("f4"), X64[4:]], ValueError, "chunk 1 of X must hold float32"
    ),
    "no chunk": (lambda f: [], ValueError, "y must have one label per row of X, 0 in all; got 11"),
    "column too large": (
        lambda f: csr_with(f, indices=INDICES + 1), ValueError, r"indices must be in 0..2; got 1 "
    ),
    "column negative": (
        lambda f: csr_with(f, indices=INDICES - 1), ValueError, "indices must be in 0..2; got -1"
    ),
    "column twice": (
        lambda f: csr_with(f, indices=0 * INDICES), ValueError, "indices must ascend within each"
    ),
    "float columns": (
        lambda f: csr_with(f, indices=1.0 * INDICES), TypeError, "indices must hold signed integers"
    ),
    "pointers fall": (
        lambda f: csr_with(f, indptr=INDPTR[::-1]), ValueError, "indptr must begin with 0 and never"
    ),
    "too few values": (
        lambda f: csr_with(f, data=SPARSE.data[:-1]), ValueError, "data must have 30 entries"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_named_before_the_run(name, tmp_path):
    make, error, sentence = REFUSED[name]
    with pytest.raises(error, match=sentence) as caught:
        made(make(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options, error, sentence", [
    ({"y": Y[:-1]}, ValueError, "y must have one label per row of X, 11; got 10"),
    ({"y": np.zeros(N)}, ValueError, "y must hold at least two classes"),
    ({"lam": None}, TypeError, "lam must be a real number, or C"),
    ({"sample_weight": np.ones(3)}, ValueError, "sample_weight must have one weight"),
    ({"smoothing": -1.0}, ValueError, "smoothing must be finite and >= 0"),
    ({"chunk_rows": 0}, ValueError, "chunk_rows must be at least 1"),
    ({"max_memory": "lots"}, ValueError, 'max_memory must be bytes or a text such as "500MB"'),
    ({"max_memory": 0}, ValueError, "max_memory must be at least 1"),
    ({"max_memory": 1.5}, TypeError, "max_memory must be an integer"),
])  # fmt: skip
def test_other_arguments_are_checked(options, error, sentence, tmp_path):
    with pytest.raises(error, match=sentence):
        made(saved(tmp_path, X64), **options)


def test_labels_must_fit_the_chunks_of_an_iterable():
    with pytest.raises(ValueError, match="one label per row of X, 8 or more; got 7"):
        made(RowChunks(X64, 4), Y[:7])
    with pytest.raises(ValueError, match="one label per row of X, 11 in all; got 12"):
        made(RowChunks(X64, 4), np.arange(12) % 3)


def test_a_loss_must_be_of_a_family():
    sentence = r"loss must be a fwlab\.Loss or an entropy where X is read in parts; got 'topk'"
    with pytest.raises(TypeError, match=sentence):
        OutOfCoreProblem(X64, Y, "topk", 0.1)


def test_numbers_beyond_float64_are_refused():
    with pytest.raises(ValueError, match="must keep all products below"):
        made(1e100 * X64, lam=1e-100)


@pytest.mark.parametrize(
    "later", [[X64[:5], X64[5:]], [X64[:4], X64[4:8]], [X64[:4], X64[4:8, :2]]]
)
def test_an_iterable_that_changes_is_named(later):
    X = [X64[:4], X64[4:8], X64[8:]]
    problem = made(X)
    X[:] = later
    with pytest.raises(ValueError, match="X must give the same chunks of rows each"):
        distributed.solve(problem, max_iter=2)


def test_a_file_that_becomes_shorter_is_named(tmp_path):
    path: Path = saved(tmp_path, X64)
    problem = made(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="must not change in a run; it ended"):
        distributed.solve(problem, max_iter=2)
