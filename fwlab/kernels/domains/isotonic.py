"""Decreasing isotonic regression by pool-adjacent-violators, and residuals from its pools."""

from typing import Any

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.large_entries import LARGE, shorten_all_gaps
from fwlab.kernels.domains.row_orders import descending_orders

# entries sorted at once: their orders fit into the second-level cache
CHUNK = 2**14


@compiled(inline=True)
def decreasing_fit(count, values, weights, zeta, fit, sizes, pool_weights):
    """Write into `fit` the non-increasing vector nearest to values - zeta weights.

    Only the first `count` entries of every array are used. Within a pool the fit is the mean.
    `weights` are upper or lower weights of a polytope. Returns the number of pools; from left to
    right they have lengths sizes[:pools] and sums of weights pool_weights[:pools].
    """
    pools = 0
    for j in range(count):
        weight, size = weights[j], 1
        mean = values[j] - zeta * weight
        # a pool that is not below the one before it violates the order: merge the two
        while pools > 0 and mean >= fit[pools - 1]:
            pools -= 1
            total = size + sizes[pools]
            mean += (fit[pools] - mean) * (sizes[pools] / total)
            weight += pool_weights[pools]
            size = total
        fit[pools], sizes[pools], pool_weights[pools] = mean, size, weight
        pools += 1
    position = count
    for pool in range(pools - 1, -1, -1):
        mean = fit[pool]
        for _ in range(sizes[pool]):
            position -= 1
            fit[position] = mean
    return pools


@compiled
def spread_pools(values, zeta, sizes, pool_weights, start, stop, out):
    """Set out = values - fit on [start, stop), without cancellation where the values are large.

    A pool of one entry gets zeta times its weight, exactly; a longer pool has that mean.
    """
    end, pool = 0, 0
    while end < stop:
        left, end = end, end + sizes[pool]
        size, target = sizes[pool], zeta * pool_weights[pool]
        pool += 1
        if size == 1:
            if left >= start:
                out[left] = target
            continue
        if end <= start:
            continue
        first = 0.0
        for _ in range(2):  # the second round restores the digits that a long sum loses
            total = 0.0
            for j in range(left, end):
                total += first + (values[j] - values[left])
            first += (target - total) / size
        for j in range(max(left, start), min(end, stop)):
            out[j] = first + (values[j] - values[left])


@compiled(fastmath=True)
def mean_shift(values, weights):
    """Return the mean of weights - (values - values[0]).

    The second round restores the digits that a long sum loses.
    """
    mean = 0.0
    for _ in range(2):
        total = 0.0
        for j in range(len(values)):
            total += weights[j] - (mean + (values[j] - values[0]))
        mean += total / len(values)
    return mean


@compiled(inline=True)
def pool_sorted(values, weights, sums, sizes):
    """Find the pools of the decreasing fit to values - weights, both non-increasing.

    Equal values share a pool whatever their weights. Writes the sums and lengths of the pools and
    returns their number. Means are compared by products: a division for each entry takes longer.
    """
    pools, size, last = 0, 1, values[0]
    total = last - weights[0]
    for j in range(1, len(values)):
        value = values[j]
        difference = value - weights[j]
        if (difference * size >= total) | (value == last):
            total += difference
            size += 1
            while pools > 0 and total * sizes[pools - 1] >= sums[pools - 1] * size:
                pools -= 1
                total += sums[pools]
                size += sizes[pools]
        else:
            sums[pools], sizes[pools] = total, size
            pools += 1
            total, size = difference, 1
        last = value
    sums[pools], sizes[pools] = total, size
    return pools + 1


@compiled(inline=True)
def scatter_pools(values, weights, sizes, order, out):
    """Set out[order] = values - fit.

    A pool of one entry gets its weight, exactly. In a longer pool only differences of values count.
    """
    end, pool = 0, 0
    while end < len(values):
        left, end = end, end + sizes[pool]
        pool += 1
        if end - left == 1:
            out[order[left]] = weights[left]
            continue
        first = mean_shift(values[left:end], weights[left:end])
        for j in range(left, end):
            out[order[j]] = first + (values[j] - values[left])


@compiled(allocates=True)
def project_sorted_rows(points, order, rho, out):
    """Write what project_permutahedron does; order[i] sorts points[i] descending."""
    d = points.shape[1]
    values, sizes = np.empty(d), np.empty(d, dtype=np.int32)
    size = max(abs(rho[0]), abs(rho[-1]))
    for i in range(points.shape[0]):
        for j in range(d):
            values[j] = points[i, order[i, j]]
        if max(abs(values[0]), abs(values[d - 1])) > LARGE * size:
            # a gap of more than rho_1 - rho_d separates two pools
            shorten_all_gaps(values, 4.0 * size)
        pool_sorted(values, rho, out[i], sizes)
        scatter_pools(values, rho, sizes, order[i], out[i])


def project_permutahedron(points: Any, rho: Any, out: Any) -> None:
    """Write the point of conv(permutations of rho) nearest to each row of `points` into `out`.

    rho is non-increasing. Sort, subtract rho, fit, and undo the sort: x = a - fit(a_sorted - rho).
    """
    at_once = max(1, CHUNK // len(rho))
    for start in range(0, len(points), at_once):
        rows = points[start : start + at_once]
        project_sorted_rows(rows, descending_orders(rows), rho, out[start : start + at_once])
