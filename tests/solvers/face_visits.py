"""Passes over the faces of a state, as its kernels make them."""

import numpy as np

from fwlab.kernels.layouts import Faces, Visits
from fwlab.kernels.steps import ascent_passes
from fwlab.kernels.steps.face_passes import face_passes, make_face_scratch
from fwlab.operators.features import SparseFeatures, csr_of
from fwlab.solvers.dual_layout import dual_of
from fwlab.solvers.rows_to_visit import rows_to_visit


def data_and_link(state):
    """Return X and W as kernels take them."""
    features, link = state.problem.features, state.link
    return (
        (csr_of(features.X), link.T) if isinstance(features, SparseFeatures) else (features.X, link)
    )


def faces_of(state, index, most=np.inf) -> Faces:
    return ascent_passes.faces_of(state.A, index, dual_of(state.problem), most)


class FacePasses:
    """Passes over faces of the blocks of a state; they change A and the link."""

    def __init__(self, state, faces: Faces) -> None:
        self.state, self.faces = state, faces
        self.moves = np.zeros(len(faces.rows))

    def visit(self, order, most=1, least=0.0, random=None) -> int:
        """Pass over the faces at these places; return the number of passes."""
        problem, random = self.state.problem, np.zeros(1, np.uint64) if random is None else random
        X, W = data_and_link(self.state)
        rest = dual_of(problem), make_face_scratch(problem.n_classes), self.moves
        return face_passes(
            Visits(order, random, most, least), self.faces, X, W, self.state.A, *rest
        )


def visit_faces(state, index, last: float) -> tuple[int, float]:
    """Visit faces of rows after a pass that gained `last`; return passes and their cost."""
    problem, visit = state.problem, rows_to_visit(state.problem)
    visit.counts[:], visit.moving[: len(index)] = (len(index), 0, 0, 0), index
    moves, heaviest = np.zeros(problem.n_samples), problem.curvatures.argmax()
    moves[heaviest] = np.sqrt(last / problem.curvatures[heaviest])
    X, W = data_and_link(state)
    ascent_passes.visit_faces(visit, X, W, state.A, dual_of(problem), moves)
    _, faces, classes, passes = visit.counts.tolist()
    n, m = state.A.shape
    cost = ascent_passes.relative_cost(faces, classes, n, m) * ascent_passes.share_of_steps(n, m)
    return passes, passes * cost
