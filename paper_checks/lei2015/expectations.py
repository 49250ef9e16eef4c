"""Compute Rademacher and Gaussian averages of finite classes, exactly if there is a formula.

A class is the array of its functions' values, one row per function.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import erf

from paper_checks.arithmetic import Real, absolute, inner, total
from paper_checks.cases import fractions
from paper_checks.ledger import Case, Outcome
from paper_checks.outcomes import at_most, estimated

DRAWS = 20_000
# Monte Carlo means lie within this many standard errors: the intervals of one chance in a million
SIGMAS = 5


def below_in_mean(left: float, right: float, error: float, **seen: Any) -> Outcome:
    """Compare left <= right, where the difference has this standard error, 0 for known formulas."""
    if error == 0:
        return at_most(left, right, **seen)
    gap, half = float(right - left), float(SIGMAS * error)
    return estimated(gap - half, gap + half, left=left, right=right, **seen)


# Two functions h and h' on n points. With d = h - h' both suprema are even in d:
#     E sup <sigma, h> = E|<sigma, d>|/2,   E sup <g, h> = |d|/sqrt(2 pi),
# so comparing squares needs neither a root nor pi.


def mean_absolute(d: Sequence[Real]) -> Real:
    """Return E|<sigma, d>| over all signs; the first sign may be fixed."""
    signs = list(product((1,), *[(-1, 1)] * (len(d) - 1)))
    return total(absolute(inner(sign, d)) for sign in signs) / len(signs)


def differences(pair: Sequence[Sequence[Real]]) -> list[Real]:
    return [a - b for a, b in zip(*pair, strict=True)]


def pairs(rng: np.random.Generator, sizes: Sequence[int]) -> Iterator[Case]:
    """Yield two functions with values that are fractions, twice for each number of points."""
    for n in sizes:
        for _ in range(2):
            yield Case(kind="two functions", n=n, pair=(fractions(rng, n), fractions(rng, n)))


def rademacher(functions: np.ndarray) -> Fraction:
    """Return the empirical Rademacher complexity of integer values (N, n): all signs, exactly."""
    n = functions.shape[1]
    signs = np.array(list(product((-1, 1), repeat=n)))
    sums = int((signs @ functions.T).max(axis=1).sum())
    return Fraction(sums, n * len(signs))


def gaussian_supremum(functions: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Return E sup over the rows of <g, row>, and its standard error.

    Three points lie in a plane, where the mean of the support function is the perimeter over 2
    sqrt(2 pi), and translations do not change it; so for up to three rows there is no error.
    """
    if len(functions) <= 3:
        sides = [float(np.linalg.norm(a - b)) for a, b in combinations(functions.astype(float), 2)]
        perimeter = math.fsum(sides) * (2 if len(functions) == 2 else 1)
        return perimeter / (2 * math.sqrt(2 * math.pi)), 0.0
    g = rng.standard_normal((DRAWS, functions.shape[1]))
    return mean_and_error((g @ functions.T).max(axis=1))


def mean_and_error(sample: np.ndarray) -> tuple[float, float]:
    return float(sample.mean()), float(sample.std(ddof=1) / math.sqrt(len(sample)))


def largest_gaussian(n: int) -> float:
    """Return E max over i of |g_i| for n independent normal numbers."""
    return integral(lambda t: 1 - erf(t / math.sqrt(2)) ** n)


def gaussian_norm(gram: np.ndarray, c: int) -> float:
    """Return E of the Frobenius norm of sum_i phi(x_i) g_i', g_i in R^c, for a Gram matrix.

    The square is Q = sum_k mu_k chi^2_c over the eigenvalues mu_k, and
    E sqrt(Q) = pi^(-1/2) integral of (1 - E exp(-u^2 Q)) / u^2 over u > 0.
    """
    spectrum = np.linalg.eigvalsh(gram).clip(0)
    scale = math.sqrt(c * spectrum.sum())

    def integrand(u: float) -> float:
        logs = -c / 2 * np.log1p(2 * (u / scale) ** 2 * spectrum).sum()
        return -math.expm1(logs) / u**2

    return integral(integrand) * scale / math.sqrt(math.pi)


def integral(f: Any) -> float:
    """Integrate over u > 0, in two parts."""
    return quad(f, 0.0, 1.0, epsabs=1e-11)[0] + quad(f, 1.0, math.inf, epsabs=1e-11)[0]


def square_norm(c: int, s: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return E (sum over j <= c of |g_j|^s)^(2/s), and its standard error.

    The result is exact for c <= 2 and for s = 2.
    """
    if s == 2 or c == 1:
        return float(c), 0.0
    if c == 2:  # the radius and the angle are independent, and E radius^2 = 2
        angle = quad(lambda a: (math.cos(a) ** s + math.sin(a) ** s) ** (2 / s), 0, math.pi / 2)
        return 2 * angle[0] / (math.pi / 2), 0.0
    g = np.abs(rng.standard_normal((max(2000, 200_000 // c), c)))
    return mean_and_error(np.linalg.norm(g, s, axis=1) ** 2)
