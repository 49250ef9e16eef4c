"""The active set of whole matrices: A as a convex combination of points of the domain (n, m).

No vertex is held twice: equal vertices have equal products with the gradient, and a step goes to
the first atom whose product is as low as the product of the LMO's vertex, before it goes to that
vertex.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fwlab.arrays import Floats, Integers
from fwlab.kernels.products.vertices import add_vertices, vertices_product
from fwlab.kernels.steps.pairwise_rule import NO_WEIGHT, largest_step, move_weights
from fwlab.problem import Problem


class Atom(Protocol):
    """A point of the domain (n, m), as an active set uses it."""

    def product(self, gradient: Floats) -> float:
        """Return <gradient, this>."""

    def add_to(self, A: Floats, factor: float) -> None:
        """Add factor times this to A."""

    def link(self, problem: Problem) -> Floats:
        """Return its link, as Problem.link."""


@dataclass(frozen=True, eq=False)
class Start:
    """A start (n, m) that is not 0."""

    A: Floats

    def product(self, gradient: Floats) -> float:
        return float(np.vdot(gradient, self.A))

    def add_to(self, A: Floats, factor: float) -> None:
        A += factor * self.A

    def link(self, problem: Problem) -> Floats:
        return problem.link(self.A)


@dataclass(frozen=True, eq=False)
class Vertex:
    """Row i has entries[i, l] at classes[i, l], (n, support), and minus their sum at y_i."""

    y: Integers
    classes: NDArray[np.int32]
    entries: Floats

    @classmethod
    def zero(cls, problem: Problem) -> "Vertex":
        """Return the vertex 0."""
        shape = (problem.n_samples, problem.polytopes.support)
        return cls(problem.polytopes.y, np.zeros(shape, dtype=np.int32), np.zeros(shape))

    @classmethod
    def lowest(cls, problem: Problem, shifted: Floats) -> "Vertex":
        """Return omega times the LMO's vertex at gradient shifted + delta."""
        columns, entries, _ = problem.polytopes.compact_vertices(shifted)
        entries = entries[:, :-1] * problem.sample_weight[:, None]
        return cls(problem.polytopes.y, columns[:, :-1].astype(np.int32), entries)

    def product(self, gradient: Floats) -> float:
        return float(vertices_product(gradient, self.y, self.classes, self.entries))

    def add_to(self, A: Floats, factor: float) -> None:
        add_vertices(A, factor, self.y, self.classes, self.entries)

    def link(self, problem: Problem) -> Floats:
        columns = np.column_stack((self.classes.astype(np.int64), self.y))
        entries = np.column_stack((self.entries, -self.entries.sum(axis=1)))
        return problem.vertex_link(columns, entries)


@dataclass(eq=False)
class ActiveSet:
    """Atoms and their weights, which are positive and sum to 1."""

    atoms: list[Atom]
    atom_weights: Floats

    @classmethod
    def holding(cls, problem: Problem, A: Floats) -> "ActiveSet":
        """Return a set with A as the only atom: the vertex 0, or else a dense start."""
        atom: Atom = Start(A.copy()) if A.any() else Vertex.zero(problem)
        return cls([atom], np.ones(1))

    def products(self, gradient: Floats) -> Floats:
        """Return <gradient, atom> for every atom."""
        return np.array([atom.product(gradient) for atom in self.atoms])

    def combine(self, A: Floats) -> None:
        """Set A (n, m) to the sum of the atoms times their weights."""
        A[:] = 0.0
        for atom, weight in zip(self.atoms, self.atom_weights, strict=True):
            atom.add_to(A, weight)

    def largest_step(self, towards: int, away: int) -> float:
        """Return the largest feasible step between two places (kernels.steps.pairwise_rule)."""
        return float(largest_step(self.atom_weights, towards, away))

    def enter(self, atom: Atom) -> int:
        """Append an atom without weight, which the next `move` drops unless it goes there."""
        self.atoms.append(atom)
        self.atom_weights = np.append(self.atom_weights, 0.0)
        return len(self.atoms) - 1

    def move(self, towards: int, away: int, step: float, limit: float) -> None:
        """Move A by step times (atom at `towards` - atom at `away`), where POINT stands for A.

        At the limit the away atom goes exactly, and with it every atom without weight.
        """
        move_weights(self.atom_weights, towards, away, step, limit)
        kept = np.flatnonzero(self.atom_weights > NO_WEIGHT)
        self.atoms = [self.atoms[place] for place in kept]
        self.atom_weights = self.atom_weights[kept] / self.atom_weights[kept].sum()
