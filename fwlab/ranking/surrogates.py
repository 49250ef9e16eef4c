"""Define the surrogates of the 0-1 loss and their conjugates (M20 (2) (3) (23) (24)).

l(s)  = max(0, 1 + theta s)^p           p = 1 (hinge) or 2 (quadratic)
l*(v) = curvature/2 v^2 - v/theta       for 0 <= v <= largest, +inf elsewhere
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_real

POWERS = {"hinge": 1, "quadratic": 2}


@dataclass(frozen=True)
class Surrogate:
    """One of the two surrogates at a scale theta > 0."""

    name: str
    theta: float

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in POWERS:
            raise ValueError(f"surrogate must be one of {', '.join(POWERS)}; got {self.name!r}.")
        as_real("theta", self.theta, positive=True)

    @property
    def power(self) -> int:
        """The power p of the definition."""
        return POWERS[self.name]

    @property
    def curvature(self) -> float:
        """The second derivative of the conjugate inside its domain."""
        return 0.0 if self.power == 1 else 1 / (2 * self.theta**2)

    @property
    def largest(self) -> float:
        """The upper end of the conjugate's domain, which is the largest slope of l."""
        return self.theta if self.power == 1 else np.inf

    def value(self, s: Floats) -> Floats:
        """Return l(s), entry by entry."""
        inside = np.maximum(0.0, 1 + self.theta * s)
        return inside if self.power == 1 else inside * inside

    def slope(self, s: Floats) -> Floats:
        """Return l'(s), 0 at the kink of the hinge."""
        inside = 1 + self.theta * s
        if self.power == 1:
            return np.where(inside > 0, self.theta, 0.0)
        return 2 * self.theta * np.maximum(0.0, inside)
