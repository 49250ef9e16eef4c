"""Hold points of the whole domain, (n, m), for Frank-Wolfe methods: vertices and starts.

A vertex of a loss of the family has few non-zero entries in each row, which the products use. Any
other point is dense.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fwlab.arrays import Floats, Integers
from fwlab.kernels.products.vertices import add_entries, add_vertices, vertices_product
from fwlab.operators.domains import Domains, RowPolytopes
from fwlab.operators.features_interface import Features


class Atom(Protocol):
    """A point of the domain, as an active set holds it."""

    def product(self, M: Floats) -> float:
        """Return <M, this> for a matrix M (n, m)."""

    def add_to(self, A: Floats, factor: float) -> None:
        """Add factor times this to A (n, m)."""

    def transposed_product(self, features: Features) -> Floats:
        """Return this^T X."""


class Vertex(Atom, Protocol):
    """A point that the LMO returns."""

    def row_products(self, M: Floats) -> Floats:
        """Return the product of each row with the row of M, (n,)."""

    def row_squares(self) -> Floats:
        """Return the squared length of each row, (n,)."""

    def atom(self) -> Atom:
        """Return this point in the form that takes the least memory."""


@dataclass(frozen=True, eq=False)
class DensePoint:
    """Any point A (n, m)."""

    A: Floats

    def product(self, M: Floats) -> float:
        return float(np.vdot(M, self.A))

    def row_products(self, M: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self.A, M))

    def row_squares(self) -> Floats:
        return self.row_products(self.A)

    def add_to(self, A: Floats, factor: float) -> None:
        A += factor * self.A

    def transposed_product(self, features: Features) -> Floats:
        return features.transposed_product(self.A)

    def atom(self) -> Atom:
        return self


@dataclass(frozen=True, eq=False)
class SparseVertex:
    """Row i has entries[i, l] at columns[i, l], (n, support + 1), the last of them at y_i."""

    y: Integers
    columns: Integers
    entries: Floats
    n_classes: int

    def product(self, M: Floats) -> float:
        return float(np.vdot(np.take_along_axis(M, self.columns, axis=1), self.entries))

    def row_products(self, M: Floats) -> Floats:
        picked = np.take_along_axis(M, self.columns, axis=1)
        return np.asarray(np.einsum("ij,ij->i", self.entries, picked))

    def row_squares(self) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self.entries, self.entries))

    def add_to(self, A: Floats, factor: float) -> None:
        add_entries(A, factor, self.columns, self.entries)

    def transposed_product(self, features: Features) -> Floats:
        return features.transposed_vertex_product(self.columns, self.entries, self.n_classes)

    def atom(self) -> Atom:
        classes, entries = self.columns[:, :-1].astype(np.int32), self.entries[:, :-1].copy()
        return PackedVertex(self.y, classes, entries, self.n_classes)


@dataclass(frozen=True, eq=False)
class PackedVertex:
    """Row i has entries[i, l] at classes[i, l], (n, support), and minus their sum at y_i."""

    y: Integers
    classes: NDArray[np.int32]
    entries: Floats
    n_classes: int

    def product(self, M: Floats) -> float:
        return float(vertices_product(M, self.y, self.classes, self.entries))

    def add_to(self, A: Floats, factor: float) -> None:
        add_vertices(A, factor, self.y, self.classes, self.entries)

    def transposed_product(self, features: Features) -> Floats:
        columns = np.column_stack((self.classes.astype(np.int64), self.y))
        entries = np.column_stack((self.entries, -self.entries.sum(axis=1)))
        return features.transposed_vertex_product(columns, entries, self.n_classes)


def lowest_vertex(domains: Domains, shifted: Floats, omega: Floats) -> tuple[Vertex, Floats]:
    """Call the LMO of every sample at the gradient shifted + delta, (n, m).

    Returns omega (n,) times the vertices, and the losses (n,) that the vertices attain.
    """
    if isinstance(domains, RowPolytopes):
        columns, entries, losses = domains.compact_vertices(shifted)
        entries *= omega[:, None]
        return SparseVertex(domains.y, columns, entries, domains.n_classes), losses
    vertices, losses = domains.lowest(shifted)
    vertices *= omega[:, None]
    return DensePoint(vertices), losses


def atom_of(domains: Domains, A: Floats) -> Atom:
    """Return the point A (n, m) as an atom; it is copied."""
    if isinstance(domains, RowPolytopes) and not A.any():
        shape = (len(A), domains.support)
        classes = np.zeros(shape, dtype=np.int32)
        return PackedVertex(domains.y, classes, np.zeros(shape), domains.n_classes)
    return DensePoint(A.copy())
