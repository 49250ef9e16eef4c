"""Decreasing isotonic regression by pool-adjacent-violators, and residuals from its pools."""

from fwlab.kernels._jit import compiled


@compiled(inline=True)
def decreasing_fit(row, values, weights, zeta, fit, sizes, pool_weights):
    """Write into `fit` the non-increasing vector nearest to values - zeta weights.

    Only the first row.length entries of every array are used; `row` is a layouts.Candidates. The
    unsorted ones have weight 0. Within a pool the fit is the mean. `weights` are upper or lower
    weights of a polytope. Returns the number of pools; from left to right they have lengths
    sizes[:pools] and sums of weights pool_weights[:pools].
    """
    count, head, mean_of_rest = row
    pools = 0
    for j in range(count):
        if j > head:
            break
        if j < head:
            weight, size = weights[j], 1
            mean = values[j] - zeta * weight
        else:
            weight, size, mean = 0.0, count - head, mean_of_rest
        # a pool that is not below the one before it violates the order: merge the two
        while pools > 0 and mean >= fit[pools - 1]:
            pools -= 1
            total = size + sizes[pools]
            mean += (fit[pools] - mean) * (sizes[pools] / total)
            weight += pool_weights[pools]
            size = total
        fit[pools], sizes[pools], pool_weights[pools] = mean, size, weight
        pools += 1
    # of the unsorted entries the first one stands for all
    position = count if head == count else head + 1
    beyond = count - position
    for pool in range(pools - 1, -1, -1):
        mean = fit[pool]
        for _ in range(sizes[pool] - beyond):
            position -= 1
            fit[position] = mean
        beyond = 0
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
