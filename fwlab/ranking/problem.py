"""Define the ranking problem of M20 and its dual, in one form for all objectives and kernels.

    P(w)           = 1/2 |w|^2 + C sum_i l(t - s_i),  t the threshold of the counted rows' scores
    D(alpha, beta) = -1/2 |w|^2 - C sum_i l*(alpha_i / C)
                     + slope sum(beta) - curvature/2 sum_j beta_j^2 / r - price r
    w              = sum_i alpha_i phi(x_i) - sum_j beta_j phi(x_j),   M20 (13)

over 0 <= alpha_i <= C largest, 0 <= beta_j <= cap r and sum(alpha) = sum(beta). r is delta, or
sum(beta) if the threshold has no delta (thresholds.py).

The counted rows j are the negatives, or all rows for PatMat(over="all"). Rows are kept with the
positives first, then the counted rows; a positive that counts is kept twice, once for its alpha and
once for its beta.
"""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_features, as_gram_memory, as_real
from fwlab.checks.gram import checked_gram
from fwlab.checks.labels import as_positive
from fwlab.ranking.gram import Gram, LinearGram, RbfGram, StoredGram
from fwlab.ranking.machine import KERNELS, Machine
from fwlab.ranking.objectives import Objective, PatMat, TopPushK
from fwlab.result import Certificate

TOLERANCE = 1e-12  # allowed rounding errors of the constraints, a fraction of sum(alpha)

SMALLEST_SCALE = 1e-200  # of C theta^2, the unit of the square in the conjugate
LARGEST_KERNEL = 1e200  # its square, and sums of n^2 of them, are finite
# in units of C theta^2 k(x, x). The rounding error of a loss is about u = 1e-16 times theta times a
# score, and a machine that fits the training rows has |w|^2 near 1/(theta^2 k). The least quadratic
# loss that floats can tell from 0, C u^2, then equals P at 1/u^2 = 1e32
LARGEST_SCALE = 1e30


@dataclass(eq=False)
class Point:
    """The dual variables alpha (n_positive,), beta (n_counted,) and delta, None for TopPushK."""

    alpha: Floats
    beta: Floats
    delta: float | None

    @property
    def r(self) -> float:
        """delta, or the sum of beta if there is no delta."""
        return float(self.beta.sum()) if self.delta is None else self.delta


class Problem:
    """min 1/2 |w|^2 + C sum over the positives of l(t - score).

    Parameters
    ----------
    X, y, objective, C, kernel, sigma
        As in `fwlab.ranking.solve`.
    max_gram_memory : int
        Bytes for kernel matrices.
    max_memory : int, optional
        The former name of max_gram_memory, which is taken with a warning.

    Raises
    ------
    TypeError, ValueError
        With one sentence, if an argument is not allowed.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        objective: Objective,
        C: float,
        kernel: str = "linear",
        sigma: float | None = None,
        max_gram_memory: int = 2**30,
        max_memory: int | None = None,
    ) -> None:
        if not isinstance(objective, TopPushK | PatMat):
            raise TypeError(f"objective must be TopPush, TopPushK or PatMat; got {objective!r}.")
        if kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(KERNELS)}; got {kernel!r}.")
        self.objective, self.kernel = objective, kernel
        self.C = as_real("C", C, positive=True)
        self.sigma = _checked_sigma(kernel, sigma)
        shifted = checked_gram(X) if kernel == "precomputed" else (as_features("X", X), 0.0)
        X, self.gram_shift = shifted
        positive = as_positive(y)
        if len(positive) != X.shape[0]:
            raise ValueError(f"y must have {X.shape[0]} labels, one per row; got {len(positive)}.")
        counts = int(positive.sum()), int((~positive).sum())
        for name, count in zip(("positive", "negative"), counts, strict=True):
            if count == 0:
                raise ValueError(f"y must hold at least one {name} sample; got none.")
        self.max_gram_memory = as_gram_memory(max_gram_memory, max_memory)
        self.loss = objective.loss
        self.threshold = objective.threshold(*counts)
        counted = ~positive if objective.over == "negatives" else np.ones_like(positive)
        self._arrange(np.append(np.flatnonzero(positive), np.flatnonzero(counted)), counts[0])
        self.gram = self._gram_of(X)
        self._check_scale()

    def _arrange(self, order: Integers, n_positive: int) -> None:
        """Take samples in this order: positives, then counted rows."""
        self.order, self.n_positive = order, n_positive
        self.n_counted = len(order) - n_positive
        self.signs = np.repeat([1.0, -1.0], [n_positive, self.n_counted])
        self.twins = twins(order, n_positive)

    @property
    def n_negative(self) -> int:
        """The number of negatives."""
        return self.n_counted - len(self.twins[0])

    def _gram_of(self, X: Any) -> Gram:
        """Return the kernel matrix of the rows of X, or of X itself, in this problem's order."""
        if self.kernel == "precomputed":
            return StoredGram(X[np.ix_(self.order, self.order)])
        if self.kernel == "linear":
            return LinearGram(X[self.order])
        return RbfGram(X[self.order], self.sigma, self.max_gram_memory)

    def _check_scale(self) -> None:
        """Raise ValueError if the scales of the arguments exceed the precision of floats."""
        C, theta = self.C, self.loss.theta
        scale = C * theta * theta
        if not SMALLEST_SCALE <= scale <= 1 / SMALLEST_SCALE:
            raise ValueError(
                f"C must be such that C theta^2 is between {SMALLEST_SCALE:g} and "
                f"{1 / SMALLEST_SCALE:g}; got C={C:g} with theta={theta:g}."
            )
        with np.errstate(over="ignore"):
            largest = float(np.max(np.abs(self.gram.diagonal())))
        if not largest <= LARGEST_KERNEL:
            raise ValueError(
                f"X must have squared norms k(x, x) of at most {LARGEST_KERNEL:g}; "
                f"got {largest:.3g}."
            )
        if not scale * largest <= LARGEST_SCALE:
            raise ValueError(
                f"C must be such that C theta^2 k(x, x) is at most {LARGEST_SCALE:g}, beyond which "
                f"rounding hides the losses; got C={C:g} with theta={theta:g} and k={largest:.3g}."
            )

    def restricted(self, rows: Integers) -> "Problem":
        """Return the problem of some rows (ascending, positives first, then counted rows).

        K or the budget does not change.
        """
        small = copy(self)
        small._arrange(self.order[rows], int((rows < self.n_positive).sum()))
        if isinstance(self.gram, LinearGram):
            small.gram = LinearGram(self.gram.X[rows])
        else:
            small.gram = StoredGram(self.gram.restricted(rows))
        return small

    def coefficients(self, point: Point) -> Floats:
        """Return the coefficients of the machine: (alpha; -beta), one for each sample.

        A positive that counts has alpha_i - beta_i at its alpha, and 0 at its beta.
        """
        c = np.concatenate([point.alpha, -point.beta])
        alphas, betas = self.twins
        c[alphas] += c[betas]
        c[betas] = 0.0
        return c

    def scores(self, point: Point) -> Floats:
        """Return the scores of the positives, then of the counted rows."""
        return self.gram.product(self.coefficients(point))

    def machine(self, point: Point) -> Machine:
        """Return the machine of a point, which scores new rows."""
        c, gram = self.coefficients(point), self.gram
        if isinstance(gram, LinearGram):
            return Machine(self.kernel, gram.X.T @ c)
        if isinstance(gram, RbfGram):
            support = np.flatnonzero(c)
            return Machine(self.kernel, c[support], gram.X[support], self.sigma, gram.shift)
        return Machine(self.kernel, _sums(self.order, c))

    def threshold_at(self, point: Point) -> float:
        """Return the threshold t of the training scores."""
        return self.threshold.value(self.scores(point)[self.n_positive :])

    def dual(self, point: Point) -> float:
        """Return D at a point; -inf if it violates a constraint."""
        return self._dual(point, self._scored(point)[1])

    def _scored(self, point: Point) -> tuple[Floats, float]:
        """Return the scores of the positives and the counted rows, and |w|^2."""
        c = self.coefficients(point)
        if isinstance(self.gram, LinearGram):
            w = self.gram.X.T @ c
            return self.gram.X @ w, float(w @ w)
        scores = self.gram.product(c)
        return scores, float(c @ scores)

    def _dual(self, point: Point, square: float) -> float:
        if not self.is_feasible(point):
            return -np.inf
        alpha, beta, rule = point.alpha, point.beta, self.threshold
        value = alpha.sum() / self.loss.theta + rule.slope * beta.sum()
        value -= self.loss.curvature / (2 * self.C) * (alpha @ alpha)
        if rule.curvature and beta.any():
            value -= rule.curvature / 2 * (beta @ beta) / point.r
        if rule.free:
            value -= rule.price * point.r
        return float(value - square / 2)

    def is_feasible(self, point: Point) -> bool:
        """Return whether the constraints hold to rounding, and the signs exactly."""
        alpha, beta, r, rule = point.alpha, point.beta, point.r, self.threshold
        slack = TOLERANCE * float(alpha.sum())
        most = self.C * self.loss.largest
        if min(alpha.min(), beta.min(), r) < 0 or alpha.max() > most * (1 + TOLERANCE):
            return False
        if rule.curvature and r == 0 and beta.any():
            return False
        below_cap = rule.cap == np.inf or bool(beta.max() <= rule.cap * r + slack)
        return below_cap and abs(alpha.sum() - beta.sum()) <= slack

    def estimate(self, point: Point) -> Certificate:
        """Return primal, dual and gap as computed, with no bound of their rounding errors."""
        return self.judged(point, *self._scored(point))

    def judged(self, point: Point, scores: Floats, square: float) -> Certificate:
        """Return the certificate from the scores and |w|^2, as computed."""
        positives, counted = np.split(scores, [self.n_positive])
        t = self.threshold.value(counted)
        losses = self.C * self.loss.value(t - positives).sum()
        primal, dual = float(square / 2 + losses), self._dual(point, square)
        gap = primal - dual
        return Certificate(primal, dual, gap, augmented_gap=gap)


def twins(order: Integers, n_positive: int) -> tuple[Integers, Integers]:
    """Return the positions of the samples that are kept twice: as a positive, and as a counted row.

    `order` holds the sample of each position, the positives first.
    """
    _, alphas, betas = np.intersect1d(
        order[:n_positive], order[n_positive:], assume_unique=True, return_indices=True
    )
    return alphas, n_positive + betas


def _sums(order: Integers, c: Floats) -> Floats:
    """Return the sum of the values c of each sample, in the order of X."""
    return np.asarray(np.bincount(order, weights=c), dtype=np.float64)


def _checked_sigma(kernel: str, sigma: float | None) -> float:
    if kernel == "rbf":
        if sigma is None:
            raise ValueError('sigma must be given with kernel="rbf"; got None.')
        return as_real("sigma", sigma, positive=True)
    if sigma is not None:
        raise ValueError(f'sigma must be None unless kernel="rbf"; got {sigma!r}.')
    return np.nan
