"""Iterations of ascent whose rows several threads visit at the same time.

The rows are visited in groups of panels (kernels.steps.panels). Where the panels of a group agree,
their common step is about 1, and as many passes are needed as with one row after the other; where
they conflict, it falls, and smaller groups follow. All that depends on the problem alone: the
iterates are the same for every number of threads above one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, Integers
from fwlab.kernels._jit import in_python
from fwlab.kernels.layouts import (
    BlockDual,
    LinkChange,
    Links,
    PanelSteps,
    RowsToVisit,
    StepRecord,
)
from fwlab.kernels.products.dense import copy_in_lines
from fwlab.kernels.steps.ascent_passes import (
    CLASSES,
    FACES,
    MOST_COST,
    MOST_COST_OF_ONE,
    MOST_PASSES,
    MOVING,
    PASSES,
    faces_of,
    relative_cost,
)
from fwlab.kernels.steps.face_passes import gain_of_moves, gain_of_pass
from fwlab.kernels.steps.orders import draw_blocks, shuffle
from fwlab.kernels.steps.panels import (
    FACE_PANEL_ROWS,
    PANEL_ROWS,
    move_link,
    sweep_faces,
    sweep_rows,
    take_back,
)
from fwlab.kernels.steps.rules import TYPES
from fwlab.operators.features import SHORT_ROWS
from fwlab.primal_dual import PrimalDual
from fwlab.threads import for_parts, number_of_threads

# with fewer classes the products of a panel's rows with each other cost too much beside scores
LEAST_CLASSES = 128
# panels of a group at first, and the least number of groups of a pass
MOST_PANELS, LEAST_GROUPS = 32, 8
# a common step from here on is taken as 1, which brings rows to vertices of their domains exactly
# and loses at most a sixteenth of the gain
NEARLY_WHOLE = 0.8


class Data(NamedTuple):
    """What the steps of an iteration read and change, with the groups' changes of W."""

    X: Floats
    links: Links
    A: Floats
    dual: BlockDual
    change: LinkChange


Sweep = Callable[[tuple[int, int], PanelSteps], None]


@dataclass(eq=False)
class PanelGroups:
    """The groups of a run.

    Attributes
    ----------
    panels : int
        Panels of a group; 1 if rows are visited one after the other.
    lengths : list of float
        The common steps of the groups since `adapt` was called.
    room : PanelSteps or None
        Room for the steps of a group.
    """

    panels: int
    lengths: list[float] = field(default_factory=list)
    room: PanelSteps | None = None

    def iterate(
        self,
        rule: int,
        visit: RowsToVisit,
        single: bool,
        X: Floats,
        link: Floats,
        A: Floats,
        dual: BlockDual,
        record: StepRecord,
    ) -> None:
        """Visit the faces of the rows that moved, then all rows, as ascent_passes do."""
        m = A.shape[1]
        padded, rounded = copy_in_lines(link, link.dtype), link if single else link[:0]
        data = Data(
            X,
            Links(padded, copy_in_lines(rounded, X.dtype)),
            A,
            dual,
            LinkChange(np.empty(link.shape), np.empty(m, np.int64), np.empty(m), np.empty(m)),
        )
        self.visit_faces(visit, data, record.moves)
        order = visit.order
        if visit.random[0] != 0:
            starts = np.arange(0, len(order), PANEL_ROWS)
            draw_blocks(order, starts, PANEL_ROWS, visit.random)

        def sweep(panels: tuple[int, int], steps: PanelSteps) -> None:
            sweep_rows(TYPES[rule], panels, steps, X, data.links, A, dual, record)

        self._visit(sweep, order, order, PANEL_ROWS, data, record.moves)
        link[:] = padded[:, : link.shape[1]]
        moving = np.flatnonzero(record.moves > visit.at_rest)
        visit.moving[: len(moving)], visit.counts[MOVING] = moving, len(moving)
        self.adapt()

    def visit_faces(self, visit: RowsToVisit, data: Data, moves: Floats) -> None:
        """Pass over the faces of the rows that moved, as ascent_passes.visit_faces does."""
        (n, m), curvatures = data.A.shape, data.dual.curvatures
        index = visit.moving[: visit.counts[MOVING]]
        faces = faces_of(data.A, index, data.dual, MOST_COST_OF_ONE)
        if len(faces.rows) == 0:
            return
        cost = in_python(relative_cost)(len(faces.rows), len(faces.classes), n, m)
        least = cost * gain_of_pass(moves, curvatures)
        order, last = np.arange(len(faces.rows)), np.empty(len(faces.rows))

        def sweep(panels: tuple[int, int], steps: PanelSteps) -> None:
            sweep_faces(panels, steps, faces, data.X, data.links, data.A, data.dual, last)

        passes, gain = 0, np.inf
        while passes < min(MOST_PASSES, int(MOST_COST / cost)) and gain > least:
            if visit.random[0] != 0:
                shuffle(order, visit.random)
            self._visit(sweep, order, faces.rows[order], FACE_PANEL_ROWS, data, last)
            passes, gain = passes + 1, gain_of_moves(last, faces.rows, curvatures)
        visit.counts[PASSES], visit.counts[FACES] = passes, len(faces.rows)
        visit.counts[CLASSES] = len(faces.classes)

    def _visit(
        self,
        sweep: Sweep,
        places: Integers,
        rows: Integers,
        panel_rows: int,
        data: Data,
        moves: Floats,
    ) -> None:
        """Visit these rows, group by group; moves[places] are the sizes of their changes."""
        count = self.panels * PANEL_ROWS
        for start in range(0, len(rows), count):
            group = slice(start, min(start + count, len(rows)))
            bounds = np.append(np.arange(0, group.stop - start, panel_rows), group.stop - start)
            steps = self._steps(bounds, places[group], rows[group], data.A.shape[1])
            length = _move_group(sweep, steps, data)
            if length < 1.0:
                moves[places[group]] *= length
            self.lengths.append(length)

    def _steps(self, bounds: Integers, places: Integers, rows: Integers, m: int) -> PanelSteps:
        """Return room for the steps of a group."""
        if self.room is None:
            size = self.panels * PANEL_ROWS
            starts, stops = np.empty(size, np.int64), np.empty(size, np.int64)
            entries = np.empty(size * m, np.int32), np.empty(size * m)
            terms = np.empty(size), np.empty(size)
            self.room = PanelSteps(bounds, places, rows, starts, stops, *entries, *terms)
        return self.room._replace(bounds=bounds, places=places, rows=rows)

    def adapt(self) -> None:
        """Make groups smaller if the common steps were short."""
        typical = float(np.median(self.lengths))
        if typical < NEARLY_WHOLE:
            self.panels = max(1, int(self.panels * typical))
        self.lengths = []


def panel_groups(problem: PrimalDual) -> PanelGroups:
    """Return the groups of a new run, of one panel where threads do not pay."""
    X = problem.X
    dense = problem.kernel is None and not scipy.sparse.issparse(X)
    if number_of_threads() == 1 or not dense or X.shape[1] < SHORT_ROWS:
        return PanelGroups(1)
    if problem.n_classes < LEAST_CLASSES:
        return PanelGroups(1)
    return PanelGroups(min(MOST_PANELS, max(len(X) // (PANEL_ROWS * LEAST_GROUPS), 1)))


def _move_group(sweep: Sweep, steps: PanelSteps, data: Data) -> float:
    """Sweep the panels of a group and move W; return the common step."""
    X, links, A, dual, change = data
    for_parts(lambda panels: sweep(panels, steps), len(steps.bounds) - 1)
    for_parts(lambda classes: move_link(classes, steps, X, links, change), A.shape[1])
    size, lam_n = len(steps.rows), dual.lam_n
    slope = steps.slopes[:size].sum() - lam_n * change.products.sum()
    curvature = lam_n * change.squares.sum() + steps.ridges[:size].sum()
    if len(steps.bounds) == 2 or slope >= NEARLY_WHOLE * curvature:
        return 1.0
    length = max(0.0, float(slope / curvature))
    take_back(1.0 - length, steps, links, change, A, lam_n)
    return length
