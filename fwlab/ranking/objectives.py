"""Define the objectives of M20: TopPush, TopPushK (5) and Pat&Mat (11)."""

from dataclasses import dataclass
from numbers import Real
from typing import Protocol

from fwlab.checks.arguments import as_integer, as_real
from fwlab.ranking.surrogates import Surrogate
from fwlab.ranking.thresholds import MeanOfLargest, SurrogateQuantile, Threshold

ROWS = ("all", "negatives")
LEAST_TAU = 1e-15  # below, rounding of the scores hides the budget


class Objective(Protocol):
    """A surrogate loss, summed over the positives, and the threshold of their scores."""

    @property
    def loss(self) -> Surrogate:
        """The surrogate l of the sum C sum_i l(t - s_i)."""

    @property
    def over(self) -> str:
        """The rows whose scores the threshold counts, "all" or "negatives"."""

    def threshold(self, n_positive: int, n_negative: int) -> Threshold:
        """Return the threshold for these numbers of samples.

        Raises ValueError if it does not exist.
        """


@dataclass(frozen=True)
class TopPushK:
    """The threshold is the mean of the K largest scores of negatives.

    Parameters
    ----------
    K : int
        At least 1, and at most the number of negatives.
    surrogate : "quadratic" or "hinge"
        The form of the loss.
    theta : float
        The scale of the loss, positive.
    """

    K: int
    surrogate: str = "quadratic"
    theta: float = 1.0

    def __post_init__(self) -> None:
        as_integer("K", self.K, low=1)
        Surrogate(self.surrogate, self.theta)

    @property
    def loss(self) -> Surrogate:
        return Surrogate(self.surrogate, float(self.theta))

    @property
    def over(self) -> str:
        return "negatives"

    def threshold(self, n_positive: int, n_negative: int) -> Threshold:
        """Return the threshold. Raises ValueError if there are too few negatives."""
        if self.K > n_negative:
            raise ValueError(f"K must be at most the {n_negative} negatives; got {self.K}.")
        return MeanOfLargest(int(self.K))


def TopPush(surrogate: str = "quadratic", theta: float = 1.0) -> TopPushK:
    """Return TopPushK with K = 1, whose threshold is the largest score of a negative."""
    return TopPushK(1, surrogate, theta)


@dataclass(frozen=True)
class PatMat:
    """The threshold t solves sum_j l2(s_j - t) = tau n, M20 (10).

    The sum is over the negatives, as M20 prints, or over all rows, as the authors' public program
    has it (ClassificationOnTop_nonlinear.jl, commit b47a009, src/kernels.jl). In the second case a
    positive has an alpha and a beta, and the dual is M20 (12), (30) and (34) with n beta instead of
    n^-. At most tau n of the summed rows have scores at or above t, because l2(0) = 1.

    Parameters
    ----------
    tau : float
        The constant of the equation, 1e-15 <= tau < 1.
    surrogate : "quadratic" or "hinge"
        The form of the loss and of l2.
    theta : float
        The scale of the loss, positive.
    theta2 : float, optional
        The scale of l2; theta by default.
    budget : "all" or "negatives"
        The rows that n counts: all training rows, as M20 prints, or only the negatives.
    over : "negatives" or "all"
        The rows j of the sum: the negatives, as M20 prints, or all training rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """

    tau: float
    surrogate: str = "quadratic"
    theta: float = 1.0
    theta2: float | None = None
    budget: str = "all"
    over: str = "negatives"

    def __post_init__(self) -> None:
        if not (isinstance(self.tau, Real) and LEAST_TAU <= self.tau < 1):
            raise ValueError(
                f"tau must be a number of at least {LEAST_TAU:g} and below 1; got {self.tau!r}."
            )
        Surrogate(self.surrogate, self.theta)
        if self.theta2 is not None:
            as_real("theta2", self.theta2, positive=True)
        for name, rows in (("budget", self.budget), ("over", self.over)):
            if not isinstance(rows, str) or rows not in ROWS:
                raise ValueError(f"{name} must be one of {', '.join(ROWS)}; got {rows!r}.")

    @property
    def loss(self) -> Surrogate:
        return Surrogate(self.surrogate, float(self.theta))

    def threshold(self, n_positive: int, n_negative: int) -> Threshold:
        """Return the threshold. Raises ValueError if there are too few negatives."""
        theta2 = self.theta if self.theta2 is None else self.theta2
        rows = n_negative + (n_positive if self.budget == "all" else 0)
        budget = float(self.tau) * rows
        if self.over == "negatives" and budget > n_negative:
            raise ValueError(
                f"tau times {rows} rows must be at most the {n_negative} negatives; got {budget:g}."
            )
        return SurrogateQuantile(Surrogate(self.surrogate, float(theta2)), budget)
