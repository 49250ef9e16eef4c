"""Minima of <g, v> over the sets of the projections, from their vertices; numbers of any kind.

By convexity f(x) - f(x*) <= <grad f(x), x> - min <grad f(x), v>, which certifies a projection x
without a solver. tests/cross compares each minimum with a linear program.
"""

from itertools import accumulate


def smallest_on_topk_simplex(g, k, r):
    """Minimise over the vertices: 0 and every r/k on k entries (L15 Figure 2)."""
    return min(0, r / k * sum(sorted(g)[:k])) if k <= len(g) else 0


def smallest_on_knapsack(g, r, upper, equality):
    """Fill up the cheapest entries first, and only those that pay unless the sum is fixed."""
    value, left = 0, r
    for cost in sorted(g):
        if not equality and cost >= 0:
            break
        value += cost * min(upper, left)
        left -= min(upper, left)
    return value


def smallest_on_permutahedron(g, rho):
    """Minimise by placing the largest weights at the smallest costs."""
    return sum(a * b for a, b in zip(sorted(g), sorted(rho, reverse=True), strict=True))


def is_majorised(x, rho, tolerance=0):
    """Return whether x is in the convex hull of the permutations of rho."""
    sums = zip(
        accumulate(sorted(x, reverse=True)), accumulate(sorted(rho, reverse=True)), strict=True
    )
    excess = [a - b for a, b in sums]
    return max(excess) <= tolerance and abs(excess[-1]) <= tolerance


def half_gradient(a, x, bias):
    """Return half the gradient of |a - x|^2 + bias <1, x>^2."""
    pull = bias * sum(x)
    return [xi - ai + pull for ai, xi in zip(a, x, strict=True)]


def excess(g, x, smallest):
    """Return <g, x> - min <g, v>, at least |x - x*|^2 for the half gradient g at a feasible x."""
    return sum(a * b for a, b in zip(g, x, strict=True)) - smallest
