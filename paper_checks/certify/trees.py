"""Find a proof by cases that a formula is never true, in the form that verify_proofs.py checks."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from paper_checks.certify.multipliers import Contradiction, Product, contradiction
from paper_checks.certify.squares import contradiction_with_squares
from paper_checks.verify_proofs import (
    Branch,
    Rejected,
    Undecided,
    close,
    constant,
    inequality,
    parsed,
    plus,
)

# a tree with more cases than this is not stored
MOST_CASES = 250
# comparisons that are checked for being implied, before one is split into cases
MOST_TRIED = 8
# the numbers of comparisons whose products are tried, in this order
DEGREES = (1, 2, 3, 4, 5)


# [line, tree if it is true, tree if it is false], or the contradiction in a case; () if there the
# formula is false
Tree = Any


class NoProof(Exception):
    """Raised, with the reason, if no proof by cases is found."""


def find_tree(formula: list[str], most_cases: int = MOST_CASES) -> Tree:
    """Return a tree that verify_proofs.py accepts. Raises NoProof if none is found."""
    return as_text(TreeSearch(most_cases).tree(Branch(parsed(formula))))


def as_text(tree: Tree) -> Tree:
    """Return a tree with its leaves in the format that verify_proofs.py reads."""
    if isinstance(tree, list):
        return [tree[0], *map(as_text, tree[1:])]
    return " ".join(term.text() for term in tree)


class TreeSearch:
    """A search for a tree, with a limit on the number of cases."""

    def __init__(self, most_cases: int) -> None:
        self.most_cases = most_cases
        self.cases = 0

    def tree(self, branch: Branch) -> Tree:
        """Return the tree of one case."""
        root = len(branch.lines) - 1
        try:
            return self.leaf(closing(branch) if branch.value(root) else ())
        except Undecided:
            pass
        candidates = list(comparisons(branch, root))
        if not candidates:
            raise NoProof("a quotient has no value")
        for i in candidates[:MOST_TRIED]:
            for case, reason in closed_cases(branch, i):
                return self.split(branch, i, {case: self.leaf(reason)})
        return self.split(branch, candidates[0], {})

    def split(self, branch: Branch, i: int, closed: dict[int, Tree]) -> Tree:
        """Return the tree that splits on line i; `closed` holds the cases that are closed.

        If one case is closed without using the comparison, the same proof closes the other case.
        """
        parts = dict(closed)
        for case, inside in enumerate(cases_of(branch, i)):
            if case not in parts:
                parts[case] = self.tree(inside)
                shorter = without(parts[case], len(branch.known))
                if shorter is not None and closes(branch, shorter):
                    return shorter
        return [i, parts[0], parts[1]]

    def leaf(self, reason: Contradiction) -> Contradiction:
        """Return a leaf. Raises NoProof if there are too many."""
        self.cases += 1
        if self.cases > self.most_cases:
            raise NoProof(f"more than {self.most_cases} cases")
        return reason


def cases_of(branch: Branch, i: int) -> tuple[Branch, Branch]:
    """Return the two cases of line i, a comparison: that it is true and that it is false."""
    p, strict = branch.comparison(*branch.lines[i])
    return branch.with_known(p, strict), branch.with_known(plus({}, p, -1), not strict)


def closed_cases(branch: Branch, i: int) -> Iterator[tuple[int, Contradiction]]:
    """Yield 0 or 1 for each case of line i in which the known comparisons contradict each other."""
    for case, inside in enumerate(cases_of(branch, i)):
        reason = contradiction(inside.known)
        if reason is not None:
            yield case, reason


def closing(branch: Branch) -> Contradiction:
    """Return a contradiction for a case in which the known comparisons make the formula true."""
    for degree in DEGREES:
        reason = contradiction(branch.known, degree)
        if reason is not None:
            return reason
    reason = contradiction_with_squares(branch.known)
    if reason is not None:
        return reason
    raise NoProof("no contradiction was found from products of inequalities and squares")


def without(tree: Tree, place: int) -> Tree | None:
    """Return a tree that does not use this known comparison, or None if the tree needs it."""
    if isinstance(tree, list):
        parts = [without(part, place) for part in tree[1:]]
        return None if None in parts else [tree[0], *parts]
    if any(place in term.product.used for term in tree):
        return None
    return tuple(replace(term, product=renumbered(term.product, place)) for term in tree)


def renumbered(product: Product, place: int) -> Product:
    return replace(product, used=tuple(i - (i > place) for i in product.used))


def closes(branch: Branch, tree: Tree) -> bool:
    """Return whether the checker accepts a tree in a case."""
    try:
        close(branch, as_text(tree))
    except (Rejected, Undecided):
        return False
    return True


def comparisons(branch: Branch, root: int) -> Iterator[int]:
    """Yield the undecided comparisons with known sides on which the value of a line depends."""
    seen: set[int] = set()
    same: set[Any] = set()
    waiting = [root]
    while waiting:
        i = waiting.pop()
        if i in seen:
            continue
        seen.add(i)
        try:
            branch.value(i)
            continue
        except Undecided:
            pass
        operation, arguments = branch.lines[i]
        if operation in (">=", ">"):
            try:
                p, strict = branch.comparison(operation, arguments)
            except Undecided:
                waiting += reversed(arguments)
                continue
            if constant(p) is None and inequality(p, strict) not in same:
                same.add(inequality(p, strict))
                yield i
        elif operation == "?":
            try:
                waiting.append(arguments[1 if branch.value(arguments[0]) else 2])
            except Undecided:
                waiting.append(arguments[0])
        else:
            waiting += reversed(arguments)
