"""Kernels as numba's public functions compile them: the way back if _lowered does not work.

They compute the same and take longer to compile, because numba optimises each function that another
kernel calls by itself, too.
"""

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.extending import overload


def kernel_of(function: Callable, options: dict[str, Any], folder: Path | None = None) -> Any:
    """Return numba's dispatcher of a function; its code is stored if there is a folder for it."""
    dispatcher: Any = numba.jit(**options)(function)
    if folder is not None:
        with suppress(Exception):  # it only saves time
            from fwlab.kernels._stored_code import StoredCode

            dispatcher._cache = StoredCode(folder, function)
    return dispatcher


def call_instead(function: Callable, choice: Callable, options: dict[str, Any]) -> None:
    """Let a call of `function` in a kernel become a call of what `choice` returns.

    `choice` gets the types of the arguments and returns a kernel, or a Python function to compile
    with these options.
    """

    @wraps(choice)
    def implementation(*types: Any) -> Callable:
        chosen = choice(*types)
        return chosen if isinstance(chosen, FunctionType) else lambda *args: chosen(*args)

    typed_options: Any = options
    overload(function, jit_options=typed_options, strict=False)(implementation)


def warn_slower(error: Exception) -> None:
    """Say that kernels are compiled in the plain way, and why."""
    reason = f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
    warnings.warn(
        f"numba {numba.__version__} is not as fwlab expects it to be ({reason}); results are the "
        "same, but kernels take longer to compile.",
        RuntimeWarning,
        stacklevel=2,
    )
