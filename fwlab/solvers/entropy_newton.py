"""Minimise the primal of the cross-entropy by Newton's method with conjugate gradients.

With the probabilities p_i of a machine, and S = X Z^T for a direction Z (m, d), the Hessian gives

    H Z = lam Z + Q^T X / n,    q_ij = omega_i p_ij (s_ij - sum_k p_ik s_ik).

A step solves H Z = grad P by conjugate gradients, preconditioned as in solvers.lbfgs, until the
residual is at most eta |grad P| with

    eta = min(1/2, (|grad P| / |grad P at the start|)^(1/2))

(Eisenstat and Walker 1996). The gap is |grad P|^2 / (2 lam), so that it falls ever faster: this
method is for gaps far smaller than the accuracy of labels needs. A product with H costs about one
evaluation of P.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats
from fwlab.operators.capped_simplices import CappedSimplices
from fwlab.operators.simplices import Simplices
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.lbfgs import Renewals, SmoothPoint, SmoothWorkspace, keep, line_search
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.preconditioner import inverse_by_class

LEAST_ACCURACY, MOST_PRODUCTS = 0.5, 250


@dataclass(eq=False, kw_only=True)
class EntropyNewtonWorkspace(SmoothWorkspace):
    """The workspace of a run: with |grad P| at the start, and whether steps renew the inverse."""

    first: float
    renews: bool


@dataclass(frozen=True)
class EntropyNewton(Method):
    """One Newton step, halved from 1 until P falls enough; W is its own iterate."""

    takes_entropy = True

    def refuses(self, problem: PrimalDual) -> str | None:
        if isinstance(problem.polytopes, CappedSimplices):
            why = "its Hessian jumps where a share reaches its bound"
            return f"it does not take {problem.loss!r}, because {why}; use lbfgs."
        return None

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(own_values=True)

    def start(self, state: State) -> EntropyNewtonWorkspace:
        renewals = Renewals.of(state.problem)
        begun = SmoothWorkspace.at(state, state.link.copy(), renewals)
        first = float(np.linalg.norm(begun.point.gradient(state.problem.lam)))
        workspace = EntropyNewtonWorkspace(**vars(begun), first=first, renews=renewals.are_planned)
        keep(state, workspace)
        return workspace

    def iterate(self, state: State, workspace: EntropyNewtonWorkspace) -> None:
        last, problem = workspace.point, state.problem
        gradient = last.gradient(problem.lam)
        # its columns sum to 0 but for rounding, which the preconditioner by class takes off
        gradient -= gradient.mean(axis=0)
        norm = float(np.linalg.norm(gradient))
        if norm == 0.0:
            state.is_stuck = True
            return
        hessian = Hessian(problem, last)
        if workspace.renews and state.n_steps:
            workspace.inverse = inverse_by_class(problem, last.A)
        accuracy = min(LEAST_ACCURACY, sqrt(norm / workspace.first))
        direction, products = solution(
            hessian.product, self._precondition(state, workspace), gradient, accuracy * norm
        )
        state.n_rows += products * problem.n_samples
        slope = -float(np.vdot(gradient, direction))
        found = line_search(state, last, direction, slope, workspace.room)
        if found is None:
            state.is_stuck = True
            return
        workspace.point, state.step = found
        state.n_steps += 1
        keep(state, workspace)

    def progress(self, state: State, workspace: EntropyNewtonWorkspace) -> float:
        """Return 0: the state keeps the values, so that every step is judged."""
        return 0.0

    def _precondition(
        self, state: State, workspace: EntropyNewtonWorkspace
    ) -> Callable[[Floats], Floats]:
        inverse = workspace.inverse
        if scipy.sparse.issparse(state.problem.X):
            return lambda G: inverse(G.T).T
        return inverse


class Hessian:
    """The Hessian of P at a point."""

    def __init__(self, problem: PrimalDual, point: SmoothPoint) -> None:
        self.problem, omega = problem, problem.sample_weight
        assert isinstance(problem.polytopes, Simplices)
        # omega_i p_i without the label's, which may be omega_i up to rounding
        self.weighted, self.labels = -point.A, (np.arange(len(omega)), problem.y)
        self.weighted[self.labels] = 0.0
        self.inverse_omega = 1.0 / np.where(omega > 0, omega, 1.0)

    def product(self, Z: Floats) -> Floats:
        """Return H Z for Z (m, d).

        Scores less the label's change nothing but the rounding, and each row of Q sums to 0.
        """
        problem, P = self.problem, self.weighted
        S = problem.features.scores(Z)
        S -= S[self.labels][:, None]
        S -= (np.vecdot(P, S) * self.inverse_omega)[:, None]
        S *= P
        S[self.labels] = -S.sum(axis=1)
        return problem.lam * (Z + problem.link(S))


def solution(
    product: Callable[[Floats], Floats],
    precondition: Callable[[Floats], Floats],
    gradient: Floats,
    residual: float,
) -> tuple[Floats, int]:
    """Return Z with |H Z - gradient| <= residual by conjugate gradients, and the products it took.

    It ends after MOST_PRODUCTS, or where rounding takes the curvature.
    """
    Z, rest = np.zeros_like(gradient), gradient.copy()
    image = precondition(rest)
    P, size = image.copy(), float(np.vdot(rest, image))
    for count in range(1, MOST_PRODUCTS + 1):
        HP = product(P)
        curvature = float(np.vdot(P, HP))
        if not (curvature > 0.0 and size > 0.0):
            return (Z if count > 1 else image), count
        Z += (size / curvature) * P
        rest -= (size / curvature) * HP
        if float(np.linalg.norm(rest)) <= residual:
            break
        image = precondition(rest)
        last, size = size, float(np.vdot(rest, image))
        P = image + (size / last) * P
    return Z, count
