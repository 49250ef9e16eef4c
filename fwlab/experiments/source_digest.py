"""A hash of a function's source and of all that it names in its own package.

An edit of a figure's drawing must not throw away hours of computing, and an edit of a helper of
the computation must: so definitions are followed by name, not files. Sources of fwlab are left
out, because `_run_store.code_digest` hashes those.
"""

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

from fwlab.experiments.store import digest

Place = tuple[str, str]


def source_digest(function: Callable[..., Any]) -> str:
    """Hash of the definitions that `function` reaches, itself the first of them.

    Raises TypeError for a function that is not the definition of its name in a module.
    """
    module, name = function.__module__, function.__qualname__
    if name not in _definitions(module):
        raise TypeError(f"function must be defined at the top of a module; got {function!r}.")
    seen: dict[Place, str] = {}
    waiting = [(module, name)]
    while waiting:
        place = waiting.pop()
        if place in seen or place[0].split(".")[0] == "fwlab":
            continue
        node = _definitions(place[0])[place[1]]
        seen[place] = ast.dump(node)
        waiting += _named(place[0], node)
    return digest(sorted((*place, text) for place, text in seen.items()))


def _named(module: str, node: ast.AST) -> Iterator[Place]:
    """Places in the module's own package that a definition names."""
    definitions, imports = _definitions(module), _imports(module)
    for name in {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}:
        if name in definitions:
            yield module, name
        elif name in imports:
            target, imported = imports[name]
            if target.split(".")[0] != module.split(".")[0]:
                continue
            if imported in _definitions(target):
                yield target, imported
            else:  # a module: everything in it
                inner = f"{target}.{imported}" if imported else target
                yield from ((inner, definition) for definition in _definitions(inner))


@cache
def _definitions(module: str) -> dict[str, ast.AST]:
    """Functions, classes and constants at the top of a module."""
    found: dict[str, ast.AST] = {}
    for node in _tree(module).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (n for target in targets for n in ast.walk(target)):
                if isinstance(name, ast.Name):
                    before = found.get(name.id)
                    # all of them are statements, though `found` says no more than nodes
                    both = [part for part in (before, node) if part is not None]
                    found[name.id] = ast.Module(both, []) if before else node  # type: ignore[arg-type]
    return found


@cache
def _imports(module: str) -> dict[str, Place]:
    """Name in the module: (module it comes from, name there or "" for the module itself)."""
    found: dict[str, Place] = {}
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update({a.asname or a.name: (node.module, a.name) for a in node.names})
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (alias.name, "")
    return found


@cache
def _tree(module: str) -> ast.Module:
    loaded: ModuleType = importlib.import_module(module)
    return ast.parse(inspect.getsource(loaded))
