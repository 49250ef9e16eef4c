"""Import Python files from anywhere, so that worker processes can import them too.

A file becomes a module of its own name. Its folder goes to the front of `sys.path`, as for a
script, and joblib's workers take over `sys.path`.
"""

import ast
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import ModuleType


def importable(paths: Sequence[str]) -> dict[str, str]:
    """Make files importable here and in worker processes; return {path: name of its module}.

    If there are any files, Python writes no bytecode from now on: it would miss an edit that is
    made within the same second. Raises ValueError, with a sentence that begins with the path, if a
    file is not a Python file or if another module has its name.
    """
    names: dict[str, str] = {}
    for path in {os.path.realpath(path): os.path.normpath(path) for path in paths}.values():
        name = _module_name(path)
        if name in names.values():
            raise ValueError(f"{path}: another file is named {name}.py, too; rename one of them.")
        names[path] = name
    if names:
        folders = dict.fromkeys(os.path.dirname(os.path.abspath(path)) for path in names)
        sys.path[:0] = [folder for folder in folders if folder not in sys.path]
        invalidate_caches()
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    return names


def import_file(path: str, name: str) -> ModuleType:
    """Import a file that `importable` has given a name, and return its module.

    Raises ValueError, with a sentence that begins with the path, if the file cannot be imported, or
    if Python finds a module that lies beside the file somewhere else first.
    """
    try:
        module = import_module(name)
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split()) or "no message"
        raise ValueError(
            f"{path}: its import raised {type(error).__name__}{_line(error, path)}: {said}"
        ) from error
    _check_neighbours(path, name)
    return module


def _module_name(path: str) -> str:
    """Return the name of the module that a file becomes."""
    file = Path(path)
    if not file.is_file():
        what = "it is a folder" if file.is_dir() else "there is no such file"
        raise ValueError(f"{path}: {what}; a Python file is needed.")
    name = file.stem
    if file.suffix != ".py" or "." in name:
        raise ValueError(f"{path}: a Python file is needed, NAME.py with no other dot in its name.")
    spec = find_spec(name)
    origin = spec and spec.origin
    if origin and os.path.realpath(origin) != os.path.realpath(path):
        raise ValueError(
            f"{path}: Python has another module named {name} ({origin}); rename the file."
        )
    return name


def _check_neighbours(path: str, name: str) -> None:
    """Raise ValueError if Python took the module or what it imports from another folder."""
    folder = os.path.dirname(os.path.abspath(path))
    imports = _imports(os.path.abspath(path), None)
    wanted = {name, *(imported.partition(".")[0] for imported in imports)}
    for beside in wanted.intersection(entry.name for entry in pkgutil.iter_modules([folder])):
        taken = getattr(sys.modules.get(beside), "__file__", None) or folder
        if not Path(taken).is_relative_to(folder):
            raise ValueError(
                f"{path}: Python takes the module {beside} from {taken}, not from beside the file; "
                "rename the one beside it."
            )


def _line(error: BaseException, path: str) -> str:
    """Return the position in a file of the code that raised an error, as words; "" if unknown."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == os.path.abspath(path)]
    return f" in line {lines[-1]}" if lines else ""


@cache
def _imports(file: str, package: str | None) -> frozenset[str]:
    """Return the names that a loaded source imports and that are or may be modules."""
    found = set()
    for node in ast.walk(ast.parse(Path(file).read_bytes())):
        for full in _names(node, package):
            parts = full.split(".")
            found |= {".".join(parts[: i + 1]) for i in range(len(parts))}
    return frozenset(found)


def _names(node: ast.AST, package: str | None) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = resolve_name("." * node.level + (node.module or ""), package)
        yield from (f"{base}.{alias.name}" for alias in node.names)
