"""The one decorator of all kernels: numba's njit with a cache that never goes stale.

numba does not notice an edit in a helper that lives in another file: a cached caller keeps the old
machine code. The cache folder is therefore named by a hash of all kernel sources together with
whatever else changes the code that is made: numba's version, bounds checking and the processor.
"""

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding

DAYS_KEPT = 30

config: Any = numba.config


def cache_root() -> Path:
    """Folder that holds one sub-folder of machine code for each version of the kernels."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / "fwlab"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", str(Path.home()))
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "fwlab" / "kernels"


def cache_key(folder: Path) -> str:
    """Hash of every kernel source in `folder` and of what else changes the machine code."""
    digest = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        digest.update(source.relative_to(folder).as_posix().encode())
        digest.update(source.read_bytes())
    settings = (numba.__version__, bool(config.BOUNDSCHECK), binding.get_host_cpu_name())
    digest.update(repr(settings).encode())
    return digest.hexdigest()[:24]


def _writable_cache() -> Path | None:
    """The cache folder of these sources, made if need be; None where nothing can be written."""
    root = cache_root()
    folder = root / cache_key(Path(__file__).parent)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            os.utime(folder)
        _prune(root, keep=folder)
    except OSError:
        return None
    return folder


def _prune(root: Path, keep: Path) -> None:
    oldest = time.time() - DAYS_KEPT * 86400
    for folder in root.iterdir():
        if folder != keep and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


_CACHE = _writable_cache()


def kernel(
    function: Callable | None = None,
    *,
    fastmath: bool = False,
    inline: bool = False,
    allocates: bool = False,
) -> Any:
    """Compile a flat function on first use and cache it on disk.

    `fastmath=True` is for leaf reductions alone: sums may be reordered and products contracted,
    NaN and infinity keep their meaning. `inline=True` spares a call, which costs some 100 ns where
    many arrays are passed: for what runs once a row and is called from one place.

    `allocates=True` is for those that make arrays or copy one into another by a slice: numba then
    counts references to every array that they touch. All others take their arrays from the caller
    and count none, which makes the projection of a short row five times as fast.
    """
    if function is None:
        return lambda f: kernel(f, fastmath=fastmath, inline=inline, allocates=allocates)
    options: dict[str, Any] = {
        "cache": _CACHE is not None,
        "fastmath": {"reassoc", "contract"} if fastmath else False,
        "forceinline": inline,
        "_nrt": allocates,
    }
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_CACHE or "")
    try:
        return numba.njit(function, **options)
    finally:
        config.CACHE_DIR = before
