"""Apply the generalised Hessian H = L I + sum_i f_i J_i (x) x_i x_i^T of a proximal dual step.

A small H is computed and factorised. For a large one H^-1 is replaced by a few steps of conjugate
gradients, with the diagonal of H as preconditioner.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, Integers
from fwlab.kernels.layouts import JacobianRows
from fwlab.kernels.steps.proximal_hessian import (
    add_hessian,
    dense_hessian_product,
    sparse_hessian_product,
)
from fwlab.operators.features import csr_of
from fwlab.operators.jacobians import Jacobians
from fwlab.threads import threads_in_blas

MOST_UNKNOWNS = 1000
ACCURACY = 0.1
MOST_PASSES = 16
# arrays like W that a step of conjugate gradients reads or writes; a pass reads m numbers per entry
ARRAYS_PER_STEP = 10


@dataclass(eq=False)
class ProximalHessian:
    """H on arrays like W (m, d).

    jacobians and factors (f) belong to the rows `index` of X. `passes` is the number of passes over
    all rows that would take as long as the products made so far, and `met` the number of rows of X
    that these products met.
    """

    L: float
    X: Any
    index: Integers
    jacobians: Jacobians
    factors: Floats
    passes: float = 0.0
    met: int = 0

    @property
    def _rows(self) -> JacobianRows:
        pools, normals = self.jacobians.pools, self.jacobians.normals
        return JacobianRows(pools, normals, self.factors, self.index)

    def product(self, V: Floats) -> Floats:
        """Return H V."""
        n, d = self.X.shape
        entries = self.X.nnz if scipy.sparse.issparse(self.X) else n * d
        self.passes += len(self.index) / n + ARRAYS_PER_STEP * d / entries
        self.met += len(self.index)
        if scipy.sparse.issparse(self.X):
            V_T = np.ascontiguousarray(V.T)
            out_T = self.L * V_T
            sparse_hessian_product(self._rows, csr_of(self.X), V_T, out_T)
            return out_T.T
        out = self.L * V
        dense_hessian_product(self._rows, self.X, V, out)
        return out

    def diagonal(self) -> Floats:
        """Return the diagonal of H, (m, d)."""
        X = self.X[self.index]
        squares = X.multiply(X) if scipy.sparse.issparse(X) else X * X
        weighted = self.factors[:, None] * self.jacobians.diagonals()
        return self.L + np.asarray(squares.T @ weighted).T

    def solve(self, target: Floats) -> Floats:
        """Return H^-1 target, or an approximation where H is large.

        Conjugate gradients end at |H V - target| <= 0.1 |target| or after 16 passes.
        """
        return self._direct(target) if target.size <= MOST_UNKNOWNS else self._iterative(target)

    def _direct(self, target: Floats) -> Floats:
        X = self.X[self.index]
        X = X.toarray() if scipy.sparse.issparse(X) else X
        m, d = target.shape
        H = np.zeros((m * d, m * d))
        blocks = H.reshape(m, d, m, d)
        add_hessian(self._rows, X, blocks)
        H[np.diag_indices_from(H)] += self.L
        with threads_in_blas():
            try:
                solution = np.linalg.solve(H, target.ravel())
            except np.linalg.LinAlgError:  # rounding lost L
                solution = np.linalg.lstsq(H, target.ravel())[0]
        return np.asarray(solution, dtype=float).reshape(m, d)

    def _iterative(self, target: Floats) -> Floats:
        diagonal = self.diagonal()
        solution, residual = np.zeros_like(target), target.copy()
        scaled = residual / diagonal
        search, product = scaled, float(np.vdot(residual, scaled))
        goal = ACCURACY * np.linalg.norm(target)
        while self.passes < MOST_PASSES and np.linalg.norm(residual) > goal:
            image = self.product(search)
            step = product / float(np.vdot(search, image))
            solution += step * search
            residual -= step * image
            scaled = residual / diagonal
            previous, product = product, float(np.vdot(residual, scaled))
            search = scaled + (product / previous) * search
        return solution
