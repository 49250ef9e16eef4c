"""List the changes of a module's formulas: one operator, constant or term each.

`slots` finds the places of a tree and their possible replacements. The ledger uses those of
`others`, within functions; `tests/planted/mutate.py` has a longer list, for whole modules of fwlab.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[2]
# the largest constant that is changed; larger constants are sizes, budgets and seeds
LARGEST = 10
# the longest expression that is shown around a changed constant
LONGEST = 70
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
EXTREMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
# on strings and lists, + and * are not arithmetic
JOINED = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
# the kinds of expressions that are shown around a changed constant
SHOWN = (ast.expr, ast.keyword, ast.Assign, ast.AugAssign, ast.Return)
UNREAD = ("annotation", "returns", "type_params", "pattern")
Function = ast.FunctionDef | ast.Lambda
Node = ast.expr | ast.stmt
# yields the possible replacements of a node, given its parent and the node
Others = Callable[[ast.AST, Node], Iterator[ast.AST]]


@dataclass(frozen=True)
class Mutant:
    """One change of one function.

    Attributes
    ----------
    file : str
        The path of the module, from the root of the repository.
    number : int
        The index among the changes of the module.
    function : str
        The function that contains the change; the outermost one if functions are nested.
    line : int
        The line of the change.
    runs_at : int
        The line that must run for the change to matter: for a default value, the first line of its
        function.
    repetition : int
        0 for the first change of the function with these texts, 1 for the second, and so on.
    """

    file: str
    number: int
    function: str
    line: int
    runs_at: int
    original: str
    changed: str
    repetition: int = 0

    @property
    def key(self) -> str:
        """The name of the change, which stays the same when other parts of the file are edited."""
        again = f" ({self.repetition + 1})" if self.repetition else ""
        return f"{self.file} {self.function}: {self.original} -> {self.changed}{again}"

    @property
    def place_in_order(self) -> bytes:
        """A fixed pseudo-random number, by which changes are ordered: a hash of the name."""
        return sha256(self.key.encode()).digest()


@dataclass(frozen=True)
class Slot:
    """A place in a tree and a replacement for the node there.

    `outermost` is the outermost function around it, or None; `default_of` is the function at module
    level whose default value is changed, or None.
    """

    parent: ast.AST
    field: str
    index: int | None
    node: Node
    other: ast.AST
    outermost: Function | None
    default_of: Function | None

    def put(self, node: ast.AST) -> None:
        """Put a node into the place."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node

    def apply(self) -> None:
        """Change the tree."""
        self.put(ast.fix_missing_locations(ast.copy_location(self.other, self.node)))


def mutants(file: str) -> list[Mutant]:
    """Return all changes of a module, in source order."""
    found: list[Mutant] = []
    seen: Counter[str] = Counter()
    for number, slot in enumerate(slots(parsed(file))):
        function = slot.outermost
        assert function is not None
        made = Mutant(
            file,
            number,
            getattr(function, "name", "<lambda>"),
            slot.node.lineno,
            first_line(function) if slot.default_of is not None else slot.node.lineno,
            *texts(slot),
        )
        found.append(replace(made, repetition=seen[made.key]))
        seen[made.key] += 1
    return found


def parsed(file: str) -> ast.Module:
    """Return the syntax tree of a module, given by its path from the root."""
    return ast.parse((ROOT / file).read_text("utf-8"))


def first_line(function: Function) -> int:
    """Return the line that Python reports as the start of a function."""
    decorators = getattr(function, "decorator_list", [])
    return min(node.lineno for node in (function, *decorators))


def slots(tree: ast.Module) -> list[Slot]:
    """Return the changes of the functions of a tree; their order depends only on the source."""
    return [slot for slot in all_slots(tree, others) if slot.outermost is not None]


def all_slots(tree: ast.Module, others: Others, unread: Sequence[str] = UNREAD) -> Iterator[Slot]:
    """Yield each node of a tree with each of its possible replacements.

    `unread` names the fields of nodes below which nothing is changed.
    """
    yield from below(tree, (others, unread), None, None)


def below(
    parent: ast.AST,
    what: tuple[Others, Sequence[str]],
    outermost: Function | None,
    default_of: Function | None,
) -> Iterator[Slot]:
    """Yield the changes below a node. what: the arguments of `all_slots`."""
    others, unread = what
    if isinstance(parent, ast.Raise | ast.JoinedStr):
        return
    for field, value in ast.iter_fields(parent):
        if field in unread:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST):
                continue
            inner, default = outermost, default_of
            if outermost is None and isinstance(parent, Function) and field in ("args", "body"):
                inner, default = parent, parent if field == "args" else None
            if isinstance(node, Node):
                for other in others(parent, node):
                    yield Slot(parent, field, index, node, other, inner, default)
            yield from below(node, what, inner, default)


def others(parent: ast.AST, node: Node) -> Iterator[ast.AST]:
    """Yield the possible replacements of a node."""
    match node:
        case ast.Compare(left, operators, right):
            for i, operator in enumerate(operators):
                if (other := COMPARISONS.get(type(operator))) is not None:
                    yield ast.Compare(left, [*operators[:i], other(), *operators[i + 1 :]], right)
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            if not (is_joined(left) or is_joined(right)):
                yield ast.BinOp(left, OPERATORS[type(operator)](), right)
                if isinstance(operator, ast.Add | ast.Sub):
                    yield left
        case ast.AugAssign(target, operator, value) if type(operator) in OPERATORS:
            if not is_joined(value):
                yield ast.AugAssign(target, OPERATORS[type(operator)](), value)
        case ast.Constant(value) if type(value) is int and 0 <= value <= LARGEST:
            yield ast.Constant(-value if is_sign(parent, node) else value + 1)
        case ast.Name("k") | ast.Attribute(attr="k") if isinstance(parent, ast.Call):
            if node in parent.args:
                yield ast.BinOp(node, ast.Add(), ast.Constant(1))
        case ast.Call(ast.Name(name), arguments, keywords) if name in EXTREMES:
            yield ast.Call(ast.Name(EXTREMES[name], ast.Load()), arguments, keywords)
        case ast.Call(ast.Attribute(value, name), arguments, keywords) if name in EXTREMES:
            method = ast.Attribute(value, EXTREMES[name], ast.Load())
            yield ast.Call(method, arguments, keywords)


def is_joined(node: ast.expr) -> bool:
    """Return whether a node is a string or a list."""
    return isinstance(node, JOINED) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def is_sign(parent: ast.AST, node: ast.expr) -> bool:
    """Return whether a node is the default of a parameter `sign`, which is 1 or -1."""
    return isinstance(parent, ast.arguments) and parameter(parent, node) == "sign"


def parameter(arguments: ast.arguments, default: ast.expr) -> str:
    """Return the name of the parameter with this default."""
    places = [*arguments.posonlyargs, *arguments.args]
    with_defaults = places[len(places) - len(arguments.defaults) :]
    pairs = [
        *zip(with_defaults, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((name.arg for name, value in pairs if value is default), "")


def texts(slot: Slot) -> tuple[str, str]:
    """Return the original and the changed text.

    A constant is shown within its expression if that is short.
    """
    if isinstance(slot.parent, ast.arguments):
        assert isinstance(slot.node, ast.expr)
        name = parameter(slot.parent, slot.node)
        return f"{name}={ast.unparse(slot.node)}", f"{name}={ast.unparse(slot.other)}"
    small = isinstance(slot.node, ast.Constant | ast.Name | ast.Attribute)
    around = slot.parent if small and isinstance(slot.parent, SHOWN) else slot.node
    before = ast.unparse(around)
    if around is slot.parent and len(before) <= LONGEST:
        slot.apply()
        after = ast.unparse(around)
        slot.put(slot.node)
        return before, after
    return ast.unparse(slot.node), ast.unparse(slot.other)
