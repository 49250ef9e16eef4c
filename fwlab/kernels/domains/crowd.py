"""Handle the entries of a long row beyond the n_upper largest: they share one level.

The head, the n_upper largest of the sorted b of kernels.domains.projection, is sorted. Both weights
are 0 beyond it. A crowd T is { j beyond the head : b_j >= t }, each entry of which counts as their
mean. Let L be the residual v that it gets with the head alone, or v_k at the end of the head, if T
is empty. If { b_j >= L } is T again, the projection has beta as found in the head, b_j - L on T,
and 0 elsewhere:

*Put b_j >= L back for the mean, at the same zeta.* A pool that ends with T and whose level is at
most L stays: whatever is cut off its end lies in T and has a mean of at least L. So A stays,
because A_T > L = min(max(v_y, A_T), B_T) contradicts A <= B. B stays, too, unless B_T > L. Then
L >= v_y, no entry is in the suffix, and none comes into it: the sums of b - zeta lower - L do not
fall within T, hence B >= L on head and T as before. In either case v = min(max(v_y, A), B), v_y and
the slope in zeta are as before.

*Add the entries b_j < L with beta_j = 0.* beta is optimal if it maximises <h, .> over the polytope,
h_j = v_j - v_y. This maximum depends on the n_upper largest h alone, as all later weights are 0. v
does not increase along the sorted entries, hence these h still belong to the head: v_k >= L > b_j.

It would not be enough that v_y is at least every entry left out: where h < 0, `lower` counts.
Entries up to the bound of kernels.domains.projection are 0 in any case; a crowd leaves them out.

In floating point, entries that tie with L come and go with its rounding errors. A crowd from t on
is final, too, if L differs from t by no more than these: the entries between the two are that near
to L, and in a row with all of them on one side the crowd reproduces itself. This holds for L as the
crowd gets it, not for v_k in place of the mean of a crowd that is alone in its pool.
"""

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

# insertion finds the head of a row up to this length faster than two passes over lanes
SHORT = 512
# up to this number of entries beyond the head are sorted: that takes less time than a crowd
FEW = 32


@compiled(inline=True)
def take_head(b, n_upper, scratch):
    """Move the n_upper largest entries of b to `candidates`, sorted; b keeps NaN in their places.

    NaN is not at least any level.
    """
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
    """Fill the front of `order` with the n_upper largest entries of b."""
    keys, ranks, kept = scratch.fit_upper, scratch.sizes_upper, scratch.sizes_lower
    lanes = scratch.fit_lower[:LANES]
    if n_upper <= INSERTION_LENGTH:
        lane_maxima(b, np.inf, lanes)
        threshold, _ = reached_by(lanes, n_upper)
    else:
        threshold = kth_of_row(b, n_upper, kept, keys, lanes)
    found = collect_from(b, threshold, kept, keys)
    if found < n_upper:
        select_largest(b, scratch.order[:n_upper])
        return
    select_largest(keys[:found], ranks[:n_upper])
    for place in range(n_upper):
        scratch.order[place] = kept[ranks[place]]


@compiled(fastmath=True)
def crowd_from(b, level, head, shift):
    """Return the layouts.Candidates of a head and all entries of b from `level` on.

    The differences to `shift` are summed. Differences to the level of the projection sum to at most
    sum(beta), however many entries tie.
    """
    count, total = 0, 0.0
    for j in range(len(b)):
        count += b[j] >= level
        total += b[j] - shift if b[j] >= level else 0.0
    return Candidates(head + count, head, shift + total / max(count, 1))


@compiled(inline=True)
def sort_crowd(b, level, row, scratch):
    """Append the entries from `level` on to the head, sorted."""
    keys, ranks, kept = scratch.fit_upper, scratch.sizes_upper, scratch.sizes_lower
    found = collect_from(b, level, kept, keys)
    sort_descending(keys[:found], ranks[:found])
    for place in range(found):
        scratch.candidates[row.head + place] = keys[ranks[place]]
        scratch.order[row.head + place] = kept[ranks[place]]
    return Candidates(row.length, row.length, 0.0)


@compiled(fastmath=True)
def sum_entries(values, start, stop):
    """Return the sum of values[start:stop], by vector code."""
    total = 0.0
    for j in range(start, stop):
        total += values[j]
    return total
