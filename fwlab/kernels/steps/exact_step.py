"""The exact line search: the best step along a direction, clipped to the feasible ones."""

from fwlab.kernels._jit import compiled


@compiled(inline=True)
def exact_step(slope, curvature, limit):
    """Return the maximiser over [0, limit] of

        step slope - step^2 curvature / 2,

    and 0 where that does not rise   (K19 (20), T20 (2.26)).
    """
    if slope <= 0.0:
        return 0.0
    return limit if slope >= limit * curvature else slope / curvature
