"""Start block ascent on the cross-entropy between the label and the uniform distribution.

On the segment A = theta omega_i (e_y - 1/m), 0 <= theta <= 1, the shares are 1 - t for the label
and t / (m - 1) for each other class, with t = theta (m - 1) / m. With V the link of theta = 1 and
omega the mean sample weight,

    D = -lam/2 theta^2 |V|^2 - omega ((1 - t) log(1 - t) + t log(t / (m - 1))),
    dD/dtheta = -lam theta |V|^2 + omega (m - 1)/m log((1 - t) (m - 1) / t).

The derivative falls from infinity to at most 0. Row j of lam n V is the sum of the omega_i x_i of
class j less the mean of these sums over the classes. So the best start costs less than a pass, and
it saves about one.
"""

import math

import numpy as np

from fwlab.primal_dual import PrimalDual
from fwlab.solvers.method import State

HALVINGS = 60


def start_between(state: State) -> None:
    """Move A and the link to the point of the segment with the largest dual value."""
    problem, omega = state.problem, state.problem.sample_weight[:, None]
    m, labels = problem.n_classes, problem.y[:, None]
    link = problem.features.transposed_vertex_product(labels, omega, m)
    link -= link.mean(axis=0)
    link /= problem.lam_n
    A = np.repeat(omega / -m, m, axis=1)
    np.put_along_axis(A, labels, omega * (1.0 - 1.0 / m), axis=1)
    theta = best_theta(problem, problem.features.link_norm(link, A, problem.lam_n))
    A *= theta
    link *= theta
    state.A[:], state.link = A, link


def best_theta(problem: PrimalDual, square: float) -> float:
    """Return theta by bisection, from |V|^2."""
    m, omega = problem.n_classes, float(problem.sample_weight.mean())
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        theta = (low + high) / 2
        t = theta * (m - 1) / m
        entropy = omega * (m - 1) / m * math.log((1.0 - t) * (m - 1) / t)
        if entropy > problem.lam * theta * square:
            low = theta
        else:
            high = theta
    return low
