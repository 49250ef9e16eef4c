"""No module reaches itself through its imports, those in functions and for annotations included."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("fwlab", "reference", "figures", "paper_checks")


def sources() -> dict[str, Path]:
    """Return the files of all modules and packages by name."""
    found = {}
    for file in (file for package in PACKAGES for file in (ROOT / package).rglob("*.py")):
        *folders, last = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(folders if last == "__init__" else [*folders, last])] = file
    return found


def imported(name: str, source: str, is_package: bool) -> Iterator[str]:
    """Yield the full names of modules, or of what they define, that a source imports."""
    package = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def arrows(files: dict[str, Path]) -> dict[str, set[str]]:
    """Return the modules that each module imports; a name in a package leads to the package."""
    found: dict[str, set[str]] = {}
    for name, file in files.items():
        names = imported(name, file.read_text("utf-8"), file.name == "__init__.py")
        modules = {full if full in files else full.rpartition(".")[0] for full in names}
        found[name] = {module for module in modules if module in files and module != name}
    return found


def test_there_is_no_circle():
    graph = arrows(sources())
    assert len(graph) > 400
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_a_circle_is_seen(tmp_path):
    files = {name: tmp_path / f"{name}.py" for name in ("one", "two")}
    files["one"].write_text("def f():\n    from two import g\n")
    files["two"].write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import one\n")
    with pytest.raises(CycleError):
        TopologicalSorter(arrows(files)).prepare()
