"""few"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.selection import (
    LANES,
    collect_from,
    kth_of_row,
    lane_maxima,
    reached_by,
)
from fwlab.kernels.domains.sorting import INSERTION_LENGTH, select_largest, sort_descending
from fwlab.kernels.layouts import Candidates

SHORT = 512


@compiled(inline=True)
def take_head(b, n_upper, scratch):
    """Move the n_upper largest entries of b to `candidates`, sorted."""
    candidates, order = scratch.candidates, scratch.order
    if n_upper <= INSERTION_LENGTH and len(b) <= SHORT:
        select_largest(b, order[:n_upper])
    else:
        _select_from_long(b, n_upper, scratch)
    for place in range(n_upper):
        candidates[place] = b[order[place]]
        b[order[place]] = np.nan


@compiled
def _select_from_long(b, n_upper, scratch):
    keys, ranks, kept = scratch.fit_upper, scratch.sizes_upper, scratch.sizes_lower
    lanes = scratch.fit_lower[:LANES]
    if n_upper <= INSERTION_LENGTH:
        lane_maxima(b, np.inf, lanes)
        threshold, _ = reached_by(lanes, n_upper)
    else:
        threshold, _ = kth_of_row(b, n_upper, kept, keys, lanes)
    found = collect_from(b, threshold, kept, keys)
    if found < n_upper:
        select_largest(b, scratch.order[:n_upper])
        return
    select_largest(keys[:found], ranks[:n_upper])
    for place in range(n_upper):
        scratch.order[place] = kept[ranks[place]]


@compiled(fastmath=True)
def crowd_from(b, level, head, shift):
    count, total = 0, 0.0
    for j in range(len(b)):
        count += b[j] >= level
        total += b[j] - shift if b[j] >= level else 0.0
    return Candidates(head + count, head, shift + total / max(count, 1))


@compiled(inline=True)
def sort_crowd(b, level, row, scratch):
    """Write the entries from `level` on behind the head, sorted."""
    keys, ranks, kept = scratch.fit_upper, scratch.sizes_upper, scratch.sizes_lower
    found = collect_from(b, level, kept, keys)
    sort_descending(keys[:found], ranks[:found])
    for place in range(found):
        scratch.candidates[row.head + place] = keys[ranks[place]]
        scratch.order[row.head + place] = kept[ranks[place]]
    return Candidates(row.count, row.count, 0.0)


@compiled(fastmath=True)
def sum_entries(values, start, stop):
    """Return the sum of values[start:stop]; vector code, whose partial sums round less."""
    total = 0.0
    for j in range(start, stop):
        total += values[j]
    return total
