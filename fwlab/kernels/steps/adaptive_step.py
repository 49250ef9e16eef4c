"""The block Frank-Wolfe step that estimates the curvature of each block by backtracking.

The estimate L of a block promises that a step along d rises by at least

    step slope - step^2 L |d|^2 / 2,

and the step in [0, 1] maximises that. Each visit multiplies L by SHRINK, and then by GROW until the
dual keeps the promise (Pedregosa et al. 2020, Algorithm 2, with one estimate per block). The first
estimate is the curvature of the first step.
"""

import numpy as np

from fwlab.kernels._jit import compiled
from fwlab.kernels.steps.block import towards_vertex
from fwlab.kernels.steps.exact_step import exact_step

SHRINK, GROW = 0.9, 2.0
# the relative rounding error of a promised rise, which is a difference of at most twice its size
PROMISE = 8 * np.finfo(float).eps
TINY = np.finfo(float).tiny


@compiled
def adaptive_step(slope, curvature, distance, estimate):
    """Return the step in [0, 1] and the new estimate; distance is |d|^2, an estimate 0 is none.

    The dual rises by step slope - step^2 curvature distance / 2.
    """
    if slope <= 0.0:
        return 0.0, estimate
    estimate = curvature if estimate == 0.0 else SHRINK * estimate
    while True:
        step = exact_step(slope, estimate * distance, 1.0)
        rise = step * (slope - step * curvature * distance / 2)
        if rise >= step * (slope - step * estimate * distance / 2) * (1.0 - PROMISE):
            return step, estimate
        estimate = GROW * max(estimate, TINY)


@compiled(inline=True)
def adaptive_block(scores, block, polytope, scratch, estimates, old, new):
    """Set new = old + step (vertex - old), and the estimate of the block."""
    slope, distance = towards_vertex(scores, block, polytope, scratch, old, new)
    curvature = block.curvature + block.ridge
    step, estimates[block.row] = adaptive_step(slope, curvature, distance, estimates[block.row])
    for j in range(len(old)):
        new[j] = old[j] + step * (new[j] - old[j])
