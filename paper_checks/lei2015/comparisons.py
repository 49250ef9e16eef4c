"""Check LP15 appendix A and (B.3): suprema of Gaussian processes, one normal number per class.

For two functions the square of each supremum, times 2 pi, is the second moment of the increment. So
exact fractions and symbols decide: this is the condition (A.1) of Lemma A.1.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from paper_checks.arithmetic import Real, inner, maximum, minimum, total
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Condition, Erratum, Outcome, claim, version
from paper_checks.lei2015.bounds import cut_margins, samples
from paper_checks.lei2015.expectations import (
    below_in_mean,
    differences,
    gaussian_supremum,
    mean_absolute,
    rademacher,
)
from paper_checks.outcomes import at_most, both, equal
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals

# h(x_i) for each point: n rows of c numbers
Values = Sequence[Sequence[Real]]


def vector_classes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield classes of functions with c components on n points: values (N, n, c), labels y (n,)."""
    for c in (2, 3, 5):
        for n in (1, 2, 4):
            for size in (2, 3, 3, 8):
                values = rng.integers(-3, 4, (size, n, c))
                y = rng.integers(0, c, n)
                yield Case(kind="random", values=values, y=y, seed=int(rng.integers(2**31)))
            first = values[:3].copy()
            first[:, :, 1:] = -9
            y = np.zeros(n, dtype=int)
            yield Case(kind="the first component decides", values=first, y=y, seed=1)
            opposite = rng.integers(1, 4, (3, n, 2)) * [1, -1]
            opposite[0] = 0
            yield Case(kind="two components, sum 0", values=opposite, y=y, seed=1)
            yield two_functions(rng, c, n)
    one, zero = Fraction(1), Fraction(0)
    sign = (((one, -one),), ((-one, one),))
    yield Case(kind="two functions", c=2, n=1, pair=sign, y=(0,))
    moves_alone = (((one, zero),), ((zero, zero),))
    yield Case(kind="two functions", c=2, n=1, pair=moves_alone, y=(0,))


def two_functions(rng: Rng, c: int, n: int) -> Case:
    pair = tuple(tuple(fractions(rng, c, 3, 1) for _ in range(n)) for _ in range(2))
    y = tuple(map(int, rng.integers(0, c, n)))
    theta = Fraction(int(rng.integers(1, 8)))
    return Case(kind="two functions", c=c, n=n, pair=pair, y=y, theta=theta)


def symbolic_pair(deep: bool) -> Iterator[Case]:
    """Yield one point, as the increments over several points add up."""
    for c in (2, 3, 4) if deep else (2, 3):
        pair = ((reals("h", c),), (reals("k", c),))
        yield Case(kind="symbols", c=c, n=1, pair=pair, y=(0,), theta=real("theta"))


def entries(values: Values) -> list[Real]:
    return [x for row in values for x in row]


def increment(pair: Sequence[Sequence[Real]]) -> Real:
    """Return the second moment of the difference of <g, h> and <g, k>."""
    d = differences(pair)
    return inner(d, d)


def process_bound(left: np.ndarray, right: np.ndarray, share: float, seed: int) -> Outcome:
    """Compare E sup <g, row of left> <= share E sup <g, row of right>."""
    rng = np.random.default_rng(seed)
    low, low_error = gaussian_supremum(left, rng)
    high, high_error = gaussian_supremum(right, rng)
    return below_in_mean(low, share * high, math.hypot(low_error, share * high_error))


def multiclass_process(values: np.ndarray, shared: bool) -> np.ndarray:
    """Return the coefficients of the n c normal numbers, or of n numbers shared by the classes."""
    return values.sum(axis=2) if shared else values.reshape(len(values), -1)


def pair_bound(
    case: Case, left: Sequence[Sequence[Real]], shared: bool, share: Fraction
) -> Outcome:
    """Compare the increments of two functions, which are the squared suprema times 2 pi."""
    if shared:
        right = increment([[total(row) for row in values] for values in case.pair])
    else:
        right = increment([entries(values) for values in case.pair])
    return at_most(increment(left), share**2 * right)


@claim(
    "LP15-lem4",
    "Lemma 4, (4)",
    "The Gaussian complexity of the maxima of h_1, ..., h_c is at most the expected supremum with "
    "one normal number for each sample and class.",
    formula=r"G_S(\{\max_j h_j:\ h\in H\})\leq\frac{1}{n}E_g\sup_{h\in H}"
    r"\sum_{i=1}^n\sum_{j=1}^c g_{(j-1)n+i}h_j(x_i)",
    shapes="h(x_i): (c,)",
    judged="For two functions the squares of both sides are compared.",
    cases=vector_classes,
    planted=(
        version("one normal number per sample, shared by the classes", shared=True),
        version("0.9 times the right side", share=Fraction(9, 10)),
    ),
    proofs=(
        BySolver(
            "a pair of functions that violates (A.1); if no pair does, Lemma A.1 gives the "
            "statement for every class",
            cases=symbolic_pair,
            sized_by=("c", "n"),
        ),
    ),
)
def structural_result(case: Case, shared: bool = False, share: Fraction = Fraction(1)) -> Outcome:
    if hasattr(case, "pair"):
        maxima = [[maximum(*row) for row in values] for values in case.pair]
        return pair_bound(case, maxima, shared, share)
    right = multiclass_process(case.values, shared)
    return process_bound(case.values.max(axis=2), right, float(share), case.seed)


@claim(
    "LP15-lemA2",
    "Lemma A.2",
    "The Gaussian complexity of (x, y) -> h_y(x) is at most the same expected supremum.",
    formula=r"G_S(H)\leq\frac{1}{n}E_g\sup_{h\in H}"
    r"\sum_{i=1}^n\sum_{j=1}^c g_{(j-1)n+i}h_j(x_i)",
    shapes="h(x_i): (c,); y: (n,)",
    judged="For two functions the squares of both sides are compared.",
    cases=vector_classes,
    planted=(
        version("one normal number per sample, shared by the classes", shared=True),
        version("0.9 times the right side", share=Fraction(9, 10)),
    ),
    proofs=(
        BySolver(
            "a pair of functions that violates (A.1), as happens with shared normal numbers",
            cases=symbolic_pair,
            sized_by=("c", "n"),
        ),
    ),
)
def labelled_class(case: Case, shared: bool = False, share: Fraction = Fraction(1)) -> Outcome:
    if hasattr(case, "pair"):
        own = [[row[y] for row, y in zip(v, case.y, strict=True)] for v in case.pair]
        return pair_bound(case, own, shared, share)
    right = multiclass_process(case.values, shared)
    left = case.values[:, np.arange(len(case.y)), case.y]
    return process_bound(left, right, float(share), case.seed)


def with_cut_margins(rng: Rng, deep: bool) -> Iterator[Case]:
    yield from samples(rng, deep)
    for c in (2, 3, 4):
        for n in (1, 2, 3):
            yield two_functions(rng, c, n)
    one = Fraction(1)
    pair = (((one, -one),), ((-one, one),))
    yield Case(kind="two functions", c=2, n=1, pair=pair, y=(0,), theta=Fraction(20))


@claim(
    "LP15-B3",
    "(B.3) and what follows",
    "The Rademacher complexity of the cut margins is at most sqrt(2 pi)/n times the expected "
    "supremum with one normal number for each sample and class.",
    formula=r"R_S(\widetilde{H_\theta})\leq\frac{\sqrt{2\pi}}{n}E_g\sup_{h\in H}"
    r"\sum_{i=1}^n\sum_{j=1}^c g_{(j-1)n+i}h_j(x_i)",
    shapes="h(x_i): (c,); theta > 0",
    judged="For two functions the squares of both sides are compared.",
    cases=with_cut_margins,
    relaxed=version(
        "with sqrt(pi) in the place of sqrt(2 pi), by (2) and Lemma A.1 for the cut margins "
        "themselves",
        half=True,
        formula=r"R_S(\widetilde{H_\theta})\leq\frac{\sqrt{\pi}}{n}E_g\sup_{h\in H}"
        r"\sum_{i,j}g_{(j-1)n+i}h_j(x_i)",
    ),
    planted=(
        version("sqrt(2 pi)/2", share=Fraction(1, 2)),
        version("0.99 sqrt(pi)", half=True, share=Fraction(99, 100)),
    ),
    proofs=(
        BySolver(
            "a pair of functions, of any values and cut, with a larger increment of the cut "
            "margins; by (2) and Lemma A.1 the statement follows for every class",
            cases=lambda deep: (case for case in symbolic_pair(deep) if case.c == 2),
            assuming=lambda case: case.theta > 0,
            sized_by=("c", "n"),
        ),
    ),
)
def complexity_of_cut_margins(
    case: Case, share: Fraction = Fraction(1), half: bool = False
) -> Outcome:
    if hasattr(case, "pair"):
        d = differences([cut_margins_of(values, case) for values in case.pair])
        right = increment([entries(values) for values in case.pair])
        return at_most(mean_absolute(d) ** 2, share**2 * (2 if half else 4) * right)
    size, n, _ = case.values.shape
    supremum, _ = gaussian_supremum(case.values.reshape(size, -1), np.random.default_rng(0))
    margins = cut_margins(case.values, case.y, case.theta)
    factor = float(share) * math.sqrt(math.pi if half else 2 * math.pi)
    by_definition = [cut_margins_of(values.tolist(), case) for values in case.values]
    return both(
        equal(margins.tolist(), by_definition),
        at_most(float(rademacher(margins)), factor * supremum / n),
    )


def cut_margins_of(values: Values, case: Case) -> list[Real]:
    """Return min over j != y of h_y - h_j, cut at theta, at each point."""
    return [
        minimum(case.theta, *(row[y] - x for j, x in enumerate(row) if j != y))
        for row, y in zip(values, case.y, strict=True)
    ]


def mean_zero_processes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield processes X = <g, row of x> and Y = <g, shrunk row>; no increment of Y is larger."""
    for size in (2, 3, 3, 3, 8):
        for _ in range(4 if deep else 2):
            x = rng.standard_normal((size, 3))
            turned = np.linalg.qr(rng.standard_normal((3, 3)))[0]
            y = x @ turned * rng.uniform(0, 1, 3)
            seed = int(rng.integers(2**31))
            zero = np.zeros(size, dtype=int)
            yield Case(kind="mean 0", x=x, y=y, x_mean=zero, y_mean=zero, seed=seed)
    zero, apart = np.zeros(2, dtype=int), np.array([[1], [-1]])
    yield Case(kind="mean 0", x=apart, y=apart, x_mean=zero, y_mean=zero, seed=0)


def processes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield processes with mean 0, and nonzero processes with another mean."""
    yield from mean_zero_processes(rng, deep)
    g, one = (Fraction(1),), Fraction(1)
    yield Case(kind="one index", x=(g,), y=(g,), x_mean=(0 * one,), y_mean=(one,), seed=0)
    x, y = np.array([[0], [2]]), np.array([[0], [1]])
    means = {"x_mean": np.array([0, 0]), "y_mean": np.array([1, 1])}
    yield Case(kind="two indices", x=x, y=y, seed=0, **means)


@claim(
    "LP15-lemA1",
    "Lemma A.1",
    "Of two Gaussian processes that are not zero, the one whose increments have the smaller second "
    "moments has the smaller expected supremum.",
    formula=r"E(Y_\theta-Y_{\bar\theta})^2\leq E(X_\theta-X_{\bar\theta})^2\ \Rightarrow\ "
    r"E\sup_\theta Y_\theta\leq E\sup_\theta X_\theta",
    shapes="X, Y: processes on a countable set",
    judged="the condition printed is non-zero; the processes it is used for have mean zero.",
    cases=processes,
    sides=("E sup Y", "E sup X"),
    corrected=version(
        "of two processes with mean zero",
        cases=mean_zero_processes,
        formula=r"E X_\theta=E Y_\theta=0",
    ),
    main=Condition(
        "the means are 0, as in Lemmas 4 and A.2",
        lambda case: not (np.any(case.x_mean) or np.any(case.y_mean)),
    ),
    planted=(
        version("the larger expected supremum", sign=-1, cases=mean_zero_processes),
        version("0.7 times the right side", share=0.7, cases=mean_zero_processes),
    ),
    not_proved="Gaussian processes on any countable set: Vitale's theorem",
    erratum=Erratum(
        "appendix A, Lemma A.1",
        r"\mathrm{two\ non-zero\ real-valued\ Gaussian\ processes}",
        r"\mathrm{two\ zero-mean\ real-valued\ Gaussian\ processes}",
        r"With a single index (A.1) is vacuous: both sides are 0. $X=g$ and $Y=g+1$ with a normal "
        r"number g are not zero, and E sup Y = 1 is above E sup X = 0.",
        "Nothing: the processes of Lemmas 4 and A.2 are sums of centred normal numbers.",
    ),
)
def comparison(case: Case, sign: int = 1, share: float = 1.0) -> Outcome:
    if len(case.x) == 1:  # the expected supremum is the mean
        return at_most(case.y_mean[0], case.x_mean[0])
    rng = np.random.default_rng(case.seed)
    low, low_error = expected_supremum(case.y, case.y_mean, rng)
    high, high_error = expected_supremum(case.x, case.x_mean, rng)
    error = math.hypot(low_error, share * high_error)
    return below_in_mean(sign * low, sign * share * high, error)


def expected_supremum(rows: np.ndarray, mean: np.ndarray, rng: Rng) -> tuple[float, float]:
    """Return E sup of mean_k + <g, row k> and its standard error; all means are the same."""
    supremum, error = gaussian_supremum(rows, rng)
    return float(mean[0]) + supremum, error
