"""Scripts by name: the modules of the papers' folders and of `own` that make a figure or a table.

Such a module has SECONDS {size: estimate}, run(study) and plot(study) -> files. Its name is
PAPER_MODULE, or MODULE in `own`.
"""

import importlib
import pkgutil
from functools import cache
from typing import Any

import figures

OWN = "own"
PARTS = ("SECONDS", "run", "plot")
NO_SCRIPTS = ("kit", "benchmarks")


def script_names() -> list[str]:
    """Return the names of all figures and tables, sorted."""
    return sorted(_modules())


def script(name: str) -> Any:
    """Return the module that makes a figure or a table."""
    return importlib.import_module(_modules()[name])


def script_name(module: str) -> str:
    """Return the name of the script in a module, "figures.FOLDER.MODULE"."""
    _, folder, name = module.split(".")
    return name if folder == OWN else f"{folder}_{name}"


@cache
def _modules() -> dict[str, str]:
    """Return {name of the script: full name of its module}."""
    found = {}
    for folder in pkgutil.iter_modules(figures.__path__):
        if not folder.ispkg or folder.name in NO_SCRIPTS:
            continue
        package = importlib.import_module(f"figures.{folder.name}")
        for module in pkgutil.iter_modules(package.__path__):
            full = f"{package.__name__}.{module.name}"
            if all(hasattr(importlib.import_module(full), part) for part in PARTS):
                found[script_name(full)] = full
    return found
