"""Recognise a machine that is an optimum for another constant C.

With A(W) the dual point of the loss's gradients at W, and V its link,

    grad P(W) = lam (W - V),

so that W is the optimum if W = V. If V = rho W, the gradient vanishes for rho lam in the place of
lam, and W is the optimum for C / rho. This tells conventions apart: a mean of losses or their sum,
lam |W|^2 or lam/2 |W|^2.

A loss with kinks has no unique A(W), and samples at a kink, of any share, would decide about rho.
So only smooth losses are recognised: the entropies, and all others with smoothing.
"""

import numpy as np

from fwlab.arrays import Floats
from fwlab.operators.scores import score_parts
from fwlab.operators.simplices import Simplices
from fwlab.operators.sums import square_in_parts
from fwlab.primal_dual import PrimalDual

# the share of V that rho W may miss; factors between 1 / NEAR and NEAR are no convention
MISSED, NEAR = 0.1, 1.2
# a factor counts as a convention's within this share
SAME = 0.02
EXPLANATIONS = {
    "2": "as with lam |W|^2 in place of lam/2 |W|^2, or for the vector of a binary machine",
    "1/2": "as with lam/2 |W|^2 in place of lam |W|^2",
    "n": "as with the mean of the losses, where C multiplies their sum",
    "1/n": "as with the sum of the losses, where C multiplies their mean",
}


def hint_of_constant(problem: PrimalDual, W: Floats, V: Floats | None = None) -> str:
    """Return a sentence on the C for which W is about an optimum, "" if it is none or this one.

    V (m, d) is the link of the gradients at W, if the caller has it.
    """
    rho = other_factor(problem, W, V)
    if rho is None:
        return ""
    name, explanation = _convention(rho, problem.n_samples)
    return (
        f"W is close to the optimum for C / rho with rho = {name}, that is C = "
        f"{1 / (rho * problem.lam_n):.4g} (lam = {rho * problem.lam:.4g}){explanation}."
    )


def other_factor(problem: PrimalDual, W: Floats, V: Floats | None = None) -> float | None:
    """Return rho if W is about an optimum for C / rho, and None if there is none but about 1."""
    if not problem.regularizer.plain or not (problem.has_entropy or problem.smoothing):
        return None
    V, square = problem.link(_gradients(problem, W)) if V is None else V, square_in_parts(W)
    size = float(np.sqrt(square_in_parts(V)))
    rho = float(np.vdot(V, W)) / square if square > 0 else 0.0
    if rho <= 0 or 1 / NEAR <= rho <= NEAR:
        return None
    return rho if np.sqrt(square_in_parts(V - rho * W)) <= MISSED * size else None


def _gradients(problem: PrimalDual, W: Floats) -> Floats:
    """Return minus the weighted gradients of the losses at W, (n, m)."""
    A = np.empty((problem.n_samples, problem.n_classes))
    losses = np.empty((2, problem.n_samples))
    for rows, scores in score_parts(problem.features, W):
        polytopes = problem.polytopes.take(rows)
        if isinstance(polytopes, Simplices):
            A[rows] = polytopes.losses_and_duals(scores)[1]
        else:
            gradients = problem.write_losses(rows, scores, None, losses)
            assert gradients is not None
            A[rows] = -gradients
    return problem.sample_weight[:, None] * A


def _convention(rho: float, n: int) -> tuple[str, str]:
    """Return the name of a factor, and a clause on the convention that explains it."""
    named = {"2": 2.0, "1/2": 0.5, "n": float(n), "1/n": 1.0 / n}
    for name, value in named.items():
        if abs(rho / value - 1) <= SAME:
            return name, f", {EXPLANATIONS[name]}"
    return f"{rho:.3g}", ""
