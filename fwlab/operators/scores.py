"""Compute scores X W^T, all at once or part of the rows at a time.

An array of all scores (n, m) has the size of the dual point. Whatever is computed from them row by
row needs only one part at a time.
"""

from collections.abc import Iterator

import numpy as np

from fwlab.arrays import Floats, cut
from fwlab.operators.features_interface import DataFeatures, Features, ScoreWriter
from fwlab.operators.sums import gamma, norms_above
from fwlab.threads import for_rows, number_of_threads

# per thread a part has ROWS rows, or more if it then has at most ENTRIES entries
ROWS, ENTRIES = 1024, 2**16

# rows, and their scores
Part = tuple[slice, Floats]


def scores_of(features: Features, W: Floats) -> Floats:
    """Return the scores of all rows for the link W, (n, m)."""
    out = np.empty((features.shape[0], len(W)))
    _write_from(0, features.score_writer(W), out)
    return out


def score_errors(features: DataFeatures, x: Floats, W: Floats) -> Floats:
    """Return a bound of the rounding error of the scores of each row for W (m, d), (n,).

    x (n,) are bounds of the norms of the rows. They are at least 2^-511, so that products that
    vanish count, too.
    """
    w = norms_above(np.einsum("ij,ij->i", W, W))
    return np.asarray(gamma(features.row_terms()) * x * w.max())


def rows_of_part(n_classes: int) -> int:
    """Return the number of rows of a part; the last part may be shorter."""
    return max(ROWS, ENTRIES // n_classes) * number_of_threads()


def row_slices(n: int, n_classes: int) -> list[slice]:
    """Return the rows of each part of the scores of n rows."""
    return cut(slice(0, n), rows_of_part(n_classes))


def score_parts(features: Features, W: Floats, scores: Floats | None = None) -> Iterator[Part]:
    """Yield slices that are all rows together, each with the scores of its rows for the link W.

    The parts are views of `scores` (n, m) if the caller has them. Otherwise each part overwrites
    the one before. If W = 0 there is no product.
    """
    slices = row_slices(features.shape[0], len(W))
    if scores is not None:
        yield from ((rows, scores[rows]) for rows in slices)
        return
    room = np.zeros((slices[0].stop, len(W)))
    write, is_zero = features.score_writer(W), not W.any()
    for rows in slices:
        out = room[: rows.stop - rows.start]
        if not is_zero:
            _write_from(rows.start, write, out)
        yield rows, out


def _write_from(first: int, write: ScoreWriter, out: Floats) -> None:
    """Write the scores of the rows from `first` on into `out`."""
    for_rows(lambda part: write(slice(first + part.start, first + part.stop), out[part]), len(out))
