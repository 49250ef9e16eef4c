"""Print what is promised to stay: public names with their keywords, and the commands' flags.

    python tests/outside/public_names.py > tests/outside/public_names/VERSION.txt

Each line is the name of a function, a class or a method of the page of the public interface, this
name with one of the parameters, or a command with one of its flags.
"""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import Any

from fwlab.docs.api import documented_names, found_at

# what is taken with a warning until the next minor release
FORMER = (
    "fwlab.ranking.Problem(max_memory)",
    "fwlab.ranking.solve(max_memory)",
    "fwlab.solve(max_memory)",
)
COMMANDS = ("compare", "solve", "predict", "certify", "data", "info", "suite", "warmup")
MEMBERS = (property, cached_property, classmethod, staticmethod)


def public_names() -> list[str]:
    """Return the lines for names, sorted."""
    found = {line for name in documented_names() for line in lines(name, found_at(name))}
    return sorted(found - {*FORMER})


def lines(name: str, value: Any) -> Iterator[str]:
    yield name
    if inspect.isclass(value):
        for member in dir(value):
            static = inspect.getattr_static(value, member)
            is_own = owner(value, member).__module__.startswith("fwlab.")
            if is_own and not member.startswith("_") and is_documented(static):
                yield from lines(f"{name}.{member}", static)
        if issubclass(value, BaseException | Enum):
            yield from (f"{name}.{member}" for member in getattr(value, "__members__", ()))
            return
    value = getattr(value, "__func__", value)
    if callable(value):
        yield from (f"{name}({parameter})" for parameter in parameters(value))


def owner(cls: type, member: str) -> type:
    """Return the class that defines a member."""
    return next((c for c in cls.__mro__ if member in vars(c)), object)


def is_documented(member: Any) -> bool:
    return (inspect.isfunction(member) or isinstance(member, MEMBERS)) and bool(member.__doc__)


def parameters(function: Any) -> list[str]:
    """Return the parameters that a caller may name."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds]
    return [name for name in named if name not in ("self", "cls") and not name.startswith("_")]


def flags() -> Iterator[str]:
    """Yield each command of fwlab with each of its flags."""
    for command in COMMANDS:
        call = [sys.executable, "-m", "fwlab", command, "--help"]
        told = subprocess.run(call, capture_output=True, text=True, check=True).stdout
        for flag in sorted(set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", told))):
            yield f"fwlab {command} {flag}"


if __name__ == "__main__":
    print(*public_names(), *flags(), sep="\n")
