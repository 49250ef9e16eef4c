"""Check T20 section 2.5: the cost of an iteration, counted in a run of Algorithm 1.

Each line is run as printed, on numbers that count every addition, product and comparison; the
resulting iterate is compared with that of plain numbers.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Erratum, Outcome, WhereRight, claim, version
from paper_checks.outcomes import counted, equal

# A line counts as O(bound) if it takes at most this many operations per unit of the bound at every
# size tried. The sizes grow enough for a missing factor to exceed this.
PER_UNIT = 6


class Counting:
    """A number that counts the operations done with numbers of its kind."""

    operations = 0

    def __init__(self, value: Any) -> None:
        self.value = value

    def operate(self, other: Any, result: Callable[[Any, Any], Any]) -> "Counting":
        Counting.operations += 1
        return Counting(result(self.value, other.value if isinstance(other, Counting) else other))

    def __add__(self, other: Any) -> "Counting":
        return self.operate(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> "Counting":
        return self.operate(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> "Counting":
        return self.operate(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> "Counting":
        return self.operate(other, lambda a, b: a / b)

    def __lt__(self, other: Any) -> bool:
        Counting.operations += 1
        return bool(self.value < (other.value if isinstance(other, Counting) else other))


def numbers(values: Any) -> np.ndarray:
    """Return an array of numbers as counting numbers."""
    plain = np.asarray(values)
    found = np.empty(plain.shape, object)
    for index in np.ndindex(*plain.shape):
        found[index] = Counting(plain[index].item())
    return found


def plain(values: np.ndarray) -> list[float]:
    """Return the values of counting numbers."""
    return [x.value for x in np.ravel(values)]


def operations(work: Callable[[], Any]) -> tuple[Any, int]:
    """Return the result of a computation and the number of its operations."""
    before = Counting.operations
    found = work()
    return found, Counting.operations - before


# --- Algorithm 1 ---------------------------------------------------------------------------------


def counted_iteration(case: Case) -> tuple[dict[int, int], np.ndarray]:
    """Run lines 3 to 12 of Algorithm 1 on counting numbers.

    Returns the operations of each line that is in Table 3, and the next iterate. The joint features
    of a sample are psi (m, d), or psi(x, j) = e_j (x) x, so that w is a matrix. The loss is the max
    hinge, and lambda n = 1, where (2.26) is right.
    """
    features, A = numbers(case.features), numbers(case.A)
    rows = range(len(case.y))
    special, cost = case.kind == "special", {}

    def link(B: np.ndarray) -> np.ndarray:
        if special:
            return np.sum([np.outer(B[i], features[i]) for i in rows], axis=0)
        return np.sum([features[i].T @ B[i] for i in rows], axis=0)

    def scores(w: np.ndarray) -> np.ndarray:
        products = [w @ features[i] if special else features[i] @ w for i in rows]
        return np.array([s + a * case.smoothing for s, a in zip(products, A, strict=True)])

    w, cost[3] = operations(lambda: link(A))
    s, cost[5] = operations(lambda: scores(w))
    U = np.array([minus_subgradient(list(s[i]), y) for i, y in enumerate(case.y)])
    step, cost[7] = operations(lambda: U - A)
    change, cost[9] = operations(lambda: link(step))

    def line_search() -> Counting:
        target = numbers(np.eye(case.m, dtype=int)[list(case.y)])
        rise, flat = (step * (target - s)).sum(), change.ravel()
        return rise / (flat @ flat + (step.ravel() @ step.ravel()) * case.smoothing)

    quotient, cost[10] = operations(line_search)
    clipped = max(0, min(1, quotient.value))
    found, cost[12] = operations(lambda: A + step * clipped)
    return cost, found


def minus_subgradient(s: list[Counting], y: int) -> np.ndarray:
    """Return e_y - e_j, j the worst class: minus a subgradient of the max hinge."""
    margins = [s_j.value + int(j != y) for j, s_j in enumerate(s)]
    worst = max(range(len(s)), key=margins.__getitem__)
    return numbers([int(j == y) - int(j == worst) for j in range(len(s))])


def next_iterate(case: Case) -> np.ndarray:
    """Return the next iterate in plain numbers; both cases are given by joint features."""
    eye = np.eye(case.m, dtype=int)
    psi = [np.kron(eye, x) if case.kind == "special" else x for x in case.features]
    w = np.sum([p.T @ a for p, a in zip(psi, case.A, strict=True)], axis=0)
    s = np.array([p @ w for p in psi]) + case.smoothing * case.A
    target = eye[list(case.y)]
    worst = np.argmax(s + 1 - target, axis=1)
    step = target - eye[worst] - case.A
    change = np.sum([p.T @ b for p, b in zip(psi, step, strict=True)], axis=0)
    below = change @ change + case.smoothing * np.sum(step * step)
    return case.A + step * max(0.0, min(1.0, np.sum(step * (target - s)) / below))


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


def problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield problems in which n, m and d / m grow one at a time."""
    large = 2 if deep else 1
    for n, m, d0 in product((1, 12 * large), (2, 16 * large), (1, 24 * large)):
        y = tuple(int(label) for label in rng.integers(0, m, n))
        base: dict[str, Any] = {"n": n, "m": m, "d": m * d0, "y": y, "smoothing": 2}
        # half of the vertex e_y - e_j
        wrong = (np.array(y) + 1) % m
        A = (np.eye(m)[list(y)] - np.eye(m)[wrong]) / 2
        for kind, shape in (("general", (n, m, m * d0)), ("special", (n, d0))):
            yield Case(kind=kind, **base, A=A, features=rng.integers(-3, 4, shape))


@claim(
    "T20-table3",
    "Table 3",
    "The cost of each line of Algorithm 1, for general joint features and for one "
    "weight vector per class.",
    formula=r"O(mnd)\ \mathrm{or}\ O(nd),\quad O(md)\times n\ \mathrm{or}\ O(d)\times n,\quad "
    r"O(mn+d),\quad O(mn)",
    shapes="n samples, m classes, w: (d,)",
    judged=f"O(x) as at most {PER_UNIT} x operations, counted while the algorithm runs; line 6 has "
    "no entry",
    cases=problems,
    sides=("operations", "allowed"),
    planted=(
        version("O(nd) for line 3 of the general case", general={3: SPECIAL[3]}),
        version("O(nd/m) for line 9 of the special case", special={9: lambda n, m, d: n * d // m}),
        version("O(mn) for line 10", general={10: GENERAL[12]}),
        version("O(d) x n for line 5 of the general case", general={5: SPECIAL[5]}),
        version("O(n) for line 12", special={12: lambda n, m, d: n}),
    ),
    not_proved="a count of operations at growing sizes",
)
def line_costs(case: Case, general: dict | None = None, special: dict | None = None) -> Outcome:
    bounds = GENERAL | (general or {}) if case.kind == "general" else SPECIAL | (special or {})
    cost, iterate = counted_iteration(case)
    lines = [
        counted(cost[line], PER_UNIT * bound(case.n, case.m, case.d), line=line)
        for line, bound in bounds.items()
    ]
    worst = min(lines, key=lambda found: found.margin)
    right = equal(plain(iterate), [float(x) for x in next_iterate(case).ravel()])
    return worst if right.holds else right


@claim(
    "T20-cost-text",
    "2.5",
    "With one weight vector per class, the m inner products of line 5 take O(m) operations.",
    formula=r"\langle w_j,x\rangle,\ j=1,\ldots,m:\quad O(m)",
    shapes="w_j, x: (d_0,), d = m d_0",
    judged=f"O(x) as at most {PER_UNIT} x operations, counted",
    cases=lambda rng, deep: (
        Case(kind="inner products", m=m, d0=d0)
        for m, d0 in product((2, 8, 32), (1, 8, 64, 256 if deep else 128))
    ),
    sides=("operations", f"at most {PER_UNIT} m, as O(m) is read"),
    derived=version(
        "O(d) = O(m d_0), as Table 3 has for the same line",
        formula=r"\langle w_j,x\rangle,\ j=1,\ldots,m:\quad O(md_0)=O(d)",
        bound=lambda m, d0: m * d0,
    ),
    where_right=WhereRight(
        "T20-table3",
        lambda case: equal(
            Fraction(case.m * case.d0), Fraction(SPECIAL[5](1, case.m, case.m * case.d0))
        ),
    ),
    planted=(version("O(d_0)", bound=lambda m, d0: d0),),
    not_proved="a count of operations at growing sizes",
    erratum=Erratum(
        "section 2.5, last paragraph",
        r"\langle w_j,x\rangle,\ j=1,\ldots,m:\quad O(m)",
        r"\langle w_j,x\rangle,\ j=1,\ldots,m:\quad O(md_0)=O(d)",
        "Each of the m inner products is of two vectors of $d_0$ entries, which takes $d_0$ "
        "products and $d_0-1$ additions. All of them take $m(2d_0-1)$ operations, of the order of "
        "$md_0=d$. The third column of Table 3 has $O(d)\\times n$ for the same line.",
        "Nothing: Table 3 has the correct cost.",
    ),
)
def inner_products(case: Case, bound: Any = lambda m, d0: m) -> Outcome:
    W, x = numbers(np.ones((case.m, case.d0))), numbers(np.ones(case.d0))
    return counted(operations(lambda: W @ x)[1], PER_UNIT * bound(case.m, case.d0))
