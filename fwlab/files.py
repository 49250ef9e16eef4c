"""Write files whole. Only the cache of machine code is written elsewhere.

A file is written beside its place and then moved there. If a run is killed or the disk is full, the
old file remains, or no file if there was none. Every file that is read again has one of three
forms:

- arrays in an .npz file, which npz.py writes, reads and checks: results, models, checkpoints;
- a record in JSON: a finished cell, or claim of the ledger (experiments/store.py), or all cells of
  a figure;
- settings in TOML, which toml_text.py writes and reads: comparison.toml, path.toml.
"""

import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

# what some file systems answer that cannot write through to the disk
NO_FSYNC = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


def write_atomically(path: Path, write: Callable[[Any], Any]) -> None:
    """Call `write` with a new binary file, then move this file to `path`.

    Its folder is made if it is missing. A link stays, and the file it leads to is replaced. A new
    file has the access mode of any new file; a file that replaces another keeps the mode and, where
    the system allows it, the owner. What is no regular file (a terminal, a pipe, /dev/null) is
    written to, and so is the file that stdout or stderr goes to. Raises OSError, which names the
    file, if it cannot be written.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".fwlab-{uuid4().hex[:16]}")
    try:
        there = _status(path)
        if there is not None and not _is_replaceable(there, target):
            _fill(path, there, write)
        else:
            _replace(target, draft, there, write)
    except OSError as error:
        if not _is_ours(error.filename, draft):
            raise
        raise _named(error, path) from error


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text as UTF-8."""
    write_atomically(path, lambda file: file.write(text.encode()))


def why_no_file(path: Path) -> str:
    """Return why no file can be written at this path, as far as one can tell before; else ""."""
    try:
        there = _status(path)
        if there is not None and stat.S_ISDIR(there.st_mode):
            return "it is a folder, not a file"
        if there is not None and not os.access(path, os.W_OK):
            return "it is not writable"
        target = Path(os.path.realpath(path))
        if there is not None and not _is_replaceable(there, target):
            return ""
        folder = target.parent
        while not folder.exists():
            folder = folder.parent
        is_writable = os.access(folder, os.W_OK | os.X_OK)
        return "" if is_writable else f"the folder {str(folder)!r} is not writable"
    except OSError as error:
        return error.strerror or str(error)


def _status(path: Path) -> os.stat_result | None:
    """Return the status of what a path leads to, None if it leads to nothing."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _is_replaceable(there: os.stat_result, target: Path) -> bool:
    """Return whether this is a regular file, under this name, that no stream of ours goes to."""
    if not stat.S_ISREG(there.st_mode) or _stream(there) is not None:
        return False
    named = _status(target)  # a deleted file that is still open has no name
    return named is not None and os.path.samestat(there, named)


def _stream(there: os.stat_result) -> int | None:
    """Return the descriptor of stdout or stderr if it goes to this file."""
    for descriptor in (1, 2):
        with suppress(OSError):
            # Windows gives all pipes and devices the number 0
            if there.st_ino and os.path.samestat(there, os.fstat(descriptor)):
                return descriptor
    return None


def _fill(path: Path, there: os.stat_result, write: Callable[[Any], Any]) -> None:
    """Write to what is there, all at once."""
    if stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISBLK(there.st_mode):  # a disk: nobody means to overwrite one
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    content = BytesIO()
    write(content)
    descriptor = _stream(there)
    for stream in (sys.stdout, sys.stderr):
        if descriptor is not None and stream is not None:
            stream.flush()
    with open(path if descriptor is None else os.dup(descriptor), "wb") as file:
        file.write(content.getbuffer())


def _replace(
    target: Path, draft: Path, there: os.stat_result | None, write: Callable[[Any], Any]
) -> None:
    """Write the draft, and move it to the target."""
    mode = 0o666 if there is None else there.st_mode & 0o777
    if there is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(draft, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            write(file)
            _write_through(file)
        if there is not None:
            _keep_access(draft, there)
        os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    with suppress(OSError):  # not every system opens folders
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _keep_access(draft: Path, there: os.stat_result) -> None:
    """Give the draft the owner and the mode of the file that it replaces, where possible."""
    mine = draft.stat()
    if (mine.st_uid, mine.st_gid) != (there.st_uid, there.st_gid):
        with suppress(OSError):
            os.chown(draft, there.st_uid, there.st_gid)
    with suppress(OSError):
        draft.chmod(there.st_mode & 0o777)


def _write_through(file: IO[bytes]) -> None:
    """Write what was given to the file to its disk."""
    file.flush()
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in NO_FSYNC:
            raise


def _is_ours(name: Any, draft: Path) -> bool:
    """Return whether an error is about the draft or its folders; `write` may name other files."""
    return not isinstance(name, str) or draft.is_relative_to(name)


def _named(error: OSError, path: Path) -> OSError:
    """Return the error with the name that the caller gave to the file."""
    if error.errno is None:
        return OSError(f"{str(path)!r} cannot be written: {error}")
    # a file stands where a folder is needed
    number = errno.ENOTDIR if isinstance(error, FileExistsError) else error.errno
    return OSError(number, os.strerror(number), str(path))
