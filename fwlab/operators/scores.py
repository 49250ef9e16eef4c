"""Compute scores X W^T, all at once or a part of the rows at a time.

The scores (n, m) take as much room as the dual point. Whatever is computed from them row by row
needs one part at a time, in an array that stays in cache.
"""

from collections.abc import Iterator

import numpy as np

from fwlab.arrays import Floats
from fwlab.operators.features_interface import Features, ScoreWriter
from fwlab.threads import for_rows

# rows, and their scores
Part = tuple[slice, Floats]

# a part has this number of rows, or more as long as it has at most this number of entries
ROWS, ENTRIES = 1024, 2**17


def scores_of(features: Features, W: Floats) -> Floats:
    """Return the scores of all rows for the link W, (n, m)."""
    out = np.empty((features.shape[0], len(W)))
    _write_from(0, features.score_writer(W), out)
    return out


def row_slices(n: int, m: int) -> Iterator[slice]:
    """Yield slices that are all n rows together, one per part of the scores (n, m)."""
    size = max(ROWS, ENTRIES // m)
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def score_parts(features: Features, W: Floats, scores: Floats | None = None) -> Iterator[Part]:
    """Yield slices that are all rows together, each with the scores of its rows for the link W.

    Parts of `scores` (n, m), if the caller has them; else each part overwrites the last one.
    """
    n, m = features.shape[0], len(W)
    if scores is not None:
        yield from ((rows, scores[rows]) for rows in row_slices(n, m))
        return
    write, is_zero = features.score_writer(W), not W.any()
    room = np.zeros((next(row_slices(n, m)).stop, m))
    for rows in row_slices(n, m):
        out = room[: rows.stop - rows.start]
        if not is_zero:
            _write_from(rows.start, write, out)
        yield rows, out


def _write_from(first: int, write: ScoreWriter, out: Floats) -> None:
    """Write the scores of the rows from `first` on into `out`."""
    for_rows(lambda part: write(slice(first + part.start, first + part.stop), out[part]), len(out))
