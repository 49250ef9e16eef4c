"""Identify a computation: hash its values, its objects, and all code that they reach, as it runs.

Functions and classes are followed through the names that their bytecode uses: base classes,
helpers in any module, module constants, captured variables, the state of instances. Three kinds of
code are not followed, because something else in the key stands for them: the core of fwlab (the
digest of its sources), the standard library and packages installed from an index (their versions);
but packages that need fwlab are, except for what they compiled.

Everything else raises Unidentifiable: compiled code, state that Python does not show, and functions
that run or read things which no name in their code shows.
"""

import builtins
import copyreg
import enum
import functools
import hashlib
import importlib
import random
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import resolve_name
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.experiments.bytecode import meaning, reached
from fwlab.experiments.object_state import (
    CONTAINERS,
    PLAIN,
    content,
    may_hide_state,
    state_of,
    wrapped,
    written_in_c,
)
from fwlab.experiments.opaque import OPAQUE, OPAQUE_ATTRIBUTES, OPAQUE_IDS
from fwlab.experiments.packages import version_of, version_of_compiled, version_of_module

DIGITS = 16
LARGE = 100_000  # bytes; arrays of this size are hashed once
SPARSE = tuple(
    getattr(scipy.sparse, f"{kind}_{shape}")
    for kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for shape in ("array", "matrix")
)
ATOMS = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
DESCRIPTORS = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
)
# entries of classes that do not change what they do
NOT_FOLLOWED = {
    "__abstractmethods__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__orig_bases__",
    "__parameters__",
    "__slotnames__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}
ABOUT_A_MODULE = {
    "__builtins__",
    "__cached__",
    "__doc__",
    "__file__",
    "__loader__",
    "__name__",
    "__package__",
    "__path__",
    "__spec__",
    "__warningregistry__",
}
# the generators behind np.random.rand, random.random and so on: their names are enough
GLOBAL_GENERATORS = (np.random.mtrand._rand, random._inst)
# the flag of classes that are made while Python runs
HEAP_TYPE = 1 << 9
MISSING = object()


class Unidentifiable(TypeError):
    """Something that a stored result cannot depend on; the message says what and why."""


def digest(*values: Any) -> str:
    """Return a hexadecimal hash of values and of the code that they bring along.

    Raises Unidentifiable for values that cannot be identified.
    """
    walk = Walk()
    for value in values:
        walk.feed(value)
    return walk.hasher.hexdigest()[:DIGITS]


class Walk:
    """One pass over an object graph; equal graphs feed the hasher the same bytes."""

    def __init__(self) -> None:
        self.hasher = hashlib.sha256()
        # mutable objects and large arrays by number, kept alive so that no id is used twice
        self.seen: dict[int, tuple[int, Any]] = {}
        self.open: list[int] = []
        self.trail: list[str] = []

    def feed(self, value: Any) -> None:
        """Hash one value."""
        if id(value) in OPAQUE_IDS:
            self._refuse(f"a use of {OPAQUE_IDS[id(value)]}")
        elif type(value) in ATOMS:
            self._text(f"{type(value).__name__}:{value!r};")
        elif isinstance(value, np.ndarray | np.generic):
            self._array(value)
        elif type(value) in SPARSE:
            rows = value.tocsr()
            self.feed((type(value), rows.shape, rows.indptr, rows.indices, rows.data))
        elif any(value is generator for generator in GLOBAL_GENERATORS):
            self._text("a global generator;")
        elif self._is_named_elsewhere(value):
            if (name := _qualified_name(value).rpartition(".")[2]) in OPAQUE_ATTRIBUTES:
                self._refuse(f"a use of {value.__module__}.{name}")
            self._text(f"{value.__module__}:{_qualified_name(value)}={version_of(value)};")
        else:
            self._guarded(value)

    def _text(self, text: str) -> None:
        self.hasher.update(text.encode())

    def _array(self, value: Any) -> None:
        if isinstance(value, np.generic):
            plain = value.dtype.char in "?ld"
            self.feed(value.item() if plain else ("scalar", value.dtype.str, value.item()))
            return
        if type(value) not in (np.ndarray, np.memmap):
            self._refuse(f"an array of type {type(value).__name__}")
        fields = value.dtype.descr if value.dtype.names else value.dtype.str
        self.feed(("array", fields, value.shape))
        if value.nbytes >= LARGE:
            self._once(value, self._entries)
        else:
            self._entries(value)

    def _entries(self, value: Any) -> None:
        if value.dtype.hasobject:
            self.feed(value.tolist())
        else:
            self.hasher.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)

    def _guarded(self, value: Any) -> None:
        """Hash a value that may contain itself."""
        if id(value) in self.open:
            self._text(f"inside:{self.open.index(id(value))};")
            return
        self.open.append(id(value))
        self.trail.append(_label(value))
        try:
            self._followed(value)
        finally:
            self.open.pop()
            self.trail.pop()

    def _followed(self, value: Any) -> None:
        if type(value) in (tuple, frozenset):
            self._container(value)
        elif type(value) in CONTAINERS:
            self._once(value, self._container)
        elif isinstance(value, types.FunctionType):
            self._once(value, self._function)
        elif isinstance(value, type):
            self._once(value, self._class)
        elif isinstance(value, types.ModuleType):
            self._once(value, self._module)
        elif isinstance(value, DESCRIPTORS):
            self._text(f"{type(value).__name__}:{value.__qualname__};")
        elif (parts := wrapped(value)) is not None:
            self.feed((type(value).__name__, *parts))
        elif isinstance(value, enum.Enum):
            self.feed((type(value), value.name))
        elif isinstance(value, functools._lru_cache_wrapper):
            if value.cache_info().currsize:
                self._refuse("a filled cache, whose values may be older than its code")
            self.feed(("cached", value.__wrapped__))
        elif isinstance(value, types.MappingProxyType):
            self.feed(("mapping", dict(value)))
        elif isinstance(value, Followed):
            self._followed(value.value)
        else:
            self._once(value, self._instance)

    def _container(self, value: Any) -> None:
        self._text(f"{type(value).__name__}[{len(value)}]")
        if isinstance(value, set | frozenset):
            self.feed(sorted(self._apart(entry) for entry in value))
            return
        for entry in value.items() if isinstance(value, dict) else value:
            self.feed(entry)

    def _apart(self, value: Any) -> str:
        """Return the hash of a value in a set, apart from all others."""
        walk = Walk()
        walk.open, walk.trail = list(self.open), list(self.trail)
        walk.feed(value)
        return walk.hasher.hexdigest()

    def _once(self, value: Any, follow: Callable[[Any], None]) -> None:
        """Follow a value at its first visit, and hash only its number after that."""
        if id(value) in self.seen:
            self._text(f"again:{self.seen[id(value)][0]};")
            return
        self.seen[id(value)] = len(self.seen), value
        follow(value)

    def _function(self, function: types.FunctionType) -> None:
        self.feed(meaning(function.__code__))
        cells = [content(cell) for cell in function.__closure__ or ()]
        self.feed((function.__defaults__, function.__kwdefaults__, cells, vars(function)))
        found = reached(function.__code__)
        if opaque := sorted(found.attributes & OPAQUE_ATTRIBUTES):
            self._refuse(f"a use of {opaque[0]}")
        for name in found.names:
            self._name(function.__globals__, name)
        for module, level, names in found.imports:
            package = function.__globals__.get("__package__")
            full = resolve_name("." * level + module, package)
            if opaque := sorted({*names, *found.attributes} & set(OPAQUE.get(full, ()))):
                self._refuse(f"a use of {full}.{opaque[0]}")
            self._import(full, names)

    def _name(self, namespace: dict[str, Any], dotted: tuple[str, ...]) -> None:
        """Hash the current value of a dotted name in some code."""
        value = namespace.get(dotted[0], vars(builtins).get(dotted[0], MISSING))
        for attribute in dotted[1:]:
            if isinstance(value, types.ModuleType):
                value = getattr(value, attribute, MISSING)
        self._text(f"name:{'.'.join(dotted)};")
        if value is not MISSING:
            self.feed(value)

    def _import(self, full: str, names: tuple[str, ...]) -> None:
        """Hash the names, or the whole module, that an import inside a function provides."""
        self._text(f"import {full} {names};")
        if version_of_module(full) is not None:
            self._text(f"{version_of_module(full)};")
            return
        try:
            loaded = importlib.import_module(full)
        except ImportError:
            self._text("no such module;")
            return
        if not names or "*" in names:
            self.feed(loaded)
        for name in names:
            if hasattr(loaded, name):
                self.feed(getattr(loaded, name))
            else:
                self._import(f"{loaded.__name__}.{name}", ())

    def _class(self, cls: type) -> None:
        self._text(f"class {cls.__module__}:{cls.__qualname__};")
        # a class of code that runs without a __name__ says that builtins is its module
        if cls.__module__ == "builtins" and not cls.__flags__ & HEAP_TYPE:
            return
        if is_identified_by_value(cls):
            self._refuse(f"a {cls.__name__} that it makes itself; pass it as a setting")
        if any(getattr(member, "__objclass__", None) is cls for member in written_in_c(cls)):
            self._compiled(cls, cls.__module__)
        self.feed([type(cls), *cls.__bases__])
        for name, member in sorted(vars(cls).items()):
            if name not in NOT_FOLLOWED:
                self._text(f"{name}=")
                self.feed(member)

    def _module(self, module: types.ModuleType) -> None:
        """Hash everything that a module defines; the module is used as a value."""
        self._text(f"module {module.__name__}={version_of(module)};")
        if version_of(module) is None:
            if not (getattr(module, "__file__", None) or "").endswith(".py"):
                self._compiled(module, module.__name__)
            for name, member in sorted(vars(module).items()):
                if name not in ABOUT_A_MODULE:
                    self._text(f"{name}=")
                    self.feed(member)

    def _compiled(self, value: Any, module: Any) -> None:
        """Hash compiled code by the version of its package, which must have one."""
        version = version_of_compiled(module) if isinstance(module, str) else None
        if version is None:
            self._refuse("compiled code")
        self._text(f"compiled {module}:{_qualified_name(value)}={version};")

    def _instance(self, value: Any) -> None:
        cls = type(value)
        if is_identified_by_value(cls):
            self.feed((cls.__qualname__, value.identity()))
            return
        if hasattr(cls, "py_func") or "py_func" in getattr(value, "__dict__", {}):
            self._compiled(value, _attribute(value, "__module__"))
            return
        self.feed(cls)
        if may_hide_state(cls):
            self._reduced(value)
            if version_of(cls) is not None:
                return
        for base in PLAIN:
            if isinstance(value, base):
                self.feed(base(value))
        self.feed(sorted(state_of(value), key=lambda entry: entry[0]))

    def _reduced(self, value: Any) -> None:
        """Hash the data that pickle would write for an instance of a type written in C."""
        reduce = copyreg.dispatch_table.get(type(value))
        try:
            parts = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception:
            self._refuse("state that cannot be read")
        if isinstance(parts, str):
            # whoever holds a ufunc of scipy.special has imported it
            homes = (np, sys.modules.get("scipy.special"))
            if all(getattr(home, parts, None) is not value for home in homes):
                self._refuse("state that cannot be read")
            self._text(f"ufunc {parts};")
            return
        make, arguments, *rest = parts
        self.feed((make, arguments, *(list(r) if isinstance(r, Iterator) else r for r in rest)))

    def _is_named_elsewhere(self, value: Any) -> bool:
        """Return whether a name in fwlab's core or in a package with a version leads to `value`."""
        module, name = _attribute(value, "__module__"), _qualified_name(value)
        if not isinstance(module, str) or not name or version_of(value) is None:
            return False
        found: Any = sys.modules.get(module, MISSING)
        for part in name.split("."):
            found = getattr(found, part, MISSING)
        return found is value or getattr(found, "__func__", MISSING) is value

    def _refuse(self, what: str) -> None:
        raise Unidentifiable(f"{' -> '.join(self.trail) or 'a value'} has {what}")


@dataclass(frozen=True, eq=False)
class Followed:
    """A value to be followed even if a version could stand for its code."""

    value: Any


def is_identified_by_value(cls: type) -> bool:
    """Return whether the method `identity` of a class of fwlab identifies its instances."""
    return cls.__module__.startswith("fwlab.") and "IDENTIFIED_BY_VALUE" in vars(cls)


def _qualified_name(value: Any) -> str:
    name = _attribute(value, "__qualname__") or _attribute(value, "__name__")
    return name if isinstance(name, str) else ""


def _attribute(value: Any, name: str) -> Any:
    """Return an attribute, None where an object's own __getattr__ fails."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _label(value: Any) -> str:
    return _qualified_name(value) or type(value).__name__
