"""Exact Euclidean projection of a row onto the negated effective domain of a loss.

kernels.domains.nearest_beta states the problem and solves it for the entries that can differ from
0, sorted. Here they are found: in a short row by sorting, in a long one by selection, where a crowd
of entries at the same level need not be sorted. Rows of losses with equal weights are
projected without a sort (kernels.domains.equal_weights), except with few classes or large numbers.
"""

import numpy as np

from fwlab.kernels._jit import chosen_by_type, compiled
from fwlab.kernels.domains.crowd import FEW, SHORT, crowd_from, sort_crowd, sum_entries, take_head
from fwlab.kernels.domains.equal_weights import project_without_sort
from fwlab.kernels.domains.large_entries import LARGE, shorten_gaps
from fwlab.kernels.domains.nearest_beta import (
    best_zeta,
    nearest_in_polytope,
    slope_at_origin,
    write_beta,
)
from fwlab.kernels.domains.selection import collect_from
from fwlab.kernels.domains.solid_simplex import project_on_solid_simplex
from fwlab.kernels.domains.sorting import (
    COUNTING_LENGTH,
    INSERTION_LENGTH,
    select_largest,
    sort_descending,
)
from fwlab.kernels.layouts import (
    Candidates,
    EqualWeights,
    LongPolytopeWeights,
    PolytopeWeights,
    ProjectionScratch,
)

# a crowd usually reproduces itself after 1 to 6 attempts
ATTEMPTS = 40
# shorter rows take less time when they are sorted
SORTED = 6
EPS = 2.0**-52


@compiled(inline=True)
def _not_above(entry, weight):
    """Return a number not above entry - weight, by however little rounding lifts the difference."""
    difference = entry - weight
    return difference - EPS * abs(difference)


@compiled(inline=True)
def _zero_below(first, last, polytope):
    """Return a bound: an entry of b at most this large is 0 in the projection.

    b_first is the n_upper-th largest entry and b_last the n_lower-th. With c_y = 0,
    v_y = sum(beta) >= 0 and beta_j > 0 needs two things:

        b_j > A_j, hence a pool that reaches into `upper`: its level is at least b_first - upper_1,
        because the mean of a pool is not below the mean of any of its prefixes;
        b_j > min(v_y, B_j), hence b_j > 0 or, likewise, b_j > b_last - lower_1.
    """
    below = min(0.0, _not_above(last, polytope.lower[0])) if polytope.n_lower > 0 else 0.0
    return max(below, _not_above(first, polytope.upper[0]))


@compiled(allocates=True)
def make_projection_scratch(m):
    """Return the scratch of a projection of m entries."""
    n = m - 1
    return ProjectionScratch(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n),
        np.empty(n),
        np.empty(n + 1, dtype=np.int64),
    )


@compiled(inline=True)
def _sort_candidates(b, polytope, most, scratch):
    """Sort the entries of b that can differ from 0, descending; return their number."""
    n_upper, n_lower = polytope.n_upper, polytope.n_lower
    candidates, order = scratch.candidates, scratch.order
    # the fits come later: their room holds keys, ranks and indices
    keys, ranks, kept = scratch.fit_upper, scratch.sizes_upper, scratch.sizes_lower
    count = 0
    if len(b) <= COUNTING_LENGTH:
        sort_descending(b, order)
        bound = _zero_below(b[order[n_upper - 1]], b[order[max(0, n_lower - 1)]], polytope)
        while count < len(b) and b[order[count]] > bound:
            candidates[count] = b[order[count]]
            count += 1
        return count
    if n_upper <= INSERTION_LENGTH:
        select_largest(b, order[:n_upper])
        bound = _zero_below(b[order[n_upper - 1]], b[order[max(0, n_lower - 1)]], polytope)
    else:
        bound = 0.0 if n_lower == 0 else -np.inf
    for j in range(len(b)):
        if b[j] > bound:
            keys[count], kept[count] = b[j], j
            count += 1
    if count > most:
        return count
    sort_descending(keys[:count], ranks[:count])
    for place in range(count):
        candidates[place], order[place] = keys[ranks[place]], kept[ranks[place]]
    return count


@compiled(inline=True)
def subtract_from_true(point, y, b):
    """Set b to c_y - c_j over the classes j != y, in their order."""
    for j in range(y):
        b[j] = point[y] - point[j]
    for j in range(y, len(b)):
        b[j] = point[y] - point[j + 1]


@compiled(inline=True)
def sorted_candidates(point, y, polytope, most, scratch):
    """Sort the entries that can differ from 0 in the projection; return their number.

    Adding a constant to `point` moves nothing, because the domain's rows sum to 0: c_y is taken
    as 0. More than `most` of a long row are only counted.
    """
    subtract_from_true(point, y, scratch.beta)
    return _sort_candidates(scratch.beta, PolytopeWeights(*polytope), most, scratch)


@compiled(inline=True)
def _write_row(row, y, scratch, out):
    """Write the entries of beta to their classes, and their sum to class y."""
    beta, order, total = scratch.beta, scratch.order, 0.0
    for place in range(row.head):
        entry = max(0.0, beta[place])
        out[order[place] + (order[place] >= y)] = -entry
        total += entry
    if row.head < row.length:
        for place in range(row.head, row.length):
            out[order[place] + (order[place] >= y)] = -max(0.0, beta[place])
        total += sum_entries(beta, row.head, row.length)
    out[y] = total


@compiled(inline=True)
def _residual_at(place, residual, prefix, suffix, scratch):
    """Return v at a place of the candidates, from the fits."""
    if place < prefix:
        return scratch.fit_upper[place]
    return scratch.fit_lower[place] if place >= suffix else residual


@compiled
def _project_crowd(row, bound, y, polytope, scratch, out):
    """Project a row whose head is sorted, if a crowd reproduces itself; return whether it does.

    `row` has the crowd from `bound` on. A crowd whose level is its own mean joins no other pool:
    the next one has the level at the end of the head.
    """
    b, order, candidates = scratch.beta, scratch.order, scratch.candidates
    n_upper = polytope.n_upper
    zeta, level = 1.0, bound
    large = LARGE * polytope.sum_upper
    if not (candidates[0] <= large and bound >= -large):
        return False
    for _ in range(ATTEMPTS):
        zeta, residual, prefix, suffix = best_zeta(row, zeta, 0.0, polytope, scratch)
        if zeta == 0.0:
            return True
        reached = _residual_at(min(n_upper, row.length - 1), residual, prefix, suffix, scratch)
        alone = reached == row.mean
        if alone:
            reached = _residual_at(n_upper - 1, residual, prefix, suffix, scratch)
        last, level = level, max(reached, bound)
        new = crowd_from(b, level, n_upper, level)
        rounding = 8.0 * EPS * (abs(candidates[0]) + abs(level))
        settled = not alone and abs(level - last) <= rounding
        if settled or new.length == row.length:
            collect_from(b, last, order[n_upper:], candidates[n_upper:])
            write_beta(row, zeta, residual, prefix, suffix, scratch)
            _write_row(row, y, scratch, out)
            return True
        row = new
    return False


@compiled
def _long_candidates(point, y, polytope, scratch, out):
    """Return candidates_of_row(..) for a long row, few of whose entries are sorted."""
    b, candidates, n_upper = scratch.beta, scratch.candidates, polytope.n_upper
    subtract_from_true(point, y, b)
    take_head(b, n_upper, scratch)
    if slope_at_origin(n_upper, candidates, polytope.upper, polytope.lower) <= 0.0:
        return Candidates(0, 0, 0.0)
    last = candidates[n_upper - 1]
    bound = _zero_below(last, candidates[max(0, polytope.n_lower - 1)], polytope)
    row = crowd_from(b, bound, n_upper, last)
    crowded = row.length > n_upper + FEW
    if crowded and _project_crowd(row, bound, y, polytope, scratch, out):
        return Candidates(0, 0, 0.0)
    return sort_crowd(b, bound, row, scratch)


def candidates_of_row(point, y, polytope, scratch, out):
    """Return the sorted entries that can differ from 0, as layouts.Candidates.

    There are none if the projection is 0, or if it has been written to `out` already, as is faster
    for some long rows.
    """
    find = _candidates_or_crowd if isinstance(polytope, LongPolytopeWeights) else _all_candidates
    return find(point, y, polytope, scratch, out)


def _all_candidates(point, y, polytope, scratch, out):
    count = sorted_candidates(point, y, polytope, len(out), scratch)
    return Candidates(count, count, 0.0)


def _candidates_or_crowd(point, y, polytope, scratch, out):
    if len(out) <= SHORT:
        count = sorted_candidates(point, y, polytope, COUNTING_LENGTH, scratch)
        if count <= COUNTING_LENGTH:
            return Candidates(count, count, 0.0)
    return _long_candidates(point, y, polytope, scratch, out)


@chosen_by_type(candidates_of_row)
def _candidates_of_type(point, y, polytope, scratch, out):
    long = polytope.instance_class is LongPolytopeWeights
    return _candidates_or_crowd if long else _all_candidates


@compiled
def _project_by_sorting(point, y, polytope, scratch, out):
    """Project a row; not inlined, because to compile it takes seconds for each caller."""
    for j in range(len(out)):
        out[j] = 0.0
    row = candidates_of_row(point, y, polytope, scratch, out)
    if row.length == 0:
        return
    offset = shorten_gaps(row.length, polytope, scratch.candidates)
    if nearest_in_polytope(row, offset, polytope, scratch) > 0.0:
        _write_row(row, y, scratch, out)


@compiled(inline=True)
def _project_short(point, y, polytope, scratch, out):
    if polytope.n_upper == 1 and polytope.n_lower == 0 and len(out) <= COUNTING_LENGTH:
        project_on_solid_simplex(point, y, polytope.upper[0], out)
    else:
        _project_by_sorting(point, y, polytope, scratch, out)


@compiled(inline=True)
def _project_equal(point, y, polytope, scratch, out):
    simplex = polytope.n_upper == 1 and polytope.n_lower == 0 and len(out) <= COUNTING_LENGTH
    if len(out) > SORTED and not simplex:
        subtract_from_true(point, y, scratch.beta)
        if project_without_sort(y, polytope, scratch, out):
            return
    _project_short(point, y, PolytopeWeights(*polytope), scratch, out)


def project_row(point, y, polytope, scratch, out):
    """Write the point of the negated domain nearest to `point` into `out`."""
    if isinstance(polytope, EqualWeights):
        project = _project_equal
    else:
        long = isinstance(polytope, LongPolytopeWeights)
        project = _project_by_sorting if long else _project_short
    project(point, y, polytope, scratch, out)


@chosen_by_type(project_row)
def _projection_of_type(point, y, polytope, scratch, out):
    kind = polytope.instance_class
    if kind is EqualWeights:
        return _project_equal
    return _project_by_sorting if kind is LongPolytopeWeights else _project_short


@compiled(allocates=True)
def project_rows(points, y, polytope, out):
    """Write the projection of every row of `points` (n, m)."""
    scratch = make_projection_scratch(points.shape[1])
    for i in range(points.shape[0]):
        project_row(points[i], y[i], polytope, scratch, out[i])
