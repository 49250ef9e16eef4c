"""Define the block-norm regulariser of Lei, Dogan, Binder and Kloft (2015), LP15.

With |W|_{2,p} = (sum_j |w_j|^p)^{1/p} over the classes and 1/p + 1/q = 1,

    R(W) = |W|_{2,p}^2 / 2                                                     LP15 Problem 10
    R*(V) = |V|_{2,q}^2 / 2,  q = infinity for p = 1                           LP15 Problem 11
    grad R*(V)_j = beta_j v_j,  beta_j = |v_j|^(q-2) (sum_l |v_l|^q)^(2/q-1)   LP15 Theorem 12

W = grad R*(V) satisfies |W|_{2,p} = |V|_{2,q}. For p <= 2 the class weights beta also minimise the
quadratic form

    sum_j |w_j|^2 / (2 beta_j)   over |beta|_{p/(2-p)} <= 1,

and its minimum is R(W)   (LP15 (8), Proposition 16).
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_floats, as_real


@dataclass(frozen=True)
class LpNorm:
    """Half the squared (2, p) norm of W (m, d), 1 <= p < infinity.

    Problem(..., regularizer=LpNorm(p)) adds it to the mean loss, multiplied by lam; LP15's C is
    1/(lam n). p = 2 gives the machine of Crammer and Singer. At p = 1 the map from V to W is
    set-valued, so there is no representer. Raises TypeError or ValueError for any other p.
    """

    p: float

    def __post_init__(self) -> None:
        if isinstance(self.p, Real) and not 1 <= self.p < np.inf:
            raise ValueError(f"p must be finite and at least 1; got {self.p}.")
        object.__setattr__(self, "p", as_real("p", self.p, positive=True))

    @property
    def q(self) -> float:
        """The dual exponent q, 1/p + 1/q = 1."""
        return np.inf if self.p == 1 else self.p / (self.p - 1)

    @property
    def plain(self) -> bool:
        """Whether p is 2, so that this is half the squared Euclidean norm."""
        return self.p == 2

    def value(self, W: Any) -> float:
        """Return R(W) for W (m, d)."""
        return self.square_norm(_square_norms("W", W)) / 2

    def conjugate(self, V: Any) -> float:
        """Return R*(V) for V (m, d)."""
        return self.dual_square_norm(_square_norms("V", V)) / 2

    def representer(self, V: Any) -> Floats:
        """Return the W (m, d) that attains R*(V), with w_j = 0 where v_j = 0.

        Raises ValueError at p = 1.
        """
        self.require_representer("representer")
        beta = self.class_weights(_square_norms("V", V))
        return np.asarray(beta[:, None] * np.asarray(V, dtype=float))

    def require_representer(self, name: str) -> None:
        """Raise ValueError at p = 1; `name` is the function that needs the representer."""
        if self.p == 1:
            raise ValueError(f"{name} needs one W(A), but with LpNorm(1) there can be many.")

    # The methods below take the squared norms of the rows, (m,).

    def square_norm(self, squares: Floats) -> float:
        """Return |W|_{2,p}^2 from |w_j|^2."""
        return _power_norm(squares, self.p / 2)

    def dual_square_norm(self, squares: Floats) -> float:
        """Return |V|_{2,q}^2 from |v_j|^2."""
        return _power_norm(squares, self.q / 2)

    def class_weights(self, squares: Floats) -> Floats:
        """Return the class weights beta, (m,), from |v_j|^2   (LP15 Theorem 12).

        A class with v_j = 0 has the weight 0, even for p > 2, where the limit is infinite. At
        p = 1 the weights give one subgradient: only the first class with the largest |v_j| counts.
        """
        largest = squares.max()
        if self.plain:
            return np.ones(len(squares))
        if largest == 0:
            return np.zeros(len(squares))
        if self.p == 1:
            return np.asarray(np.eye(len(squares))[squares.argmax()])
        shares = squares / largest
        powers = np.zeros(len(squares))
        np.power(shares, self.q / 2 - 1, out=powers, where=shares > 0)
        return np.asarray(powers * (powers @ shares) ** (2 / self.q - 1))

    def optimal_class_weights(self, squares: Floats, floor: float) -> Floats:
        """Return the class weights beta, (m,), that minimise the quadratic form at |w_j|^2, p < 2.

        Every |w_j| counts as at least `floor` times the largest   (LP15 (14), Proposition 16).
        """
        largest = squares.max()
        shares = np.maximum(squares / largest, floor**2) if largest > 0 else np.ones(len(squares))
        powers = shares ** (1 - self.p / 2)
        return powers / _power_norm(powers, self.p / (2 - self.p))


def _power_norm(squares: Floats, power: float) -> float:
    """Return (sum_j squares_j^power)^(1/power), scaled by the largest so that nothing overflows."""
    largest = float(squares.max())
    if largest == 0 or power == np.inf:
        return largest
    if power == 1:
        return float(squares.sum())
    return float(largest * float(((squares / largest) ** power).sum()) ** (1 / power))


def _square_norms(name: str, rows: Any) -> Floats:
    rows = as_floats(name, rows, ndims=(2,))
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
