"""Identify a computation: which code and which data make its numbers.

`identity` is the key of everything that is stored to be used again. It hashes

- values by content: numbers, texts, arrays, containers, and instances as pickle would write them,
  without what classes of a package compute from the rest and keep;
- the user's functions and classes by their bytecode, which knows neither comments nor layout. It is
  what runs, whereas a syntax tree belongs to a source file, which may have been edited since its
  import or, for what a program made, not exist. With it enters all that it reaches by name:
  helpers in any module, base classes, captured variables, and values at the top of modules, of
  `__main__` and of notebook cells;
- each part of fwlab by its sources, and an installed package by its version and its list of files
  (versions.py). Packages that were installed from a folder, that need fwlab or that were edited are
  followed like the user's code.

Names that the code does not reach have no part in it. Code or data that it reaches and that cannot
be hashed raises Unidentifiable; so does fwlab with a source edited, or an attribute changed, after
its import.

A key can be the same for other numbers, because it does not see

- attributes that a program changes in an installed package, and entries of fwlab's own lists and
  tables that are changed in place;
- names that code computes, as for `getattr`, in a module that a version stands for;
- what describes code and does not run, if code reads it: annotations, docstrings, the metadata and
  order of the fields of a dataclass, the name of a function, the order of the members of a class;
- what code reads from files, other programs or the environment, except that the usual ways to do so
  (opaque.py) are Unidentifiable;
- the state of the process: numpy.seterr, the seeds of numpy.random and random, signal handlers;
- what an instance of a class of the user leaves out of its own `__reduce__` and keeps in slots.
"""

import builtins
import copyreg
import functools
import hashlib
import random
import sys
import types
from collections.abc import Iterator
from contextvars import ContextVar
from importlib import import_module
from importlib.util import resolve_name
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.bytecode import read_code
from fwlab.opaque import OPAQUE_ATTRIBUTES, opaque_import, opaque_objects
from fwlab.versions import (
    Unidentifiable,
    environment,
    part_of,
    recorded_version,
    require_unchanged,
    version_of_module,
)

DIGITS = 16
ATOMS = {int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented)}
# entries of classes and modules that do not change what they do
ABOUT_A_CLASS = set(
    "__abstractmethods__ __annotate_func__ __annotations__ __annotations_cache__ "
    "__dataclass_fields__ __dataclass_params__ __dict__ __doc__ __firstlineno__ __module__ "
    "__orig_bases__ __parameters__ __slotnames__ __static_attributes__ __weakref__ "
    "_abc_impl".split()
)
ABOUT_A_MODULE = set(
    "__builtins__ __cached__ __doc__ __file__ __loader__ __name__ __package__ __path__ __spec__ "
    "__warningregistry__".split()
)
# the flag of classes that are made while Python runs
HEAP_TYPE = 1 << 9
# the generators behind np.random.rand, random.random and so on: their state is nobody's
GLOBAL_GENERATORS = (np.random.mtrand._rand, random._inst)
MISSING = object()
# sets in circles would else take time without end
MOST_REPEATS = 1000


def identity(*values: Any) -> str:
    """Return a hexadecimal hash of values, of the code that they bring along, and of the machinery.

    The machinery is fwlab's core, Python, and the packages that every run uses. Raises
    Unidentifiable if a stored result cannot depend on one of these.
    """
    return digest(environment(), values)


def digest(*values: Any) -> str:
    """Return a hexadecimal hash of values and of the code that they bring along.

    Raises Unidentifiable for values that cannot be identified.
    """
    walk = _Walk()
    text = walk.text(values)
    for part in sorted({part_of(module) for module in walk.modules}):
        require_unchanged(part)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


class _Walk:
    """One pass over an object graph; equal graphs have equal texts, in any process."""

    def __init__(self) -> None:
        # texts by the ids of objects, which are kept alive so that no id is used twice
        self.known: dict[int, tuple[str, Any]] = {}
        self.open: list[Any] = []
        # the place in `open` of the outermost object that the current text leads back to
        self.back_to = 0
        # objects whose texts lead back to an outer one have numbers
        self.numbered = 0
        # how often objects in sets were forgotten again
        self.repeats = 0
        # modules that a version stands for
        self.modules: set[str] = set()
        self.opaque = opaque_objects()

    def text(self, value: Any) -> str:
        """Return a text for a value: itself, a hash of its parts, or where it contains itself."""
        if type(value) in ATOMS:
            return f"{type(value).__name__}:{value!r}"
        if id(value) in self.known:
            return self.known[id(value)][0]
        for place, outer in enumerate(self.open):
            if outer is value:
                self.back_to = min(self.back_to, place)
                return f"{len(self.open) - place} outside"
        place, outside = len(self.open), self.back_to
        self.open.append(value)
        self.back_to = place
        parts = repr(self._parts(value)).encode("utf-8", "backslashreplace")
        self.open.pop()
        found = hashlib.sha256(parts).hexdigest()
        self.known[id(value)] = found, value
        if self.back_to < place:
            # elsewhere, the same text would lead to something else
            self.known[id(value)] = f"the numbered {self.numbered}", value
            self.numbered += 1
        self.back_to = min(self.back_to, outside)
        return found

    def _texts_of_a_set(self, values: Any) -> list[str]:
        """Return the sorted texts of values, none of which knows the numbers of the others."""
        found, first, last = [], self.numbered, self.numbered
        for value in values:
            n_known, self.numbered = len(self.known), first
            found.append(self.text(value))
            last = max(last, self.numbered)
            if self.numbered > first:
                self.repeats += 1
                while len(self.known) > n_known:
                    self.known.popitem()
            if self.repeats > MOST_REPEATS:
                self._refuse("sets that lead back to themselves too often")
        self.numbered = last
        return sorted(found)

    def _texts(self, values: Any) -> list[str]:
        return [self.text(value) for value in values]

    def _parts(self, value: Any) -> list[str]:
        kind = type(value)
        if kind in (tuple, list):
            return [kind.__name__, *self._texts(value)]
        if kind in (dict, types.MappingProxyType):
            return [kind.__name__, *self._texts(value), *self._texts(value.values())]
        if isinstance(value, set | frozenset):
            # an instance of a subclass may have attributes
            own = [] if kind in (set, frozenset) else [kind, vars(value)]
            return [kind.__name__, *self._texts_of_a_set(value), *self._texts(own)]
        if kind in (np.ndarray, np.memmap):
            return self._array(value)
        if isinstance(value, np.generic) and kind.__module__ == "numpy":
            return ["scalar", *self._array(np.asarray(value))]
        if scipy.sparse.issparse(value) and version_of_module(kind.__module__):
            rows = value.tocsr()
            return self._texts([kind, rows.shape, rows.indptr, rows.indices, rows.data])
        if any(value is generator for generator in GLOBAL_GENERATORS):
            return ["global generator"]
        return self._code(value)

    def _array(self, value: Any) -> list[str]:
        dtype = value.dtype
        header = f"array {dtype.descr if dtype.names else dtype.str} {value.shape}"
        if dtype.hasobject:
            return [header, self.text(value.tolist())]
        entries = np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
        return [header, hashlib.sha256(entries).hexdigest()]

    def _code(self, value: Any) -> list[str]:
        """Return the parts of a function, class, module, or instance of any class."""
        if id(value) in self.opaque:
            self._refuse(f"a use of {self.opaque[id(value)]}")
        if (provider := _provider(value)) is not None:
            module, name = provider
            if name.rpartition(".")[2] in OPAQUE_ATTRIBUTES:
                self._refuse(f"a use of {module}.{name}")
            self.modules.add(module)
            return [module, name, str(version_of_module(module))]
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.ModuleType):
            if not (getattr(value, "__file__", None) or "").endswith(".py"):
                return self._compiled(value, value.__name__)
            return ["module", *self._members(value, ABOUT_A_MODULE)]
        if value is sys.stdout or value is sys.stderr:
            return ["a standard stream"]
        if type(value) is types.MethodType:
            return ["method", *self._texts([value.__self__, value.__func__])]
        if type(value) is property:
            return ["property", *self._texts([value.fget, value.fset, value.fdel])]
        if type(value) in (staticmethod, classmethod):
            return [type(value).__name__, self.text(value.__func__)]
        if isinstance(value, ContextVar):
            return ["context variable", value.name, self.text(_current(value))]
        if type(value) is functools.cached_property:
            return ["cached", self.text(value.func)]
        if isinstance(value, functools._lru_cache_wrapper):
            if value.cache_info().currsize:
                self._refuse("a filled cache, whose values may be older than its code")
            return ["cached", self.text(value.__wrapped__)]
        return self._instance(value)

    def _function(self, function: types.FunctionType) -> list[str]:
        code = read_code(function.__code__)
        if opaque := sorted(code.attributes & OPAQUE_ATTRIBUTES):
            self._refuse(f"a use of {opaque[0]}")
        cells = [_content(cell) for cell in function.__closure__ or ()]
        held = [function.__defaults__, function.__kwdefaults__, cells, vars(function)]
        parts = ["function", code.meaning, *self._texts(held)]
        for dotted in code.names:
            parts += [".".join(dotted), *self._texts(_meant(function.__globals__, dotted))]
        for module, level, names in code.imports:
            package = function.__globals__.get("__package__")
            full = resolve_name("." * level + module, package)
            if found := opaque_import(full, {*names, *code.attributes}):
                self._refuse(f"a use of {found}")
            parts += self._import(full, names)
        return parts

    def _import(self, full: str, names: tuple[str, ...]) -> Iterator[str]:
        """Yield texts for the names, or the module, that an import inside a function provides."""
        yield f"import {full} {names}"
        try:
            loaded = import_module(full)
        except ImportError:
            return
        except (Exception, SystemExit) as error:
            self._refuse(f"an import of {full}, which ends with {type(error).__name__}")
        has_version = version_of_module(full) is not None
        if not names or has_version:
            yield self.text(loaded)
        if not names and "." in full:
            # the name that the import binds is the outer package's
            yield self.text(import_module(full.partition(".")[0]))
        for name in names:
            # the version stands for all but what reads data
            if has_version and id(getattr(loaded, name, None)) not in self.opaque:
                continue
            found = getattr(loaded, name, MISSING)
            # a module may be an attribute of its package only once it has been imported
            if found is MISSING or isinstance(found, types.ModuleType):
                yield from self._import(f"{full}.{name}", ())
            if found is not MISSING and not isinstance(found, types.ModuleType):
                yield self.text(found)

    def _class(self, cls: type) -> list[str]:
        name = f"class {cls.__module__}:{cls.__qualname__}"
        if cls.__module__ == "builtins" and not cls.__flags__ & HEAP_TYPE:
            return [name]
        in_c = types.MethodDescriptorType | types.WrapperDescriptorType
        if any(isinstance(m, in_c) and m.__objclass__ is cls for m in vars(cls).values()):
            return self._compiled(cls, cls.__module__)
        members = self._members(cls, ABOUT_A_CLASS)
        return [name, *self._texts([type(cls), *cls.__bases__]), *members]

    def _members(self, owner: Any, about: set[str]) -> Iterator[str]:
        for name, member in sorted(vars(owner).items()):
            if name not in about:
                yield f"{name}={self.text(member)}"

    def _instance(self, value: Any) -> list[str]:
        cls = type(value)
        # a class of fwlab may say what tells its instances apart
        if cls.__module__.startswith("fwlab.") and hasattr(cls, "identity"):
            return [cls.__qualname__, self.text(value.identity())]
        if hasattr(cls, "py_func") or "py_func" in getattr(value, "__dict__", {}):
            return self._compiled(value, _attribute(value, "__module__"))
        reduce = copyreg.dispatch_table.get(cls)
        try:
            parts = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception:
            self._refuse("state that cannot be read")
        if isinstance(parts, str):
            # whoever holds such a function has imported it
            if getattr(sys.modules.get("scipy.special"), parts, None) is not value:
                self._refuse("state that cannot be read")
            return [parts, str(version_of_module("scipy"))]
        lists = [list(part) if isinstance(part, Iterator) else part for part in parts]
        if len(lists) > 2 and isinstance(lists[2], dict):
            lists[2] = {n: v for n, v in lists[2].items() if not _is_computed(cls, n)}
        # what a class of the user leaves out when it is pickled counts, too
        hidden = None if version_of_module(cls.__module__) else getattr(value, "__dict__", None)
        return ["instance", *self._texts([*lists, hidden])]

    def _compiled(self, value: Any, module: Any) -> list[str]:
        """Return what stands for compiled code: the version of its package, which must have one."""
        version = recorded_version(module) if isinstance(module, str) else None
        if version is None:
            self._refuse("compiled code")
        return ["compiled", _label(value), str(version)]

    def _refuse(self, what: str) -> Any:
        trail = " -> ".join(_label(v) for v in self.open if not isinstance(v, tuple | list | dict))
        raise Unidentifiable(f"{trail or 'a value'} has {what}")


def _is_computed(cls: type, name: str) -> bool:
    """Return whether a class computes an attribute from the others, and keeps it."""
    return isinstance(getattr(cls, name, None), functools.cached_property)


def _meant(namespace: dict[str, Any], dotted: tuple[str, ...]) -> list[Any]:
    """Return the current value of a dotted name, as far as it leads through modules."""
    value = namespace.get(dotted[0], vars(builtins).get(dotted[0], MISSING))
    for attribute in dotted[1:]:
        if isinstance(value, types.ModuleType):
            value = getattr(value, attribute, MISSING)
    return [] if value is MISSING else [value]


def _current(variable: ContextVar[Any]) -> Any:
    """Return the value of a context variable, or its default."""
    try:
        return variable.get()
    except LookupError:
        return MISSING.__class__


def _content(cell: types.CellType) -> list[Any]:
    """Return the value of a captured variable in a list, which is empty if the cell still is."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _provider(value: Any) -> tuple[str, str] | None:
    """Return the module with a version that provides a value, and the name of the value in it."""
    if isinstance(value, types.ModuleType):
        return (value.__name__, "") if version_of_module(value.__name__) else None
    module, name = _attribute(value, "__module__"), _label(value)
    of_an_instance = module is None and isinstance(value, types.BuiltinFunctionType)
    if of_an_instance:  # as random.random
        module, name = type(value.__self__).__module__, value.__name__
    if not isinstance(module, str) or not version_of_module(module):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, MISSING)
    is_same = found is value or getattr(found, "__func__", MISSING) is value
    return (module, name) if is_same or (of_an_instance and found == value) else None


def _label(value: Any) -> str:
    name = _attribute(value, "__qualname__") or _attribute(value, "__name__")
    return name if isinstance(name, str) else type(value).__name__


def _attribute(value: Any, name: str) -> Any:
    """Return an attribute, None where an object's own __getattr__ fails."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None
