"""Find a proof by cases that a formula is true nowhere, as verify_proofs.py checks it."""

from collections.abc import Iterator
from typing import Any

from paper_checks.certify.multipliers import contradiction
from paper_checks.verify_proofs import Branch, Undecided, constant, inequality, parsed, plus

# a tree with more cases than this is not stored
MOST_CASES = 3000
# comparisons that are tried for one that is known already, before the first one is split
MOST_TRIED = 8

Tree = Any


class NoProof(Exception):
    """Raised with the reason why no proof by cases was found."""


def find_tree(formula: list[str], most_cases: int = MOST_CASES) -> Tree:
    """Return a tree that verify_proofs.py accepts. Raises NoProof with the reason if none is found."""
    return Search(most_cases).tree(Branch(parsed(formula)))


class Search:
    """A search for a tree, which counts its cases."""

    def __init__(self, most_cases: int) -> None:
        self.most_cases = most_cases
        self.cases = 0

    def tree(self, branch: Branch) -> Tree:
        """Return the tree of one case."""
        root = len(branch.lines) - 1
        try:
            value = branch.value(root)
        except Undecided:
            value = None
        if value is False:
            return self.leaf("")
        if value is True:
            found = contradiction(branch.known) or contradiction(branch.known, 2)
            if found is None:
                raise NoProof("no products of two inequalities were found that contradict each other")
            return self.leaf(found)
        candidates = list(comparisons(branch, root))
        for i in candidates[:MOST_TRIED]:
            p, strict = branch.comparison(*branch.lines[i])
            no = branch.with_known(plus({}, p, -1), not strict)
            if (reason := contradiction(no.known)) is not None:
                return [i, self.tree(branch.with_known(p, strict)), self.leaf(reason)]
            yes = branch.with_known(p, strict)
            if (reason := contradiction(yes.known)) is not None:
                return [i, self.leaf(reason), self.tree(no)]
        if not candidates:
            raise NoProof("a quotient has no value")
        p, strict = branch.comparison(*branch.lines[candidates[0]])
        yes, no = branch.with_known(p, strict), branch.with_known(plus({}, p, -1), not strict)
        return [candidates[0], self.tree(yes), self.tree(no)]

    def leaf(self, reason: str) -> str:
        """Return a leaf. Raises NoProof if there are too many."""
        self.cases += 1
        if self.cases > self.most_cases:
            raise NoProof(f"more than {self.most_cases} cases")
        return reason


def comparisons(branch: Branch, root: int) -> Iterator[int]:
    """Yield undecided comparisons of known sides that the value of a line depends on."""
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
