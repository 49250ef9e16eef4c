"""Write and read the arrays of .npz files, and read .npy files, with every check.

A reader says what each array must be. Whatever else a file holds, whether it was cut, changed, or
written by another program, is one ValueError of one sentence.
"""

import math
import os
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from scipy.sparse import csr_array

from fwlab.files import write_atomically

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# zlib makes no more bytes from one
MOST_INFLATED = 1032
# the last record of a .zip file without a comment: its mark, its size, and where its count stands
END, END_SIZE, END_COUNT, LARGE_COUNT = b"PK\5\6", 22, slice(10, 12), 0xFFFF
# parts of a CSR array in a file
PACKED = ("data", "indices", "indptr", "shape")


def write_arrays(path: str | Path, arrays: Mapping[str, Any], compress: bool = True) -> None:
    """Write named arrays to an .npz file. Raises TypeError for an array of Python objects."""
    for name, value in arrays.items():
        dtype = np.asarray(value).dtype
        if dtype.hasobject:
            raise TypeError(f"{name} must hold numbers or texts; got an array of {dtype}.")
    save = np.savez_compressed if compress else np.savez
    write_atomically(Path(path), lambda file: save(file, **arrays))


class UnreadableFile(ValueError):
    """A file is damaged or of another kind; `reason` says how, without the file's name."""

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence, reason)
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


class Saved(NamedTuple):
    """What a stored array must be.

    Attributes
    ----------
    kinds : str
        The allowed kinds of its dtype, as numpy abbreviates them.
    shape : tuple or None
        Its sides: numbers, or names; a name is the same number in all arrays of the file. None for
        any shape.
    finite : bool
        Whether NaN and infinity are refused.
    required : bool
        Whether every file has the array.
    """

    kinds: str
    shape: tuple[str | int, ...] | None = ()
    finite: bool = False
    required: bool = True


@contextmanager
def saved_arrays(
    path: str | Path,
    owner: str,
    form: Mapping[str, Saved] | Callable[["Archive"], Mapping[str, Saved]],
) -> Iterator[dict[str, Any]]:
    """Read the arrays of an .npz file that `form` describes, for use in a `with` block.

    `form` may be a function of the archive. Other arrays in the file are left alone. Raises
    UnreadableFile, a ValueError, if the file is damaged or `owner.save` did not write it: reading
    it fails, an array is not as described, or the block cannot use the arrays.
    """
    with Path(path).open("rb") as file:
        try:
            archive = Archive(path, file)
            yield _as_described(archive, form(archive) if callable(form) else form)
        except MemoryError:
            raise
        except Exception as error:
            reason = f"{_reason(error).rstrip('.')}."
            raise UnreadableFile(
                f"path must name a file that {owner}.save wrote; got {path}: {reason}", reason
            ) from error


@contextmanager
def npz_archive(path: str | Path) -> Iterator["Archive"]:
    """Open an .npz file for a `with` block. Raises UnreadableFile if it is none or is damaged."""
    with Path(path).open("rb") as file:
        yield Archive(path, file)


def read_npy(path: str | PathLike[str]) -> np.ndarray:
    """Return the array of an .npy file. Raises UnreadableFile if it is none or is damaged."""
    with _npy_file(path) as (file, size):
        return _array(file, size)


def map_npy(path: str | PathLike[str]) -> np.memmap:
    """Return a read-only memory map of an .npy file. Raises as `read_npy` does."""
    with _npy_file(path) as (file, size):
        _check_header(file, size, "")
        return npy.open_memmap(path, mode="r")


@contextmanager
def _npy_file(path: str | PathLike[str]) -> Iterator[tuple[IO[bytes], int]]:
    """Open an .npy file for a `with` block, and give its size."""
    with Path(path).open("rb") as file, _damage(f"{str(path)!r}: ", "it is no whole .npy file"):
        yield file, os.fstat(file.fileno()).st_size


def packed_arrays(name: str, rows: csr_array) -> dict[str, Any]:
    """Return the arrays that hold a CSR array in a file."""
    return {f"{name}_{part}": np.asarray(getattr(rows, part)) for part in PACKED}


def packed_form(name: str) -> dict[str, Saved]:
    """Return what the arrays of a CSR array must be."""
    entries = (f"{name}_entries",)
    return {
        f"{name}_data": Saved("f", entries, finite=True),
        f"{name}_indices": Saved("iu", entries),
        f"{name}_indptr": Saved("iu", (f"{name}_ends",)),
        f"{name}_shape": Saved("iu", (2,)),
    }


def packed_rows(name: str, arrays: Mapping[str, Any]) -> csr_array:
    """Return the CSR array of stored arrays. Raises ValueError if its indices do not fit."""
    data, indices, indptr, shape = (arrays[f"{name}_{part}"] for part in PACKED)
    rows = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    rows.check_format(full_check=True)
    return rows


class Archive(Mapping[str, np.ndarray]):
    """The arrays of an open .npz file by name; each is read when it is asked for."""

    def __init__(self, path: str | Path, file: IO[bytes]) -> None:
        self.where, self.size = f"{str(path)!r}: ", os.fstat(file.fileno()).st_size
        with _damage(self.where, "it is no .npz archive, or a damaged one"):
            self.zip = zipfile.ZipFile(file)
            members = self.zip.infolist()
            names = [member.filename for member in members]
            if len(members) != _count(file, len(members)) or len(set(names)) < len(names):
                raise ValueError("its directory is damaged")
            for member in members:
                self.zip.open(member).close()  # its name stands before its bytes, too
        self.members = {m.filename.removesuffix(".npy"): m for m in members if _is_array(m)}

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array. Raises KeyError without one, UnreadableFile for a damaged one."""
        member = self.members[name]
        with _damage(self.where, f"the array {name!r} is unreadable"):
            stored = member.compress_size <= self.size
            if not stored or member.file_size > MOST_INFLATED * member.compress_size:
                raise ValueError("it is longer than its bytes")
            with self.zip.open(member) as file:
                return _array(file, member.file_size, name)

    def __contains__(self, name: object) -> bool:
        return name in self.members

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)


def _array(file: IO[bytes], size: int, name: str = "") -> np.ndarray:
    """Return the array of an open .npy file with `size` bytes."""
    _check_header(file, size, name)
    file.seek(0)
    array: np.ndarray = npy.read_array(file, allow_pickle=False)
    return array


def _check_header(file: IO[bytes], size: int, name: str) -> None:
    """Raise ValueError if an array of `size` bytes in all does not hold what its header says."""
    version = npy.read_magic(file)
    if version not in HEADERS:
        raise ValueError(f"its format has version {version}")
    shape, _, dtype = HEADERS[version](file)
    if dtype.hasobject:
        what, itself = (f"the array {name!r}", f"{name}.") if name else ("it", ".")
        reason = (
            f"{what} holds Python objects, which are not read; save it as numbers or text, by "
            f"{itself}astype(float) or {itself}astype(str)."
        )
        raise UnreadableFile(reason, reason)
    if file.tell() + math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"its header says {shape}, and its length does not")


@contextmanager
def _damage(where: str, what: str) -> Iterator[None]:
    """Turn whatever damaged bytes make zipfile and numpy raise into one sentence."""
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except MemoryError:  # nothing is read that the bytes of the file cannot hold
        raise
    except Exception as error:
        plain = isinstance(error, UnreadableFile)
        reason = _reason(error) if plain else f"{what} ({_reason(error)})."
        raise UnreadableFile(f"{where}{reason}", reason) from error


def _reason(error: Exception) -> str:
    """Return what an exception says, in one line."""
    if isinstance(error, UnreadableFile):
        return error.reason
    said = "unknown name" * isinstance(error, KeyError)
    return " ".join(f"{said} {error}".split()) or type(error).__name__


def _count(file: IO[bytes], found: int) -> int:
    """Return the number of members that a .zip file announces at its end, if it can be told."""
    file.seek(-END_SIZE, os.SEEK_END)
    end = file.read()
    count = int.from_bytes(end[END_COUNT], "little")
    return found if count == LARGE_COUNT or not end.startswith(END) else count


def _is_array(member: zipfile.ZipInfo) -> bool:
    return member.filename.endswith(".npy")


def _as_described(archive: Archive, form: Mapping[str, Saved]) -> dict[str, np.ndarray]:
    """Return the arrays of a form. Raises ValueError if one is not as described."""
    found: dict[str, np.ndarray] = {}
    sides: dict[str | int, int] = {}
    for name, saved in form.items():
        if name not in archive:
            if saved.required:
                raise ValueError(f"it holds no array {name!r}.")
            continue
        array = archive[name]
        if array.dtype.kind not in saved.kinds:
            raise ValueError(f"the array {name!r} must not have the dtype {array.dtype}.")
        if saved.shape is not None:
            _check_shape(name, array, saved.shape, sides)
        if saved.finite and array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"the array {name!r} must be finite.")
        found[name] = array
    return found


def _check_shape(
    name: str, array: np.ndarray, shape: tuple[str | int, ...], sides: dict[str | int, int]
) -> None:
    """Raise ValueError for another shape; add the sides that are met first."""
    wanted = tuple(sides.get(side, side) for side in shape)
    fits = len(wanted) == array.ndim and all(
        isinstance(side, str) or side == length
        for side, length in zip(wanted, array.shape, strict=True)
    )
    if not fits:
        said = ", ".join(map(str, wanted)) + "," * (len(wanted) == 1)
        raise ValueError(f"the array {name!r} must be ({said}); its shape is {array.shape}.")
    sides |= zip(shape, array.shape, strict=True)
