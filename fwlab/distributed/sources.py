"""Give X chunk by chunk, in a fixed order: from files, from memory, or from an iterable.

Files are read with plain reads. The pages of a memory map count as memory of the process, the pages
of a plain read do not. Chunks are float32 where that holds every number of X exactly, else float64.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from fwlab.arrays import Integers
from fwlab.checks.arguments import as_features, as_integer
from fwlab.npz import UnreadableFile, map_npy

AHEAD = 2
# chunks in memory at once: the one in use and the ones that a thread reads ahead (same_chunks.py)
POOLED = AHEAD + 1

Order = Sequence[int]


class Source(Protocol):
    """X (n, d) in chunks."""

    @property
    def demand(self) -> str:
        """The beginning of a sentence: who must not change, or must give the same again."""

    @property
    def n_samples(self) -> int | None:
        """Number of rows; None if only a pass tells."""

    @property
    def n_features(self) -> int | None:
        """Number of columns; None if only a pass tells."""

    @property
    def dtype(self) -> type[np.floating] | None:
        """The type of the chunks; None if only a pass tells."""

    def chunk_bytes(self, rows: int) -> int:
        """Return the bytes of the largest chunk, if chunks have this number of rows."""

    @property
    def any_order(self) -> bool:
        """Whether the chunks can be read in any order."""

    @property
    def is_sparse(self) -> bool:
        """Whether the chunks are CSR matrices; False if only a pass tells."""

    def chunks(self, rows: int, order: Order | None = None) -> Iterator[Any]:
        """Yield arrays (rows, d) or CSR matrices; the last one of X may be shorter.

        `order` holds the places of the chunks to read; None stands for all, one after the other. A
        chunk is valid until POOLED - 1 more chunks have been asked for.
        """


def source_of(X: Any) -> Source:
    """Return the source of a user's X.

    Raises TypeError, ValueError or FileNotFoundError with one sentence if there is none.
    """
    if isinstance(X, CsrFiles):
        return X
    if isinstance(X, str | PathLike | np.memmap):
        return DenseFile(file_array("X", X, ndim=2))
    if hasattr(X, "__array__") or scipy.sparse.issparse(X):
        return RowsInMemory(X)
    if isinstance(X, Iterator):
        raise TypeError(f"X must be iterable again and again; got the iterator {X!r}.")
    if isinstance(X, Iterable):
        return GivenChunks(X)
    raise TypeError(
        f"X must be an array, a memory map, a .npy path, a CsrFiles or an iterable of row chunks; "
        f"got {X!r}."
    )


# ------------------------------------------------------------------ arrays in .npy files


@dataclass(frozen=True)
class FileArray:
    """A C-ordered array in a file, which begins at byte `offset`."""

    path: Path
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @contextmanager
    def opened(self) -> Iterator[FileIO]:
        """Open the file without buffers."""
        with self.path.open("rb", buffering=0) as file:
            yield file

    def fill(self, chunk: NDArray[Any], file: FileIO, start: int) -> None:
        """Read the rows, or the entries if it is 1-D, from number `start` on into a chunk.

        Raises ValueError if the file ends before.
        """
        bytes_before = int(start) * self.dtype.itemsize * int(np.prod(self.shape[1:]))
        file.seek(self.offset + bytes_before)
        rest = chunk.reshape(-1).view(np.uint8)
        while len(rest):
            count = file.readinto(rest.data)
            if not count:
                name = str(self.path)
                raise ValueError(
                    f"{name!r} must not change in a run; it ended {len(rest)} bytes early."
                )
            rest = rest[count:]

    def whole(self) -> NDArray[Any]:
        """Return the array, read into memory."""
        array = np.empty(self.shape, self.dtype)
        with self.opened() as file:
            self.fill(array, file, 0)
        return array


def labels_of(name: str, value: Any) -> Any:
    """Return the labels in a .npy file for its path, and anything else as it is.

    Raises ValueError or FileNotFoundError with one sentence if the file cannot be read.
    """
    return np.array(_mapped(name, value)) if isinstance(value, str | PathLike) else value


def file_array(name: str, value: Any, ndim: int) -> FileArray:
    """Return the array of a .npy path or a memory map.

    Raises TypeError, ValueError or FileNotFoundError with one sentence if it cannot be read row by
    row.
    """
    mapped = value if isinstance(value, np.memmap) else _mapped(name, value)
    if mapped.ndim != ndim:
        raise ValueError(f"{name} must be {ndim}-D; got shape {mapped.shape}.")
    if mapped.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers; got dtype {mapped.dtype}.")
    if not mapped.flags.c_contiguous:
        raise ValueError(f"{name} must be stored row by row (C order), without gaps between rows.")
    if mapped.size == 0:
        raise ValueError(f"{name} must have at least one entry; got shape {mapped.shape}.")
    if mapped.mode == "c" or mapped.filename is None:
        raise ValueError(f"{name} must be a memory map of a named file, not a copy on write.")
    return FileArray(Path(mapped.filename), _offset(mapped), mapped.shape, mapped.dtype)


def _mapped(name: str, path: str | PathLike[str]) -> Any:
    if not Path(path).is_file():
        raise FileNotFoundError(f"{name} must name an existing .npy file; got {str(path)!r}.")
    try:
        return map_npy(path)
    except UnreadableFile as error:
        raise ValueError(
            f"{name} must name a whole .npy file of numbers; {str(path)!r} cannot be read: "
            f"{error.reason}"
        ) from error


def _offset(mapped: Any) -> int:
    """Return the byte of the file at which a memory map, or a view of one, begins.

    A view holds the offset of the map that it is a view of.
    """
    whole = mapped
    while isinstance(whole.base, np.memmap):
        whole = whole.base
    return int(whole.offset + mapped.ctypes.data - whole.ctypes.data)


# ------------------------------------------------------------------ sources


def working_type(dtype: Any) -> type[np.floating]:
    """Return float32 if it holds all numbers of a type, else float64."""
    return np.float32 if np.result_type(dtype, np.float32) == np.float32 else np.float64


def starts(n: int, rows: int, order: Order | None = None) -> list[int]:
    """Return the first row of each chunk, or of those in `order`."""
    first = range(0, n, rows)
    return list(first) if order is None else [first[place] for place in order]


def unchanged(*arrays: FileArray) -> str:
    """Return the demand that files do not change."""
    names = " and ".join(repr(str(array.path)) for array in arrays)
    return f"{names} must not change while a problem uses {'it' if len(arrays) == 1 else 'them'}"


class DenseFile:
    """Rows of a .npy file or a memory map, read into a few pooled buffers."""

    any_order = True
    is_sparse = False

    def __init__(self, array: FileArray) -> None:
        self.array, self.demand = array, unchanged(array)
        self.n_samples, self.n_features = array.shape
        self.dtype = working_type(array.dtype)

    def chunk_bytes(self, rows: int) -> int:
        converted = 0 if self.array.dtype == self.dtype else np.dtype(self.dtype).itemsize
        return rows * self.n_features * (self.array.dtype.itemsize + converted)

    def chunks(self, rows: int, order: Order | None = None) -> Iterator[NDArray[Any]]:
        shape = min(rows, self.n_samples), self.n_features
        pool = [np.empty(shape, self.array.dtype) for _ in range(POOLED)]
        with self.array.opened() as file:
            for turn, start in enumerate(starts(self.n_samples, rows, order)):
                chunk = pool[turn % POOLED][: self.n_samples - start]
                self.array.fill(chunk, file, start)
                yield chunk.astype(self.dtype, copy=False)


class CsrFiles:
    """A CSR matrix (n, n_features) in three .npy files, as scipy names its arrays.

    Parameters
    ----------
    data, indices, indptr : path or memory map
        The non-zeros row by row, their columns in ascending order, and where each row begins.
    n_features : int
        Number of columns.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        With one sentence, if an argument is not as described.
    """

    any_order = True
    is_sparse = True

    def __init__(self, data: Any, indices: Any, indptr: Any, n_features: int) -> None:
        self.n_features = as_integer("n_features", n_features, low=1)
        self.data = file_array("data", data, ndim=1)
        self.indices = _integers("indices", indices)
        self.indptr: Integers = _integers("indptr", indptr).whole().astype(np.int64)
        self.n_samples = len(self.indptr) - 1
        self.dtype = working_type(self.data.dtype)
        self.demand = unchanged(self.data, self.indices)
        self._check()

    def _check(self) -> None:
        if self.n_samples < 1:
            raise ValueError("indptr must have at least two entries; got one.")
        if self.indptr[0] != 0 or (np.diff(self.indptr) < 0).any():
            raise ValueError("indptr must begin with 0 and never fall.")
        for name, array in (("data", self.data), ("indices", self.indices)):
            if array.shape[0] != self.indptr[-1]:
                raise ValueError(
                    f"{name} must have {self.indptr[-1]} entries, as indptr ends; "
                    f"got {array.shape[0]}."
                )

    def chunk_bytes(self, rows: int) -> int:
        most = self._most_entries(rows)
        # the arrays as they are read, and as scipy converts them
        read = self.data.dtype.itemsize + self.indices.dtype.itemsize
        return int(most * (read + np.dtype(self.dtype).itemsize + 4) + 16 * rows)

    def chunks(self, rows: int, order: Order | None = None) -> Iterator[Any]:
        most = self._most_entries(rows)
        pool = [
            (np.empty(most, self.data.dtype), np.empty(most, self.indices.dtype))
            for _ in range(POOLED)
        ]
        with self.data.opened() as values_file, self.indices.opened() as columns_file:
            for turn, start in enumerate(starts(self.n_samples, rows, order)):
                indptr = self.indptr[start : start + rows + 1]
                count = indptr[-1] - indptr[0]
                values, columns = (buffer[:count] for buffer in pool[turn % POOLED])
                self.data.fill(values, values_file, indptr[0])
                self.indices.fill(columns, columns_file, indptr[0])
                yield self._chunk(values.astype(self.dtype, copy=False), columns, indptr, start)

    def _chunk(self, values: Any, columns: Any, indptr: Any, start: int) -> Any:
        """Return the CSR matrix of some rows; a kernel would write outside W for a wrong column."""
        rows = f"rows {start} to {start + len(indptr) - 2}"
        if len(columns) and not 0 <= columns.min() <= columns.max() < self.n_features:
            raise ValueError(
                f"indices must be in 0..{self.n_features - 1}; got {columns.min()} to "
                f"{columns.max()} in {rows}."
            )
        shape = len(indptr) - 1, self.n_features
        chunk = scipy.sparse.csr_matrix((values, columns, indptr - indptr[0]), shape=shape)
        if not chunk.has_canonical_format:
            raise ValueError(f"indices must ascend within each row; they do not in {rows}.")
        return chunk

    def _most_entries(self, rows: int) -> int:
        cuts = self.indptr[[*starts(self.n_samples, rows), self.n_samples]]
        return int(np.diff(cuts).max())


def _integers(name: str, value: Any) -> FileArray:
    array = file_array(name, value, ndim=1)
    if array.dtype.kind != "i":
        raise TypeError(f"{name} must hold signed integers; got dtype {array.dtype}.")
    return array


class RowsInMemory:
    """Rows of an array or a scipy.sparse matrix; only A is held packed."""

    demand = "X must not change while a problem uses it"
    any_order = True

    def __init__(self, X: Any) -> None:
        self.dtype = working_type(getattr(X, "dtype", np.float64))
        self.X = as_features("X", X, self.dtype)
        self.n_samples, self.n_features = self.X.shape
        self.is_sparse = scipy.sparse.issparse(self.X)

    def chunk_bytes(self, rows: int) -> int:
        entries = self.X.nnz if scipy.sparse.issparse(self.X) else self.X.size
        return int(rows * entries // self.n_samples) * (np.dtype(self.dtype).itemsize + 4)

    def chunks(self, rows: int, order: Order | None = None) -> Iterator[Any]:
        for start in starts(self.n_samples, rows, order):
            yield self.X[start : start + rows]


class GivenChunks:
    """Chunks of an iterable, whose sizes and order are the iterable's."""

    demand = "X must give the same chunks of rows each time, never shuffled"
    any_order = False
    is_sparse = False

    def __init__(self, X: Iterable[Any]) -> None:
        self.X = X
        self.n_samples: int | None = None
        self.n_features: int | None = None
        self.dtype: type[np.floating] | None = None

    def chunk_bytes(self, rows: int) -> int:
        """Return 0: nobody knows before a pass."""
        return 0

    def chunks(self, rows: int, order: Order | None = None) -> Iterator[Any]:
        for place, given in enumerate(self.X):
            name = f"chunk {place} of X"
            found = working_type(getattr(given, "dtype", np.float64))
            self.dtype = self.dtype or found
            if found != self.dtype:
                raise ValueError(
                    f"{name} must hold {self.dtype.__name__} numbers, as the chunks before it; "
                    f"got {found.__name__}."
                )
            yield as_features(name, given, self.dtype)
