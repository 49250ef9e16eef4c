"""Call a loss for `check_loss`: every answer is checked, and products have a stated rounding.

A loss of the family and a PolytopeLoss look alike here. Both have `value`, `lmo` and costs, and may
have `contains`, `project` and inequalities.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.losses import Loss
from fwlab.polytope_loss import PolytopeLoss
from fwlab.testing.shrinking import Contradiction

# A loss that sorts, sums and multiplies m numbers passes each through at most about 2 m roundings,
# and so does the comparison with it. Four times that leaves room for another order of the steps.
ROUNDINGS = 8
LARGEST_M_OF_SUBSETS = 7
ARGUMENTS = {
    "costs": "m",
    "value": "scores",
    "lmo": "gradient",
    "contains": "v",
    "in_domain": "v",
    "project": "c",
}


@dataclass(frozen=True, eq=False)
class TriedLoss:
    """A loss with checked answers; unit is the relative error of one operation."""

    loss: Loss | PolytopeLoss
    unit: float

    @property
    def name(self) -> str:
        return type(self.loss).__name__

    @property
    def family(self) -> bool:
        return isinstance(self.loss, Loss)

    @property
    def membership(self) -> str:
        """The name of the function that tests membership."""
        return "in_domain" if self.family else "contains"

    def rounding(self, m: int, sizes: Floats) -> Floats:
        """Return the largest rounding error of sums of products of these sizes."""
        return ROUNDINGS * (m + 4) * self.unit * sizes

    def value(self, scores: Floats, y: Integers) -> Floats:
        return self._called("value", self.loss.value, scores, y, (len(scores),))

    def lmo(self, gradient: Floats, y: Integers) -> Floats:
        return self._called("lmo", self.loss.lmo, gradient, y, gradient.shape)

    def project(self, c: Floats, y: Integers) -> Floats:
        assert self.loss.project is not None
        return self._called("project", self.loss.project, c, y, c.shape)

    def contains(self, v: Floats, y: Integers) -> Floats:
        asked = self.loss.in_domain if isinstance(self.loss, Loss) else self.loss.contains
        assert asked is not None
        return self._called(self.membership, asked, v, y, (len(v),), boolean=True)

    def costs(self, y: Integers, m: int) -> Floats:
        """Return delta, (n, m)."""
        loss = self.loss

        def costs(points: Floats, labels: Integers) -> Any:
            if isinstance(loss, Loss):
                return loss.polytopes(labels, points.shape[1]).add_costs(points)
            return loss.costs(labels, points.shape[1])

        return self._called("costs", costs, np.zeros((len(y), m)), y, (len(y), m))

    @property
    def checks_membership(self) -> bool:
        return self.family or getattr(self.loss, "contains", None) is not None

    @property
    def projects(self) -> bool:
        return self.family or self.loss.project is not None

    def describes(self, m: int) -> bool:
        """Return whether `linear_program` is available for m classes."""
        if isinstance(self.loss, Loss):
            return m <= LARGEST_M_OF_SUBSETS
        return self.loss.inequalities is not None

    def linear_program(self, m: int, y: int) -> tuple[Floats, Floats]:
        """Return (M, b): the effective domain holds the first m entries of all x with M x <= b."""
        loss = self.loss
        if isinstance(loss, Loss):
            polytopes = loss.polytopes(np.array([y]), m)
            return _family_program(polytopes.upper, polytopes.lower, y)
        assert loss.inequalities is not None
        given = self._raising("inequalities", loss.inequalities, m, y)
        try:
            M, b = (np.asarray(part, dtype=np.float64) for part in given)
        except (TypeError, ValueError):
            M = b = np.empty(0)
        if M.ndim != 2 or M.shape[1] != m or b.shape != M.shape[:1]:
            raise Contradiction(
                "shape",
                f"inequalities of {self.name} must return (M, b) of shapes (r, {m}) and (r,); got "
                f"shapes {M.shape} and {b.shape}.",
            )
        return M, b

    def _called(
        self,
        function: str,
        call: Callable[..., Any],
        points: Floats,
        y: Integers,
        shape: tuple[int, ...],
        boolean: bool = False,
    ) -> Floats:
        """Return the answer of a function of the loss, with its shape, type and numbers checked."""
        given, labels = points.copy(), y.copy()
        answer = self._raising(function, call, given, labels)
        arguments = (ARGUMENTS[function], points, given), ("y", y, labels)
        for argument, before, after in arguments:
            if not np.array_equal(before, after):
                raise Contradiction(
                    "mutation",
                    f"{function} of {self.name} changes its argument {argument}: it was "
                    f"{text(before)}, and is {text(after)} after the call.",
                )
        found = self._array(function, answer, shape, boolean)
        again = self._array(function, self._raising(function, call, given, labels), shape, boolean)
        if not np.array_equal(found, again):
            i = int(np.argwhere(found != again)[0][0])
            raise Contradiction(
                "repetition",
                f"{function} of {self.name} answers differently when it is asked again: row {i} is "
                f"{text(found[i])}, and then {text(again[i])}.",
            )
        return found

    def _array(self, function: str, answer: Any, shape: tuple[int, ...], boolean: bool) -> Floats:
        what = "bool" if boolean else "numbers"
        try:
            array = np.array(answer)
        except ValueError:
            array = np.empty(0)
        if array.shape != shape:
            raise Contradiction(
                "shape",
                f"{function} of {self.name} must return {what} of shape {shape}; got "
                f"{type(answer).__name__} of shape {np.shape(array)}.",
            )
        if array.dtype.kind not in ("b" if boolean else "fiu"):
            raise Contradiction(
                "dtype", f"{function} of {self.name} must return {what}; got {array.dtype}."
            )
        if not boolean and not np.isfinite(array).all():
            place = np.argwhere(~np.isfinite(array))[0]
            raise Contradiction(
                "finite",
                f"{function} of {self.name} must return finite numbers; got "
                f"{array[tuple(place)]} in row {place[0]}.",
            )
        return array if boolean else array.astype(np.float64)

    def _raising(self, function: str, call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return call(*arguments)
        except Exception as error:
            said = " ".join(str(error).split())
            raise Contradiction(
                "raises", f"{function} of {self.name} raises {type(error).__name__}: {said}"
            ) from error


def text(values: Any) -> str:
    """Return numbers or an array of them as one line, without minus signs of zeros."""
    array = np.asarray(values)
    array = array + 0.0 if array.dtype.kind == "f" else array
    return np.array2string(array, separator=", ", max_line_width=10**6)


def exact(values: Floats) -> str:
    """Return an array as one line, with all its digits."""
    return f"[{', '.join(repr(float(value)) for value in values)}]"


def _family_program(upper: Floats, lower: Floats, y: int) -> tuple[Floats, Floats]:
    """Return (M, b) in x = (v, zeta) for the polytope that kernels.domains.vertices states.

    Every subset S of the wrong classes gives two rows, and v sums to 0:

        sum_S v <= zeta (upper_1 + .. + upper_|S|),  sum_S v >= zeta (the last |S| of lower).
    """
    m = len(upper) + 1
    wrong = [j for j in range(m) if j != y]
    ones = np.ones(m)
    rows = [np.append(ones, 0.0), np.append(-ones, 0.0), np.append(0 * ones, -1.0)]
    bounds = [0.0, 0.0, 0.0]
    rows.append(np.append(0 * ones, 1.0))
    bounds.append(1.0)
    for size in range(1, m):
        for subset in combinations(wrong, size):
            inside = np.isin(np.arange(m), subset).astype(np.float64)
            rows.append(np.append(inside, -upper[:size].sum()))
            rows.append(np.append(-inside, lower[m - 1 - size :].sum()))
            bounds += [0.0, 0.0]
    return np.array(rows), np.array(bounds)
