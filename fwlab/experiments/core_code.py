"""Identify the core of fwlab: its sources by folder, and every name patched after its import."""

import ast
import hashlib
import sys
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from fwlab.experiments.packages import is_core
from fwlab.experiments.source_digest import (
    ABOUT_A_MODULE,
    DIGITS,
    NOT_FOLLOWED,
    Followed,
    Unidentifiable,
)

FOLDER = Path(__file__).parents[1]
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# Python 3.11 fails where two threads parse at the same time
ONE_AT_A_TIME = threading.Lock()
# what the names of each module and class of the core held when they were first seen
first_seen: dict[str, dict[str, Any]] = {}


def core_identity() -> tuple[str, list[tuple[str, Any]]]:
    """Return the digest of the core's sources, and the patched names with their values.

    Raises Unidentifiable if a source was edited after this process imported it, or if the sources
    are in no folder.
    """
    now = states()
    if not now:
        raise Unidentifiable("fwlab runs from a zip or another place whose sources cannot be read")
    for file, state in now.items():
        if state != STATES.get(file):
            raise Unidentifiable(f"{file.name} of fwlab was edited after this process imported it")
    with ONE_AT_A_TIME:
        see_modules()
        return core_digest(), sorted(_patches(), key=lambda patch: patch[0])


def states() -> dict[Path, tuple[int, int, int]]:
    """Return size and times of each source of the core."""
    found = {}
    for file in core_sources():
        now = file.stat()
        found[file] = now.st_size, now.st_mtime_ns, now.st_ctime_ns
    return found


@cache
def core_digest() -> str:
    """Return a hash of the syntax of the core's sources, without comments and docstrings."""
    hasher = hashlib.sha256()
    for file in core_sources():
        tree = undocumented(file.read_text("utf-8"))
        hasher.update(f"{_module_name(file)}:{ast.dump(tree)};".encode())
    return hasher.hexdigest()[:DIGITS]


def undocumented(source: str) -> ast.Module:
    """Return the syntax tree of a source without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree


def see_modules() -> None:
    """Remember the values of the names in modules and classes of the core when first seen."""
    for module in filter(is_core, list(sys.modules)):
        if module not in first_seen:
            for place, names in _places(module):
                first_seen[place] = {name: _held(value) for name, value in names.items()}


def _patches() -> Iterator[tuple[str, Any]]:
    """Yield the names of the core whose values have changed since they were first seen."""
    for module in filter(is_core, list(sys.modules)):
        for place, names in _places(module):
            before = first_seen[place]
            for name, value in names.items():
                if name not in before or before[name] != _held(value):
                    yield f"{place}.{name}", Followed(value)


def _places(module: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a module and each class that it defines, with the names in them."""
    names = {
        name: value
        for name, value in vars(sys.modules[module]).items()
        if name not in ABOUT_A_MODULE and not isinstance(value, ModuleType)
    }
    # the package itself only passes on what its modules define
    yield module, {} if module == "fwlab" else names
    for name, value in names.items():
        if isinstance(value, type) and value.__module__ == module:
            members = {n: v for n, v in vars(value).items() if n not in NOT_FOLLOWED}
            yield f"{module}.{name}", members


def _held(value: Any) -> tuple[int, Any]:
    """Return the identity of a value, and of its code if it is a function."""
    return id(value), id(value.__code__) if isinstance(value, FunctionType) else None


def _module_name(file: Path) -> str:
    parts = ("fwlab", *file.relative_to(FOLDER).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def core_sources() -> list[Path]:
    """Return the files of the core, sorted."""
    return [file for file in sorted(FOLDER.rglob("*.py")) if is_core(_module_name(file))]


STATES = states()
see_modules()
