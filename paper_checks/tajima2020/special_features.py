"""Check T20 sections 1 and 2.5: features of the form e_j (x) x, and the cost cited from K19."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from paper_checks.cases import Rng, fractions
from paper_checks.kato2019.costs import not_growing, operations_of
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import both, equal
from paper_checks.proofs import BySolver
from paper_checks.symbols import reals

Vector = list[Any]


def samples(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield features x and dual columns alpha in fractions."""
    for n, d, m in ((1, 1, 2), (2, 2, 2), (2, 3, 3), (3, 2, 4)) * (3 if deep else 1):
        x = [fractions(rng, d, largest=3) for _ in range(n)]
        alpha = [fractions(rng, m, largest=3) for _ in range(n)]
        yield Case(kind="exact", m=m, x=x, alpha=alpha, lam=Fraction(1, 2))


def symbolic_samples(deep: bool) -> Iterator[Case]:
    for n, d, m in ((1, 1, 2), (1, 2, 3), (2, 2, 2), (2, 2, 3)):
        x = [reals(f"x{i}", d) for i in range(n)]
        alpha = [reals(f"a{i}", m) for i in range(n)]
        yield Case(kind="symbols", m=m, n=n, d=d, x=x, alpha=alpha, lam=Fraction(1))


def psi(x: Vector, j: int, m: int) -> Vector:
    """Return e_j (x) x: x at the j-th of m places, 0 elsewhere."""
    return [entry if i == j else 0 * entry for i in range(m) for entry in x]


def outer(alpha: Vector, x: Vector) -> Vector:
    """Return alpha (x) x."""
    return [a * b for a in alpha for b in x]


@claim(
    "T20-eq2.27",
    "(2.27), and the paragraph after it",
    "For psi(x, j) = e_j (x) x the primal variable is the mean of alpha_i (x) x_i over lambda, and "
    "the j-th score is the inner product of its j-th part with x.",
    formula=r"w(A)=\frac{1}{\lambda n}\sum_i\alpha_i\otimes x_i,\quad "
    r"(\Psi(x_i)^\top w)_j=\langle(e_j^\top\otimes I_{d_0})w,x_i\rangle",
    shapes="x_i: (d0,), alpha_i: (m,), w: (m d0,); x (x) y is the Kronecker product",
    cases=samples,
    proofs=(
        BySolver(
            "a wrong order of the factors that agrees on the numbers tried",
            cases=symbolic_samples,
            sized_by=("n", "d", "m"),
        ),
    ),
    planted=(
        version("x_i (x) alpha_i", swapped=True),
        version("the next part of w", part=1),
    ),
)
def special_features(case: Case, swapped: bool = False, part: int = 0) -> Outcome:
    m, n, d = case.m, len(case.x), len(case.x[0])
    defined, stated = [0] * (m * d), [0] * (m * d)
    for x, alpha in zip(case.x, case.alpha, strict=True):
        for j in range(m):
            column = psi(x, j, m)
            defined = [w + alpha[j] * entry for w, entry in zip(defined, column, strict=True)]
        term = outer(x, alpha) if swapped else outer(alpha, x)
        stated = [w + entry for w, entry in zip(stated, term, strict=True)]
    scale = case.lam * n
    w = [entry / scale for entry in defined]
    outcomes = [equal(w, [entry / scale for entry in stated])]
    for x in case.x:
        scores = [inner(psi(x, j, m), w) for j in range(m)]
        places = [(j + part) % m * d for j in range(m)]
        outcomes.append(equal(scores, [inner(w[i : i + d], x) for i in places]))
    return both(*outcomes)


def inner(one: Vector, other: Vector) -> Any:
    return sum((a * b for a, b in zip(one[1:], other[1:], strict=True)), one[0] * other[0])


def growing(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield sizes (n, d, m) that grow by doubling, each class with a sample: m <= n."""
    seed = int(rng.integers(1000))
    for steps in [
        [(2**e, 2, 2) for e in range(1, 10)],
        [(16, 2**e, 4) for e in range(1, 10)],
        [(2**e, 2**e, 2) for e in range(1, 9)],
        [(2**e, 3 * 2**e, 2**e) for e in range(1, 8 if deep else 7)],
        [(2**e, 1, 2**e) for e in range(1, 8 if deep else 7)],
    ]:
        yield Case(kind="growing sizes", sizes=steps, seed=seed)


@claim(
    "T20-mn3",
    "1, third paragraph, last sentence",
    "An iteration of K19's method, direction and line search, takes O(mn^3) operations.",
    formula=r"O(mn^3)",
    shapes="n samples, m classes; d features",
    judged="within is read as: at most this order. The Gram matrix, where it is used, is "
    "computed once and not counted. The operations, divided by the bound, do not "
    "grow with the sizes.",
    assumed="Every class has a sample, m <= n; with n fixed and a growing number of classes, "
    "sorting them takes m log m.",
    cases=growing,
    relaxed=version("O(mn^2), which follows from K19's Theorem 4", power=2, formula="O(mn^2)"),
    planted=(
        version("O(mn)", power=1),
        version("O(n^2)", power=2, classes=0),
    ),
    not_proved="a count of operations",
)
def within_the_bound(case: Case, power: int = 3, classes: int = 1) -> Outcome:
    done = [operations_of(n, d, m, case.seed) for n, d, m in case.sizes]
    return not_growing(done, [float(m**classes * n**power) for n, _, m in case.sizes])
