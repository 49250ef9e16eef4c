"""Bound how far each row of a dual point is from its repaired point.

fwlab.operators.repair derives the point and the bound. With b_j = max(0, -a_j) for the classes
j != y, T_j and B_j are the sums of the j largest and smallest b, U_j the sum of the first j entries
of `upper` and L_j the sum of the last j entries of `lower`. Kahan's sums of terms of one sign are
right to 2 u, whatever their number: a row that an exact step has left is proved to be near.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.selection import add_compensated
from fwlab.kernels.domains.sorting import sort_descending

VANISHING = 2.0**-960


@compiled
def _collect(row, y, b):
    """Write the b that are not 0 to the front of `b`; return their number and three sums.

    The sums are those of b, of the positive a_j of wrong classes, and of all |a_j|.
    """
    count, total, lost, clipped = 0, 0.0, 0.0, 0.0
    for j in range(len(row)):
        if row[j] != 0.0 and j != y:
            if row[j] < 0.0:
                b[count] = -row[j]
                total, lost = add_compensated(total, lost, b[count])
                count += 1
            else:
                clipped += row[j]
    return count, total, clipped, total + clipped + abs(row[y])


@compiled
def _least(b, order, upper):
    """Return the maximum of T_j / U_j; order sorts b descending."""
    least, top, top_lost, bound, bound_lost = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(len(b)):
        top, top_lost = add_compensated(top, top_lost, b[order[j]])
        bound, bound_lost = add_compensated(bound, bound_lost, upper[j])
        least = max(least, top / bound)
    return least


@compiled
def _most(b, order, count, lower):
    """Return the minimum of B_j / L_j, of the `count` largest entries; b without zeros."""
    most, bottom, bottom_lost, bound, bound_lost = np.inf, 0.0, 0.0, 0.0, 0.0
    for j in range(count):
        place = count - 1 - j
        entry = b[order[place]] if place < len(b) else 0.0
        bottom, bottom_lost = add_compensated(bottom, bottom_lost, entry)
        bound, bound_lost = add_compensated(bound, bound_lost, lower[place])
        if bound > 0.0:
            most = min(most, bottom / bound)
    return most


@compiled
def _share_of_equal(b, order, count, total, rounding, upper, sum_upper):
    """Return the share t if upper = lower: zeta is the sum of b over sum_upper."""
    share, top, top_lost, bound, bound_lost = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(min(count, len(upper) - 1)):
        entry = b[order[j]] if j < len(b) else 0.0
        top, top_lost = add_compensated(top, top_lost, entry)
        bound, bound_lost = add_compensated(bound, bound_lost, upper[j])
        excess = max(0.0, top * (1.0 + 2.0 * rounding) - total / sum_upper * bound)
        room = top - total / len(upper) * (j + 1) - rounding * top
        share = max(share, excess / room if room > excess else 1.0)
    return share


@compiled
def _share_of_mean(b, order, least, total, rounding, polytope, sum_upper, room):
    """Return the share t of the mean, no smaller than needed; b without zeros."""
    count = max(len(b), polytope.n_upper)
    if room == 0.0:
        return _share_of_equal(b, order, count, total, rounding, polytope.upper, sum_upper)
    excess = least - _most(b, order, count, polytope.lower) * (1.0 - rounding)
    if excess <= 0.0:
        return 0.0
    return excess / (excess + total * room) * (1.0 + rounding)


@compiled
def _moved_by_mixing(b, n_wrong, total, share):
    """Return |b - b'|_1 where b' has this share of the mean; b without zeros."""
    mean = total / n_wrong
    spread = (n_wrong - len(b)) * mean
    for j in range(len(b)):
        spread += abs(b[j] - mean)
    return share * spread


@compiled(allocates=True)
def repair_distance_rows(A, omega, y, polytope, sum_upper, room, rounding, out):
    """Set out[i] to |a_i - a'_i|_1.

    Parameters
    ----------
    A, omega, y : array (n, m), (n,), (n,)
        The dual point, the sample weights and the labels.
    polytope : PolytopeWeights
        `upper` and `lower`.
    sum_upper : float
        The sum of `upper`, right to 2 u.
    room : float
        No more than 1 / L_{m-1} - 1 / U_{m-1}, and 0 only if upper = lower.
    rounding : float
        The relative error of a quotient of sums, of which each is right to 2 u.
    out : array (n,)
        Right but for the rounding of sums of terms of one sign.
    """
    m = A.shape[1]
    held, ranks = np.empty(m - 1), np.empty(m - 1, dtype=np.int64)
    for i in range(A.shape[0]):
        count, total, clipped, length = _collect(A[i], y[i], held)
        b, order = held[:count], ranks[:count]
        sort_descending(b, order)
        least = _least(b, order, polytope.upper) * (1.0 + rounding)
        if least < VANISHING or total < VANISHING:
            # quotients and means lose digits to underflow: |a| + |a'| bounds the distance, too
            out[i] = 3.0 * length
            continue
        moved = clipped
        if polytope.n_lower > 0:
            share = _share_of_mean(b, order, least, total, rounding, polytope, sum_upper, room)
            moved += _moved_by_mixing(b, m - 1, total, share)
        shrunk = max(0.0, least - omega[i]) / least * (1.0 + rounding)
        true_class = abs(A[i, y[i]] - total) + rounding * total
        out[i] = moved + 2.0 * shrunk * total + true_class
