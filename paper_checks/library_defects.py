"""Plant defects in fwlab: change the results of a function by a thousandth wherever it is used.

A row of the ledger that exercises the function must then fail; otherwise it would also miss a real
defect.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch

import numpy as np

OFF = 1e-3
PATCHED = ("fwlab", "paper_checks")


@contextmanager
def planted_in(name: str) -> Iterator[None]:
    """Plant a defect in a function, method or property of fwlab, given by its dotted name."""
    owner, attribute = owner_of(name)
    original = vars(owner)[attribute]
    with ExitStack() as stack:
        if isinstance(owner, type):
            stack.enter_context(patch.object(owner, attribute, wrong(original)))
        else:
            for module in users_of(original, attribute):
                stack.enter_context(patch.object(module, attribute, wrong(original)))
        yield


def owner_of(name: str) -> tuple[Any, str]:
    """Return the module or class that defines the name, and the last part of the name.

    Raises ValueError if there is no such name.
    """
    path, _, attribute = name.rpartition(".")
    try:
        owner: Any = resolve_name(path)
        getattr(owner, attribute)  # a package may import a name lazily, on first access
    except (ImportError, AttributeError, ValueError):
        raise ValueError(f"{name}: fwlab has no such function") from None
    if isinstance(owner, type):
        owner = next(base for base in owner.__mro__ if attribute in vars(base))
    return owner, attribute


def users_of(function: Any, attribute: str) -> list[Any]:
    """Return the modules that hold the function under this name."""
    return [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in PATCHED and vars(module).get(attribute) is function
    ]


def wrong(original: Any) -> Any:
    """Return the function with its results made wrong."""
    if isinstance(original, property) and original.fget is not None:
        return property(wrong(original.fget))
    if isinstance(original, staticmethod | classmethod):
        return type(original)(wrong(original.__func__))

    @wraps(original)
    def defect(*arguments: Any, **options: Any) -> Any:
        return off(original(*arguments, **options))

    made: Callable[..., Any] = defect
    return made


def off(value: Any) -> Any:
    """Return a value with its numbers changed by a thousandth, or a truth value negated."""
    if isinstance(value, bool | np.bool_):
        return not value
    if isinstance(value, int | np.integer):
        return int(value) + 1
    if isinstance(value, float | np.floating):
        return float(value) + OFF * (1 + abs(float(value)))
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value + OFF * (1 + np.abs(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value + 1
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(off, value))
    if isinstance(value, list | tuple):
        return type(value)(map(off, value))
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: getattr(value, part.name) for part in fields(value) if part.init}
        numbers = {n: off(v) for n, v in parts.items() if isinstance(v, float | np.ndarray)}
        return replace(value, **numbers)
    return value
