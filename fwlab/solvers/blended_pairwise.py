"""Run blended pairwise Frank-Wolfe over whole-matrix atoms (Tsuji, Tanaka and Pokutta 2022).

A step goes between two atoms of the active set if that is at least as steep as the Frank-Wolfe
step. Otherwise it is the Frank-Wolfe step: only this step lets a new atom in, so that no step swaps
all of an atom's weight with a new atom.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.kernels.steps.pairwise_rule import NOISE, POINT, TIES
from fwlab.operators.vertices import Atom
from fwlab.solvers.atoms import ActiveSet
from fwlab.solvers.away_steps import ActiveSetMethod, Ends


@dataclass(frozen=True)
class BlendedPairwise(ActiveSetMethod):
    """The pairwise step within the active set, or else the Frank-Wolfe step."""

    kind = "Blended pairwise"

    def choose(self, active_set: ActiveSet, vertex: Atom, gradient: Floats) -> Ends:
        products, lowest = active_set.products(gradient), vertex.product(gradient)
        size = max(abs(lowest), float(np.abs(products).max()))
        mean = float(active_set.atom_weights @ products)
        away = int(np.argmax(products >= products.max() - TIES * size))
        towards = int(np.argmax(products <= products.min() + TIES * size))
        within = float(products[away] - products[towards])
        if within >= mean - lowest - TIES * size and within > NOISE * size:
            return Ends(towards, away, within)
        slope = mean - lowest if mean - lowest > NOISE * size else 0.0
        lows = np.flatnonzero(products <= lowest + TIES * size)
        return Ends(int(lows[0]) if len(lows) else active_set.enter(vertex), POINT, slope)
