"""Read the bytecode of a function: its meaning, and the global names and imports that it reaches.

Bytecode knows neither comments nor the layout of the source, and it is what runs: a class that was
patched after its import, or a file that was edited since, cannot mislead it.
"""

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

# instructions that do nothing, and that take a name
SILENT = {"CACHE", "EXTENDED_ARG", "NOP", "RESUME"}
ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME"}
VARIABLE_ARGUMENTS = 0x04 | 0x08
# the body of a class stores them; they describe only its source
ABOUT_THE_SOURCE = {"__doc__", "__firstlineno__", "__static_attributes__"}


class CodeRead(NamedTuple):
    """What the bytecode of a function holds, inner functions included.

    meaning is a text that two codes share if they do the same; names are dotted ones that begin
    with a global name, imports are (module, level, names imported from it or ()), attributes are
    all that the code reads, whatever their owner.
    """

    meaning: str
    names: list[tuple[str, ...]]
    imports: list[tuple[str, int, tuple[str, ...]]]
    attributes: set[str]


@functools.lru_cache(4096)
def read_code(code: types.CodeType) -> CodeRead:
    steps, shown = list(_steps(code)), []
    found = CodeRead("", [], [], set())
    for i, step in enumerate(steps):
        operand = step.argval
        if isinstance(operand, types.CodeType):
            inner = read_code(operand)
            found.names.extend(inner.names)
            found.imports.extend(inner.imports)
            found.attributes.update(inner.attributes)
            operand = inner.meaning
        elif step.opname in GLOBALS:
            found.names.append((operand, *_attributes(steps[i + 1 :])))
        elif step.opname in ATTRIBUTES:
            found.attributes.add(operand)
        elif step.opname == "IMPORT_NAME":
            level, names = (constant.argval for constant in steps[i - 2 : i])
            found.imports.append((operand, level, tuple(names or ())))
        shown.append((step.opname, _constant(operand)))
    n_arguments = code.co_argcount + code.co_kwonlyargcount
    counts = code.co_argcount, code.co_posonlyargcount, code.co_flags & VARIABLE_ARGUMENTS
    head = code.co_name, code.co_varnames[:n_arguments], counts, code.co_exceptiontable
    return found._replace(meaning=repr((head, shown)))


def _constant(value: Any) -> str:
    """Return a constant as text, the same in every process: sets have no order."""
    if isinstance(value, tuple | frozenset):
        entries = map(_constant, value)
        return (
            f"{type(value).__name__}{sorted(entries) if type(value) is frozenset else [*entries]}"
        )
    return f"{type(value).__name__}:{value!r}"


def _steps(code: types.CodeType) -> Iterator[dis.Instruction]:
    """Yield the instructions that do something, without what describes the source of a class."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in SILENT]
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        stores = (step, following) if step.opname == "LOAD_CONST" else (step,)
        if not any(s and s.opname == "STORE_NAME" and s.argval in ABOUT_THE_SOURCE for s in stores):
            yield step


def _attributes(steps: list[dis.Instruction]) -> Iterator[str]:
    """Yield the attributes taken one after the other from the value just loaded."""
    for step in steps:
        if step.opname not in ATTRIBUTES:
            return
        yield step.argval
