"""Scale the dual point of a machine, so that a machine far from the optimum has a bound above 0.

With the losses l_i of a machine W, A = A(W) and its link V, the label's share of row i is exp(-l_i)
and t_i = 1 - exp(-l_i) is the sum of the others. Each domain is convex and holds 0, so that theta A
is feasible for 0 <= theta <= 1, and its shares of other classes are theta times those of A. The
conjugate of row i of A is <p_i - e_y, s_i> - l_i, because p_i - e_y is the gradient at the scores
s_i, and the product of A with the scores is lam n <W, V>. Hence, with means over the samples,

    D(theta A)  = lam theta (<W, V> - theta/2 |V|^2)
                  + mean omega_i (theta t_i (l_i - log theta) - (1 - theta t_i) log(1 - theta t_i)),
    dD/dtheta   = lam (<W, V> - theta |V|^2)
                  + mean omega_i t_i (l_i - log theta + log(1 - theta t_i)),

a concave function whose derivative falls from infinity. At theta = 1 it is P(W) - lam/2 |W - V|^2,
far below 0 where W is far from the optimum. The gap of the best theta is at most P(W), and a gap of
NEAR P(W) or less at theta = 1 leaves little to gain. The search takes HALVINGS logarithms per
sample.
"""

import math
from typing import Any

from fwlab.arrays import namespace_of

NEAR = 0.1
# theta is 2^-x with x up to LARGEST, right to FIRST / 2^HALVINGS where x is at most FIRST
FIRST, LARGEST, HALVINGS = 16.0, 512.0, 8


def best_scale(lam: float, losses: Any, omega: Any, machine: Any, link: Any) -> tuple[float, float]:
    """Return theta and D(theta A(W)). Any theta is feasible; this one is about the best below 1.

    Parameters
    ----------
    lam : float
        The weight of the regulariser.
    losses : array (n,)
        The losses at the scores of W.
    omega : array (n,)
        The sample weights.
    machine, link : array (m, d)
        W, and the link V of A(W).

    All arrays are tensors of one library and device, or arrays of numpy.
    """
    xp = namespace_of(losses)
    inner, square = (float(xp.sum(matrix * link)) for matrix in (machine, link))
    losses, omega = (xp.asarray(values, dtype=xp.float64) for values in (losses, omega))
    t, n = -xp.expm1(-losses), losses.shape[0]
    others = omega * t
    level, total = (float(xp.sum(values)) / n for values in (others * losses, others))
    level += lam * inner

    def falls(theta: float) -> bool:
        label = float(xp.sum(others * xp.log1p(-theta * t))) / n
        return bool(level - lam * theta * square - total * math.log(theta) + label < 0)

    low, high = 0.0, FIRST
    while high < LARGEST and falls(2.0**-high):
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if falls(2.0**-middle):
            low = middle
        else:
            high = middle
    theta = 2.0**-high
    # by log1p, as labels may be so sure that log(1 - theta t) has no digits of theta t
    label = float(xp.sum(omega * (1.0 - theta * t) * xp.log1p(-theta * t))) / n
    quadratic = theta * (level - lam * theta / 2 * square)
    return theta, quadratic - theta * math.log(theta) * total - label
