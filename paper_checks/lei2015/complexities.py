"""Check LP15 section 2.3: Rademacher and Gaussian complexities, and maxima of classes."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from paper_checks.arithmetic import Real, inner, maximum, total
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.lei2015.expectations import (
    below_in_mean,
    differences,
    gaussian_norm,
    gaussian_supremum,
    largest_gaussian,
    mean_absolute,
    pairs,
    rademacher,
)
from paper_checks.outcomes import at_most
from paper_checks.proofs import BySolver
from paper_checks.symbols import reals


def sign_classes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield classes of functions on n points: values (N, n), with their Gaussian supremum."""
    for n in range(1, 8 if deep else 6):
        unit = np.eye(n, dtype=int)
        classes = [("plus and minus unit vectors", np.vstack([unit, -unit]))]
        classes.append(("all signs", np.array(list(product((-1, 1), repeat=n)))))
        classes += [("random", rng.integers(-3, 4, (size, n))) for size in (1, 2, 3, 3, 6)]
        for kind, values in classes:
            mean, error = gaussian_supremum(values, rng)
            yield Case(kind=kind, values=values, n=n, gaussian=mean / n, error=error / n)


def with_pairs(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from sign_classes(rng, deep)
    for n in (1, 2, 3):
        zero, ones = (Fraction(0),) * n, (Fraction(1),) * n
        yield Case(kind="two functions", n=n, pair=(zero, ones))
    yield from pairs(rng, (1, 2, 3, 4))


def symbolic_pairs(deep: bool) -> Iterator[Case]:
    for n in (1, 2, 3) if deep else (1, 2):
        yield Case(kind="symbols", n=n, pair=((Fraction(0),) * n, reals("h", n)))


@claim(
    "LP15-eq2-left",
    "(2)",
    "The Rademacher complexity of a class is at most sqrt(pi/2) times the Gaussian one.",
    formula=r"R_S(H)\leq\sqrt{\pi/2}\ G_S(H)",
    shapes="H: functions on n points",
    judged="the averages without absolute values, as in Definition 3. For two functions both "
    "sides are known, and their squares are compared.",
    cases=with_pairs,
    planted=(
        version("0.95 of the factor", share=Fraction(19, 20)),
        version("the other way round", reverse=True),
    ),
    proofs=(
        BySolver(
            "a pair of functions, one of them 0, for which the ratio of the means "
            "exceeds the constant, which is attained at n = 1",
            cases=symbolic_pairs,
            sized_by=("n",),
        ),
    ),
)
def rademacher_below_gaussian(
    case: Case, share: Fraction = Fraction(1), reverse: bool = False
) -> Outcome:
    if hasattr(case, "pair"):
        d = differences(case.pair)
        left, right = mean_absolute(d) ** 2, share**2 * inner(d, d)
        return at_most(right, left) if reverse else at_most(left, right)
    factor = float(share) * math.sqrt(math.pi / 2)
    left, right = float(rademacher(case.values)), factor * case.gaussian
    if reverse:
        left, right = right, left
    return below_in_mean(left, right, factor * case.error)


def from_two_points(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield classes on two points and more; G_S and R_S of the first one have formulas."""
    values = np.array([[0, 0], [1, 1]])
    mean, error = gaussian_supremum(values, rng)
    yield Case(kind="0 and 1", values=values, n=2, gaussian=mean / 2, error=error / 2)
    yield from (case for case in sign_classes(rng, deep) if case.n >= 2)


def with_one_point(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from sign_classes(rng, deep)
    yield Case(kind="one point", n=1, pair=((Fraction(1),), (Fraction(-1),)))


@claim(
    "LP15-eq2-right",
    "(2)",
    "The Gaussian complexity of a class is at most 3 sqrt(log n) times the Rademacher one.",
    formula=r"\sqrt{\pi/2}\ G_S(H)\leq 3\sqrt{\pi/2}\sqrt{\log n}\ R_S(H)",
    shapes="H: functions on n points",
    judged="for two functions on one point the squares, without the factor pi/2, are compared.",
    cases=with_one_point,
    sides=("Gaussian side, squared", "Rademacher side, squared"),
    condition=Condition("n is at least 2, so that log n is not 0", lambda case: case.n >= 2),
    corrected=version(
        "with E max |g_i| in the place of 3 sqrt(log n)",
        factor=None,
        formula=r"G_S(H)\leq E\max_{i\leq n}|g_i|\ R_S(H)",
    ),
    planted=(
        version("the factor 1", factor=1.0, cases=from_two_points),
        version("log n without the root, factor 1/2", factor=0.5, root=1.0, cases=from_two_points),
    ),
    not_proved="logarithms, and classes of any size",
    erratum=Erratum(
        "section 2.3, (2)",
        r"\sqrt{\frac{\pi}{2}}\,G_S(H)\leq 3\sqrt{\frac{\pi}{2}}\sqrt{\log n}\,R_S(H)",
        r"\mathrm{for\ }n\geq 2",
        r"At n = 1 the right side is 0, as log 1 = 0. The class of the two constants 1 and -1 on "
        r"one point has $G_S=E|g|=\sqrt{2/\pi}>0$ and $R_S=1$.",
        "Nothing: the paper uses the left inequality of (2) alone.",
    ),
)
def gaussian_below_rademacher(
    case: Case, factor: float | None = 3.0, root: Fraction | float = Fraction(1, 2)
) -> Outcome:
    if hasattr(case, "pair"):  # log 1 = 0; E|g_1| is the factor between the two
        d = differences(case.pair)
        return at_most(inner(d, d), mean_absolute(d) ** 2 if factor is None else 0, n=case.n)
    grown = largest_gaussian(case.n) if factor is None else factor * math.log(case.n) ** root
    right = grown * float(rademacher(case.values))
    return below_in_mean(case.gaussian, right, case.error, n=case.n)


Classes = Sequence[Sequence[Sequence[Real]]]


def families(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield c classes of functions on n points."""
    for c in (1, 2, 3):
        for n in range(1, 6 if deep else 5):
            for _ in range(3):
                sizes = rng.integers(1, 5, c)
                classes = tuple(
                    tuple(fractions(rng, n, 3, 1) for _ in range(size)) for size in sizes
                )
                yield Case(kind=f"{c} classes", c=c, n=n, classes=classes)
    low, one = Fraction(-9), Fraction(1)
    first, second = ((one, low), (-one, low)), ((low, one), (low, -one))
    yield Case(kind="a different class is largest at each point", c=2, n=2, classes=(first, second))


def symbolic_families(deep: bool) -> Iterator[Case]:
    """Yield two or three classes of two functions.

    Adding one function to all of them changes no complexity, so the first may be 0.
    """
    for c, n in ((2, 1), (3, 1), *([(4, 1)] if deep else [])):
        pairs_of: list[Sequence[Sequence[Real]]] = [
            (reals(f"h_{j + 1}", n), reals(f"k_{j + 1}", n)) for j in range(c)
        ]
        pairs_of[0] = ((Fraction(0),) * n, pairs_of[0][1])
        yield Case(kind="symbols", c=c, n=n, classes=tuple(pairs_of))


def average(functions: Sequence[Sequence[Real]], n: int) -> Real:
    """Return n times the empirical Rademacher complexity."""
    signs = list(product((-1, 1), repeat=n))
    return total(maximum(*(inner(s, h) for h in functions)) for s in signs) / len(signs)


@claim(
    "LP15-eq3",
    "(3)",
    "The Rademacher complexity of the maxima of functions from c classes is at most the sum of the "
    "classes' complexities.",
    formula=r"R_S(\{\max_j h_j:\ h_j\in H_j\})\leq\sum_{j=1}^c R_S(H_j)",
    shapes="H_j: functions on n points",
    cases=families,
    planted=(
        version("the largest of the complexities", largest=True),
        version("3/4 of the sum", share=Fraction(3, 4)),
    ),
    proofs=(
        BySolver(
            "classes of two functions, of any values, where the largest class "
            "changes between the points",
            cases=symbolic_families,
            sized_by=("c", "n"),
        ),
    ),
)
def complexity_of_maxima(
    case: Case, largest: bool = False, share: Fraction = Fraction(1)
) -> Outcome:
    maxima = [
        [maximum(*values) for values in zip(*chosen, strict=True)]
        for chosen in product(*case.classes)
    ]
    parts = [average(functions, case.n) for functions in case.classes]
    return at_most(average(maxima, case.n), share * (maximum(*parts) if largest else total(parts)))


def coupled_classes(rng: Rng, deep: bool) -> Iterator[Case]:
    for c in (2, 3, 10, 100, 1000):
        for n in (1, 2, 6):
            features = rng.integers(-2, 3, (n, 3))
            features[0, 0] = 1
            yield Case(kind="random", c=c, features=features)
            yield Case(kind="one input n times", c=c, features=np.ones((n, 1), dtype=int))


@claim(
    "LP15-eq3-suboptimal",
    "section 2.3",
    "The linear growth with c in (3) is too pessimistic where the classes are coupled: under a "
    "bound on the (2, 2) norm, what (2) and (4) give is at most sqrt(pi/c) of what (3) gives.",
    formula=r"\sqrt{\pi/2}\ \frac{\Lambda}{n}\,E\|(\sum_i g_{ij}\phi(x_i))_j\|_{2,2}\leq"
    r"\sqrt{\pi/c}\ \sum_{j=1}^c R_S(\{\langle w_j,\phi\rangle:\ |w_j|\leq\Lambda\})",
    shapes="phi(x_i): (d,); w: (c, d)",
    judged="the paper says suboptimal and gives no number; sqrt(pi/c) follows from Jensen for the "
    "left and the sharp Khintchine inequality for the right side.",
    cases=coupled_classes,
    planted=(
        version("at most pi/c", power=1.0),
        version("at most sqrt(pi/c)/2", factor=0.5),
        version("classes bounded separately, not coupled", coupled=False),
    ),
    not_proved="means of norms of Gaussian vectors, by quadrature",
)
def coupling_pays(
    case: Case, power: float = 0.5, factor: float = 1.0, coupled: bool = True
) -> Outcome:
    """Compare both sides for Lambda = n = 1, as the factor Lambda/n is common."""
    gram = (case.features @ case.features.T).astype(float)
    signs = np.array(list(product((-1, 1), repeat=len(gram))))
    one_class = float(np.linalg.norm(signs @ case.features, axis=1).mean())
    c = case.c
    supremum = gaussian_norm(gram, c) if coupled else c * gaussian_norm(gram, 1)
    right = factor * (math.pi / c) ** power * c * one_class
    return at_most(math.sqrt(math.pi / 2) * supremum, right)
