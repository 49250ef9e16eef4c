"""Check the stored proofs of the ledger again: python paper_checks/verify_proofs.py

This file needs only Python and trusts no other code, so reading it suffices to know what a line of
its report means. Three kinds of proofs are stored in paper_checks/certificates/.

1. A witness, and 2. a proof by cases. A statement about real numbers is stored as the formula of
its negation: "the assumptions hold, and the statement fails". A formula is a list of lines,

    x NAME  a variable        + i j ..  sum          >= i j, > i j   comparison
    c 1/2   a number          * i j ..  product      & i j ..  and   | i j ..  or   ! i  not
                              - i j     difference   ? i j k   line j if line i is true, else line k
                              / i j     quotient; it has no value where line j is 0

that refer to earlier lines by number, from 0; the last line is the formula. A witness assigns a
number to each variable and makes the formula true, so the statement is refuted. A proof by cases
shows that the formula is never true. Its tree is

    [i, yes, no]   line i is a comparison: first the case that it is true, then that it is false
    ""             the known comparisons of this case make the formula false
    "a:i,j b:k .." they contradict each other: the numbers a, b, .. are > 0, known comparisons are
                   numbered from 0 in the order of the tree, and each says that a polynomial is
                   >= 0 or > 0. The sum a p_i p_j + b p_k + .. is the polynomial c with c < 0, or
                   c = 0 and the factors of some term are all > 0. "s3" is the square of p_3.
                   "q1+-1/2*x" is the square of 1 - x/2, and
                   "a:i=j*x*y" is a p_i x y: as p_j = -p_i, p_i is 0, and a has any sign

3. A rate of Frank-Wolfe, for all sets of diameter D and all functions of one kind:

    x_{i+1} = (1 - steps_i) x_i + steps_i s_i,  s_i minimises <f'(x_i), s> over the set,
    f(x_t) - f(x*) <= bound L D^2,              t the number of steps.

Let L = D = 1. With g* = f'(x*), h_i = f'(x_i) - g*, l(v) = <g*, v - x*> for the points v0 = x_0 and
v{i+1} = s_i, and phi_i = f(x_i) - f(x*) - <g*, x_i - x*>, these are never negative:

    smooth i j     phi_i - phi_j - <h_j, x_i - x_j> - |h_i - h_j|^2 / 2
    lmo i v        <h_i, v - s_i> + l(v) - l(s_i)
    diameter u v   1 - |u - v|^2

The bound minus (f(x_t) - f(x*)) is the sum of multiplier * inequality, with all multipliers >= 0,
plus a positive semidefinite quadratic form in the vectors. For "quadratic" f, h_i = x_i - x* and
phi_i = |x_i - x*|^2 / 2 in the norm of f.
"""

import argparse
import json
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

Polynomial = dict[tuple[str, ...], Fraction]  # {monomial: coefficient}, a monomial is sorted names
Inequality = tuple[tuple[tuple[tuple[str, ...], Fraction], ...], bool]
Number = tuple[Polynomial, Polynomial]  # over / under, where under > 0
Known = list[tuple[Polynomial, bool]]  # p > 0 if True, else p >= 0
Lines = list[tuple[str, list[Any]]]
Proof = dict[str, Any]
FOLDER = Path(__file__).parent / "certificates"
ONE: Polynomial = {(): Fraction(1)}


class Rejected(Exception):
    """Raised when a stored proof is not valid, with the reason."""


class Undecided(Exception):
    """Raised when the known comparisons do not determine the value of a line."""


def plus(p: Polynomial, q: Polynomial, factor: Fraction | int = 1) -> Polynomial:
    """Return p + factor q."""
    total = dict(p)
    for monomial, number in q.items():
        total[monomial] = total.get(monomial, Fraction(0)) + factor * number
    return {monomial: number for monomial, number in total.items() if number}


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return p q."""
    product: Polynomial = {}
    for a, x in p.items():
        for b, y in q.items():
            monomial = tuple(sorted(a + b))
            product[monomial] = product.get(monomial, Fraction(0)) + x * y
    return {monomial: number for monomial, number in product.items() if number}


def constant(p: Polynomial) -> Fraction | None:
    """Return the value of a constant polynomial, or None for any other."""
    return p.get((), Fraction(0)) if all(monomial == () for monomial in p) else None


def inequality(p: Polynomial, strict: bool) -> Inequality:
    """Return p > 0 if strict, else p >= 0, the same for all positive multiples of p."""
    scale = abs(p[min(p)])
    scaled = p if scale == 1 else {monomial: number / scale for monomial, number in p.items()}
    return tuple(sorted(scaled.items())), strict


def parsed(formula: list[str]) -> Lines:
    """Return the lines of a formula as (operation, arguments)."""
    lines: Lines = []
    for text in formula:
        operation, *words = text.split(" ")
        arguments: list[Any] = words
        if operation not in ("x", "c"):
            arguments = [int(word) for word in words]
            if not all(0 <= i < len(lines) for i in arguments):
                raise Rejected(f"line {len(lines)} does not refer to earlier lines: {text}")
        lines.append((operation, arguments))
    return lines


class Branch:
    """One case of a formula: the comparisons that are known, and the lines that they determine."""

    def __init__(self, lines: Lines, point: dict[str, Fraction] | None = None) -> None:
        self.lines = lines
        self.point = point or {}  # numbers for the variables of a witness
        self.known: Known = []
        self.facts: frozenset[Inequality] = frozenset()
        self.decided: dict[int, Any] = {}

    def with_known(self, p: Polynomial, strict: bool) -> "Branch":
        """Return this case with one more known comparison: p > 0 if strict, else p >= 0."""
        case = Branch(self.lines, self.point)
        case.known = [*self.known, (p, strict)]
        case.facts = self.facts | {inequality(p, strict)}
        case.decided = dict(self.decided)
        return case

    def value(self, i: int) -> Any:
        """Return the truth of line i, or its number as two polynomials (over, under), under > 0.

        Raises Undecided if the known comparisons do not determine it.
        """
        if i not in self.decided:
            self.decided[i] = self.computed(*self.lines[i])
        return self.decided[i]

    def computed(self, operation: str, arguments: list[Any]) -> Any:
        if operation == "x":
            name = " ".join(arguments)
            number = self.point.get(name)
            return ({(name,): Fraction(1)} if number is None else plus({}, ONE, number)), ONE
        if operation == "c":
            return plus({}, ONE, Fraction(arguments[0])), ONE
        if operation in ("&", "|"):
            return self.joined(arguments, least=operation == "&")
        if operation == "!":
            return not self.value(arguments[0])
        if operation == "?":
            return self.value(arguments[1 if self.value(arguments[0]) else 2])
        if operation in (">=", ">"):
            return self.truth(*self.comparison(operation, arguments))
        total, *others = map(self.value, arguments)
        for over, under in others:
            total = self.combined(operation, total, (over, under))
        return total

    def combined(self, operation: str, left: Number, right: Number) -> Number:
        """Return the sum, difference, product or quotient of two numbers."""
        (a, b), (c, d) = left, right
        if operation == "*":
            return times(a, c), times(b, d)
        if operation == "/":
            if self.truth(c, True):
                return times(a, d), times(b, c)
            if self.truth(plus({}, c, -1), True):
                return times(plus({}, a, -1), d), times(b, plus({}, c, -1))
            raise Undecided("a quotient by 0")
        if operation not in ("+", "-"):
            raise Rejected(f"there is no operation {operation}")
        sign = 1 if operation == "+" else -1
        if b == d:
            return plus(a, c, sign), b
        return plus(times(a, d), times(c, b), sign), times(b, d)

    def joined(self, arguments: list[int], least: bool) -> bool:
        """Return whether all lines are true if `least`, else whether any is."""
        undecided = False
        for i in arguments:
            try:
                if self.value(i) is not least:
                    return not least
            except Undecided:
                undecided = True
        if undecided:
            raise Undecided("a part")
        return least

    def comparison(self, operation: str, arguments: list[int]) -> tuple[Polynomial, bool]:
        """Return p and strict for a comparison that says p > 0 if strict, else p >= 0."""
        left, right = map(self.value, arguments)
        over, _ = self.combined("-", left, right)
        return over, operation == ">"

    def truth(self, p: Polynomial, strict: bool) -> bool:
        """Return whether p > 0 if strict, else whether p >= 0."""
        number = constant(p)
        if number is not None:
            return number > 0 or (number == 0 and not strict)
        if inequality(p, True) in self.facts or (inequality(p, False) in self.facts and not strict):
            return True
        opposite = plus({}, p, -1)
        if inequality(opposite, True) in self.facts:
            return False
        if strict and inequality(opposite, False) in self.facts:
            return False
        raise Undecided("a comparison")


def check_witness(proof: Proof) -> None:
    """Raise Rejected unless the formula is true at the stored numbers."""
    point = {name: Fraction(number) for name, number in proof["at"].items()}
    lines = parsed(proof["formula"])
    if Branch(lines, point).value(len(lines) - 1) is not True:
        raise Rejected("the formula is false at the witness")


def check_cases(proof: Proof) -> None:
    """Raise Rejected unless the tree shows that the formula is never true."""
    close(Branch(parsed(proof["formula"])), proof["tree"])


def close(branch: Branch, tree: Any) -> None:
    """Raise Rejected unless the formula is never true in this case."""
    if tree == "":
        if branch.value(len(branch.lines) - 1) is not False:
            raise Rejected("the formula is true in a case")
    elif isinstance(tree, str):
        check_contradiction(branch.known, tree)
    else:
        i, yes, no = tree
        p, strict = branch.comparison(*branch.lines[i])
        close(branch.with_known(p, strict), yes)
        close(branch.with_known(plus({}, p, -1), not strict), no)


def check_contradiction(known: Known, text: str) -> None:
    """Raise Rejected unless the weighted sum of products of known comparisons is impossible."""
    total: Polynomial = {}
    positive = False
    for term in text.split(" "):
        number, _, factors = term.partition(":")
        product, strict = factor(known, factors)
        if Fraction(number) <= 0 and "=" not in factors:
            raise Rejected(f"a multiplier is not positive: {term}")
        total, positive = plus(total, product, Fraction(number)), positive or strict
    left = constant(total)
    if left is None or left > 0 or (left == 0 and not positive):
        raise Rejected(f"the inequalities {text} do not contradict each other")


def factor(known: Known, text: str) -> tuple[Polynomial, bool]:
    """Return a product of known comparisons, and whether it is known to be > 0."""
    if "=" in text:
        pair, *names = text.split("*")
        p, opposite = (known[int(i)][0] for i in pair.split("="))
        if plus(p, opposite):
            raise Rejected(f"{pair} is not an equation")
        return times(p, {tuple(sorted(names)): Fraction(1)}), False
    if text.startswith("q"):
        root: Polynomial = {}
        for number, *names in (part.split("*") for part in text[1:].split("+")):
            root = plus(root, {tuple(sorted(names)): Fraction(number)})
        return times(root, root), False
    product, strict = ONE, True
    for i in text.split(","):
        p, is_strict = known[int(i.lstrip("s"))]
        product = times(product, times(p, p) if i.startswith("s") else p)
        strict = strict and is_strict
    return product, strict


def check_rate(proof: Proof) -> None:
    """Raise Rejected unless the multipliers prove the bound for these steps."""
    steps = [Fraction(step) for step in proof["steps"]]
    functions = proof["functions"]
    if not all(0 <= step <= 1 for step in steps) or functions not in ("smooth", "quadratic"):
        raise Rejected("the steps are not in [0, 1], or the functions are of no known kind")
    run = Run(steps, functions)
    error = plus(run.phi[len(steps)], slope(run.iterates[len(steps)]))
    left = plus(plus({}, ONE, Fraction(proof["bound"])), error, -1)
    for name, text in proof["multipliers"].items():
        if Fraction(text) < 0:
            raise Rejected(f"the multiplier of {name} is negative")
        left = plus(left, run.never_negative(*name.split(" ")), -Fraction(text))
    if any(len(monomial) < 2 for monomial in left):
        raise Rejected("the coefficients of the two sides differ")
    check_semidefinite(left)


def slope(vector: Polynomial) -> Polynomial:
    """Return l(vector), for a combination of points."""
    return {(f"l({name})",): number for (name,), number in vector.items()}


class Run:
    """A run of Frank-Wolfe: v - x*, x_i - x*, h_i as sums of names, whose products are inner
    products, and phi_i; by number."""

    def __init__(self, steps: list[Fraction], functions: str) -> None:
        self.functions, self.t = functions, len(steps)
        numbers = range(self.t + 1)
        none: dict[int, Polynomial] = {-1: {}}  # the number of x*
        self.points = none | {v: {(f"v{v}",): Fraction(1)} for v in numbers}
        self.iterates = none | {0: self.points[0]}
        for i, step in enumerate(steps):
            rest = plus({}, self.iterates[i], 1 - step)
            self.iterates[i + 1] = plus(rest, self.points[i + 1], step)
        self.gradients = none | {i: {(f"h{i}",): Fraction(1)} for i in numbers}
        self.phi = none | {i: {(f"phi{i}",): Fraction(1)} for i in numbers}
        if functions == "quadratic":
            self.gradients = self.iterates
            self.phi = {i: plus({}, times(x, x), Fraction(1, 2)) for i, x in self.iterates.items()}

    def never_negative(self, kind: str, first: str, second: str) -> Polynomial:
        """Return the side of an inequality that is never negative."""
        i, j = int(first), int(second)
        if kind == "smooth" and self.functions == "smooth":
            turn = plus(self.gradients[i], self.gradients[j], -1)
            fall = plus(plus(self.phi[i], self.phi[j], -1), times(turn, turn), Fraction(-1, 2))
            apart = plus(self.iterates[i], self.iterates[j], -1)
            return plus(fall, times(self.gradients[j], apart), -1)
        if kind == "lmo" and 0 <= i < self.t:
            away = plus(self.points[j], self.points[i + 1], -1)
            return plus(times(self.gradients[i], away), slope(away))
        if kind != "diameter":
            raise Rejected(f"there is no inequality {kind} {i} {j}")
        apart = plus(self.points[i], self.points[j], -1)
        return plus(ONE, times(apart, apart), -1)


def check_semidefinite(form: Polynomial) -> None:
    """Raise Rejected unless a quadratic form is positive semidefinite, by its LDL^T factors."""
    names = sorted({name for monomial in form for name in monomial})
    while names:
        name, *names = names
        pivot = form.pop((name, name), Fraction(0))
        pairs = {other: tuple(sorted((name, other))) for other in names}
        line: Polynomial = {(other,): form.pop(m, Fraction(0)) for other, m in pairs.items()}
        if pivot < 0 or (pivot == 0 and any(line.values())):
            raise Rejected("the quadratic form is negative somewhere")
        if pivot:  # pivot (name + line/(2 pivot))^2 is a square; the remainder has one vector fewer
            form = plus(form, times(line, line), -1 / (4 * pivot))


CHECKS = {"witness": check_witness, "cases": check_cases, "rate": check_rate}


def weakness(proof: Proof) -> str:
    """Return why a stored proof is not valid, or "" if it is."""
    try:
        CHECKS[proof["kind"]](proof)
    except Rejected as reason:
        return str(reason)
    except Undecided as reason:
        return f"a case is open, or the formula has no value at the witness: {reason} is undecided"
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        return f"it is malformed: {error!r}"
    return ""


def main() -> int:
    """Print what is stored and what is rejected; return 1 if a proof is rejected, else 0."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("files", nargs="*", type=Path, help="by default all of certificates/")
    reader.add_argument("--missing", action="store_true", help="list proofs not stored, and why")
    options = reader.parse_args()
    counts: Counter[Any] = Counter()
    for file in options.files or sorted(FOLDER.glob("*.json")):
        try:
            rows = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            reader.error(f"{file} is not a file of stored proofs: {error}")
        for row in rows:
            for side in ("proofs", "refutation"):
                missing = row[f"{side}_missing"]
                for proof in row[side]:
                    counts[proof["kind"]] += 1
                    if reason := weakness(proof):
                        counts["rejected"] += 1
                        print(f"REJECTED {row['id']}, {side}, {proof['size']}: {reason}")
                how = "in part" if missing and row[side] else bool(row[side])
                counts[side, how] += bool(row[side] or missing)
                for size, reason in missing if options.missing else ():
                    print(f"not stored: {row['id']}, {side}, {size}: {reason}")
    for side, text in (("proofs", "proved rows"), ("refutation", "rows with a witness")):
        stored, some, none = (counts[side, how] for how in (True, "in part", False))
        print(f"{text}: {stored} stored, {some} in part, {none} not stored")
    kinds = ", ".join(f"{counts[kind]} of kind {kind}" for kind in CHECKS)
    print(f"{counts['rejected']} rejected of {kinds}")
    return int(counts["rejected"] > 0)


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    sys.exit(main())
