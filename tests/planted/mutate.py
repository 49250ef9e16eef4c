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

from planted_defects import ROOT, read_defects
from planted_runs import Planting, server

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
CONSTANTS = {0: 1, 1: 0, 2: 1}  # any other one is halved
CALLS = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
CALLS |= {"sum": "max", "mean": "sum", "any": "all", "all": "any", "argmin": "argmax"}
CALLS |= {"argmax": "argmin", "floor": "ceil", "ceil": "floor"}
LEFT_OUT = ("sqrt", "abs")  # functions whose argument takes their place
# fields that are not run, or whose change is no change of mathematics
SKIPPED = ("decorator_list", "annotation", "returns", "type_params")


class Mutant(NamedTuple):
    """The source with one change, and the change."""

    line: int
    before: str
    after: str
    source: str


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the node and all nodes below it that compute something."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    yield node
    for name, field in ast.iter_fields(node):
        if name in SKIPPED:
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield from inside(child)


def changed(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield parts of a node, each with the text that replaces it."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in COMPARISONS:
            yield node, _text(ast.Compare(left, [COMPARISONS[type(op)]()], [right]))
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield node, _text(ast.BinOp(left, OPERATORS[type(op)](), right))
            yield node, _text(left)
            if isinstance(op, ast.Add | ast.Mult):
                yield node, _text(right)
        case ast.BinOp(left, ast.Pow()):
            yield node, _text(left)
        case ast.AugAssign(target, op, value) if type(op) in OPERATORS:
            yield node, ast.unparse(ast.AugAssign(target, OPERATORS[type(op)](), value))
            yield node, "pass"
        case ast.Constant(value) if type(value) in (int, float):
            yield node, repr(type(value)(CONSTANTS.get(value, value / 2)))
        case ast.Call(ast.Name(name) as function) if name in CALLS:
            yield function, CALLS[name]
        case ast.Call(ast.Attribute(value, name) as function) if name in CALLS:
            yield function, ast.unparse(ast.Attribute(value, CALLS[name]))
        case ast.Call(ast.Name(name) | ast.Attribute(_, name), [argument]) if name in LEFT_OUT:
            yield node, _text(argument)
        case ast.BoolOp(op, values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield node, _text(ast.BoolOp(other, values))
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield node, _text(rest[0] if len(rest) == 1 else ast.BoolOp(op, rest))
        case ast.UnaryOp(ast.USub(), operand):
            yield node, _text(operand)
        case ast.If(test) | ast.While(test) | ast.IfExp(test):
            yield test, f"(not {_text(test)})"


def _text(expression: ast.expr) -> str:
    return f"({ast.unparse(expression)})"


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of a module."""
    lines = source.encode().splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    whole = source.encode()
    found = []
    for node in inside(ast.parse(source)):
        for part, text in changed(node):
            first = starts[part.lineno - 1] + part.col_offset
            last = starts[part.end_lineno - 1] + part.end_col_offset
            new = whole[:first] + text.encode() + whole[last:]
            before = " ".join(whole[first:last].decode().split())
            found.append(Mutant(part.lineno, before, text, new.decode()))
    return found


def survivors(
    running: Planting, module: str, tests: list[str], tried: list[Mutant], seconds: int
) -> Iterator[Mutant]:
    """Yield the mutants that the tests do not see."""
    source = source_of(module)
    for mutant in tried:
        if running.run(module, source, mutant.source, tests, seconds).code == 0:
            yield mutant


def source_of(module: str) -> str:
    return (ROOT / "fwlab" / (module.replace(".", "/") + ".py")).read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", required=True, nargs="+", help="names without fwlab.")
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
