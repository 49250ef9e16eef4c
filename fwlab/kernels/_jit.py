"""The decorator of all compiled functions, with a cache that never goes stale.

numba does not notice an edit in a helper that lives in another file: a cached caller keeps the old
machine code. The name of the cache folder is therefore a hash of all sources in this package and of
whatever else changes the machine code: numba's version, bounds checking and the processor.
"""

import hashlib
import inspect
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding

from fwlab.kernels._lowered import Kernel, LoweredFunction, call_instead

DAYS_KEPT = 30

config: Any = numba.config


def cache_root() -> Path:
    """Return the folder that holds one sub-folder of machine code per version of the sources."""
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
    """Return a hash of every source below `folder` and of what else changes the machine code.

    NUMBA_CPU_NAME replaces the host's processor as the target of the compiler.
    """
    digest = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        digest.update(source.relative_to(folder).as_posix().encode())
        digest.update(source.read_bytes())
    processor = binding.get_host_cpu_name(), config.CPU_NAME
    settings = (numba.__version__, bool(config.BOUNDSCHECK), *processor)
    digest.update(repr(settings).encode())
    return digest.hexdigest()[:24]


def _writable_cache() -> Path | None:
    """Return the cache folder of these sources, created if missing; None if it is not writable."""
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
    """Delete the folders of other versions that no process has used for DAYS_KEPT days."""
    oldest = time.time() - DAYS_KEPT * 86400
    for folder in root.iterdir():
        if folder != keep and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


_CACHE = _writable_cache()


def _options(fastmath: bool, inline: bool, allocates: bool) -> dict[str, Any]:
    return {
        "nopython": True,
        "boundscheck": None,  # as NUMBA_BOUNDSCHECK says
        "fastmath": {"reassoc", "contract"} if fastmath else False,
        "forceinline": inline,
        "_nrt": allocates,
        "nogil": True,  # other threads read data and answer meanwhile
        "no_cfunc_wrapper": True,  # nobody calls a kernel from C, and each wrapper is compiled
    }


@cache
def _lowered(function: Any) -> LoweredFunction:
    """Return the code of a kernel for other kernels, or of a Python function to inline."""
    if isinstance(function, Kernel):
        lowered: LoweredFunction = function.lowered
        return lowered
    options = _options(fastmath=False, inline=True, allocates=False)
    return LoweredFunction(function, targetoptions=options)


def in_python(kernel: Callable) -> Callable:
    """Return the source of a kernel, for calls that take less time than compiling it."""
    source: Callable = inspect.unwrap(kernel)
    return source


def chosen_by_type(function: Callable) -> Callable:
    """Return a decorator that gives kernels the code for a call of `function`.

    The decorated function gets the types of the arguments. It returns a kernel with the same
    arguments, which is called instead, or a Python function, whose compiled code takes the place of
    the call.
    """

    def register(choice: Callable) -> Callable:
        call_instead(function, lambda *types: _lowered(choice(*types)))
        return choice

    return register


def compiled(
    function: Callable | None = None,
    *,
    fastmath: bool = False,
    inline: bool = False,
    allocates: bool = False,
) -> Any:
    """Compile a flat function on first use and cache it on disk.

    Parameters
    ----------
    function : callable or None
        The function to compile; None returns a decorator with these options.
    fastmath : bool
        Whether the compiler may reorder sums and contract products. Only for leaf reductions; NaN
        and infinity keep their meaning.
    inline : bool
        Whether to compile the function into its caller. A call costs about 100 ns if many arrays
        are passed; for functions that run once per row and have one caller.
    allocates : bool
        Whether the function creates arrays, or copies one into another by a slice. numba then
        counts references to every array that the function touches. All other functions take their
        arrays from the caller and count none, which makes the projection of a short row five times
        as fast.

    Returns
    -------
    Kernel
        numba's dispatcher of the function, or without the JIT the function itself.

    """
    if function is None:
        return lambda f: compiled(f, fastmath=fastmath, inline=inline, allocates=allocates)
    if config.DISABLE_JIT:
        return function
    kernel = Kernel(function, targetoptions=_options(fastmath, inline, allocates))
    kernel.cache_folder = _CACHE
    return kernel
