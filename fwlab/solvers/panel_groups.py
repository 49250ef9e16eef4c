"""Iterations of ascent in which threads visit rows at the same time.

The rows are visited in groups of panels (kernels.steps.panels). If the panels of a group agree, the
best common step is about 1, and the passes that are needed are as many as with one row after the
other. If they conflict, it is short, and a short step would leave old and new classes in every
block. The group is then undone and visited panel by panel, and smaller groups follow. All of this
depends on the problem alone: the iterates are the same for every number of threads above one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats, Integers
from fwlab.kernels._jit import in_python
from fwlab.kernels.layouts import (
    BlockDual,
    Faces,
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
    relative_cost,
    visit_faces,
)
from fwlab.kernels.steps.face_passes import gain_of_moves, gain_of_pass, keep_held, list_held
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

# with fewer classes, the products of a panel's rows with each other cost too much beside scores
LEAST_CLASSES = 128
# the most and the fewest panels of a group, and the least number of groups of a pass
MOST_PANELS, FEWEST_PANELS, LEAST_GROUPS = 128, 4, 8
# panels agree if their best common step is at least this; a step of 1 then loses at most a
# sixteenth of its gain
AGREE = 0.8

Sweep = Callable[[tuple[int, int], PanelSteps], None]


class Data(NamedTuple):
    """The arrays that the steps of an iteration read and change, and the change of W by a group."""

    X: Floats
    links: Links
    A: Floats
    dual: BlockDual
    change: LinkChange


@dataclass(eq=False)
class PanelGroups:
    """The groups of a run.

    Attributes
    ----------
    panels : int
        Panels of a group in passes over all rows; 0 if rows are visited one after the other.
    face_panels : int
        The same for passes over faces, in panels of PANEL_ROWS rows.
    room : PanelSteps or None
        Room for the steps of a group.
    """

    panels: int
    face_panels: int
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
        """Visit the faces of the rows that moved, then all rows, as dense_ascent does."""
        if self.face_panels == 0:
            visit_faces(visit, X, link, A, dual, record.moves)
        data = data_of(X, link, A, dual, single)
        if self.face_panels > 0:
            self.visit_faces_in_groups(visit, data, record.moves)
        order = visit.order
        if visit.random[0] != 0:
            draw_blocks(order, np.arange(0, len(order), PANEL_ROWS), PANEL_ROWS, visit.random)

        def sweep(panels: tuple[int, int], steps: PanelSteps) -> None:
            sweep_rows(TYPES[rule], panels, steps, X, data.links, A, dual, record)

        self.panels = self._visit(sweep, order, order, (PANEL_ROWS, self.panels), data)
        link[:] = data.links.W[:, : link.shape[1]]
        moving = np.flatnonzero(record.moves > visit.at_rest)
        visit.moving[: len(moving)], visit.counts[MOVING] = moving, len(moving)

    def visit_faces_in_groups(self, visit: RowsToVisit, data: Data, moves: Floats) -> None:
        """Pass over the faces of the rows that moved, as ascent_passes.visit_faces does."""
        (n, m), curvatures = data.A.shape, data.dual.curvatures
        faces = faces_in_parts(data.A, visit.moving[: visit.counts[MOVING]], data.dual)
        cost = in_python(relative_cost)(len(faces.rows), len(faces.classes), n, m)
        if not 0.0 < cost <= MOST_COST_OF_ONE:
            return
        least = cost * gain_of_pass(moves, curvatures)
        order, last = np.arange(len(faces.rows)), np.empty(len(faces.rows))

        def sweep(panels: tuple[int, int], steps: PanelSteps) -> None:
            sweep_faces(panels, steps, faces, data.X, data.links, data.A, data.dual, last)

        passes, gain = 0, np.inf
        while passes < min(MOST_PASSES, int(MOST_COST / cost)) and gain > least:
            if visit.random[0] != 0:
                shuffle(order, visit.random)
            sizes = FACE_PANEL_ROWS, self.face_panels
            self.face_panels = self._visit(sweep, order, faces.rows[order], sizes, data)
            passes, gain = passes + 1, gain_of_moves(last, faces.rows, curvatures)
        visit.counts[PASSES], visit.counts[FACES] = passes, len(faces.rows)
        visit.counts[CLASSES] = len(faces.classes)

    def _visit(
        self, sweep: Sweep, places: Integers, rows: Integers, sizes: tuple[int, int], data: Data
    ) -> int:
        """Visit these rows, group by group; return the panels of the groups that come next.

        `sizes` are the rows of a panel and the panels of the first group. The panels of a group
        that is undone are visited one after the other.
        """
        panel_rows, panels = sizes
        start, m = 0, data.A.shape[1]
        while start < len(rows):
            stop = min(start + max(1, panels) * PANEL_ROWS, len(rows))
            several = stop - start > PANEL_ROWS
            steps = self._steps(places[start:stop], rows[start:stop], panel_rows, m)
            if not (several and move_group(sweep, steps, data)):
                for first in range(start, stop, PANEL_ROWS):
                    last = min(first + PANEL_ROWS, stop)
                    steps = self._steps(places[first:last], rows[first:last], PANEL_ROWS, m)
                    move_group(sweep, steps, data)
                panels = fewer(panels) if several else panels
            start = stop
        return panels

    def _steps(self, places: Integers, rows: Integers, panel_rows: int, m: int) -> PanelSteps:
        """Return room for the steps of a group."""
        bounds = np.append(np.arange(0, len(rows), panel_rows), len(rows))
        if self.room is None:
            size = max(self.panels, self.face_panels, 1) * PANEL_ROWS
            starts, stops = np.empty(size, np.int64), np.empty(size, np.int64)
            entries = np.empty(size * m, np.int32), np.empty(size * m)
            terms = np.empty(size), np.empty(size)
            self.room = PanelSteps(bounds, places, rows, starts, stops, *entries, *terms)
        return self.room._replace(bounds=bounds, places=places, rows=rows)

    def compile(
        self,
        rule: int,
        visit: RowsToVisit,
        X: Floats,
        link: Floats,
        A: Floats,
        dual: BlockDual,
        record: StepRecord,
    ) -> None:
        """Compile the kernels of an iteration: call them for no panels, rows and classes."""
        data, none = data_of(X, link, A, dual, single=False), np.empty(0, np.int64)
        faces = faces_in_parts(A, np.arange(len(A)), dual)
        steps = self._steps(none, none, PANEL_ROWS, A.shape[1])
        sweep_rows(TYPES[rule], (0, 0), steps, X, data.links, A, dual, record)
        sweep_faces((0, 0), steps, faces, X, data.links, A, dual, record.moves)
        visit_faces(visit, X, link, A, dual, record.moves)
        move_link((0, 0), steps, X, data.links, data.change)
        data.change.counts[:] = 0
        take_back(steps, data.links, data.change, A, dual.lam_n)
        order, random = np.arange(2), np.ones(1, np.uint64)
        draw_blocks(order, np.zeros(1, np.int64), PANEL_ROWS, random)
        shuffle(order, random)
        gain_of_moves(record.moves[:0], faces.rows, dual.curvatures)
        gain_of_pass(record.moves, dual.curvatures)


def suits_groups(problem: PrimalDual) -> bool:
    """Return whether there are threads for the rows of X, and their steps are long enough."""
    if number_of_threads() == 1 or problem.kernel is not None or scipy.sparse.issparse(problem.X):
        return False
    return problem.n_features >= SHORT_ROWS and problem.n_classes >= LEAST_CLASSES


def panel_groups(problem: PrimalDual) -> PanelGroups:
    """Return the groups of a new run."""
    most = problem.n_samples // (PANEL_ROWS * LEAST_GROUPS) if suits_groups(problem) else 0
    panels = min(most, MOST_PANELS) if most >= FEWEST_PANELS else 0
    return PanelGroups(panels, panels)


def fewer(panels: int) -> int:
    """Return the panels of the groups after one whose panels did not agree."""
    return panels // 2 if panels >= 2 * FEWEST_PANELS else 0


def data_of(X: Floats, link: Floats, A: Floats, dual: BlockDual, single: bool) -> Data:
    """Copy W, and round it if scores are to be in float32; make room for its changes."""
    m, rounded = len(link), link if single else link[:0]
    links = Links(copy_in_lines(link, link.dtype), copy_in_lines(rounded, X.dtype))
    change = LinkChange(np.empty(link.shape), np.empty(m, np.int64), np.empty(m), np.empty(m))
    return Data(X, links, A, dual, change)


def faces_in_parts(A: Floats, index: Integers, dual: BlockDual) -> Faces:
    """Return the faces of those rows in `index` whose blocks can move, as faces_of does."""
    y, fewest = dual.polytopes.y, max(1, dual.weights.n_lower)
    kept: dict[int, tuple[Integers, Integers]] = {}

    def keep(part: tuple[int, int]) -> None:
        first, last = part
        rows, starts = np.empty(last - first, np.int64), np.empty(last - first + 1, np.int64)
        count = keep_held(A, index[first:last], y, fewest, rows, starts)
        kept[first] = rows[:count], starts[: count + 1]

    for_parts(keep, len(index))
    parts = [kept[first] for first in sorted(kept)]
    ends = np.cumsum([0, *(starts[-1] for _, starts in parts)])
    classes = np.empty(ends[-1], np.int64)

    def list_classes(part: tuple[int, int]) -> None:
        for place in range(*part):
            list_held(A, parts[place][0], y, classes[ends[place] : ends[place + 1]])

    for_parts(list_classes, len(parts))
    rows = np.concatenate([rows for rows, _ in parts])
    starts = [end + starts[:-1] for end, (_, starts) in zip(ends, parts, strict=False)]
    return Faces(rows, np.concatenate([*starts, ends[-1:]]), classes)


def move_group(sweep: Sweep, steps: PanelSteps, data: Data) -> bool:
    """Sweep the panels of a group and move W, or undo that and return False if they conflict."""
    X, links, A, dual, change = data
    for_parts(lambda panels: sweep(panels, steps), len(steps.bounds) - 1)
    for_parts(lambda classes: move_link(classes, steps, X, links, change), A.shape[1])
    size, lam_n = len(steps.rows), dual.lam_n
    slope = steps.slopes[:size].sum() - lam_n * change.products.sum()
    curvature = lam_n * change.squares.sum() + steps.ridges[:size].sum()
    if len(steps.bounds) == 2 or slope >= AGREE * curvature:
        return True
    take_back(steps, links, change, A, lam_n)
    return False
