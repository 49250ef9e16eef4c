"""Tell who owns the code of a module: fwlab's core, Python, an installed package, or the user.

The first three have something that stands for their sources: a digest, or a version and the list of
installed files with their hashes. Nothing stands for the user's code, which must be followed;
packages installed from a folder count as the user's, and so do packages that need fwlab.
"""

import base64
import csv
import hashlib
import json
import platform
import re
import sys
import sysconfig
import time
from collections.abc import Mapping
from functools import cache
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy
import scipy

# folders of fwlab whose code has no part in a run; where it is used it is followed name by name
OUTSIDE_THE_CORE = (
    "cli",
    "datasets",
    "distributed",
    "docs",
    "experiments",
    "plot",
    "plot_labels",
    "testing",
)
CORE = "core"
# what the numbers of every run depend on
NUMERICAL = (numpy, scipy, numba)
# a package that was installed later may not be the one that this process imported
STARTED = time.time()
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

    The version is None for code that must be followed.
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
    return _installed_once(top)


def _is_pythons_own(top: str) -> bool:
    """Return whether the standard library's module is loaded, not a file of the same name."""
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is None or Path(file).is_relative_to(STANDARD_LIBRARY)


def _installed(top: str) -> str | None:
    """Return name, version and hash of the list of files of an installed package.

    It is None for code that must be followed: packages that were installed from a folder, that need
    fwlab, that were edited in place, or that were installed while this process ran, and files that
    no package lists.
    """
    return None if _builds_on_fwlab(top) else recorded_version(top)


_installed_once = cache(_installed)


def recorded_version(top: str) -> str | None:
    """Return the version of any package installed from an index, even of one that needs fwlab."""
    file = getattr(sys.modules.get(top), "__file__", None)
    for package in _distributions(top):
        record, folder = package.read_text("RECORD"), Path(str(package.locate_file("")))
        if not file or not record or not Path(file).is_relative_to(folder):
            continue
        listed = f"{Path(file).relative_to(folder).as_posix()}," in record
        if listed and "dir_info" not in json.loads(package.read_text("direct_url.json") or "{}"):
            if _edited(record, folder):
                return None
            digest = hashlib.sha256(record.encode()).hexdigest()
            return f"{package.metadata['Name']} {package.version} {digest}"
    return None


@cache
def version_of_compiled(module: str) -> str | None:
    """Return the version that stands for compiled code in a module, None if nothing does."""
    return recorded_version(module.partition(".")[0])


def _distributions(top: str) -> list[Distribution]:
    return [distribution(name) for name in dict.fromkeys(_names(tuple(sys.path)).get(top, ()))]


@cache
def _names(path: tuple[str, ...]) -> Mapping[str, list[str]]:
    """Return the packages that provide each module. Reading them takes a tenth of a second."""
    return packages_distributions()


def _builds_on_fwlab(top: str) -> bool:
    """Return whether a package needs fwlab: its code is a visitor's, whose edits count."""
    needs = [need for package in _distributions(top) for need in package.requires or ()]
    return any(re.match(r"fwlab\b(?![-.])", need) for need in needs)


def _edited(record: str, folder: Path) -> bool:
    """Return whether a listed source, or the list, may not be what this process imported.

    A source that is newer than the list must have the hash in it.
    """
    rows = list(csv.reader(record.splitlines()))
    lists = [folder / row[0] for row in rows if row[0].endswith(".dist-info/RECORD")]
    written = max((file.stat().st_mtime for file in lists if file.exists()), default=0.0)
    if written > STARTED:
        return True
    for name, listed, *_ in rows:
        file = folder / name
        if name.endswith(".py") and file.exists() and file.stat().st_mtime > written:
            found = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest())
            if listed.removeprefix("sha256=") != found.decode().rstrip("="):
                return True
    return False
