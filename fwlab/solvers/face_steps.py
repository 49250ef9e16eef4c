"""Step on the faces of the rows that still move.

Near the optimum most blocks hold few classes: with k = 1 two to four, with larger k a few more than
k. An exact step on the face of these classes costs much less than one over all classes. `ascent`
takes such steps between two passes over all rows; only those passes let other classes enter a
block.
"""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from fwlab.arrays import Floats, Integers
from fwlab.kernels.layouts import Faces, Visits
from fwlab.kernels.steps.face_passes import keep_held, list_held, make_face_scratch
from fwlab.operators.features_interface import DataFeatures
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.dual_layout import dual_of
from fwlab.solvers.method import State
from fwlab.solvers.orders import drawn_state

# The cost of a step in units of a class of an exact step over all classes: a class on a face, and
# a row, whose entries of X come from memory. Measured on dense X and on CSR.
COST_OF_CLASS, COST_OF_ROW = 1.5, 10.0
# the cost of all passes over the faces between two passes over all rows, in such passes, and the
# largest cost of one
MOST_COST, MOST_COST_OF_ONE = 2.0, 0.6
MOST_PASSES = 50


def faces_of(state: State, index: Integers, most: float = np.inf) -> Faces | None:
    """Return the faces of those rows in `index` whose block can move on its face.

    Such a block holds a wrong class and, because the others hold 0, at least n_lower of them.
    Returns None if there is no face, or if a pass over them costs more than `most`.
    """
    problem, A = state.problem, state.A
    fewest = max(1, problem.row_polytopes.weights.n_lower)
    rows, starts = np.empty((2, len(index) + 1), dtype=np.int64)
    kept = keep_held(A, index, problem.y, fewest, rows, starts)
    rows, starts = rows[:kept], starts[: kept + 1]
    if not 0.0 < relative_cost(problem, kept, starts[-1]) <= most:
        return None
    classes = np.empty(starts[-1], dtype=np.int64)
    list_held(A, rows, problem.y, classes)
    return Faces(rows, starts, classes)


def relative_cost(problem: PrimalDual, rows: int, classes: int) -> float:
    """Return the cost of a pass over faces, from their numbers of rows and classes."""
    whole = problem.n_samples * (problem.n_classes + COST_OF_ROW)
    return (COST_OF_CLASS * classes + COST_OF_ROW * rows) / whole


class FacePasses:
    """Passes over faces of the blocks of a state; they change A, the link and n_steps."""

    def __init__(self, state: State, faces: Faces) -> None:
        self.state, self.faces = state, faces
        self.moves = np.zeros(len(faces.rows))  # |change|_1 of the last step on each face
        self._fixed = dual_of(state.problem), make_face_scratch(state.problem.n_classes)

    def visit(
        self,
        order: Integers,
        most: int = 1,
        least: float = 0.0,
        random: NDArray[np.uint64] | None = None,
    ) -> int:
        """Pass over the faces at these places until that gains no more than `least`.

        Returns the number of passes, which is no more than `most`. With a state of random numbers
        (kernels.steps.orders) the order is shuffled before each pass.
        """
        random = np.zeros(1, dtype=np.uint64) if random is None else random
        state, features = self.state, cast(DataFeatures, self.state.problem.features)
        data = self.faces, state.link, state.A, *self._fixed, self.moves
        count = features.face_passes(Visits(order, random, most, least), *data)
        state.n_steps += count * len(order)
        return count


def visit_faces(state: State, index: Integers, last: float, *, shuffles: bool) -> float:
    """Pass over the faces of the rows `index` while that gains more than a pass over all rows.

    Parameters
    ----------
    state : State
        Its A, link and n_steps follow.
    index : array of int
        Rows.
    last : float
        What the last pass over all rows gained, as `gain` measures it.
    shuffles : bool
        Whether each pass has a random order of its own.

    Returns
    -------
    float
        The cost in passes over all rows.

    """
    problem, faces = state.problem, faces_of(state, index, MOST_COST_OF_ONE)
    if faces is None:
        return 0.0
    cost = relative_cost(problem, len(faces.rows), len(faces.classes))
    most = min(MOST_PASSES, int(MOST_COST / cost))
    order, random = np.arange(len(faces.rows)), drawn_state(state.rng) if shuffles else None
    return cost * FacePasses(state, faces).visit(order, most, cost * last, random)


def gain(moves: Floats, curvatures: Floats) -> float:
    """Return about what exact steps of these sizes add to the dual, up to a factor."""
    return float(curvatures @ moves**2)


def warm_up_faces(state: State) -> None:
    """Compile the steps on faces, with the whole domain of the first block."""
    first, m, y = np.zeros(1, np.int64), state.problem.n_classes, state.problem.y
    keep_held(state.A, first, y, 1, np.empty(1, np.int64), np.empty(2, np.int64))
    list_held(state.A, first, y, np.empty(m, np.int64))
    classes = np.roll(np.arange(m), -y[0])
    FacePasses(state, Faces(first, np.array([0, m]), classes)).visit(first)
