"""Read the bytecode of a function: its meaning, and the global names and imports that it reaches.

Bytecode knows neither comments nor the layout of the source, and it is what really runs: a class
that was patched after its import, or a file that was edited since, cannot mislead it.
"""

import dis
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

SILENT = {"CACHE", "EXTENDED_ARG", "NOP", "RESUME"}
ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME"}
# the body of a class stores them; they describe only its source
ABOUT_THE_SOURCE = {"__doc__", "__firstlineno__"}
VARIABLE_ARGUMENTS = 0x04 | 0x08


@dataclass
class Reached:
    """The names in a piece of code: dotted names that begin with a global one, and imports.

    An entry of imports is (module, level of a relative import, names imported from it or ()).
    attributes holds the names of all attributes that the code reads, whatever their owner.
    """

    names: list[tuple[str, ...]] = field(default_factory=list)
    imports: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)


def meaning(code: CodeType) -> tuple[Any, ...]:
    """Return nested tuples of constants and names that two codes share if they do the same."""
    n_arguments = code.co_argcount + code.co_kwonlyargcount
    return (
        code.co_name,
        code.co_varnames[:n_arguments],
        (code.co_argcount, code.co_posonlyargcount, code.co_flags & VARIABLE_ARGUMENTS),
        code.co_exceptiontable,
        tuple((step.opname, _operand(step)) for step in _steps(code)),
    )


def reached(code: CodeType) -> Reached:
    """Return the global names and imports of a function, inner functions included."""
    found, steps = Reached(), list(_steps(code))
    for i, step in enumerate(steps):
        if isinstance(step.argval, CodeType):
            inner = reached(step.argval)
            found.names += inner.names
            found.imports += inner.imports
            found.attributes |= inner.attributes
        elif step.opname in GLOBALS:
            found.names.append((step.argval, *_attributes(steps[i + 1 :])))
        elif step.opname in ATTRIBUTES:
            found.attributes.add(step.argval)
        elif step.opname == "IMPORT_NAME":
            level, names = (constant.argval for constant in steps[i - 2 : i])
            found.imports.append((step.argval, level, tuple(names or ())))
    return found


def _steps(code: CodeType) -> Iterator[dis.Instruction]:
    """Yield the instructions that do something, without the docstrings of inner classes."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in SILENT]
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        stores = (step, following) if step.opname == "LOAD_CONST" else (step,)
        if not any(s and s.opname == "STORE_NAME" and s.argval in ABOUT_THE_SOURCE for s in stores):
            yield step


def _operand(step: dis.Instruction) -> Any:
    return meaning(step.argval) if isinstance(step.argval, CodeType) else step.argval


def _attributes(steps: list[dis.Instruction]) -> Iterator[str]:
    """Yield the attributes taken one after the other from the value just loaded."""
    for step in steps:
        if step.opname not in ATTRIBUTES:
            return
        yield step.argval
