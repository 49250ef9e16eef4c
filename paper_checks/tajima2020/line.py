"""Prove identities for problems of every size from the quantities that determine D_m on a line.

Along A + t Delta A, D_m is a quadratic in inner products of A, Delta A, w(A), w(Delta A) and the
e_{y_i}. As w is linear and Psi_i^T is the transpose of Psi_i (B.13),

    sum_i <Psi_i^T w(A), Delta alpha_i> = lambda n <w(A), w(Delta A)>,

so that a formula in these products is proved for all features, labels and sizes at once. sympy
decides whether two rational functions of the products are the same.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import sympy

from paper_checks.arithmetic import Truth
from paper_checks.proofs import ByTheorem
from paper_checks.rational_functions import differ

ALL = "all sizes"


@dataclass(frozen=True)
class LineProducts:
    """Hold the inner products; `target` has sums of <e_{y_i}, .>, and `across` sums of <e_i, .>."""

    lam: Any
    n: Any
    smoothing: Any
    ww: Any
    wd: Any
    dd: Any
    target_a: Any
    target_d: Any
    across_d: Any
    aa: Any
    ad: Any
    step_square: Any

    def value(self, t: Any, smoothing: Any) -> Any:
        """Return D_m(A + t Delta A), (2.23)."""
        link = self.ww + 2 * t * self.wd + t**2 * self.dd
        square = self.aa + 2 * t * self.ad + t**2 * self.step_square
        linear = (self.target_a + t * self.target_d) / self.n
        return linear - self.lam / 2 * link - smoothing / (2 * self.n) * square

    @property
    def against(self) -> Any:
        """Return sum_i <Psi_i^T w(A), Delta alpha_i>, by (B.13)."""
        return self.lam * self.n * self.wd


def symbolic_line() -> LineProducts:
    """Return the line whose products are sympy's symbols."""
    return LineProducts(*map(sympy.Symbol, LineProducts.__dataclass_fields__))


def slope(line: LineProducts, smoothing: Any = 0) -> Any:
    """Return the derivative of D_m along Delta A at A."""
    t = sympy.Symbol("t")
    return sympy.diff(line.value(t, smoothing), t).subs(t, 0)


def best_step(line: LineProducts, smoothing: Any = 0) -> Any:
    """Return the t at which the derivative of D_m along Delta A is 0."""
    t = sympy.Symbol("t")
    (found,) = sympy.solve(sympy.diff(line.value(t, smoothing), t), t)
    return found


def same(left: Any, right: Any) -> bool:
    """Return whether two rational functions are the same."""
    return bool(sympy.cancel(sympy.together(left - right)) == 0)


def theorem(catches: str, sides: Callable[..., tuple[Any, Any]]) -> ByTheorem:
    """Return the proof that both sides agree on every line, with the given numbers changed."""

    def prove(deep: bool, **changes: Any) -> bool:
        return same(*sides(symbolic_line(), **changes))

    def obligations(**changes: Any) -> Iterator[tuple[str, Truth]]:
        yield ALL, differ(*sides(symbolic_line(), **changes))

    return ByTheorem(catches, prove, ALL, obligations)
