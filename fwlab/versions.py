"""Tell what stands for the sources of a module: a version, or nothing, for code of the user.

Parts of fwlab have a hash of their sources, Python's own modules its version, and packages
installed from an index their version with the list of their files and hashes. Nothing stands for
packages installed from a folder, that need fwlab, or that were edited in place: they count as the
user's code, which must be followed.
"""

import base64
import csv
import hashlib
import json
import os
import platform
import re
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib.metadata import Distribution, distribution, packages_distributions
from operator import is_
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy
import scipy

FOLDER = Path(__file__).parents[1]
CORE = "fwlab"
# folders and modules of fwlab that have no part in a run, unless code names them
SEPARATE = (
    "cli",
    "datasets",
    "distributed",
    "docs",
    "experiments",
    "plot",
    "testing",
)
# packages of the same checkout, which an installed fwlab comes without
OWN = (CORE, "paper_checks", "reference")
# what a part uses beside the core; figures, whose cells are computed for hours, are followed
BUILT_ON = {
    "paper_checks": ("reference", "figures", *(f"{CORE}.{name}" for name in SEPARATE)),
}
# what the numbers of every run depend on
NUMERICAL = (numpy, scipy, numba)
# a package that was installed later may not be the one that this process imported
STARTED = time.time()
STANDARD_LIBRARY = sysconfig.get_path("stdlib")
# names that Python itself adds to modules and classes while a program runs
PYTHONS_OWN = {"__warningregistry__", "__slotnames__", "__annotations_cache__", "__builtins__"}
ONE_AT_A_TIME = threading.Lock()
# a module or class: its live namespace, names, values, and the codes of its functions
Namespace = tuple[Mapping[str, Any], list[str], list[Any], list[Any]]


class Unidentifiable(TypeError):
    """Something that a stored result cannot depend on; the message says what and why."""


def environment() -> list[str]:
    """Return the versions of fwlab's core, Python and the packages that every run uses.

    Raises Unidentifiable as `require_unchanged` does.
    """
    require_unchanged(CORE)
    python = f"{platform.python_version()} -O{sys.flags.optimize}"
    packages = [f"{package.__name__} {package.__version__}" for package in NUMERICAL]
    return [part_version(CORE), python, *packages]


@cache
def version_of_module(name: str) -> str | None:
    """Return the version that stands for the code of a module, None if it must be followed."""
    top = name.partition(".")[0]
    if top in OWN and _is_here(top):
        return part_version(part_of(name))
    if top in sys.stdlib_module_names:
        file = getattr(sys.modules.get(top), "__file__", None)
        pythons_own = file is None or Path(file).is_relative_to(STANDARD_LIBRARY)
        return platform.python_version() if pythons_own else None
    return None if _builds_on_fwlab(top) else recorded_version(top)


# ---------------------------------------------------------------- parts of fwlab


def part_of(module: str) -> str:
    """Return the part that a module of fwlab belongs to, and the package for other modules."""
    top, *folder = module.split(".")[:2]
    return f"{top}.{folder[0]}" if top == CORE and {*folder} & {*SEPARATE} else top


@cache
def part_version(part: str) -> str:
    """Return a name with a hash of the sources of a part of fwlab, and of what it is built on."""
    hasher = hashlib.sha256()
    for file in map(Path, _files(part)):
        source = file.read_bytes()
        hasher.update(f"{file.relative_to(FOLDER).as_posix()} {len(source)};".encode() + source)
    return f"{part} {hasher.hexdigest()}"


def require_unchanged(part: str) -> None:
    """Raise Unidentifiable if a part of fwlab is not what its sources say.

    That is if one was edited, or an attribute of a module or class was changed, after its import,
    or if the sources are in no folder.
    """
    if not STATES:
        raise Unidentifiable("fwlab runs from a zip or another place whose sources cannot be read")
    for file, state in _files(part).items():
        if _state(file) != state:
            name = os.path.basename(file)
            raise Unidentifiable(f"{name} of {part} was edited after this process imported it")
    parts = (part, *BUILT_ON.get(part, ()))
    with ONE_AT_A_TIME:
        see_modules()
        for module, seen in SEEN.items():
            if part_of(module) in parts and (name := _changed(seen)):
                raise Unidentifiable(f"{module} has an attribute {name} that a program changed")


def see_modules() -> None:
    """Remember what the modules and classes of fwlab hold when they are first seen imported."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in OWN and name != CORE and name not in SEEN:
            if not getattr(module.__spec__, "_initializing", False):
                SEEN[name] = list(_namespaces(module))


def _namespaces(module: ModuleType) -> Iterator[Namespace]:
    """Yield the namespaces of a module and of the classes that it defines."""
    owned = [v for v in vars(module).values() if isinstance(v, type)]
    for owner in (module, *(cls for cls in owned if cls.__module__ == module.__name__)):
        names, values = list(vars(owner)), list(vars(owner).values())
        changeable: list[Any] = [part for value in values for part in _functions(value)]
        if isinstance(owner, type):
            changeable.append(owner)
        yield vars(owner), names, values, [(part, _parts(part)) for part in changeable]


def _functions(member: Any) -> Iterator[FunctionType]:
    """Yield the functions of Python that a member of a module or class consists of."""
    if isinstance(member, FunctionType):
        yield member
        yield from _functions(member.__dict__.get("__wrapped__"))
    elif isinstance(member, property):
        for function in (member.fget, member.fset, member.fdel):
            yield from _functions(function)
    elif isinstance(member, staticmethod | classmethod):
        yield from _functions(member.__func__)
    elif isinstance(member, cached_property):
        yield from _functions(member.func)


def _is_part(value: Any, package: Any, name: str) -> bool:
    return isinstance(value, ModuleType) and value is sys.modules.get(f"{package}.{name}")


def _parts(owner: Any) -> tuple[Any, ...]:
    """Return what a program may replace in a function or a class."""
    if isinstance(owner, type):
        return owner.__bases__
    return owner.__code__, owner.__defaults__, owner.__kwdefaults__


def _changed(seen: list[Namespace]) -> str:
    """Return a name whose value has changed since it was first seen, "" if none has."""
    for place, names, values, functions in seen:
        for function, parts in functions:
            now = _parts(function)
            if len(now) != len(parts) or not all(map(is_, now, parts)):
                return f"{function.__name__}"
        if len(place) == len(values) and all(map(is_, place.values(), values)):
            continue
        before = dict(zip(names, values, strict=True))
        for name in {**before, **place}:
            new = place.get(name)
            if before.get(name) is not new and name not in PYTHONS_OWN:
                # a package holds its modules once they are imported
                if not (name not in before and _is_part(new, place.get("__name__"), name)):
                    return name
    return ""


def _states() -> dict[str, dict[str, Any]]:
    """Return size and times of the sources of each part, by file."""
    found: dict[str, dict[str, Any]] = {}
    for package in (*OWN, "figures"):
        for folder, _, names in sorted(os.walk(FOLDER / package)):
            inside = os.path.relpath(folder, FOLDER).replace(os.sep, ".")
            for name in sorted(names):
                if name.endswith(".py"):
                    file = os.path.join(folder, name)
                    part = part_of(f"{inside}.{name[:-3]}")
                    found.setdefault(part, {})[file] = _state(file)
    return found


def _files(part: str) -> dict[str, Any]:
    """Return the files of a part, and of those it is built on, with their states."""
    parts = (part, *BUILT_ON.get(part, ()))
    return {file: state for one in parts for file, state in STATES.get(one, {}).items()}


def _is_here(top: str) -> bool:
    """Return whether the package of the checkout is loaded, not another one of the same name."""
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is not None and Path(file).is_relative_to(FOLDER)


def _state(file: str) -> tuple[int, int, int] | None:
    try:
        now = os.stat(file)
    except OSError:
        return None
    return now.st_size, now.st_mtime_ns, now.st_ctime_ns


# ---------------------------------------------------------------- installed packages


@cache
def recorded_version(module: str) -> str | None:
    """Return name, version and hash of the list of files of the package that holds a module.

    The package may need fwlab. It is None for packages installed from a folder, edited in place or
    installed while this process ran, and for files that no package lists.
    """
    top = module.partition(".")[0]
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


SEEN: dict[str, list[Namespace]] = {}
STATES = _states()
see_modules()
