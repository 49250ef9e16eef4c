"""Functions that are long and kernels with many arguments, each listed with its reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("fwlab", "reference", "paper_checks", "figures", "tests")
MOST_LINES = 40
MOST_ARGUMENTS = 8
LONG: dict[str, str] = {}
MANY_ARGUMENTS = {
    "fwlab.kernels.products.blocks._four_by_five": (
        "nine rows of their own, whose addresses and twenty sums stay in registers"
    ),
    "fwlab.kernels.products.blocks._two_by_five": "seven rows of their own, as above",
}


def functions(folder: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield each function below a folder with its full name, classes included."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        yield from inside(ast.parse(file.read_text()), module)


def inside(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        name = f"{prefix}.{getattr(child, 'name', '')}".rstrip(".")
        if isinstance(child, ast.FunctionDef):
            yield name, child
        yield from inside(child, name)


def lines(function: ast.FunctionDef) -> int:
    """Return the number of lines of a function without its docstring."""
    assert function.end_lineno is not None
    first = function.body[1:2] if ast.get_docstring(function) else function.body[:1]
    body = function.end_lineno - first[0].lineno + 1 if first else 0
    return body + function.body[0].lineno - function.lineno


def arguments(function: ast.FunctionDef) -> int:
    given = function.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def test_long_functions_are_listed_with_a_reason():
    everywhere = (found for folder in FOLDERS for found in functions(folder))
    long = {name: lines(f) for name, f in everywhere if lines(f) > MOST_LINES}
    assert sorted(long) == sorted(LONG), long


def test_kernels_with_many_arguments_are_listed_with_a_reason():
    many = {n: arguments(f) for n, f in functions("fwlab/kernels") if arguments(f) > MOST_ARGUMENTS}
    assert sorted(many) == sorted(MANY_ARGUMENTS), many


def test_the_counts_see_what_they_count():
    found = dict(functions("fwlab/kernels"))
    assert arguments(found["fwlab.kernels.steps.exact_step.exact_step"]) == 3
    assert lines(found["fwlab.kernels.steps.exact_step.exact_step"]) < 15
