"""Check LP15 sections 2.3, B.1 and B.2: the generalisation bounds of Theorems 5 and 7.

Classes are finite: values (N, X, c) of N functions with c components at X inputs.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from paper_checks.arithmetic import Real, Undefined, all_of, inner, maximum, minimum, total
from paper_checks.cases import Rng, fractions
from paper_checks.ledger import Case, Erratum, Library, Outcome, WhereRight, claim, version
from paper_checks.lei2015 import in_fwlab
from paper_checks.lei2015.expectations import (
    below_in_mean,
    gaussian_norm,
    gaussian_supremum,
    mean_and_error,
    square_norm,
)
from paper_checks.outcomes import at_most
from paper_checks.proofs import BySolver
from paper_checks.symbols import real, reals

DELTAS = (0.1, 0.5, 0.9)


def cut_margins(values: np.ndarray, y: np.ndarray, theta: int) -> np.ndarray:
    """Return min(margin, theta) of each function at each sample: values (N, n, c) to (N, n)."""
    own = values[:, np.arange(len(y)), y]
    others = values.copy()
    others[:, np.arange(len(y)), y] -= theta
    return own - others.max(axis=2)


def samples(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield two or three functions on a sample: values (N, n, c), labels y (n,) and a cut theta."""
    for c in (2, 3, 4):
        for n in range(1, 7 if deep else 5):
            for size in (2, 3, 3):
                values, y = rng.integers(-3, 4, (size, n, c)), rng.integers(0, c, n)
                yield Case(kind="random", values=values, y=y, theta=int(rng.integers(1, 8)))
            values = np.zeros((2, n, c), dtype=int)
            values[:, :, 0] = np.array([[1], [-1]])
            values[:, :, 1] = -values[:, :, 0]
            values[:, :, 2:] = -9
            yield Case(kind="a sign", values=values, y=np.zeros(n, dtype=int), theta=20)


def distributions(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield all samples of size n with their probability, worst excess and complexity.

    The excess is the risk minus the empirical loss, the complexity is E sup / n, and the loss is
    the margin loss with L = 1/rho.
    """
    for c in (2, 3):
        for rho in (1, 2):
            values, y = rng.integers(-2, 3, (3, 3, c)), rng.integers(0, c, 3)
            chances = rng.dirichlet(np.ones(3))
            drawn = all_samples(values, y, chances, rho, n=20 if deep else 12)
            for delta in DELTAS:
                yield Case(kind="random", n=drawn[1], L=1 / rho, samples=drawn[0], delta=delta)
    for n in (50, 200):
        for delta in DELTAS:
            yield Case(kind="memory", n=n, L=1.0, samples=memory(n), delta=delta)


def all_samples(
    values: np.ndarray, y: np.ndarray, chances: np.ndarray, rho: int, n: int
) -> tuple[np.ndarray, int]:
    """Return rows (probability, excess, complexity), one for each count of the sample's atoms."""
    margins = cut_margins(values, y, rho)
    losses, errors = np.clip(1 - margins / rho, 0, 1), margins <= 0
    risks, rows = errors @ chances, []
    for first in range(n + 1):
        for second in range(n + 1 - first):
            counts = np.array([first, second, n - first - second])
            ways = math.factorial(n) / math.prod(math.factorial(k) for k in counts)
            scaled = values * np.sqrt(counts)[None, :, None]  # add the terms of repeated inputs
            supremum, _ = gaussian_supremum(scaled.reshape(3, -1), np.random.default_rng(0))
            excess = (risks - losses @ counts / n).max()
            rows.append((ways * np.prod(chances**counts), excess, supremum / n))
    return np.array(rows), n


def memory(n: int) -> np.ndarray:
    """Return two classes, 100 n equally likely inputs, and all functions (s, -s)/2 with s a sign.

    One function is right on the sample and wrong elsewhere, so that the excess is at least 99/100.
    The expected supremum of n different inputs is n E|g_1 - g_2|/2 = n/sqrt(pi); of fewer inputs it
    is less.
    """
    return np.array([[1.0, 0.99, 1 / math.sqrt(math.pi)]])


@claim(
    "LP15-thm5",
    "Theorem 5",
    "With probability at least 1 - delta the risk of every h is at most its mean loss plus "
    "2 L sqrt(2 pi)/n times the expected supremum plus 3 B sqrt(log(2/delta)/(2n)).",
    formula=r"R(h)\leq\frac{1}{n}\sum_i\ell(\rho_h(x_i,y_i))+\frac{2L\sqrt{2\pi}}{n}"
    r"E_g\sup_{h\in H}\sum_{i,j}g_{(j-1)n+i}h_j(x_i)+3B_\ell\sqrt{\frac{\log(2/\delta)}{2n}}",
    shapes="h(x): (c,); 0 < delta < 1",
    judged="for delta below 1; above 2 the root is undefined. The steps of its proof are "
    "judged in LP15-rho-theta, LP15-eq2-left, LP15-lem4, LP15-lemA2 and LP15-B3.",
    cases=distributions,
    planted=(
        version("without the last two terms", factor=0.0, confidence=0.0),
        version("a second 1/n in the middle term", power=1),
    ),
    not_proved="a probability over samples; its steps are proved separately",
    library=Library(("fwlab.bounds.theorem_5", "fwlab.bounds.confidence_term"), in_fwlab.theorem_5),
)
def generalisation_bound(
    case: Case,
    factor: float = 2 * math.sqrt(2 * math.pi),
    confidence: float = 3.0,
    power: int = 0,
) -> Outcome:
    """Bound the probability of the samples on which some h breaks the bound; B = 1."""
    chance, excess, complexity = case.samples.T
    deviation = confidence * math.sqrt(math.log(2 / case.delta) / (2 * case.n))
    allowed = factor * case.L * complexity / case.n**power + deviation
    return at_most(float(chance[excess > allowed].sum()), case.delta)


def sums(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield functions f(w) = (beta/2) |w - a|^2 + b >= 0 on the box |w_j - a_j| <= r, exactly.

    They come with vectors v and a mu, which is the worst one without the box or a random one in it.
    """
    for i in range(60 if deep else 20):
        r = (Fraction(100), Fraction(1, 2), Fraction(1))[i % 3]
        a, shift = (fractions(rng, 3, 3, 1) for _ in range(2))
        v = [fractions(rng, 3, 3, 1) for _ in range(int(rng.integers(1, 5)))]
        beta = Fraction(int(rng.integers(1, 5)), 2)
        b = Fraction(int(rng.integers(0, 3)))
        worst = [x + clipped(total(w[j] for w in v) / beta, r) for j, x in enumerate(a)]
        random = [x + clipped(y, r) for x, y in zip(a, shift, strict=True)]
        for kind, mu in (("random mu", random), ("worst mu", worst)):
            yield Case(kind=kind, n=len(v), a=a, b=b, r=r, v=v, beta=beta, mu=tuple(mu))
    zero, one = Fraction(0), (Fraction(1),)
    yield Case(kind="worst mu", n=2, a=(zero,), b=zero, r=one[0], v=[one, one], beta=one[0], mu=one)


def symbolic_sums(deep: bool) -> Iterator[Case]:
    """Yield sums in one dimension, beta = 1 and a = 0, on an interval of any size."""
    for n in (1, 2):
        v = [reals(f"v_{i + 1}", 1) for i in range(n)]
        yield Case(
            kind="symbols", n=n, a=(Fraction(0),), b=Fraction(0), r=real("r"), v=v,
            beta=Fraction(1), mu=reals("mu", 1),
        )  # fmt: skip


def clipped(value: Real, r: Real) -> Real:
    """Return the nearest number between -r and r."""
    return maximum(-r, minimum(r, value))


@claim(
    "LP15-lemB1",
    "Lemma B.1",
    "For a beta-strongly convex f with f*(0) = 0, sum <v_i, mu> - f(mu) is at most the sum of "
    "<grad f*(v_1 + ... + v_(i-1), v_i) + |v_i|_*^2 / (2 beta), as printed.",
    formula=r"\sum_i\langle v_i,\mu\rangle-f(\mu)\leq\sum_i\langle\nabla f^*(v_{1:i-1},v_i)"
    r"+\frac{1}{2\beta}\sum_i\|v_i\|_*^2",
    shapes="v_i, mu: (d,)",
    judged="as printed the bracket is not closed and the gradient has two arguments: undefined. "
    "Tried for quadratics on boxes, with the Euclidean norm; f*(0) <= 0 is enough.",
    cases=sums,
    derived=version(
        "with the bracket closed after v_i and the gradient's after v_(1:i-1)",
        closed=True,
        formula=r"\sum_i\langle v_i,\mu\rangle-f(\mu)\leq\sum_i\langle\nabla f^*(v_{1:i-1}),"
        r"v_i\rangle+\frac{1}{2\beta}\sum_i\|v_i\|_*^2",
    ),
    where_right=WhereRight("appendix B.2, proof of Theorem 7, end of its first display"),
    planted=(
        version("3/4 of the quadratic term", closed=True, share=Fraction(3, 4)),
        version("the gradient at v_1 + ... + v_(i-2)", closed=True, lag=2),
    ),
    proofs=(
        BySolver(
            "a box whose boundary a partial sum crosses, where f* is not quadratic",
            cases=symbolic_sums,
            assuming=lambda case: all_of(
                case.r >= 0, *(all_of(x <= case.r, x >= -case.r) for x in case.mu)
            ),
            sized_by=("n",),
        ),
    ),
    erratum=Erratum(
        "appendix B.2, Lemma B.1",
        r"\sum_i\langle\nabla f^*(v_{1:i-1},v_i)+\frac{1}{2\beta}\sum_i\|v_i\|_*^2",
        r"\sum_i\langle\nabla f^*(v_{1:i-1}),v_i\rangle+\frac{1}{2\beta}\sum_i\|v_i\|_*^2",
        r"$f^*$ has one argument, and the bracket is never closed. With $f=\frac{1}{2}w^2$, n = 1 "
        r"and v = 1 the corrected bound is $\frac{1}{2}$, attained at $\mu=1$.",
        "Nothing: the proof of Theorem 7 uses the correct form.",
    ),
)
def strong_convexity_sum(
    case: Case, closed: bool = False, share: Fraction = Fraction(1), lag: int = 1
) -> Outcome:
    if not closed:
        raise Undefined("grad f* of two arguments, in a bracket that is not closed")
    distance = [m - a for m, a in zip(case.mu, case.a, strict=True)]
    left = total(inner(v, case.mu) for v in case.v)
    left = left - (case.beta / 2 * inner(distance, distance) + case.b)
    right = Fraction(0)
    for i, v in enumerate(case.v):
        before = [total(w[j] for w in case.v[: max(i + 1 - lag, 0)]) for j in range(len(v))]
        gradient = [a + clipped(s / case.beta, case.r) for a, s in zip(case.a, before, strict=True)]
        right = right + inner(gradient, v) + share * inner(v, v) / (2 * case.beta)
    return at_most(left, right)


def norm_balls(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield norms f = (1/2) |.|_{2,q}^2 with Lambda = 1/2.

    Each has the expectations of the supremum and of the squared dual norms.
    """
    for c in (2, 3, 20) if not deep else (2, 3, 20, 200):
        for n in (1, 3):
            features = rng.standard_normal((n, 2))
            for q in (1.1, 1.5, 2.0):
                yield norm_ball(rng, features, c, q)
    yield norm_ball(rng, np.ones((1, 1)), 2000, 2.0)


def norm_ball(rng: Rng, features: np.ndarray, c: int, q: float) -> Case:
    dual, gram = q / (q - 1), features @ features.T
    supremum, error = gaussian_norm(gram, c), 0.0
    if q != 2:
        g = rng.standard_normal((4000, c, len(features)))
        blocks = np.linalg.norm(g @ features, axis=2)
        supremum, error = mean_and_error(np.linalg.norm(blocks, dual, axis=1))
    squares, square_error = square_norm(c, dual, rng)
    return Case(
        kind=f"q = {q}",
        c=c,
        beta=q - 1,
        supremum=supremum,
        squares=squares * gram.trace(),
        error=error + square_error * gram.trace(),
    )


@claim(
    "LP15-thm7",
    "Theorem 7",
    "For the functions with f(w) <= Lambda, f beta-strongly convex, the middle term of Theorem 5 "
    "is at most 4 L/n sqrt(pi Lambda/beta times the expected sum of squared dual norms).",
    formula=r"\frac{2L\sqrt{2\pi}}{n}E_g\sup_{f(w)\leq\Lambda}\sum_{i,j}g_{(j-1)n+i}"
    r"\langle w_j,\phi(x_i)\rangle\leq\frac{4L}{n}\sqrt{\frac{\pi\Lambda}{\beta}"
    r"E_g\sum_i\|(g_i\phi(x_i),\ldots,g_{(c-1)n+i}\phi(x_i))\|_*^2}",
    shapes="phi(x_i): (d,); w: (c, d)",
    judged="as a step from Theorem 5, with f = (1/2)|.|_{2,q}^2 and its full modulus q - 1.",
    cases=norm_balls,
    planted=(
        version("the constant 3.99", factor=3.99),
        version("sqrt(Lambda beta)", inverse=False),
    ),
    not_proved="means of norms of Gaussian vectors",
    library=Library(("fwlab.bounds.theorem_7",), in_fwlab.theorem_7),
)
def kernel_bound(case: Case, factor: float = 4.0, inverse: bool = True) -> Outcome:
    strength = 1 / case.beta if inverse else case.beta
    left = 2 * math.sqrt(2 * math.pi) * case.supremum
    right = factor * math.sqrt(math.pi / 2 * strength * case.squares)
    return below_in_mean(left, right, case.error)
