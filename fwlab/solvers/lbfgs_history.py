"""Compute the directions of a preconditioned L-BFGS method from two products per step.

The pairs s_i, y_i are the last changes of the point and of the gradient g. B is the inverse of the
preconditioner, and gamma = <s, y> / <y, B y> of the last pair. The two loops (Nocedal 1980) with
gamma B as the first matrix give

    z = gamma B g + sum_i (alpha_i - beta_i) s_i - gamma sum_i alpha_i B y_i,

where, with rho_i = <s_i, y_i> and the pairs in their order,

    rho_i alpha_i = <s_i, g> - sum_{j > i} alpha_j <s_i, y_j>,
    rho_i beta_i  = gamma (<B y_i, g> - sum_j alpha_j <y_i, B y_j>)
                    + sum_{j < i} (alpha_j - beta_j) <s_j, y_i>.

Only the s_i and the B y_i are used. Their products with g give all others: <s_i, y> and
<B y_i, y> = <y_i, B y> are differences of such products, as y is a difference of gradients.

Vectors are one-dimensional arrays of any library that follows the array API standard.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fwlab.arrays import Floats, namespace_of, on_host

LENGTH = 10


class History:
    """The last LENGTH pairs, and the gradient g and B g at the present point.

    With `renewable`, the y_i are kept, too, for another B.
    """

    def __init__(self, gradient: Any, image: Any, renewable: bool = False) -> None:
        xp = namespace_of(gradient)
        shape, like = (LENGTH, gradient.shape[0]), gradient
        kept = (LENGTH if renewable else 0, gradient.shape[0])
        self.differences = xp.zeros(kept, dtype=like.dtype, device=like.device)
        self.gradient, self.image = gradient, image
        self.changes = xp.zeros(shape, dtype=like.dtype, device=like.device)
        self.images = xp.zeros(shape, dtype=like.dtype, device=like.device)
        # <s_i, y_j> for j not before i, <y_i, B y_j>, and the products with the gradient
        self.products, self.squares = np.zeros((2, LENGTH, LENGTH))
        self.by_changes, self.by_images = np.zeros((2, LENGTH))
        self.order: list[int] = []

    def clear(self) -> None:
        """Forget the pairs."""
        self.order = []

    def direction(self) -> Any:
        """Return z; the step goes along -z."""
        if not self.order:
            return 1.0 * self.image
        xp, used = namespace_of(self.gradient), self.order
        places = range(len(used))
        # plain numbers: for about ten, numpy takes longer
        products, squares = (M[np.ix_(used, used)].tolist() for M in (self.products, self.squares))
        alpha, weights = self.by_changes[used].tolist(), self.by_images[used].tolist()
        gamma = products[-1][-1] / squares[-1][-1]
        for i in reversed(places):
            alpha[i] -= sum(alpha[j] * products[i][j] for j in places[i + 1 :])
            alpha[i] /= products[i][i]
        for i in places:
            rest = gamma * (weights[i] - sum(alpha[j] * squares[i][j] for j in places))
            rest += sum(weights[j] * products[j][i] for j in places[:i])
            weights[i] = alpha[i] - rest / products[i][i]
        of_changes, of_images = np.zeros((2, LENGTH))
        of_changes[used], of_images[used] = weights, alpha
        z = gamma * self.image
        z += xp.asarray(of_changes, device=z.device) @ self.changes
        z -= xp.asarray(gamma * of_images, device=z.device) @ self.images
        return z

    def add(self, change: Any, gradient: Any, image: Any) -> None:
        """Go to the point that is `change` away, with its gradient and B times the gradient."""
        xp = namespace_of(gradient)
        y, image_of_y = gradient - self.gradient, image - self.image
        product, square = (float(xp.vecdot(y, other)) for other in (change, image_of_y))
        self.gradient, self.image = gradient, image
        # rounding can take the curvature of a tiny step
        is_sound = product > 0.0 and square > 0.0
        new = self._free_place() if is_sound else -1
        if is_sound:
            self.changes[new, :], self.images[new, :] = change, image_of_y
            if self.differences.shape[0]:
                self.differences[new, :] = y
        by_changes, by_images = self._products_with(gradient)
        if is_sound:
            self.products[:, new] = by_changes - self.by_changes
            self.squares[:, new] = self.squares[new, :] = by_images - self.by_images
            self.products[new, new], self.squares[new, new] = product, square
        self.by_changes, self.by_images = by_changes, by_images

    def correct(self, gradient: Any, image: Any) -> None:
        """Take another gradient, and B times it, at the present point; the pairs stay."""
        self.gradient, self.image = gradient, image
        self.by_changes, self.by_images = self._products_with(gradient)

    def renew(self, inverse: Callable[[Any], Any]) -> None:
        """Change B to the map `inverse` of vectors."""
        self.image = inverse(self.gradient)
        for i in self.order:
            self.images[i, :] = inverse(self.differences[i, :])
        self.squares = np.array(on_host(self.images @ self.differences.T), dtype=np.float64)
        self.by_images = np.array(on_host(self.images @ self.gradient), dtype=np.float64)
        # the squares of small numbers are zero
        if any(self.squares[i, i] <= 0.0 for i in self.order):
            self.clear()

    def _products_with(self, gradient: Any) -> tuple[Floats, Floats]:
        """Return <s_i, g> and <B y_i, g>, (LENGTH,) each."""
        by_changes, by_images = (
            np.asarray(on_host(rows @ gradient), dtype=np.float64)
            for rows in (self.changes, self.images)
        )
        return by_changes, by_images

    def _free_place(self) -> int:
        place = len(self.order) if len(self.order) < LENGTH else self.order.pop(0)
        self.order.append(place)
        return place
