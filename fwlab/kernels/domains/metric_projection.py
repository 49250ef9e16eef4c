"""A row's best point for a linear term and a diagonal metric: a projection in that metric.

    minimise sum_j g_j (a_j - old_j) + h_j/2 (a_j - old_j)^2   over omega times the negated domain

If the domain is a simplex, { a_j <= 0 for j != y, sum(a) = 0, a_y <= omega r } as for the max
hinge, then with b_j = g_j - h_j old_j and S = a_y the solution is

    -h_j a_j = max(0, b_j - tau),    tau the larger of the roots of
    tau = b_y + h_y S(tau)  and  S(tau) = omega r,    S(tau) = sum_{j != y} max(0, b_j - tau) / h_j.

S is convex and falls, so Newton's steps towards either root stay to the left of it. Let b_k be the
largest b_j, j != y. The larger root is at least b_k - h_k omega r, where entry k alone has the sum
omega r, and above b_k the solution is 0. If |b_k| is more than twice this range, tau is nearer to
b_k than to 0, and all numbers are differences to b_k.

Another domain is approached by steps with the largest h_j for all j. Each step is a Euclidean
projection, and the objective never rises.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.domains.projection import make_projection_scratch, project_row
from fwlab.kernels.layouts import MetricScratch

NEWTON_STEPS = 100
EUCLIDEAN_STEPS = 10
# a step this much shorter than the first Euclidean step ends the approach
NEGLIGIBLE = 0.05


@compiled
def project_in_metric(linear, metric, old, y, omega, polytope, scratch, new):
    """Set `new` to the minimiser for g = linear and h = metric > 0.

    It is exact if the domain is a simplex, and else the last of at most EUCLIDEAN_STEPS steps.
    """
    if polytope.n_upper == 1 and polytope.n_lower == 0:
        _project_on_simplex(linear, metric, old, y, omega * polytope.upper[0], new)
    else:
        _approach(linear, metric, old, y, omega, polytope, scratch, new)


@compiled(allocates=True)
def make_metric_scratch(m):
    """Return the scratch of a projection of m entries in a diagonal metric."""
    return MetricScratch(np.empty(m), np.empty(m), make_projection_scratch(m))


@compiled
def _project_on_simplex(linear, metric, old, y, most, new):
    m, largest = len(old), 1 if y == 0 else 0
    for j in range(m):
        # new holds b until tau is known
        new[j] = linear[j] - metric[j] * old[j]
        if j != y and new[j] > new[largest]:
            largest = j
    lowest, width = new[y], metric[largest] * most
    tau = lowest
    if abs(new[largest]) > 2.0 * width:
        shift = new[largest]
        for j in range(m):
            new[j] -= shift
        lowest -= shift
        tau = max(lowest, -width)
    for _ in range(NEWTON_STEPS):
        total, slope = 0.0, 0.0
        for j in range(m):
            excess = new[j] - tau
            if j != y and excess > 0.0:
                total += excess / metric[j]
                slope += 1.0 / metric[j]
        if slope == 0.0:
            break
        step = max(
            (lowest + metric[y] * total - tau) / (1.0 + metric[y] * slope), (total - most) / slope
        )
        if not tau + step > tau:
            break
        tau += step
    total = 0.0
    for j in range(m):
        if j != y:
            new[j] = -max(0.0, new[j] - tau) / metric[j]
            total -= new[j]
    if total > most:
        for j in range(m):
            new[j] *= most / total
        total = most
    new[y] = total


@compiled
def _approach(linear, metric, old, y, omega, polytope, scratch, new):
    """Take steps new <- projection of new - gradient / largest, from old."""
    point, last, projection = scratch
    largest = 0.0
    for j in range(len(old)):
        largest = max(largest, metric[j])
        new[j] = old[j]
    first = 0.0
    for repeat in range(EUCLIDEAN_STEPS):
        for j in range(len(old)):
            last[j] = new[j]
            gradient = linear[j] + metric[j] * (last[j] - old[j])
            point[j] = (last[j] - gradient / largest) / omega
        project_row(point, y, polytope, projection, new)
        moved = 0.0
        for j in range(len(old)):
            new[j] *= omega
            moved = max(moved, abs(new[j] - last[j]))
        if repeat == 0:
            first = moved
        if moved <= NEGLIGIBLE * first:
            break
