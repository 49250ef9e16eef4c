"""Tell whose code a module holds: fwlab's core, Python's, an installed package's, or the user's.

The first three have something that stands for their sources: a digest, or a version and the list of
installed files with their hashes. Nothing stands for the user's code, which must be followed;
packages installed from a folder count as the user's.
"""

import hashlib
import json
import platform
import sys
import sysconfig
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy
import scipy

# folders of fwlab whose code has no part in a run; where it is used it is followed name by name
OUTSIDE_THE_CORE = ("cli", "datasets", "docs", "experiments", "testing")
CORE = "core"
# what the numbers of every run depend on
NUMERICAL = (numpy, scipy, numba)
STANDARD_LIBRARY = sysconfig.get_path("stdlib")


def environment() -> list[str]:
    """Return the versions of Python and of the packages that every run uses, as they are loaded."""
    python = f"{platform.python_version()} -O{sys.flags.optimize}"
    return [python, *(f"{package.__name__} {package.__version__}" for package in NUMERICAL)]


def is_core(module: str) -> bool:
    """Return whether a module belongs to the core of fwlab, whose sources are hashed as a whole."""
    top, _, rest = module.partition(".")
    return top == "fwlab" and rest.split(".")[0] not in OUTSIDE_THE_CORE


def version_of(value: Any) -> str | None:
    """Return the version that stands for the code of a module, function or class.

    None for code that must be followed.
    """
    try:
        name = value.__name__ if isinstance(value, ModuleType) else value.__module__
    except Exception:
        return None
    return version_of_module(name) if isinstance(name, str) else None


@cache
def version_of_module(name: str) -> str | None:
    """Return the version that stands for the code of a module, None if it must be followed."""
    top = name.partition(".")[0]
    if top == "fwlab":
        return CORE if is_core(name) else None
    if top in sys.stdlib_module_names:
        return platform.python_version() if _is_pythons_own(top) else None
    return _installed(top)


def _is_pythons_own(top: str) -> bool:
    """Return whether the standard library's module is loaded, not a file of the same name."""
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is None or Path(file).is_relative_to(STANDARD_LIBRARY)


def _installed(top: str) -> str | None:
    """Return name, version and hash of the list of files of an installed package.

    None for what was installed from a folder, and for modules that no package lists.
    """
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return None
    for name in packages_distributions().get(top, ()):
        package = distribution(name)
        record, folder = package.read_text("RECORD"), Path(str(package.locate_file("")))
        if not record or not Path(file).is_relative_to(folder):
            continue
        listed = f"{Path(file).relative_to(folder).as_posix()}," in record
        if listed and "dir_info" not in json.loads(package.read_text("direct_url.json") or "{}"):
            return f"{name} {package.version} {hashlib.sha256(record.encode()).hexdigest()}"
    return None
