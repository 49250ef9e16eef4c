"""Pages of the public interface: one per function or class, with the claims that exercise it."""

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from fwlab.docs.markdown import write
from fwlab.docs.records import Records
from paper_checks.records import Record

FOLDER = "api"
# title of a group, the modules whose names it holds
GROUPS = {
    "Problems, losses and solvers": ("fwlab",),
    "Experiments": ("fwlab.experiments",),
    "Ranking at the top": ("fwlab.ranking",),
    "Data": ("fwlab.datasets",),
    "Measures, weights and bounds": ("fwlab.metrics", "fwlab.weights", "fwlab.bounds"),
    "Checkers for what you bring": ("fwlab.testing",),
}


def write_pages(source: Path, records: Records) -> None:
    """Write a page for each public name below `source`, and their index."""
    groups = {title: public_names(modules) for title, modules in GROUPS.items()}
    documented = [name for names in groups.values() for name in names]
    for name in documented:
        write(
            source / FOLDER / f"{name}.md",
            "api_object.md",
            name=name,
            directive=directive(resolve(name)),
            claims=claims_of(name, records, documented),
        )
    summaries = {name: summary(resolve(name)) for name in documented}
    write(source / FOLDER / "index.md", "api_index.md", groups=groups, summaries=summaries)


def public_names(modules: tuple[str, ...]) -> list[str]:
    """Return the dotted names of the functions and classes that modules offer, sorted."""
    return sorted(
        (
            f"{module}.{name}"
            for module in modules
            for name in offered(import_module(module))
            if callable(getattr(import_module(module), name))
        ),
        key=str.lower,
    )


def offered(module: ModuleType) -> list[str]:
    """Return the names in a module's __all__, or the public ones that it defines itself."""
    if hasattr(module, "__all__"):
        names = list(module.__all__)
        return [name for name in names if not shown_by_parent(module, name)]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def shown_by_parent(module: ModuleType, name: str) -> bool:
    """Return whether `fwlab` itself offers the object that a subpackage has under this name."""
    parent = import_module("fwlab")
    return module is not parent and getattr(parent, name, None) is getattr(module, name)


def resolve(name: str) -> Any:
    """Return the object with a dotted name."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def directive(value: Any) -> str:
    """Return the directive of autodoc that documents an object."""
    if not inspect.isclass(value):
        return "autofunction"
    return "autoexception" if issubclass(value, Exception) else "autoclass"


def summary(value: Any) -> str:
    """Return the first sentence of a docstring."""
    return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")


def claims_of(name: str, records: Records, documented: list[str]) -> list[Record]:
    """Return the records that exercise an object or one of its methods."""
    found: dict[str, Record] = {}
    for function, exercised in records.by_function.items():
        owner = function if function in documented else function.rpartition(".")[0]
        if owner == name:
            found |= {record["id"]: record for record in exercised}
    return list(found.values())
