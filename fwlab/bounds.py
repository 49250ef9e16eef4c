"""Generalisation bounds of LP15, and the earlier bounds that it compares with.

With probability at least 1 - delta over the sample, every function of the class satisfies

    risk <= mean loss + complexity term + confidence term.

There are n samples and c classes. L is the Lipschitz constant of a regular loss (LP15 Definition
2), and B is its largest value. The function classes are

    H_{p,Lambda} = { x -> (<w_j, x>)_j : |w|_{2,p} <= Lambda },  1 <= p <= 2        (LP15 (5)).

The complexities are estimated by Monte Carlo, with their standard errors. `python -m paper_checks
--paper LP15` checks every statement behind these functions.
"""

import math
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_features, as_generator, as_integer, as_real
from fwlab.lp_norm import LpNorm

Estimate = tuple[float, float]


def confidence_term(n: int, delta: float, B: float = 1.0) -> float:
    """Return 3 B sqrt(log(2/delta) / (2n)), the last term of every bound, 0 < delta < 1."""
    n = as_integer("n", n, low=1)
    delta = as_real("delta", delta, positive=True)
    if delta >= 1:
        raise ValueError(f"delta must be below 1; got {delta}.")
    return 3 * as_real("B", B, positive=True) * math.sqrt(math.log(2 / delta) / (2 * n))


def theorem_5(
    mean_loss: float, supremum: float, n: int, delta: float, L: float = 1.0, B: float = 1.0
) -> float:
    """Return the bound of LP15 Theorem 5, with the complexity term

        2 L sqrt(2 pi) supremum / n.

    Parameters
    ----------
    mean_loss : float
        Mean loss on the sample.
    supremum : float
        The expectation that `expected_supremum` estimates.
    n : int
        Number of samples.
    delta : float
        Probability that the bound fails, 0 < delta < 1.
    L, B : float
        Lipschitz constant and largest value of the loss.

    Returns
    -------
    float
        The bound on the risk.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or is out of its range.
    """
    term = 2 * math.sqrt(2 * math.pi) * as_real("supremum", supremum, positive=False)
    return _bound(mean_loss, term / as_integer("n", n, low=1), n, delta, L, B)


def theorem_7(
    mean_loss: float,
    moment: float,
    Lambda: float,
    beta: float,
    n: int,
    delta: float,
    L: float = 1.0,
    B: float = 1.0,
) -> float:
    """Return the bound of LP15 Theorem 7, with the complexity term

        (4 L / n) sqrt(pi Lambda moment / beta).

    The class is { w : f(w) <= Lambda }, with f beta-strongly convex in a norm. For f =
    |w|_{2,q}^2 / 2, 1 < q <= 2, beta is q - 1, and H_{q,r} is this class with Lambda = r^2 / 2.

    Parameters
    ----------
    moment : float
        The expectation that `expected_square_norms` estimates.
    Lambda : float
        Upper limit of f.
    beta : float
        Modulus of strong convexity of f.
    mean_loss, n, delta, L, B
        As for `theorem_5`.

    Returns
    -------
    float
        The bound on the risk.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or is out of its range.
    """
    Lambda, beta = as_real("Lambda", Lambda, positive=True), as_real("beta", beta, positive=True)
    moment, n = as_real("moment", moment, positive=False), as_integer("n", n, low=1)
    return _bound(mean_loss, 4 * math.sqrt(math.pi * Lambda * moment / beta) / n, n, delta, L, B)


def corollary_8(
    mean_loss: float,
    trace: float,
    p: float,
    Lambda: float,
    c: int,
    n: int,
    delta: float,
    L: float = 1.0,
    B: float = 1.0,
) -> float:
    """Return the bound of LP15 Corollary 8 for H_{p,Lambda}, with the complexity term

        (2 L Lambda / n) sqrt(trace) class_factor(c, p).

    Parameters
    ----------
    trace : float
        sum_i k(x_i, x_i), the trace of the Gram matrix.
    p : float
        Exponent of the norm, 1 <= p <= 2.
    Lambda : float
        Largest norm in the class.
    c : int
        Number of classes, at least 2.
    mean_loss, n, delta, L, B
        As for `theorem_5`.

    Returns
    -------
    float
        The bound on the risk.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or is out of its range.
    """
    Lambda, n = as_real("Lambda", Lambda, positive=True), as_integer("n", n, low=1)
    root = math.sqrt(as_real("trace", trace, positive=False))
    return _bound(mean_loss, 2 * Lambda * root * class_factor(c, p) / n, n, delta, L, B)


def class_factor(c: int, p: float) -> float:
    """Return the factor by which Corollary 8 grows with the number of classes:

        sqrt(e) (4 log c)^(1 + 1/(2 log c))   for p <= 2 log c / (2 log c - 1),
        (2p / (p-1))^(2 - 1/p) c^((p-1)/p)    for larger p.

    c is at least 2, and 1 <= p <= 2.
    """
    c, p = as_integer("c", c, low=2), _exponent(p)
    t = 2 * math.log(c)
    if p * (t - 1) <= t:
        return float(math.sqrt(math.e) * (2 * t) ** (1 + 1 / t))
    q = p / (p - 1)
    return float((2 * q) ** (2 - 1 / p) * c ** (1 / q))


def earlier_rademacher_bound(
    mean_loss: float,
    complexity: float,
    c: int,
    n: int,
    delta: float,
    L: float = 1.0,
    B: float = 1.0,
) -> float:
    """Return the bound of LP15 Remark 6, with the complexity term 4 L c complexity.

    LP15 prints a further factor 1/n. Definition 3 already includes it in the complexity, and with
    it the bound fails (LP15-rem6 in the ledger).

    Parameters
    ----------
    complexity : float
        Rademacher complexity of all components, as `component_complexity` estimates it.
    c : int
        Number of classes, at least 2.
    mean_loss, n, delta, L, B
        As for `theorem_5`.

    Returns
    -------
    float
        The bound on the risk.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or is out of its range.
    """
    term = 4 * as_integer("c", c, low=2) * as_real("complexity", complexity, positive=False)
    return _bound(mean_loss, term, n, delta, L, B)


def class_size_independent_bound(
    least_regularised_loss: float, largest_square_norm: float, lam: float, n: int
) -> float:
    """Return the bound LP15 (6) on the expected loss of the regularised solution,

        least_regularised_loss + 2 largest_square_norm / (lam n).

    The bound is on an expectation over samples, so it has no delta. LP15 prints the loss of one
    (x, y) on the right, but means its expectation (LP15-eq6 in the ledger).

    Parameters
    ----------
    least_regularised_loss : float
        The least expected loss plus lam n / (2(n+1)) |w|^2.
    largest_square_norm : float
        Largest k(x, x).
    lam : float
        Regularisation constant, positive.
    n : int
        Number of samples.

    Returns
    -------
    float
        The bound on the expected loss.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or is out of its range.
    """
    n, lam = as_integer("n", n, low=1), as_real("lam", lam, positive=True)
    largest = as_real("largest_square_norm", largest_square_norm, positive=False)
    least = as_real("least_regularised_loss", least_regularised_loss, positive=False)
    return least + 2 * largest / (lam * n)


def expected_supremum(
    X: Any, c: int, p: float, Lambda: float = 1.0, draws: int = 1000, rng: Any = 0
) -> Estimate:
    """Estimate the expected supremum over H_{p,Lambda} of LP15 Theorem 5,

        E sup_h sum_ij g_ij h_j(x_i).

    By the dual norm, the supremum of each draw is Lambda |(sum_i g_ij x_i)_j|_{2,q}.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
        The samples.
    c : int
        Number of classes, at least 2.
    p : float
        Exponent of the norm, 1 <= p <= 2.
    Lambda : float
        Largest norm in the class.
    draws : int
        Number of draws of the normal numbers g (n, c), at least 2.
    rng : int or numpy.random.Generator
        Seed or generator of the draws.

    Returns
    -------
    mean, standard_error : float
        The Monte-Carlo estimate.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or is out of its range.
    """
    X, c, norm = as_features("X", X), as_integer("c", c, low=2), LpNorm(_exponent(p))
    Lambda, generator = as_real("Lambda", Lambda, positive=True), as_generator(rng)
    suprema = [
        math.sqrt(2 * norm.conjugate(np.asarray((X.T @ g).T)))
        for g in _normals(generator, as_integer("draws", draws, low=2), X.shape[0], c)
    ]
    return _mean_and_error(Lambda * np.array(suprema))


def expected_square_norms(X: Any, c: int, p: float, draws: int = 10_000, rng: Any = 0) -> Estimate:
    """Estimate the expected square norms of LP15 Theorem 7 with the (2, p) norm,

        E sum_i |(g_i1 x_i, .., g_ic x_i)|_{2,q}^2.

    This is sum_i |x_i|^2 times the mean square of the q-norm of c normal numbers.

    Parameters
    ----------
    X, c, p, rng
        As for `expected_supremum`.
    draws : int
        Number of draws of c normal numbers, at least 2.

    Returns
    -------
    mean, standard_error : float
        The Monte-Carlo estimate.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or is out of its range.
    """
    X, c, norm = as_features("X", X), as_integer("c", c, low=2), LpNorm(_exponent(p))
    g = as_generator(rng).standard_normal((as_integer("draws", draws, low=2), c))
    mean, error = _mean_and_error(np.array([norm.dual_square_norm(row) for row in g**2]))
    trace = float((X.multiply(X) if hasattr(X, "multiply") else X**2).sum())
    return trace * mean, trace * error


def component_complexity(X: Any, Lambda: float = 1.0, draws: int = 1000, rng: Any = 0) -> Estimate:
    """Estimate the Rademacher complexity of all components of H_{p,Lambda}, for LP15 Remark 6,

        (Lambda / n) E |sum_i sigma_i x_i|.

    It does not depend on p.

    Parameters
    ----------
    X, Lambda, rng
        As for `expected_supremum`.
    draws : int
        Number of draws of the signs sigma (n,), at least 2.

    Returns
    -------
    mean, standard_error : float
        The Monte-Carlo estimate.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number or is out of its range.
    """
    X, Lambda = as_features("X", X), as_real("Lambda", Lambda, positive=True)
    generator, draws = as_generator(rng), as_integer("draws", draws, low=2)
    signs = (generator.choice([-1.0, 1.0], X.shape[0]) for _ in range(draws))
    lengths = np.array([np.linalg.norm(X.T @ sigma) for sigma in signs])
    return _mean_and_error(Lambda * lengths / X.shape[0])


def _normals(rng: np.random.Generator, draws: int, n: int, c: int) -> Any:
    return (rng.standard_normal((n, c)) for _ in range(draws))


def _mean_and_error(sample: Floats) -> Estimate:
    return float(sample.mean()), float(sample.std(ddof=1) / math.sqrt(len(sample)))


def _bound(mean_loss: float, term: float, n: int, delta: float, L: float, B: float) -> float:
    """Return mean_loss + L term + confidence term; `term` is the complexity term for L = 1."""
    mean_loss, L = as_real("mean_loss", mean_loss, positive=False), as_real("L", L, positive=True)
    return mean_loss + L * term + confidence_term(n, delta, B)


def _exponent(p: float) -> float:
    p = LpNorm(p).p
    if p > 2:
        raise ValueError(f"p must be in 1..2, where LP15's bounds hold; got {p}.")
    return p
