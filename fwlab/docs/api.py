"""Pages of the public interface: one per function or class, with the claims that exercise it.

Own code: autosummary would save `directive` and `summary`, not the groups, names and claims.
"""

import inspect
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

from fwlab.docs import sources
from fwlab.docs.markdown import write
from fwlab.docs.records import Record, Records

FOLDER = "api"
# title of a group, the modules whose names it holds
GROUPS = {
    "Problems, losses and solvers": ("fwlab",),
    "Experiments": ("fwlab.experiments",),
    "Ranking at the top": ("fwlab.ranking",),
    "Larger than memory": ("fwlab.distributed",),
    "Data": ("fwlab.datasets",),
    "Measures, weights and bounds": ("fwlab.metrics", "fwlab.weights", "fwlab.bounds"),
    "Checkers for what you bring": ("fwlab.testing",),
}


def write_pages(source: Path, records: Records) -> None:
    """Write a page for each public name below `source`, and their index."""
    groups = {title: public_names(modules) for title, modules in GROUPS.items()}
    documented = documented_names()
    for name in documented:
        write(
            source / FOLDER / f"{name}.md",
            "api_object.md",
            name=name,
            directive=directive(found_at(name)),
            claims=claims_of(name, records),
        )
    summaries = {name: summary(found_at(name)) for name in documented}
    write(source / FOLDER / "index.md", "api_index.md", groups=groups, summaries=summaries)


@cache
def documented_names() -> list[str]:
    """Return the names of all pages of the public interface."""
    return [name for modules in GROUPS.values() for name in public_names(modules)]


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


def directive(value: Any) -> str:
    """Return the directive of autodoc that documents an object."""
    if not inspect.isclass(value):
        return "autofunction"
    return "autoexception" if issubclass(value, Exception) else "autoclass"


def summary(value: Any) -> str:
    """Return the first sentence of a docstring; an ellipsis stands for the formula it ends in."""
    text = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return text if text.endswith(".") else f"{text.rstrip(',:')} …"


@cache
def function_address(name: str) -> str:
    """Return the address, from the site's top, of a function that a claim exercises.

    It is a place on the page of the public name, or the source of what is not public.
    """
    owner, _, attribute = name.rpartition(".")
    for shown, suffix in ((name, ""), (owner, f".{attribute}")):
        if (public := public_name(shown)) is not None:
            return f"{FOLDER}/{public}.html#{public}{suffix}"
    value = found_at(name)
    for wrapped in ("fget", "py_func", "func"):  # of a property, a kernel, a cached property
        value = getattr(value, wrapped, value)
    path = Path(inspect.getsourcefile(value) or "").relative_to(sources.ROOT)
    return sources.address(path.as_posix(), inspect.getsourcelines(value)[1])


def public_name(name: str) -> str | None:
    """Return the documented name of the object that another dotted name leads to."""
    documented = documented_names()
    if name in documented:
        return name
    value = found_at(name)
    return next((one for one in documented if found_at(one) is value), None)


@cache
def found_at(name: str) -> Any:
    """Return the object at a dotted name of modules, classes and attributes."""
    owner, _, attribute = name.rpartition(".")
    return getattr(resolve_name(owner), attribute)


def claims_of(name: str, records: Records) -> list[Record]:
    """Return the records that exercise an object or one of its methods."""
    found: dict[str, Record] = {}
    for function, exercised in records.by_function.items():
        if function_address(function).startswith(f"{FOLDER}/{name}.html#"):
            found |= {record["id"]: record for record in exercised}
    return list(found.values())
