"""Apply generalised Jacobians of the projection onto the negated domains, one per sample.

kernels.domains.jacobian derives J = I - Pi + w w^T / |w|^2.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.kernels.domains.jacobian import (
    apply_jacobians,
    jacobian_diagonals,
    jacobian_rows,
)
from fwlab.operators.domains import RowPolytopes


@dataclass(frozen=True, eq=False)
class Jacobians:
    """Symmetric (m, m) matrices J_i, orthogonal projections.

    pools (n, m): one class of the pool of each class; normals (n, m): w_i / |w_i|, or 0.
    """

    pools: Integers
    normals: Floats

    def product(self, V: Floats) -> Floats:
        """Return J_i V_i in row i, (n, m)."""
        out = np.empty_like(V)
        apply_jacobians(self.pools, self.normals, V, out)
        return out

    def diagonals(self) -> Floats:
        """Return the diagonal of J_i in row i, (n, m)."""
        out = np.empty_like(self.normals)
        jacobian_diagonals(self.pools, self.normals, out)
        return out

    def dense(self) -> Floats:
        """Return all matrices, (n, m, m)."""
        units = np.eye(self.pools.shape[1])
        columns = [self.product(np.tile(unit, (len(self.pools), 1))) for unit in units]
        return np.stack(columns, axis=2)


def projection_jacobians(polytopes: RowPolytopes, points: Floats) -> tuple[Integers, Jacobians]:
    """Return the samples whose Jacobian at `points` (n, m) is not 0, and their Jacobians."""
    pools, normals = np.empty(points.shape, dtype=np.int64), np.empty_like(points)
    free = np.empty(len(points), dtype=np.bool_)
    jacobian_rows(points, polytopes.y, polytopes.weights, pools, normals, free)
    index = np.flatnonzero(free)
    return index, Jacobians(pools[index], normals[index])
