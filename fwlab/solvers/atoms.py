"""Hold A as a convex combination of points of the domain (n, m): the active set of whole matrices.

No vertex is held twice: equal vertices have equal products with the gradient, and a step goes to
the first atom whose product is as low as the product of the LMO's vertex, before it goes to that
vertex.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.kernels.steps.pairwise_rule import NO_WEIGHT, largest_step, move_weights
from fwlab.operators.vertices import Atom, atom_of
from fwlab.primal_dual import PrimalDual


@dataclass(eq=False)
class ActiveSet:
    """Atoms and their weights, which are positive and sum to 1."""

    atoms: list[Atom]
    atom_weights: Floats

    @classmethod
    def holding(cls, problem: PrimalDual, A: Floats) -> "ActiveSet":
        """Return a set with A as the only atom."""
        return cls([atom_of(problem.polytopes, A)], np.ones(1))

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
        self.drop()

    def drop(self) -> Integers:
        """Drop the atoms without weight and scale the rest to sum 1; return the places kept."""
        kept = np.flatnonzero(self.atom_weights > NO_WEIGHT)
        self.atoms = [self.atoms[place] for place in kept]
        self.atom_weights = self.atom_weights[kept] / self.atom_weights[kept].sum()
        return kept
