"""The projected subgradient method that T20 calls PG (Pegasos, Shalev-Shwartz et al. 2011).

Let g_i be a subgradient of omega_i Phi_i (with smoothing, of its envelope) at the scores of row i,
and u_i = -g_i. A step t = 1, 2, .. of length 1/(lam t) on P is

    W <- (1 - 1/t) W + (1/t) W(U),     W(U) = U^T X / (lam n),

followed by the projection onto the ball |W|^2 <= P(0) / lam. The ball contains the solution: strong
duality gives lam |W*|^2 = mean of -Phi_i^*(-a_i*) less the mean loss, the loss is not negative, and
-Phi_i^* <= Phi_i(0). (P(W*) <= P(0) alone gives twice this bound.) The rows u_i lie in the negated
domain, which is convex, and so do their averages, which form A.

An entropy makes the loss smooth: its gradient is a share p - e_y, and its Hessian at most 1/2, as
<s, H s> is at most a quarter of the square of the range of s. So the gradient of P has the
Lipschitz constant

    L = lam + (1/n) sum_i omega_i |x_i|^2 / 2,

and with steps of length 1/L, which is gradient descent, P(W) - P* falls by the factor 1 - lam/L at
each. Full steps therefore never become shorter: t stops at L / lam.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.checks.arguments import as_integer
from fwlab.operators.domains import nearest_to_scores
from fwlab.operators.simplices import Simplices
from fwlab.operators.vertices import lowest_vertex
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.method import Method, Needs, State

Rows = Integers | slice


class StepLimits(NamedTuple):
    """The radius of the ball, and the t at which steps stop to become shorter."""

    radius: float
    longest: float


@dataclass(frozen=True)
class Subgradient(Method):
    """An iteration makes ceil(n / batch) steps; W is an iterate of its own.

    Row i of A is the average of all u_i so far, one per iteration, or for an entropy with the
    weights of the steps. With an entropy and full steps the method is gradient descent from step
    L / lam on. A start A0 gives W(A0), which
    the first step forgets.

    The method keeps W as the combination W(C) of coefficients C. With a precomputed kernel, which
    has no W, the primal value is the value at the machine of C, and result.coefficients holds C.

    Parameters
    ----------
    batch : int, optional
        The number of rows per step, by default all. With fewer, each iteration cuts a fresh
        permutation of the rows into batches, the last of which may be short.
    """

    sentence = "Projected subgradient, step 1/(lam t), for entropies at least 1/L."
    any_loss = True
    takes_entropy = True

    batch: int | None = None

    def __post_init__(self) -> None:
        if self.batch is not None:
            as_integer("batch", self.batch, low=1)

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(coefficients=True)

    def start(self, state: State) -> StepLimits:
        """Return an infinite radius for a loss that may be negative."""
        problem, longest = state.problem, np.inf
        if not (problem.in_family or problem.has_entropy):
            return StepLimits(np.inf, longest)
        if problem.has_entropy and (self.batch is None or self.batch >= problem.n_samples):
            longest = 1.0 + float(problem.sample_weight @ problem.curvatures) / 2
        at_zero = problem.certificate(np.zeros_like(state.A), np.zeros_like(state.link))
        return StepLimits(float(np.sqrt(at_zero.primal / problem.lam)), longest)

    def iterate(self, state: State, limits: StepLimits) -> None:
        problem, A, C, V = state.problem, state.A, state.machine, state.link
        n, scale = problem.n_samples, 1.0
        batches = self._batches(n, state.rng)
        iteration = min(state.n_steps // len(batches) + 1, limits.longest)
        for rows in batches:
            state.n_steps += 1
            t = min(state.n_steps, limits.longest)
            U, product = _step(problem, rows, scale, V)
            A[rows] *= 1.0 - 1.0 / iteration
            A[rows] += U / iteration
            # W and C are `scale` times V and C
            scale *= 1.0 - 1.0 / t
            if scale == 0.0:
                C[:], V[:], scale = 0.0, 0.0, 1.0
            growth = n / (len(U) * t * scale)
            U *= growth
            C[rows] += U
            product *= growth / problem.lam_n
            V += product
            norm = scale * np.sqrt(max(0.0, problem.features.link_norm(V, C, problem.lam_n)))
            if norm > limits.radius:
                scale *= limits.radius / norm
        C *= scale
        V *= scale
        state.step = 1.0 / (problem.lam * min(state.n_steps, limits.longest))
        state.n_rows += n
        if problem.smoothing or problem.has_entropy:
            state.n_projections += n
        else:
            state.n_lmo += n

    def _batches(self, n: int, rng: np.random.Generator) -> list[Rows]:
        if self.batch is None or self.batch >= n:
            return [slice(None)]
        order = rng.permutation(n)
        return [order[start : start + self.batch] for start in range(0, n, self.batch)]


def _step(problem: PrimalDual, rows: Rows, scale: float, V: Floats) -> tuple[Floats, Floats]:
    """Return U (b, m), minus the subgradients of these rows at W = scale V, and U^T X."""
    features, polytopes = problem.features, problem.polytopes
    if not isinstance(rows, slice):
        features, polytopes = features.rows(rows), polytopes.take(rows)
    omega = problem.sample_weight[rows, None]
    scores = features.scores(V)
    scores *= scale
    if isinstance(polytopes, Simplices):
        U = polytopes.losses_and_duals(scores)[1] * omega
        return U, features.transposed_product(U)
    if problem.smoothing:
        scores = polytopes.add_costs(scores)
        U = nearest_to_scores(polytopes, scores, problem.smoothing)
        U *= omega
        return U, features.transposed_product(U)
    vertex, _ = lowest_vertex(polytopes, scores, omega[:, 0])
    U = np.zeros_like(scores)
    vertex.add_to(U, 1.0)
    return U, vertex.transposed_product(features)
