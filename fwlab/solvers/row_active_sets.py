"""Hold one active set per sample, for methods that step away from the vertices of single blocks.

kernels.steps.active_sets describes the arrays. After every step it combines a row of A again
from its set and scales the atom weights to sum 1: the two agree to rounding at any time.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fwlab.arrays import Floats, Integers
from fwlab.kernels.layouts import ActiveSets
from fwlab.kernels.steps.active_sets import START
from fwlab.primal_dual import PrimalDual

Classes = NDArray[np.int32]
FIRST_CAPACITY = 4


@dataclass(eq=False)
class RowActiveSets:
    """classes and entries (n, capacity, support), atom_weights (n, capacity), counts (n,).

    starts is A0 (n, m) if it is not 0, else it has no row.
    """

    classes: Classes
    entries: Floats
    atom_weights: Floats
    counts: Integers
    starts: Floats

    @classmethod
    def holding(cls, problem: PrimalDual, A: Floats) -> "RowActiveSets":
        """Return sets with each row of A as the only atom: the vertex 0, or else a dense start."""
        n, support = problem.n_samples, problem.row_polytopes.support
        classes = np.zeros((n, FIRST_CAPACITY, support), dtype=np.int32)
        entries, atom_weights = np.zeros(classes.shape), np.zeros((n, FIRST_CAPACITY))
        atom_weights[:, 0] = 1.0
        dense = A.any(axis=1)
        classes[dense, 0] = START
        starts = A if dense.any() else A[:0]
        return cls(classes, entries, atom_weights, np.ones(n, dtype=np.int64), starts.copy())

    @classmethod
    def none(cls) -> "RowActiveSets":
        """Return no sets, for a method that holds no atoms."""
        classes, entries = np.empty((0, 0, 0), dtype=np.int32), np.empty((0, 0, 0))
        counts = np.empty(0, dtype=np.int64)
        return cls(classes, entries, np.empty((0, 0)), counts, np.empty((0, 0)))

    @property
    def arrays(self) -> ActiveSets:
        """The arrays that kernels take."""
        return ActiveSets(self.classes, self.entries, self.atom_weights, self.counts, self.starts)

    @property
    def size(self) -> int:
        """Number of atoms in all sets."""
        return int(self.counts.sum())

    def reserve(self, visits: Integers) -> None:
        """Enlarge the arrays to hold one more atom per visit of a row."""
        if not len(self.counts):
            return
        room = np.bincount(visits, minlength=len(self.counts))
        needed, capacity = int((self.counts + room).max()), self.atom_weights.shape[1]
        if needed <= capacity:
            return
        while capacity < needed:
            capacity *= 2
        self.classes = _padded(self.classes, capacity)
        self.entries = _padded(self.entries, capacity)
        self.atom_weights = _padded(self.atom_weights, capacity)


def _padded(array: np.ndarray, capacity: int) -> np.ndarray:
    grown = np.zeros((array.shape[0], capacity, *array.shape[2:]), dtype=array.dtype)
    grown[:, : array.shape[1]] = array
    return grown
