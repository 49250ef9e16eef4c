"""Identify code by its syntax alone, to tell results of other code from results of this one.

A stored result is found again by `source_digest`, which counts versions of Python and of packages,
too. This hash is the same for all of them: it says only whether the code was another.
"""

import ast
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from fwlab.identity import DIGITS, read_code
from fwlab.versions import CORE, STATES, version_of

DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# modules of the core that draw, write texts and start processes: no number depends on them
NOT_COMPUTING = ("launch", "plot", "plot_labels", "provenance", "text", "toml_text")


def syntax_digest(functions: Iterable[Callable[..., Any]]) -> str:
    """Return a hash of what computes in fwlab's core, and of functions with all that they name.

    Comments, docstrings and layout do not count, nor does the code of installed packages.
    """
    found: dict[str, str] = {}
    for function in functions:
        _follow(function, found)
    hasher = hashlib.sha256(core_syntax().encode())
    for name, text in sorted(found.items()):
        hasher.update(f"{name}: {text}\n".encode())
    return hasher.hexdigest()[:DIGITS]


@functools.cache
def core_syntax() -> str:
    """Return the syntax of all sources of the core that compute, each by its file."""
    files = [file for file in map(Path, STATES[CORE]) if file.stem not in NOT_COMPUTING]
    trees = {file: undocumented(file.read_text("utf-8")) for file in files}
    return "".join(f"{file.name}: {syntax(tree)}\n" for file, tree in trees.items())


def undocumented(source: str) -> ast.Module:
    """Return the syntax tree of a source without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree


def syntax(node: Any) -> str:
    """Return a syntax tree as text; fields that are empty, as in older grammars, are left out."""
    if isinstance(node, ast.AST):
        given = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
        return f"{type(node).__name__}({', '.join(f'{n}={syntax(v)}' for n, v in given)})"
    if isinstance(node, list):
        return f"[{', '.join(map(syntax, node))}]"
    return repr(node)


def _follow(value: Any, found: dict[str, str]) -> str:
    """Return a text for a value, and add the code that it brings along to `found`."""
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, functools.partial):
        return _follow([value.func, value.args, value.keywords], found)
    if isinstance(value, FunctionType | type):
        return _follow_code(value, found)
    if isinstance(value, dict):
        return _follow(list(value.items()), found)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_follow(entry, found) for entry in value)}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(_follow(entry, found) for entry in value))}}}"
    if is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
        return f"{_follow(type(value), found)}{_follow(parts, found)}"
    if isinstance(value, int | float | complex | str | bytes | None):
        return repr(value)
    return type(value).__name__


def _follow_code(value: Any, found: dict[str, str]) -> str:
    """Add a function or a class, unless it is the core's or of a package, and return its name."""
    name = f"{value.__module__}:{value.__qualname__}"
    stands_for_itself = isinstance(value, type) and hasattr(value, "identity")
    if name in found or stands_for_itself or version_of(value) is not None:
        return name
    try:
        source = textwrap.dedent(inspect.getsource(value))
    except (TypeError, OSError):  # compiled, or typed at a prompt
        return name
    found[name] = syntax(undocumented(source))
    if isinstance(value, type):
        _follow(value.__bases__, found)
    members = vars(value).values() if isinstance(value, type) else [value]
    for function in filter(inspect.isfunction, map(_function_of, members)):
        code = read_code(function.__code__)
        for dotted in code.names:
            text = _follow(_meant(function.__globals__, dotted), found)
            found[f"{name} names {'.'.join(dotted)}"] = text
        for module, level, names in code.imports:
            full = resolve_name("." * level + module, function.__globals__.get("__package__"))
            for imported in names:
                _follow(getattr(import_module(full), imported, None), found)
    return name


def _function_of(member: Any) -> Any:
    """Return the function in a member of a class."""
    member = member.fget if isinstance(member, property) else member
    return getattr(member, "__func__", getattr(member, "func", member))


def _meant(namespace: dict[str, Any], dotted: tuple[str, ...]) -> Any:
    """Return what a dotted name of some code means, as far as it leads through modules."""
    value = namespace.get(dotted[0])
    for attribute in dotted[1:]:
        if isinstance(value, ModuleType):
            value = getattr(value, attribute, None)
    return value
