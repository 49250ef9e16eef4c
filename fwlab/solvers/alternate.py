"""Run Algorithm 1 of LP15: a pass at fixed class weights beta, then new weights from its machine.

At fixed beta the dual is quadratic: with V = A^T X / (lam n) its regulariser is
lam/2 sum_j beta_j |v_j|^2, its machine w_j = beta_j v_j   (LP15 (9), (10)). This module
repairs the algorithm; the claims LP15-alg1-* of the ledger show for which p and data it fails as
printed.

- A class with w_j = 0 gets the weight 0 from (14) and keeps it, also where the optimum has
  w_j != 0. No |w_j| counts as less than 2^-k of the largest after k passes, nor as less than
  LEAST.
- For p > 2, where (8) does not hold, (14) swings or goes to infinity. The weights come from
  u_j = v_j by the representer map, |u_j|^(q-2) (sum |u|^q)^(2/q-1). The quadratic dual is then
  below the full dual and touches it, so that no pass can lower the full dual.
- For p < 2 the quadratic dual is above the full dual, which a pass can therefore lower; at p = 1
  every pass does that leaves a class with small weight free. A is therefore kept apart from the
  iterate of the passes: it moves to the best point, on the full dual, of the segment to that
  iterate. The dual never falls.
- Below p = 1.1 the weights belong to a p_k that falls to p with the passes, so that classes that
  the first machines leave out return sooner.

For every p the certificate belongs to A, and W is the machine of the last pass, which exists at p =
1 too. Near p = 1 `alternate` is faster than `direct`; from p = 1.5 on `direct` takes fewer passes,
above all where n is larger than d.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.kernels.layouts import BlockNorm
from fwlab.lp_norm import LpNorm
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.dual_layout import dual_of
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.segment import best_share, move

LEAST = 1e-10
FIRST_P = 1.1


@dataclass(eq=False)
class AlternateWorkspace:
    """The iterate of the passes and its link V, the link V of state.A, and beta (m,)."""

    A: Floats
    link: Floats
    certified_link: Floats
    beta: Floats
    passes: int = 0


@dataclass(frozen=True)
class Alternate(Method):
    """One pass over all rows in random order, then new class weights."""

    sentence = "Passes at fixed class weights, then new weights (Algorithm 1 of LP15, repaired)."
    any_norm = True

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(coefficients=True)

    def start(self, state: State) -> AlternateWorkspace:
        problem = state.problem
        A, link = state.A.copy(), state.link.copy(order="K")
        beta = np.full(problem.n_classes, problem.n_classes ** (1 - 2 / problem.regularizer.p))
        workspace = AlternateWorkspace(A, link, state.link.copy(order="K"), beta)
        assert state.coefficients is not None
        _take_machine(state, state.coefficients, workspace)
        return workspace

    def iterate(self, state: State, workspace: AlternateWorkspace) -> None:
        problem = state.problem
        pass_over_rows(state, workspace.A, workspace.link, workspace.beta, np.empty(0))
        workspace.passes += 1
        # the array of the coefficients serves for D until _take_machine writes them
        assert state.coefficients is not None
        D = np.subtract(workspace.A, state.A, out=state.coefficients)
        D_link = workspace.link - workspace.certified_link
        state.step = best_share(problem, state.A, workspace.certified_link, D, D_link)
        move(state.A, workspace.certified_link, D, D_link, state.step)
        if state.step == 1.0:  # without the rounding of the move
            state.A[:] = workspace.A
        _take_machine(state, D, workspace)
        workspace.beta = _next_weights(problem, workspace)


def pass_over_rows(state: State, A: Floats, link: Floats, beta: Floats, squares: Floats) -> None:
    """Make block steps on all rows of A in random order (kernels.steps.norm_passes).

    Parameters
    ----------
    state : State
        The run; its random order and its count of steps change.
    A, link : array (n, m), (m, d)
        The dual point and its link V; both change.
    beta : array (m,)
        Class weights of the steps if `squares` is empty.
    squares : array (m,)
        |v_j|^2, for steps on the full dual; they follow every step.

    """
    problem = state.problem
    norm = BlockNorm(beta, squares, problem.regularizer.q)
    order = state.rng.permutation(problem.n_samples)
    problem.features.norm_pass(order, link, A, dual_of(problem), norm)
    state.n_steps += problem.n_samples
    state.n_projections += problem.n_samples
    state.n_rows += problem.n_samples


def _take_machine(state: State, coefficients: Floats, workspace: AlternateWorkspace) -> None:
    """Make w_j = beta_j v_j the primal point and write its coefficients."""
    np.multiply(workspace.A, workspace.beta, out=coefficients)
    state.link = workspace.beta[:, None] * workspace.link


def _next_weights(problem: PrimalDual, workspace: AlternateWorkspace) -> Floats:
    p, k = problem.regularizer.p, workspace.passes
    floor = max(0.5**k, LEAST)
    squares = problem.square_norms(workspace.link, workspace.A)
    if p >= 2:
        return problem.regularizer.class_weights(np.maximum(squares, floor**2 * squares.max()))
    used = LpNorm(max(p, 1 + (FIRST_P - 1) / k**2))
    return used.optimal_class_weights(workspace.beta**2 * squares, floor)
