"""Define the base class of losses outside the family, known only by their functions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_integer
from fwlab.operators.given_domains import GivenDomains
from fwlab.text import describe


class PolytopeLoss(ABC):
    """A loss that is a maximum over any compact convex set, its effective domain:

        Phi(s; y) = max over v in dom Phi*(.; y) of <v, s + delta>.

    Subclass it and define `value` and `lmo`, vectorised numpy. The lmo attains the value: with u =
    lmo(s + delta), Phi(s) = -<s + delta, u>; `fwlab.testing.check_loss` tries it. Each row depends
    only on its own scores and label. The domain need not contain 0, its points need not sum to 0,
    and the loss may be negative. The methods with `any_loss` take it: Frank-Wolfe with whole-matrix
    steps, and the subgradient method.

    Examples
    --------
    Weston and Watkins' sum of hinges, sum over j != y of max(0, 1 + s_j - s_y)::

        class SumOfHinges(fwlab.PolytopeLoss):
            def value(self, scores, y):
                margins = scores + self.costs(y, scores.shape[1])
                margins -= np.take_along_axis(scores, y[:, None], axis=1)
                return np.maximum(margins, 0).sum(axis=1)

            def lmo(self, gradient, y):
                u = -1.0 * (gradient > np.take_along_axis(gradient, y[:, None], axis=1))
                u[np.arange(len(y)), y] = -u.sum(axis=1)
                return u

    Attributes
    ----------
    contains : None or a method contains(v, y) -> (n,) bool
        Says whether each row of v (n, m) lies in the effective domain, to about 1e-9. Problem.dual,
        Problem.gap and a start A0 need it. Without it, the start is a vertex, and every iterate is
        feasible because it is a convex combination of vertices.
    project : None or a method project(c, y) -> (n, m)
        The nearest points of the negated domain. Smoothing needs it.
    inequalities : None or a method inequalities(m, y) -> (M, b)
        The effective domain of label y as {v : M v <= b}; `fwlab.testing.check_loss` tries `lmo`
        against a linear program over it.
    """

    # the unit of tolerances
    scale = 1.0

    contains: Callable[[Floats, Integers], Any] | None = None
    project: Callable[[Floats, Integers], Any] | None = None
    inequalities: Callable[[int, int], tuple[Any, Any]] | None = None

    @abstractmethod
    def value(self, scores: Floats, y: Integers) -> Any:
        """Return the loss of each row of scores (n, m), for labels y (n,); shape (n,)."""

    @abstractmethod
    def lmo(self, gradient: Floats, y: Integers) -> Any:
        """Return for each row the point u of the negated domain with the least <gradient, u>.

        gradient and the result have shape (n, m). Points must be exact vertices, or at least points
        of the domain to rounding: every iterate is a convex combination of them.
        """

    def costs(self, y: Integers, m: int) -> Any:
        """Return delta, (n, m): by default 1, and 0 at the true class."""
        return 1.0 - (np.arange(m) == y[:, None])

    def __repr__(self) -> str:
        return describe(self)

    def polytopes(self, y: Integers, m: int) -> GivenDomains:
        """Return the domains of samples with labels y (n,) among m classes."""
        return GivenDomains.of(self, y, as_integer("m", m, low=2))
