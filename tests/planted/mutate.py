"""Change one expression of a module at a time and count the changes that its tests see.

    python tests/planted/mutate.py --module kernels.domains.projection --seconds 10
    python tests/planted/mutate.py --module losses --count 50 --seed 1 --tests tests/cross

The tests are those that catch the planted defects of the module, or --tests. Of the mutants, each
in memory and without the JIT, --count drawn at random are tried, by default all. A mutant is killed
if a test fails or if the tests take longer than --seconds. The others are listed with their line.
"""

import argparse
import ast
import random
from collections.abc import Iterator
from typing import NamedTuple

from planted_defects import file_of, read_defects
from planted_runs import Planting, server

from paper_checks.mutation.mutants import (
    COMPARISONS,
    EXTREMES,
    OPERATORS,
    UNREAD,
    Node,
    Slot,
    all_slots,
)

CONSTANTS = {0: 1, 1: 0, 2: 1}  # any other one is halved
CALLS = EXTREMES | {"sum": "max", "mean": "sum", "any": "all", "all": "any", "argmin": "argmax"}
CALLS |= {"argmax": "argmin", "floor": "ceil", "ceil": "floor"}
LEFT_OUT = ("sqrt", "abs")  # functions whose argument takes their place


class Mutant(NamedTuple):
    """The source with one change, and the change."""

    line: int
    before: str
    after: str
    source: str


def others(parent: ast.AST, node: Node) -> Iterator[ast.AST]:
    """Yield the nodes that may stand in place of a node."""
    if isinstance(parent, ast.If | ast.While | ast.IfExp) and node is parent.test:
        yield ast.UnaryOp(ast.Not(), node)
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in COMPARISONS:
            yield ast.Compare(left, [COMPARISONS[type(op)]()], [right])
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)
            yield left
            if isinstance(op, ast.Add | ast.Mult):
                yield right
        case ast.BinOp(left, ast.Pow()):
            yield left
        case ast.AugAssign(target, op, value) if type(op) in OPERATORS:
            yield ast.AugAssign(target, OPERATORS[type(op)](), value)
            yield ast.Pass()
        case ast.Constant(value) if type(value) in (int, float):
            yield ast.Constant(type(value)(CONSTANTS.get(value, value / 2)))
        case ast.Name(name) if is_called(parent, node) and name in CALLS:
            yield ast.Name(CALLS[name], ast.Load())
        case ast.Attribute(value, name) if is_called(parent, node) and name in CALLS:
            yield ast.Attribute(value, CALLS[name], ast.Load())
        case ast.Call(ast.Name(name) | ast.Attribute(_, name), [argument]) if name in LEFT_OUT:
            yield argument
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(ast.USub(), operand):
            yield operand


def is_called(parent: ast.AST, node: Node) -> bool:
    return isinstance(parent, ast.Call) and node is parent.func


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of a module."""
    tree = ast.parse(source)
    return [mutant_of(source, tree, slot) for slot in places(tree)]


def places(tree: ast.Module) -> Iterator[Slot]:
    """Yield all changes of a module's tree."""
    return all_slots(tree, others, (*UNREAD, "decorator_list"))


def mutant_of(source: str, tree: ast.Module, slot: Slot) -> Mutant:
    """Return the mutant with one change of a module's tree, which is as it was afterwards."""
    before, after = texts(source, slot)
    slot.apply()
    changed = ast.unparse(tree)
    slot.put(slot.node)
    return Mutant(slot.node.lineno, before, after, changed)


def texts(source: str, slot: Slot) -> tuple[str, str]:
    """Return the passage that a change replaces, on one line, and what replaces it."""
    before = " ".join((ast.get_source_segment(source, slot.node) or "").split())
    return before, ast.unparse(slot.other)


def survivors(
    running: Planting, module: str, tests: list[str], tried: list[Mutant], seconds: int
) -> Iterator[Mutant]:
    """Yield the mutants that the tests do not see."""
    source = source_of(module)
    for mutant in tried:
        if running.run(module, source, mutant.source, tests, seconds).code == 0:
            yield mutant


def source_of(module: str) -> str:
    return file_of(module).read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--module", required=True, nargs="+", help="names without fwlab., or of figures"
    )
    parser.add_argument("--seconds", type=int, default=10, help="the limit for each mutant")
    parser.add_argument("--count", type=int, help="mutants to draw of each module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="+", help="files or tests, for all modules")
    given = parser.parse_args()
    defects = read_defects()
    for module in given.module:
        own = dict.fromkeys(defect.test for defect in defects if defect.module == module)
        tests = given.tests or list(own)
        every = mutants(source_of(module))
        tried = random.Random(given.seed).sample(every, min(given.count or len(every), len(every)))
        with server() as running:
            as_it_is = running.run(module, source_of(module), source_of(module), tests, 600)
            if as_it_is.code != 0 or as_it_is.seconds > given.seconds:
                print(f"{module}: the tests take {as_it_is.seconds:.0f} s, code {as_it_is.code}")
                continue
            alive = 0
            for mutant in survivors(running, module, tests, sorted(tried), given.seconds):
                alive += 1
                print(f"{module}:{mutant.line}: {mutant.before} -> {mutant.after}", flush=True)
        rate = f"{100 * (len(tried) - alive) / len(tried):.0f} %"
        print(f"{module}: {len(tried) - alive} of {len(tried)} killed, {rate}", flush=True)


if __name__ == "__main__":
    main()
