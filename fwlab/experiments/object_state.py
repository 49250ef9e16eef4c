"""Read the state of Python objects: attributes, slots, and the objects behind descriptors."""

import functools
import types
from collections.abc import Iterator
from typing import Any

from fwlab.experiments.packages import CORE, version_of

CONTAINERS = (list, tuple, dict, set, frozenset)
PLAIN: tuple[Any, ...] = (*CONTAINERS, int, float, complex, str, bytes)


def wrapped(value: Any) -> tuple[Any, ...] | None:
    """Return the Python objects behind a descriptor, a bound method or a partial."""
    if type(value) is property:
        return value.fget, value.fset, value.fdel
    if type(value) in (staticmethod, classmethod):
        return (value.__func__,)
    if isinstance(value, types.MethodType):
        return value.__func__, value.__self__
    if type(value) is functools.partial:
        return value.func, value.args, value.keywords, vars(value)
    if type(value) is functools.cached_property:
        return (value.func,)
    if isinstance(value, types.BuiltinFunctionType):
        return value.__name__, value.__self__
    return None


def content(cell: types.CellType) -> Any:
    """Return the value of a captured variable; a cell may still be empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return "empty"


def may_hide_state(cls: type) -> bool:
    """Return whether some base may be written in C, with state that is no attribute."""
    versions = [version_of(base) for base in cls.__mro__ if base not in (object, *PLAIN)]
    return any(version not in (None, CORE) for version in versions)


def written_in_c(cls: type) -> list[Any]:
    """Return the methods of a class that are written in C."""
    kinds = types.MethodDescriptorType | types.WrapperDescriptorType
    return [member for member in vars(cls).values() if isinstance(member, kinds)]


def state_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield attributes of an instance and entries of its slots, by name."""
    yield from getattr(value, "__dict__", {}).items()
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            name = f"_{cls.__name__.lstrip('_')}{slot}" if _is_private(slot) else slot
            if slot not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, getattr(value, name)


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")
