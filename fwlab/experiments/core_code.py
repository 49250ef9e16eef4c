"""Identify the core of fwlab: its sources by folder, and whatever was patched after its import."""

import ast
import hashlib
import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any

from fwlab.experiments.packages import is_core
from fwlab.experiments.source_digest import DIGITS, Unidentifiable

FOLDER = Path(__file__).parents[1]
IMPORTED = time.time()
# Python 3.11 fails where two threads parse at the same time
ONE_AT_A_TIME = threading.Lock()
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def core_identity() -> tuple[str, list[tuple[str, Any]]]:
    """Return the digest of the core's sources, and what was patched: names with their values.

    Raises Unidentifiable if a source was edited after this process imported it.
    """
    for file in _sources():
        if file.stat().st_mtime > IMPORTED:
            raise Unidentifiable(f"{file.name} of fwlab was edited after this process imported it")
    with ONE_AT_A_TIME:
        return core_digest(), sorted(_patches(), key=lambda patch: patch[0])


@cache
def core_digest() -> str:
    """Return a hash of the syntax of the core's sources, without comments and docstrings."""
    hasher = hashlib.sha256()
    for file, tree in _trees().items():
        hasher.update(f"{file}:{ast.dump(tree)};".encode())
    return hasher.hexdigest()[:DIGITS]


def _module_name(file: Path) -> str:
    parts = ("fwlab", *file.relative_to(FOLDER).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _sources() -> list[Path]:
    return [file for file in sorted(FOLDER.rglob("*.py")) if is_core(_module_name(file))]


@cache
def _trees() -> dict[str, ast.Module]:
    """The syntax tree of each module of the core, without docstrings."""
    return {_module_name(file): undocumented(file.read_text("utf-8")) for file in _sources()}


def undocumented(source: str) -> ast.Module:
    """Return the syntax tree of a source without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree


def _patches() -> Iterator[tuple[str, Any]]:
    """Names of the core that no longer mean what its sources say."""
    for module in filter(is_core, list(sys.modules)):
        for name, is_as_written in _written(module).items():
            value: Any = sys.modules[module]
            for part in name.split("."):
                value = inspect.getattr_static(value, part, None)
            if not is_as_written(value):
                yield f"{module}.{name}", value


@cache
def _written(module: str) -> dict[str, Callable[[Any], bool]]:
    """For each name that the source of a module defines, whether a value is what it says."""
    found: dict[str, Callable[[Any], bool]] = {}
    for node in _trees().get(module, ast.Module([], [])).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = _definition(module, node.name, node)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    name = f"{node.name}.{member.name}"
                    found[name] = _definition(module, name, member)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = partial(_is_constant, node.value.value)
        if isinstance(node, ast.ImportFrom) and is_core(node.module or ""):
            for alias in node.names:
                found[alias.asname or alias.name] = partial(
                    _is_imported, str(node.module), alias.name
                )
    return found


def _definition(
    module: str, name: str, node: ast.FunctionDef | ast.ClassDef
) -> Callable[[Any], bool]:
    kind = type if isinstance(node, ast.ClassDef) else FunctionType
    decorated = isinstance(node, ast.FunctionDef) and bool(node.decorator_list)
    return partial(_is_defined, module, name, object if decorated else kind)


def _is_defined(module: str, name: str, kind: type, value: Any) -> bool:
    home = getattr(value, "__module__", module), getattr(value, "__qualname__", name)
    return isinstance(value, kind) and (home == (module, name) or kind is object)


def _is_constant(constant: Any, value: Any) -> bool:
    return type(value) is type(constant) and value == constant


def _is_imported(module: str, name: str, value: Any) -> bool:
    """Whether a name still holds what it was imported as."""
    source = sys.modules.get(module)
    return value is getattr(source, name, sys.modules.get(f"{module}.{name}", value))
