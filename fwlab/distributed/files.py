"""Find arrays in .npy files and read them with plain reads.

The pages of a memory map count as memory of the process, the pages of a plain read do not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwlab.npz import UnreadableFile, map_npy


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
