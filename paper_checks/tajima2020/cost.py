"""T20 section 2.5: the cost of an iteration, by counting operations on numbers that count them."""

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import at_most

# A line costs O(bound) here if it takes at most this many operations for each unit of the bound,
# at every size tried; sizes grow far enough apart for a missing factor to exceed it.
PER_UNIT = 6


class Counting:
    """A number that counts the operations done with numbers of its kind."""

    operations = 0

    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    def operate(self, other: Any) -> "Counting":
        Counting.operations += 1
        return Counting(self.value)

    __add__ = __sub__ = __mul__ = operate

    def __lt__(self, other: "Counting") -> bool:
        Counting.operations += 1
        return self.value < other.value


def numbers(*shape: int) -> np.ndarray:
    """An array of counting numbers."""
    found = np.empty(shape, object)
    for index in np.ndindex(*shape):
        found[index] = Counting()
    return found


def operations(work: Callable[[], Any]) -> int:
    """How many operations the work takes."""
    before = Counting.operations
    work()
    return Counting.operations - before


# --- the lines of Algorithm 1, for dense joint features and for psi(x, j) = e_j (x) x ------------


def general_line(line: int, n: int, m: int, d: int) -> int:
    psi, A, w = numbers(d, m), numbers(n, m), numbers(d)
    match line:
        case 3 | 9:
            return operations(lambda: sum_of([psi @ a for a in A]))
        case 5:
            gamma = Counting()
            return operations(lambda: [psi.T @ w + gamma * a for a in A])
    return either_line(line, n, m, d)


def special_line(line: int, n: int, m: int, d: int) -> int:
    x, A, W = numbers(d // m), numbers(n, m), numbers(m, d // m)
    match line:
        case 3 | 9:
            return operations(lambda: sum_of([np.outer(a, x) for a in A]))
        case 5:
            gamma = Counting()
            return operations(lambda: [W @ x + gamma * a for a in A])
    return either_line(line, n, m, d)


def either_line(line: int, n: int, m: int, d: int) -> int:
    """The lines that do not touch the features."""
    A, U, s, e, w = numbers(n, m), numbers(n, m), numbers(n, m), numbers(n, m), numbers(d)
    gamma = Counting()
    match line:
        case 7:
            return operations(lambda: U - A)
        case 10:
            return operations(lambda: ((U * (e - s)).sum(), w @ w, U.ravel() @ U.ravel()))
        case 12:
            return operations(lambda: A + gamma * U)
    raise ValueError(f"line {line} has no cost in Table 3")


def sum_of(parts: list[np.ndarray]) -> np.ndarray:
    return np.sum(np.array(parts, object), axis=0)


Bound = Callable[[int, int, int], int]
GENERAL: dict[int, Bound] = {
    3: lambda n, m, d: m * n * d,
    5: lambda n, m, d: m * d * n,
    7: lambda n, m, d: m * n,
    9: lambda n, m, d: m * n * d,
    10: lambda n, m, d: m * n + d,
    12: lambda n, m, d: m * n,
}
SPECIAL: dict[int, Bound] = {
    **GENERAL,
    3: lambda n, m, d: n * d,
    5: lambda n, m, d: d * n,
    9: lambda n, m, d: n * d,
}


def lines(rng: Rng, deep: bool) -> Iterator[Case]:
    """Every line at sizes of n, m and d / m that grow one without the others."""
    large = 2 if deep else 1
    for n, m, d0 in product((1, 12 * large), (2, 16 * large), (1, 24 * large)):
        for line in GENERAL:
            for kind in ("general", "special"):
                yield Case(kind=kind, line=line, n=n, m=m, d=m * d0)


@claim(
    "T20-table3",
    "Table 3",
    "The cost of each line of Algorithm 1, for general joint features and for one weight vector "
    "a class.",
    formula=r"O(mnd)\ \mathrm{or}\ O(nd),\quad O(md)\times n\ \mathrm{or}\ O(d)\times n,\quad "
    r"O(mn+d),\quad O(mn)",
    shapes="n samples, m classes, w: (d,)",
    judged=f"O(x) as at most {PER_UNIT} x operations, counted; line 6 has no entry",
    cases=lines,
    planted=(
        version("O(nd) for line 3 of the general case", general={3: SPECIAL[3]}),
        version("O(nd/m) for line 9 of the special case", special={9: lambda n, m, d: n * d // m}),
        version("O(mn) for line 10", general={10: GENERAL[12]}),
    ),
)
def line_costs(case: Case, general: dict | None = None, special: dict | None = None) -> Outcome:
    if case.kind == "general":
        counted, bounds = general_line(case.line, case.n, case.m, case.d), GENERAL | (general or {})
    else:
        counted, bounds = special_line(case.line, case.n, case.m, case.d), SPECIAL | (special or {})
    return at_most(counted, PER_UNIT * bounds[case.line](case.n, case.m, case.d))


@claim(
    "T20-cost-text",
    "2.5",
    "With one weight vector a class, the m inner products of line 5 take O(m) operations.",
    formula=r"\langle w_j,x\rangle,\ j=1,\ldots,m:\quad O(m)",
    shapes="w_j, x: (d_0,), d = m d_0",
    judged=f"O(x) as at most {PER_UNIT} x operations, counted",
    cases=lambda rng, deep: (
        Case(kind="inner products", m=m, d0=d0)
        for m, d0 in product((2, 8, 32), (1, 8, 64, 256 if deep else 128))
    ),
    derived=version(
        "O(d) = O(m d_0), as Table 3 has for the same line", bound=lambda m, d0: m * d0
    ),
    planted=(version("O(d_0)", bound=lambda m, d0: d0),),
)
def inner_products(case: Case, bound: Any = lambda m, d0: m) -> Outcome:
    W, x = numbers(case.m, case.d0), numbers(case.d0)
    return at_most(operations(lambda: W @ x), PER_UNIT * bound(case.m, case.d0))


@claim(
    "T20-line6",
    "2.5, Table 3 line 6",
    "A subgradient of the top-k hinge, the Usunier loss or their weighted versions takes "
    "O(m log m) operations.",
    formula=r"O(m\log m)",
    shapes="m classes",
    judged=f"O(x) as at most {PER_UNIT} x operations, counted: margins, a sort, and k entries",
    cases=lambda rng, deep: (
        Case(kind="random scores", m=m, scores=rng.standard_normal(m))
        for m in (2, 16, 128, 1024, 8192 if deep else 2048)
    ),
    planted=(version("O(log m)", bound=lambda m: math.ceil(math.log2(m))),),
)
def sorted_subgradient(case: Case, bound: Any = lambda m: m * math.ceil(math.log2(m))) -> Outcome:
    """Minus the sum of the sorted weights in y's entry: the worst of these losses."""
    scores = np.array([Counting(s) for s in case.scores], object)

    def work() -> None:
        margins = scores - scores[0] + numbers(1)[0]
        sorted(margins)
        numbers(case.m).sum()

    return at_most(operations(work), PER_UNIT * bound(case.m), scores="")
