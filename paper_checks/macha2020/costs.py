"""Check M20 Tables 1 and 4: the cost of a repeat loop of Algorithm 3.1, in counted operations."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.macha2020.ascent import PairAscent
from paper_checks.macha2020.pairs import NAMES
from paper_checks.macha2020.steps_toppushk import PRINTED
from paper_checks.outcomes import both, counted

# O(x) is at most this many operations for each unit of x; sizes grow far enough apart for a missing
# factor to exceed it
PER_UNIT = 60
PER_CANDIDATE = 50
COUNTED = "A claim about costs, checked by counting operations."


class Counted:
    """A number that counts the operations done with numbers of its kind."""

    operations: ClassVar[int] = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def made(self, value: float) -> "Counted":
        self.tally()
        return Counted(value)

    def tally(self) -> "Counted":
        """Count one operation."""
        Counted.operations += 1
        return self

    def __add__(self, other: Any) -> "Counted":
        return self.made(self.value + plain(other))

    def __sub__(self, other: Any) -> "Counted":
        return self.made(self.value - plain(other))

    def __rsub__(self, other: Any) -> "Counted":
        return self.made(plain(other) - self.value)

    def __mul__(self, other: Any) -> "Counted":
        return self.made(self.value * plain(other))

    def __truediv__(self, other: Any) -> "Counted":
        return self.made(self.value / plain(other))

    def __rtruediv__(self, other: Any) -> "Counted":
        return self.made(plain(other) / self.value)

    def __pow__(self, exponent: int) -> "Counted":
        return self.made(self.value**exponent)

    def __neg__(self) -> "Counted":
        return self.made(-self.value)

    def __ge__(self, other: Any) -> bool:
        return self.tally().value >= plain(other)

    def __le__(self, other: Any) -> bool:
        return self.tally().value <= plain(other)

    def __gt__(self, other: Any) -> bool:
        return self.tally().value > plain(other)

    def __lt__(self, other: Any) -> bool:
        return self.tally().value < plain(other)

    def __eq__(self, other: object) -> bool:
        return self.tally().value == plain(other)

    def __radd__(self, other: Any) -> "Counted":
        return self + other

    def __rmul__(self, other: Any) -> "Counted":
        return self * other

    __hash__ = None  # type: ignore[assignment]  # makes the class unhashable


def plain(value: Any) -> float:
    return value.value if isinstance(value, Counted) else float(value)


def wrapped(numbers: np.ndarray) -> list[Counted]:
    return [Counted(float(x)) for x in numbers]


@dataclass
class CountedLoop:
    """One repeat loop of Algorithm 3.1 for TopPushK, K = 2, quadratic surrogate, on random data.

    The sum of alpha, the diagonal of the kernel and a stored column are available without cost. The
    two largest betas are found once per loop, so beta_max costs O(1) for each l; with
    keep_largest=False the search is repeated for each l.
    """

    n: int
    d: int
    stored: bool
    keep_largest: bool = True

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.n)
        self.p = self.n // 2
        X = rng.standard_normal((self.n, self.d)) / math.sqrt(self.d)
        X[self.p :] *= -1
        beta = np.repeat(1.0 / self.n, self.n - self.p)
        alpha = np.repeat(beta.sum() / self.p, self.p)
        z = np.concatenate([alpha, beta])
        self.rows, self.start = X, z
        self.X = [wrapped(row) for row in X] if not self.stored else []
        self.z, self.s = wrapped(z), wrapped(X @ (X.T @ z))
        self.diagonal = wrapped(np.einsum("ij,ij->i", X, X))
        self.sum_alpha = Counted(float(alpha.sum()))
        self.one = Counted(1.0)

    def column(self, k: int) -> list[Counted]:
        """Return a column of the kernel matrix: stored, or computed and counted."""
        if self.stored:
            return wrapped(self.rows @ self.rows[k])
        own = self.X[k]
        return [sum((a * b for a, b in zip(x, own, strict=True)), Counted(0)) for x in self.X]

    def two_largest(self) -> tuple[int, int]:
        first, second = self.p, self.p + 1
        for j in range(self.p + 1, self.n):
            if self.z[j] > self.z[first]:
                first, second = j, first
            elif j > self.p + 1 and self.z[j] > self.z[second]:
                second = j
        return first, second

    def largest_other(self, j: int, largest: tuple[int, int]) -> Counted:
        if self.keep_largest:
            return self.z[largest[1] if j == largest[0] else largest[0]]
        return max(b for i, b in enumerate(self.z) if i >= self.p and i != j)

    def candidate(self, k: int, other: int, entry: Counted, largest: tuple[int, int]) -> Any:
        """Return the step of a pair by Theorem 3.1, and its gain."""
        i, j = min(k, other), max(k, other)
        rule = list(NAMES)[(i >= self.p) + (j >= self.p)]
        mixed = rule == "alpha and beta"
        twice = entry + entry
        ends = self.diagonal[i] + self.diagonal[j]
        pair = Case(
            kind=rule,
            K=2,
            C=self.one,
            theta=self.one,
            sum_alpha=self.sum_alpha,
            scores=self.s[i] + self.s[j] if mixed else self.s[i] - self.s[j],
            curvature=ends + twice if mixed else ends - twice,
            **dict(zip(NAMES[rule], (self.z[i], self.z[j]), strict=True)),
        )
        if mixed:
            pair.beta_max = self.largest_other(j, largest)
        step = PRINTED[rule](pair)
        length = step.length
        return length, -(step.slope + step.bend * length / 2) * length

    def run(self, k: int) -> tuple[int, int, float]:
        """Return the loop's operations, those of its most expensive candidate, and its gain."""
        Counted.operations, dearest = 0, 0
        column, largest = self.column(k), self.two_largest()
        best: Any = None
        for other in (j for j in range(self.n) if j != k):
            before = Counted.operations
            step, gain = self.candidate(k, other, column[other], largest)
            dearest = max(dearest, Counted.operations - before)
            if best is None or gain > best[0]:
                best = (gain, step, other)
        gain, step, other = best
        sign = 1 if (k < self.p) != (other < self.p) else -1
        moves = zip(column, self.column(other), self.s, strict=True)
        self.s = [s + (a + sign * b) * step for a, b, s in moves]
        self.z[k] = self.z[k] + step
        self.z[other] = self.z[other] + sign * step
        return Counted.operations, dearest, plain(gain)

    def best_gain(self, k: int) -> float:
        """Return the gain of the best pair with k, by independent code and without counting."""
        kernel = self.rows @ self.rows.T
        ascent = PairAscent(
            kernel=kernel,
            positives=self.p,
            C=1.0,
            theta=1.0,
            theta2=1.0,
            K=2,
            budget=1.0,
            hinge=False,
            z=self.start.copy(),
        )
        return float(np.max(np.delete(ascent.steps(k)[1], k)))


def counts(n: int, d: int, stored: bool, keep_largest: bool = True) -> tuple[int, int]:
    """Return the operations of a loop with a positive k, and of its most expensive candidate.

    Raises ArithmeticError if the loop does not make the best step.
    """
    loop = CountedLoop(n, d, stored, keep_largest)
    operations, dearest, gain = loop.run(0)
    if n <= 300 and not math.isclose(gain, loop.best_gain(0), rel_tol=1e-9, abs_tol=1e-12):
        raise ArithmeticError(f"the counted loop gains {gain}, the best pair {loop.best_gain(0)}")
    return operations, dearest


# ---------------------------------------------------------------- Table 1


def loop_sizes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield sizes in which n and d grow separately."""
    for n, d in product((8, 64, 512 if deep else 256), (1, 64, 256 if deep else 128)):
        for stored in (True, False):
            if stored or n * d <= 2**13 or deep:
                yield Case(kind="stored" if stored else "not stored", n=n, d=d, stored=stored)


@claim(
    "M20-complexity",
    "Table 1",
    "One repeat loop costs O(n) with a stored kernel matrix and O(nd) without.",
    formula=r"O(n)\ \mathrm{or}\ O(nd)",
    shapes="n samples, d features",
    judged=f"O(x) as at most {PER_UNIT} x operations, counted in a loop for TopPushK with K = 2, "
    "the pairs with the most bounds, by the steps of Theorem 3.1.",
    assumed="the two largest entries of beta are kept, so that beta_max takes one pass for all l",
    cases=loop_sizes,
    sides=("operations counted", "bound"),
    planted=(
        version("O(n) without a stored kernel", plain=lambda n, d: n),
        version("O(log n) with one", stored=lambda n, d: math.ceil(math.log2(n))),
        version("with a new search for beta_max for each l", keep_largest=False),
    ),
    not_proved=COUNTED,
)
def cost_of_a_loop(
    case: Case,
    stored: Callable[[int, int], int] = lambda n, d: n,
    plain: Callable[[int, int], int] = lambda n, d: n * d,
    keep_largest: bool = True,
) -> Outcome:
    bound = (stored if case.stored else plain)(case.n, case.d)
    return counted(counts(case.n, case.d, case.stored, keep_largest)[0], PER_UNIT * bound)


# ---------------------------------------------------------------- Table 4

# the samples of the training parts, by Table 2
TRAINING = {
    "Ionosphere": 176,
    "RedWineQuality": 800,
    "Spambase": 2301,
    "WhiteWineQuality": 2449,
    "Fashion-MNIST": 50_000,
}


def training_sizes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the sizes of Table 2; in a quick run without the largest."""
    for name, n in TRAINING.items():
        if deep or n < 10_000:
            yield Case(kind=name, n=n)


@claim(
    "M20-table4-counted",
    "Table 4 and 4.4",
    "A repeat loop with a stored kernel matrix takes a number of operations in proportion to n, "
    "and a candidate step the same number on every data set.",
    formula=r"O(n)\ \mathrm{and}\ O(1)",
    shapes="n samples",
    judged=f"At most {PER_UNIT} n and {PER_CANDIDATE} operations, counted at the sizes of Table 2.",
    assumed="the two largest entries of beta are kept, so that beta_max takes one pass for all l",
    cases=training_sizes,
    sides=("operations counted", "bound"),
    planted=(
        version("with a new search for beta_max for each l", keep_largest=False),
        version("a candidate takes ten operations", most=10),
    ),
    not_proved=COUNTED,
)
def operations_of_a_loop(
    case: Case, keep_largest: bool = True, most: int = PER_CANDIDATE
) -> Outcome:
    if not keep_largest and case.n > 1000:  # n^2 operations; the smaller sets show it
        return counted(0, 0)
    operations, dearest = counts(case.n, 1, True, keep_largest)
    return both(counted(operations, PER_UNIT * case.n), counted(dearest, most))
