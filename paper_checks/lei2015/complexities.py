"""LP15 sections 2.3 and A: Rademacher and Gaussian complexities, and maxima of classes."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.stats import norm

from paper_checks.cases import Rng
from paper_checks.ledger import Case, Condition, Outcome, claim, version
from paper_checks.lei2015.expectations import (
    gaussian_norm,
    gaussian_supremum,
    largest_gaussian,
    rademacher,
)
from paper_checks.outcomes import ROUNDING, at_most

# Monte Carlo means may be off by this many standard errors
SIGMAS = 6


def sign_classes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Classes of functions on n points: values (N, n), with their Gaussian supremum."""
    for n in range(1, 8 if deep else 6):
        unit = np.eye(n, dtype=int)
        classes = [("plus and minus unit vectors", np.vstack([unit, -unit]))]
        classes.append(("all signs", np.array(list(product((-1, 1), repeat=n)))))
        classes += [("random", rng.integers(-3, 4, (size, n))) for size in (1, 2, 3, 3, 6)]
        for kind, values in classes:
            mean, error = gaussian_supremum(values, rng)
            yield Case(kind=kind, values=values, n=n, gaussian=mean / n, error=error / n)


@claim(
    "LP15-eq2-left",
    "(2)",
    "The Rademacher complexity of a class is at most sqrt(pi/2) times the Gaussian one.",
    formula=r"R_S(H)\leq\sqrt{\pi/2}\ G_S(H)",
    shapes="H: functions on n points",
    judged="the averages without absolute values, as Definition 3 has them.",
    cases=sign_classes,
    planted=(version("the factor 1.2", factor=1.2), version("the other way round", reverse=True)),
)
def rademacher_below_gaussian(
    case: Case, factor: float = math.sqrt(math.pi / 2), reverse: bool = False
) -> Outcome:
    left, right = float(rademacher(case.values)), factor * case.gaussian
    if reverse:
        left, right = right, left
    return at_most(left, right, allowed=ROUNDING + SIGMAS * factor * case.error)


def from_two_points(rng: Rng, deep: bool) -> Iterator[Case]:
    return (case for case in sign_classes(rng, deep) if case.n >= 2)


@claim(
    "LP15-eq2-right",
    "(2)",
    "The Gaussian complexity of a class is at most 3 sqrt(log n) times the Rademacher one.",
    formula=r"\sqrt{\pi/2}\ G_S(H)\leq 3\sqrt{\pi/2}\sqrt{\log n}\ R_S(H)",
    shapes="H: functions on n points",
    cases=sign_classes,
    condition=Condition("n is at least 2, so that log n is not 0", lambda case: case.n >= 2),
    corrected=version("with E max |g_i| in the place of 3 sqrt(log n)", factor=None),
    planted=(
        version("the factor 1", factor=1.0, cases=from_two_points),
        version("log n without the root, factor 1/2", factor=0.5, root=1.0, cases=from_two_points),
    ),
)
def gaussian_below_rademacher(case: Case, factor: float | None = 3.0, root: float = 0.5) -> Outcome:
    grown = largest_gaussian(case.n) if factor is None else factor * math.log(case.n) ** root
    right = grown * float(rademacher(case.values))
    return at_most(case.gaussian, right, allowed=ROUNDING + SIGMAS * case.error, n=case.n)


def families(rng: Rng, deep: bool) -> Iterator[Case]:
    """c classes of functions on n points."""
    for c in (1, 2, 3):
        for n in range(1, 7 if deep else 5):
            for _ in range(3):
                classes = [rng.integers(-3, 4, (int(rng.integers(1, 5)), n)) for _ in range(c)]
                yield Case(kind=f"{c} classes", classes=classes)
            apart = [-9 * np.ones((2, n), dtype=int) for _ in range(c)]
            apart[0] = rng.integers(-3, 4, (4, n))
            yield Case(kind="one class above the others", classes=apart)


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
)
def complexity_of_maxima(
    case: Case, largest: bool = False, share: Fraction = Fraction(1)
) -> Outcome:
    maxima = np.array([np.max(chosen, axis=0) for chosen in product(*case.classes)])
    parts = [rademacher(values) for values in case.classes]
    return at_most(rademacher(maxima), share * (max(parts) if largest else sum(parts)))


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
    judged="the paper says suboptimal without a number; sqrt(pi/c) follows from Jensen for the "
    "left and the sharp Khintchine inequality for the right side.",
    cases=coupled_classes,
    planted=(
        version("at most pi/c", power=1.0),
        version("at most sqrt(pi/c)/2", factor=0.5),
        version("classes bounded one by one, not coupled", coupled=False),
    ),
)
def coupling_pays(
    case: Case, power: float = 0.5, factor: float = 1.0, coupled: bool = True
) -> Outcome:
    """Both sides for Lambda = n = 1, as the factor Lambda/n is common."""
    gram = (case.features @ case.features.T).astype(float)
    signs = np.array(list(product((-1, 1), repeat=len(gram))))
    one_class = float(np.linalg.norm(signs @ case.features, axis=1).mean())
    c = case.c
    supremum = gaussian_norm(gram, c) if coupled else c * gaussian_norm(gram, 1)
    right = factor * (math.pi / c) ** power * c * one_class
    return at_most(math.sqrt(math.pi / 2) * supremum, right, allowed=1e-7)


def vector_classes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Classes of functions with c components on n points: values (N, n, c), labels y (n,)."""
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


def process_bound(left: np.ndarray, right: np.ndarray, share: float, seed: int) -> Outcome:
    """E sup <g, row of left> <= share E sup <g, row of right>."""
    rng = np.random.default_rng(seed)
    low, low_error = gaussian_supremum(left, rng)
    high, high_error = gaussian_supremum(right, rng)
    error = math.hypot(low_error, high_error)
    return at_most(low, share * high, allowed=ROUNDING + SIGMAS * error)


def multiclass_process(values: np.ndarray, shared: bool) -> np.ndarray:
    """The coefficients of the n c normal numbers, or of n shared by the classes."""
    return values.sum(axis=2) if shared else values.reshape(len(values), -1)


@claim(
    "LP15-lem4",
    "Lemma 4, (4)",
    "The Gaussian complexity of the maxima of h_1, ..., h_c is at most the expected supremum with "
    "one normal number for each sample and class.",
    formula=r"G_S(\{\max_j h_j:\ h\in H\})\leq\frac{1}{n}E_g\sup_{h\in H}"
    r"\sum_{i=1}^n\sum_{j=1}^c g_{(j-1)n+i}h_j(x_i)",
    shapes="h(x_i): (c,)",
    cases=vector_classes,
    planted=(
        version("a normal number a sample, shared by the classes", shared=True),
        version("0.9 times the right side", share=0.9),
    ),
)
def structural_result(case: Case, shared: bool = False, share: float = 1.0) -> Outcome:
    right = multiclass_process(case.values, shared)
    return process_bound(case.values.max(axis=2), right, share, case.seed)


@claim(
    "LP15-lemA2",
    "Lemma A.2",
    "The Gaussian complexity of (x, y) -> h_y(x) is at most the same expected supremum.",
    formula=r"G_S(H)\leq\frac{1}{n}E_g\sup_{h\in H}"
    r"\sum_{i=1}^n\sum_{j=1}^c g_{(j-1)n+i}h_j(x_i)",
    shapes="h(x_i): (c,); y: (n,)",
    cases=vector_classes,
    planted=(
        version("a normal number a sample, shared by the classes", shared=True),
        version("0.9 times the right side", share=0.9),
    ),
)
def labelled_class(case: Case, shared: bool = False, share: float = 1.0) -> Outcome:
    right = multiclass_process(case.values, shared)
    left = case.values[:, np.arange(len(case.y)), case.y]
    return process_bound(left, right, share, case.seed)


def mean_zero_processes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Processes X = <g, row of x>, Y = <g, row of x, shrunk>: no increment of Y is larger."""
    for size in (2, 3, 3, 3, 8):
        for _ in range(4 if deep else 2):
            x = rng.standard_normal((size, 3))
            turned = np.linalg.qr(rng.standard_normal((3, 3)))[0]
            y = x @ turned * rng.uniform(0, 1, 3)
            seed = int(rng.integers(2**31))
            zero = np.zeros(size, dtype=int)
            yield Case(kind="mean 0", x=x, y=y, x_mean=zero, y_mean=zero, seed=seed)


def processes(rng: Rng, deep: bool) -> Iterator[Case]:
    """Those with mean 0, and some that are not 0 and have a mean."""
    yield from mean_zero_processes(rng, deep)
    one = np.ones((1, 1), dtype=int)
    yield Case(kind="one index", x=one, y=one, x_mean=0 * one[0], y_mean=one[0], seed=0)
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
    derived=version("of two processes with mean zero", cases=mean_zero_processes),
    planted=(
        version("the larger expected supremum", sign=-1, cases=mean_zero_processes),
        version("0.7 times the right side", share=0.7, cases=mean_zero_processes),
    ),
)
def comparison(case: Case, sign: int = 1, share: float = 1.0) -> Outcome:
    rng = np.random.default_rng(case.seed)
    low, low_error = expected_supremum(case.y, case.y_mean, rng)
    high, high_error = expected_supremum(case.x, case.x_mean, rng)
    error = math.hypot(low_error, high_error)
    return at_most(sign * low, sign * share * high, allowed=ROUNDING + SIGMAS * error)


def expected_supremum(rows: np.ndarray, mean: np.ndarray, rng: Rng) -> tuple[float, float]:
    """E sup of mean_k + <g, row k>; with a mean, for one row or two, by known formulas."""
    if not mean.any():
        return gaussian_supremum(rows, rng)
    if len(rows) == 1:
        return float(mean[0]), 0.0
    spread = float(np.linalg.norm(rows[0] - rows[1]))
    ahead = float(mean[1] - mean[0])
    step = ahead / spread
    return float(mean[0] + ahead * norm.cdf(step) + spread * norm.pdf(step)), 0.0
