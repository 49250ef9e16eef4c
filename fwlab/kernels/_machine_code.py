"""The folders in which machine code is stored, and what is read from them or deleted in them.

What this module loads runs, so nobody else may have written it: a folder or a file that belongs to
another user, or that others can write, is not used. A file begins with a hash of its name and
content, so a damaged one is as good as none: numba compiles again and its code replaces the file.
Only what this module has written is ever deleted.
"""

import hashlib
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba

DAYS_KEPT = 30
# the user's number keeps apart those who share NUMBA_CACHE_DIR
NAME = f"fwlab-kernels-{os.geteuid()}" if hasattr(os, "geteuid") else "fwlab-kernels"
MARKER = "made-by-fwlab.txt"
NOTE = "Machine code. fwlab deletes this folder when no process has used it for 30 days.\n"
FOLDER_NAME = re.compile(r"[0-9a-f]{24}")
# with the ending of a draft if the process that wrote it was killed
FILE_NAME = re.compile(r"[0-9a-f]{40}\.code(\.\w+)?")
DIGEST_BYTES = hashlib.sha256().digest_size

config: Any = numba.config


def code_folder(key: str) -> Path | None:
    """Return the folder for machine code with this key, made if missing; None without a safe one.

    The first choice is NUMBA_CACHE_DIR or else the user's folder of caches, the second one the
    folder of temporary files. Folders of other keys are deleted if no process has used them for
    DAYS_KEPT days.
    """
    for root in _roots():
        with suppress(OSError):
            folder = root.absolute() / key
            root.parent.mkdir(parents=True, exist_ok=True)
            if _made_private(root) and _made_private(folder):
                _mark(folder)
                _prune(folder)
                return folder
    return None


def read(folder: Path, name: str) -> bytes | None:
    """Return what `write` has stored under this name; None if it is absent, damaged or not ours."""
    try:
        with (folder / name).open("rb") as file:
            if not _is_private(os.fstat(file.fileno())):
                return None
            digest, content = file.read(DIGEST_BYTES), file.read()
    except OSError:
        return None
    return content if digest == _digest(name, content) else None


def write(folder: Path, name: str, content: bytes) -> None:
    """Store content under a name, in one step: another process reads all of it or nothing."""
    number, draft = tempfile.mkstemp(prefix=f"{name}.", dir=folder)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(_digest(name, content) + content)
        os.replace(draft, folder / name)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _roots() -> Iterator[Path]:
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR) / NAME
    else:
        with suppress(RuntimeError):  # a user without a home
            yield _user_caches() / NAME
    with suppress(OSError):
        yield Path(tempfile.gettempdir()) / NAME


def _user_caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _made_private(folder: Path) -> bool:
    """Make a folder if it is missing; return whether it is a folder, no link, and private."""
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    return stat.S_ISDIR(state.st_mode) and _is_private(state)


def _is_private(state: os.stat_result) -> bool:
    """Return whether a file or folder is this user's, and nobody else can write it.

    Windows has no such numbers; there the user's own folders are closed to others.
    """
    if not hasattr(os, "geteuid"):
        return True
    return state.st_uid == os.geteuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _mark(folder: Path) -> None:
    """Note that this module made the folder, and that it is in use."""
    with suppress(FileExistsError), (folder / MARKER).open("x", encoding="utf-8") as file:
        file.write(NOTE)
    with suppress(OSError):  # it can be read all the same
        os.utime(folder)


def _prune(kept: Path) -> None:
    """Delete the folders beside this one that no process has used for DAYS_KEPT days."""
    oldest = time.time() - DAYS_KEPT * 86400
    for folder in kept.parent.iterdir():
        if folder != kept and FOLDER_NAME.fullmatch(folder.name):
            with suppress(OSError):  # another process deletes it, too
                state = folder.lstat()
                if stat.S_ISDIR(state.st_mode) and state.st_mtime < oldest:
                    _delete(folder)


def _delete(folder: Path) -> None:
    """Delete a folder if this module has made it and everything in it."""
    files = sorted(folder.iterdir(), key=lambda file: file.name == MARKER)  # the marker last
    if files and files[-1].name == MARKER and all(map(_is_ours, files)):
        for file in files:
            file.unlink()
        folder.rmdir()


def _is_ours(file: Path) -> bool:
    """Return whether this is the marker or a file that `write` has made, not a link or a folder."""
    named = file.name == MARKER or FILE_NAME.fullmatch(file.name) is not None
    return named and stat.S_ISREG(file.lstat().st_mode)


def _digest(name: str, content: bytes) -> bytes:
    digest = hashlib.sha256(name.encode())
    digest.update(content)
    return digest.digest()
