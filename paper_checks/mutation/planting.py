"""Plant a change in the functions of this process, in memory."""

import ast
import gc
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType

from paper_checks.mutation.mutants import ROOT, Mutant, Slot, first_line, parsed, slots


def plant(mutant: Mutant) -> None:
    """Replace the code, or a default value, of functions of a module by the changed one.

    Nested functions are changed together with the code of the function that contains them. Raises
    ValueError if no function of this process has the code that is changed.
    """
    module = sys.modules[mutant.file.removesuffix(".py").replace("/", ".")]
    path = str(ROOT / mutant.file)
    functions = functions_of(path)
    tree = parsed(mutant.file)
    slot = slots(tree)[mutant.number]
    if slot.default_of is not None:
        slot.apply()
        changed = give_default(slot, functions, vars(module))
    else:
        before = compiled(tree, path)
        slot.apply()
        changed = give_code(dict(differing(before, compiled(tree, path))), functions)
    if not changed:
        raise ValueError(f"{mutant.key}: no function has this code")


def plantable(mutant: Mutant) -> bool:
    """Return whether the changed code can be planted in the functions of this process.

    It cannot in a closure if the change uses other variables of the enclosing function.
    """
    tree, path = parsed(mutant.file), str(ROOT / mutant.file)
    before = compiled(tree, path)
    slots(tree)[mutant.number].apply()
    pairs = differing(before, compiled(tree, path))
    refused = {old for old, new in pairs if old.co_freevars != new.co_freevars}
    return not refused or not any(f.__code__ in refused for f in functions_of(path))


def functions_of(path: str) -> list[FunctionType]:
    """Return the functions of this process that a file defines."""
    functions = (found for found in gc.get_objects() if type(found) is FunctionType)
    return [f for f in functions if f.__code__.co_filename == path]


def compiled(tree: ast.Module, path: str) -> CodeType:
    """Return the code of a module as an import would compile it."""
    return compile(tree, path, "exec", dont_inherit=True)


def differing(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield the differing code objects of functions as pairs, old and new.

    If a nested function was removed together with its term, no other nested function has changed.
    """
    inside = codes_in(old), codes_in(new)
    if len(inside[0]) != len(inside[1]):
        return
    for before, after in zip(*inside, strict=True):
        if before != after:
            yield before, after
            yield from differing(before, after)


def codes_in(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def give_code(changed: dict[CodeType, CodeType], functions: list[FunctionType]) -> int:
    """Replace code objects; return the number of functions changed."""
    found = [f for f in functions if f.__code__ in changed]
    for function in found:
        function.__code__ = changed[function.__code__]
    return len(found)


def give_default(slot: Slot, functions: list[FunctionType], names: dict[str, object]) -> int:
    """Replace the default values of a function; return the number of functions changed."""
    node = slot.default_of
    assert node is not None
    place = (getattr(node, "name", "<lambda>"), first_line(node))
    found = [f for f in functions if (f.__code__.co_name, f.__code__.co_firstlineno) == place]
    for function in found:
        function.__defaults__ = tuple(value(d, names) for d in node.args.defaults) or None
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        by_name = {name.arg: value(d, names) for name, d in pairs if d is not None}
        function.__kwdefaults__ = by_name or None
    return len(found)


def value(node: ast.expr, names: dict[str, object]) -> object:
    """Evaluate an expression in the namespace of its module."""
    return eval(compile(ast.Expression(node), "<default>", "eval"), names)
