"""Steps of several panels of rows from one W, which threads make at the same time.

A panel is swept row by row: each change is carried to the scores of the rows still to come through
the products of their x, as steps.passes does within a block; W stays. When all panels of a group
are done, W takes the sum of their changes. Each step is exact for its panel alone, so that the sum
can be too long. After t times the sum, n times the dual has risen by

    t slope - t^2 / 2 curvature,
    slope = - sum_i <delta_i + r_i a_i, d_i> - lam n <W, V>,
    curvature = lam n |V|^2 + sum_i r_i |d_i|^2,

with d_i the changes, V = sum_i d_i x_i^T / (lam n) and r_i = smoothing / omega_i. `_note_terms`
notes the terms of a row, `move_link` adds V to W, and `take_back` undoes all.
`sweep_rows` visits rows with all classes, `sweep_faces` the faces of rows (steps.face_passes). The
results do not depend on who does which panels and classes.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.projection import make_projection_scratch
from fwlab.kernels.layouts import FaceScratch, PanelScratch
from fwlab.kernels.products.blocks import add_entries, add_multiple, block_scores, copy, dot
from fwlab.kernels.products.dense import PADDING
from fwlab.kernels.steps.block import make_block_scratch
from fwlab.kernels.steps.face_passes import step_on_face
from fwlab.kernels.steps.passes import step_block

# A row's products with the rows of its panel cost 48 d flops beside the 2 m d of its scores, and
# W is read once for a panel.
PANEL_ROWS = 48
FACE_PANEL_ROWS = 16
# rows whose products are computed at once
TOGETHER = 8


@compiled(allocates=True)
def make_panel_scratch(d, m, dtype):
    """Return the scratch of a panel, for rows of this type."""
    near, wide = np.empty((PANEL_ROWS, d), dtype), np.zeros((PANEL_ROWS, d + PADDING))
    return PanelScratch(near, wide, np.empty((PANEL_ROWS, PANEL_ROWS)), np.empty((PANEL_ROWS, m)))


@compiled
def _gather(X, rows, scratch):
    """Copy rows of X in float64, and compute the products of each with the rows before it."""
    wide, count = scratch.wide, len(rows)
    for r in range(count):
        x = X[rows[r]]
        for j in range(len(x)):
            wide[r, j] = x[j]
    for r in range(0, count, TOGETHER):
        stop = min(r + TOGETHER, count)
        block_scores(wide[r:stop], wide[:stop], scratch.products[r:stop])


@compiled(inline=True)
def _carry(steps, step, product, scores):
    """Add the change of an earlier step of the panel to the scores of a row."""
    for place in range(steps.starts[step], steps.stops[step]):
        scores[steps.classes[place]] += product * steps.changes[place]


@compiled(inline=True)
def _note_terms(steps, step, i, dual, A):
    """Note the terms of row i, whose step is made, in slope and curvature."""
    steps.slopes[step] = steps.ridges[step] = 0.0
    if steps.starts[step] == steps.stops[step]:
        return
    y, ridge = dual.polytopes.y[i], dual.smoothing / dual.omega[i]
    costs = dual.polytopes.costs[dual.polytopes.cost_rows[i]]
    slope, square = 0.0, 0.0
    for place in range(steps.starts[step], steps.stops[step]):
        j, d = steps.classes[place], steps.changes[place] * dual.lam_n
        cost = costs[j] if j != y else 0.0
        slope -= (cost + ridge * (A[i, j] - d)) * d
        square += d * d
    steps.slopes[step] = slope
    steps.ridges[step] = ridge * square


@compiled(allocates=True)
def sweep_rows(rule, panels, steps, X, links, A, dual, record):
    """Sweep panels of a group, from the first to before the last, with all classes.

    W stays; A, `steps` and `record` change in the places of these panels alone.
    """
    m = A.shape[1]
    block = make_block_scratch(m, dual.weights.n_upper)
    scratch = make_panel_scratch(X.shape[1], m, X.dtype)
    change = np.empty(m)
    for panel in range(panels[0], panels[1]):
        start, stop = steps.bounds[panel], steps.bounds[panel + 1]
        rows, free = steps.rows[start:stop], start * m
        _gather(X, rows, scratch)
        _panel_scores(X, rows, links, scratch)
        for r in range(len(rows)):
            step, i, scores = start + r, rows[r], scratch.scores[r]
            for earlier in range(r):
                _carry(steps, start + earlier, scratch.products[r, earlier], scores)
            changed = step_block(rule, i, scores, dual, block, record, A, change)
            steps.starts[step] = free
            for j in block.changed[:changed]:
                steps.classes[free], steps.changes[free] = j, change[j]
                free += 1
            steps.stops[step] = free
            _note_terms(steps, step, i, dual, A)


@compiled
def _panel_scores(X, rows, links, scratch):
    near = scratch.near[: len(rows)]
    for r in range(len(rows)):
        copy(X[rows[r]], near[r])
    if len(links.rounded) > 0:
        block_scores(near, links.rounded, scratch.scores)
    else:
        block_scores(near, links.W, scratch.scores)


@compiled(inline=True)
def _scores_on_face(classes, x, W, carried, scores):
    for c in range(len(classes)):
        scores[c] = dot(x, W[classes[c]]) + carried[classes[c]]


@compiled(allocates=True)
def sweep_faces(panels, steps, faces, X, links, A, dual, moves):
    """Sweep panels of a group, from the first to before the last, on the faces of their rows.

    steps.places are the places of the rows in `faces`; moves[place] becomes |change|_1.
    """
    m = A.shape[1]
    carried, projection = np.zeros(m), make_projection_scratch(m)
    face = FaceScratch(carried, np.empty(m), np.empty(m), np.empty(m), projection)
    scratch = make_panel_scratch(X.shape[1], 1, X.dtype)
    for panel in range(panels[0], panels[1]):
        start, stop = steps.bounds[panel], steps.bounds[panel + 1]
        rows, free = steps.rows[start:stop], start * m
        _gather(X, rows, scratch)
        for r in range(len(rows)):
            step, i, place = start + r, rows[r], steps.places[start + r]
            classes = faces.classes[faces.starts[place] : faces.starts[place + 1]]
            carried[:] = 0.0
            for earlier in range(r):
                _carry(steps, start + earlier, scratch.products[r, earlier], carried)
            _scores_on_face(classes, X[i], links.W, carried, face.scores)
            moves[place] = step_on_face(i, classes, dual, face, A)
            steps.starts[step] = free
            for c in range(len(classes)):
                steps.classes[free], steps.changes[free] = classes[c], face.change[c]
                free += face.change[c] != 0.0
            steps.stops[step] = free
            _note_terms(steps, step, i, dual, A)


@compiled
def _round_class(links, j):
    if len(links.rounded) > 0:
        for column in range(links.W.shape[1]):
            links.rounded[j, column] = links.W[j, column]


@compiled
def _list_entries(classes, steps, stops, rows, entries):
    """List the entries of each of these classes, in the order of the steps.

    stops[j] is where the list of class j starts, and becomes where it stops.
    """
    first, last = classes
    for step in range(len(steps.rows)):
        for place in range(steps.starts[step], steps.stops[step]):
            j = steps.classes[place]
            if first <= j < last:
                rows[stops[j]], entries[stops[j]] = steps.rows[step], steps.changes[place]
                stops[j] += 1


@compiled
def _count_entries(classes, steps, counts, stops):
    """Count the entries of each of these classes, and set stops[j] to the sum of those before j."""
    first, last = classes
    counts[first:last] = 0
    for step in range(len(steps.rows)):
        for place in range(steps.starts[step], steps.stops[step]):
            j = steps.classes[place]
            if first <= j < last:
                counts[j] += 1
    total = 0
    for j in range(first, last):
        stops[j] = total
        total += counts[j]
    return total


@compiled(allocates=True)
def move_link(classes, steps, X, links, change):
    """Add the rows of V to W, from the first of these classes to before the last.

    `change` (layouts.LinkChange) becomes what belongs to these classes.
    """
    d, stops = X.shape[1], np.empty(len(change.counts), dtype=np.int64)
    total = _count_entries(classes, steps, change.counts, stops)
    rows, entries = np.empty(total, dtype=np.int64), np.empty(total)
    _list_entries(classes, steps, stops, rows, entries)
    for j in range(classes[0], classes[1]):
        change.products[j] = change.squares[j] = 0.0
        if change.counts[j] > 0:
            v, w, start = change.V[j], links.W[j, :d], stops[j] - change.counts[j]
            v[:] = 0.0
            add_entries(v, entries[start : stops[j]], X, rows[start : stops[j]])
            change.products[j], change.squares[j] = dot(v, w), dot(v, v)
            add_multiple(w, 1.0, v)
            _round_class(links, j)


@compiled
def take_back(steps, links, change, A, lam_n):
    """Take back the changes of a group in A and W, up to rounding."""
    for step in range(len(steps.rows)):
        row = A[steps.rows[step]]
        for place in range(steps.starts[step], steps.stops[step]):
            row[steps.classes[place]] -= steps.changes[place] * lam_n
    for j in range(len(change.counts)):
        if change.counts[j] > 0:
            add_multiple(links.W[j], -1.0, change.V[j])
            _round_class(links, j)
