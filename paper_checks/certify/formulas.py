"""Write a formula about symbols as the list of lines that verify_proofs.py reads."""

from typing import Any

import z3

from paper_checks.search import rational
from paper_checks.symbols import Formula

OPERATIONS = {
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_MUL: "*",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_DIV: "/",
    z3.Z3_OP_AND: "&",
    z3.Z3_OP_OR: "|",
    z3.Z3_OP_NOT: "!",
    z3.Z3_OP_ITE: "?",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_TRUE: "&",
    z3.Z3_OP_FALSE: "|",
}
# comparisons that are stored with their sides exchanged
EXCHANGED = {z3.Z3_OP_LE: ">=", z3.Z3_OP_LT: ">"}


def lines_of(formula: Formula) -> list[str]:
    """Return the lines of a formula, one for each distinct part; the last line is the formula."""
    return Lines().of(formula.term)


class Lines:
    """The lines written so far, and the line number of each part."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: dict[str, int] = {}

    def of(self, term: Any) -> list[str]:
        """Return the lines for a z3 term."""
        places: dict[int, int] = {}
        waiting = [term]
        while waiting:
            top = waiting[-1]
            missing = [part for part in top.children() if part.get_id() not in places]
            if missing:
                waiting += missing
                continue
            places[top.get_id()] = self.line_of(top, [places[c.get_id()] for c in top.children()])
            waiting.pop()
        return self.lines

    def line_of(self, term: Any, parts: list[int]) -> int:
        """Return the number of the line for a term, whose parts have lines already."""
        kind = term.decl().kind()
        if z3.is_rational_value(term):
            return self.place(f"c {rational(term)}")
        if kind == z3.Z3_OP_UNINTERPRETED and not parts:
            return self.place(f"x {term}")
        if kind == z3.Z3_OP_UMINUS:
            return self.place(f"* {self.place('c -1')} {parts[0]}")
        if kind in EXCHANGED:
            return self.place(f"{EXCHANGED[kind]} {parts[1]} {parts[0]}")
        if kind not in OPERATIONS:
            raise ValueError(f"there is no operation for {term.decl()}")
        return self.place(" ".join([OPERATIONS[kind], *map(str, parts)]))

    def place(self, line: str) -> int:
        """Return the number of a line, adding the line if it is new."""
        if line not in self.places:
            self.places[line] = len(self.lines)
            self.lines.append(line)
        return self.places[line]
