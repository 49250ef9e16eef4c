"""Decreasing isotonic regression by pool-adjacent-violators, and what is read off its pools."""

import numpy as np

from fwlab.kernels._jit import kernel
from fwlab.kernels.sorting import sort_descending


@kernel
def decreasing_fit(values, fit, sizes):
    """Write into `fit` the non-increasing vector nearest to `values`; return the number of pools.

    The three arrays have the same length. On return sizes[:pools] holds the lengths of the pools
    from left to right; within a pool `fit` is the mean of its values.
    """
    pools = 0
    for j in range(len(values)):
        mean, size = values[j], 1
        # a pool that is not below the one before it violates the order: merge the two
        while pools > 0 and mean >= fit[pools - 1]:
            pools -= 1
            total = size + sizes[pools]
            mean += (fit[pools] - mean) * (sizes[pools] / total)
            size = total
        fit[pools], sizes[pools] = mean, size
        pools += 1
    position = len(values)
    for pool in range(pools - 1, -1, -1):
        mean = fit[pool]
        for _ in range(sizes[pool]):
            position -= 1
            fit[position] = mean
    return pools


@kernel
def spread_pool(values, start, stop, level, out):
    """out = level + values - mean(values) on [start, stop), free of cancellation for large values.

    It is values - fit where fit is the mean of values minus `level`.
    """
    shift = 0.0
    for j in range(start, stop):
        shift += values[j] - values[start]
    shift /= stop - start
    for j in range(start, stop):
        out[j] = level + ((values[j] - values[start]) - shift)


@kernel
def project_permutahedron(points, rho, out):
    """Rows of `out` become the nearest points, to rows of `points`, of conv(permutations of rho).

    rho is non-increasing. Sort, subtract rho, fit, and undo the sort: x = a - fit(a_sorted - rho).
    """
    d = points.shape[1]
    order = np.empty(d, dtype=np.int64)
    values, gaps, fit = np.empty(d), np.empty(d), np.empty(d)
    sizes = np.empty(d, dtype=np.int64)
    for i in range(points.shape[0]):
        sort_descending(points[i], order)
        for j in range(d):
            values[j] = points[i, order[j]]
            gaps[j] = values[j] - rho[j]
        start = 0
        for pool in range(decreasing_fit(gaps, fit, sizes)):
            stop = start + sizes[pool]
            spread_pool(values, start, stop, rho[start:stop].mean(), fit)
            start = stop
        for j in range(d):
            out[i, order[j]] = fit[j]
