"""The decorator of all compiled functions, with a cache that never goes stale.

numba does not notice an edit in a helper that lives in another file: a cached caller keeps the old
machine code. The name of the cache folder is therefore a hash of all sources in this package and of
whatever else changes the machine code: numba's version, bounds checking and the processor.
"""

import hashlib
import inspect
import platform
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding

from fwlab.kernels import _plain
from fwlab.kernels._machine_code import code_folder

config: Any = numba.config


def vector_registers() -> int:
    """Return the number of vector registers of the processor: on x86 16 without AVX-512."""
    if platform.machine().lower() not in ("x86_64", "amd64", "i386", "i686"):
        return 32
    return 32 if binding.get_host_cpu_features().get("avx512f") else 16


VECTOR_REGISTERS = vector_registers()


def cache_key(folder: Any) -> str | None:
    """Return a hash of every source below a folder and of what else changes the machine code.

    The folder may be inside a zip. None if no source can be read, as in a frozen program.
    NUMBA_CPU_NAME replaces the host's processor as the target of the compiler.
    """
    digest = hashlib.sha256()
    sources = 0
    for name, source in _sources(folder, ""):
        digest.update(f"{name}:{len(source)}:".encode())
        digest.update(source)
        sources += 1
    processor = binding.get_host_cpu_name(), config.CPU_NAME
    python = sys.implementation.cache_tag, getattr(sys, "abiflags", "")
    settings = (numba.__version__, *python, bool(config.BOUNDSCHECK), *processor)
    digest.update(repr(settings).encode())
    return digest.hexdigest()[:24] if sources else None


def _sources(folder: Any, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry, f"{path}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield f"{path}{entry.name}", entry.read_bytes()


@cache
def cache_folder() -> Path | None:
    """Return the folder in which this process stores machine code, or None."""
    try:
        key = cache_key(files(__package__))
    except Exception:  # loaders of frozen programs refuse in many ways
        return None
    return None if key is None else code_folder(key)


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


def _way_to_compile() -> Any:
    """Return _lowered, or _plain if numba lacks what _lowered needs."""
    try:
        from fwlab.kernels import _lowered

        options = _options(fastmath=False, inline=False, allocates=False)
        _lowered.kernel_of(_probe, options)
        _lowered.call_instead(_probe, _probe, options)
    except Exception as error:
        _plain.warn_slower(error)
        return _plain
    return _lowered


def _probe() -> None:
    """Do nothing: a function to try _lowered on."""


way = _way_to_compile()


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
        way.call_instead(function, choice, _options(fastmath=False, inline=True, allocates=False))
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
    # the key of the folder covers the sources of this package alone
    folder = cache_folder() if function.__module__.startswith(f"{__package__}.") else None
    return way.kernel_of(function, _options(fastmath, inline, allocates), folder)
