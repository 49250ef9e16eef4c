"""Lay out the rows that iterations of ascent visit next, for their kernel."""

import numpy as np

from fwlab.kernels.layouts import RowsToVisit
from fwlab.kernels.steps.face_passes import make_face_scratch
from fwlab.primal_dual import PrimalDual

# a change of a row, as a fraction of its largest sum, that rounding errors may have made
AT_REST = 1e-12


def rows_to_visit(problem: PrimalDual) -> RowsToVisit:
    """Return the layout before the first iteration, in which no row has moved."""
    n = problem.n_samples
    return RowsToVisit(
        counts=np.zeros(4, dtype=np.int64),
        moving=np.empty(n, dtype=np.int64),
        at_rest=AT_REST * problem.polytopes.scale * problem.sample_weight,
        random=np.zeros(1, dtype=np.uint64),
        order=np.arange(n),
        face=make_face_scratch(problem.n_classes),
    )
