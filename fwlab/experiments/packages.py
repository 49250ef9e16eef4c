"""Tell whose code a module holds: fwlab's core, Python's, an installed package's, or the user's.

The first three have a version that stands for their sources. User's code has none: packages that
were installed from a folder, in editable mode or not, count as such, because their version does not
change with an edit.
"""

import json
import platform
import sys
from functools import cache
from importlib.metadata import Distribution, distribution, packages_distributions, version
from pathlib import Path
from types import ModuleType
from typing import Any

# folders of fwlab whose code has no part in a run; where it is used it is followed name by name
OUTSIDE_THE_CORE = ("cli", "datasets", "docs", "experiments")
CORE = "core"
# what the numbers of every run depend on
NUMERICAL = ("numpy", "scipy", "numba")


def environment() -> list[str]:
    """Return the versions of Python and of the packages that every run uses."""
    python = f"{platform.python_version()} -O{sys.flags.optimize}"
    return [python, *(f"{name} {version(name)}" for name in NUMERICAL)]


def is_core(module: str) -> bool:
    """Whether a module belongs to the core of fwlab, whose sources are hashed as a whole."""
    top, _, rest = module.partition(".")
    return top == "fwlab" and rest.split(".")[0] not in OUTSIDE_THE_CORE


def version_of(value: Any) -> str | None:
    """Return the version that stands for the code of a module, function or class.

    None for code that must be followed.
    """
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return version_of_module(name) if isinstance(name, str) else None


@cache
def version_of_module(name: str) -> str | None:
    """Return the version that stands for the code of a module, None if it must be followed."""
    top = name.partition(".")[0]
    if top == "fwlab":
        return CORE if is_core(name) else None
    if top in sys.stdlib_module_names:
        return platform.python_version()
    package = _installed(top)
    return None if package is None else f"{package.name} {package.version}"


def _installed(top: str) -> Distribution | None:
    """The package that a top-level module was installed with, None if from a folder or by hand."""
    file = getattr(sys.modules.get(top), "__file__", None)
    for name in packages_distributions().get(top, ()):
        package = distribution(name)
        folder = Path(str(package.locate_file("")))
        if file is not None and not Path(file).is_relative_to(folder):
            continue
        origin = json.loads(package.read_text("direct_url.json") or "{}")
        return None if "dir_info" in origin else package
    return None
