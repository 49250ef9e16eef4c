"""Projection onto a permutahedron: sort, subtract the weights, fit, and undo the sort."""

from typing import Any

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.large_entries import LARGE, shorten_all_gaps
from fwlab.kernels.domains.row_orders import descending_orders

# entries sorted at once: their orders fit into the second-level cache
CHUNK = 2**14


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
    """Write the result of project_permutahedron; order[i] sorts points[i] in descending order."""
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
