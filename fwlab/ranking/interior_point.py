"""Solve the ranking dual by a primal-dual interior-point method, the default method.

The method makes steps of the predictor-corrector method (fwlab.ranking.predictor_corrector) as
long as PATIENCE of them halve the certified gap. If they do not, it goes back to the point with the
least gap, and from there on makes steps that cannot stall (fwlab.ranking.barrier_steps). So either
the gap is halved without end, or these steps lead it to 0.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.ranking.barrier_steps import barrier_step
from fwlab.ranking.dual import dual_of, numbers_of, point_of, positive_slacks
from fwlab.ranking.newton_step import Iterate
from fwlab.ranking.newton_systems import bytes_needed
from fwlab.ranking.predictor_corrector import predictor_corrector
from fwlab.ranking.problem import Problem
from fwlab.ranking.start import inner_point
from fwlab.ranking.state import State
from fwlab.result import Certificate
from fwlab.solvers.method import Method

PATIENCE = 10  # predictor-corrector steps that must halve the gap
WIDE = 2.0  # the certified gap, in units of mu times the number of slacks, at which mu falls
FALL = 0.1  # mu falls by this factor
INWARD = 0.1  # how far a start moves from the boundary
LEAST_GAP = 1e-12  # relative, for the first mu of an optimal start
# in units of the dual of the inner point, for the first mu: a primal far beyond would only drive
# the dual variables away from their scale
MOST_GAP = 1e12


@dataclass(eq=False)
class Workspace:
    """The iterate, and what decides between the two kinds of steps.

    patience counts the steps that are left to halve the gap of `best`, a point (z, r) with its
    certificate. mu is the barrier weight of the steps that cannot stall, 0 before them.
    """

    iterate: Iterate
    certificate: Certificate
    best: tuple[Floats, float, Certificate]
    patience: int
    mu: float = 0.0

    @property
    def least_mu(self) -> float:
        """The mu at which the gap is of the size of the rounding errors of the dual."""
        rounding = np.finfo(float).eps * abs(self.certificate.dual)
        return float(rounding / len(self.iterate.slack_multipliers))


@dataclass(frozen=True)
class InteriorPoint(Method):
    """Predictor-corrector steps, or Newton steps with a barrier; one iteration is one step."""

    sentence = "Primal-dual interior-point steps for the dual."

    def refuses(self, problem: Problem) -> str | None:
        needed, allowed = bytes_needed(problem), problem.max_gram_memory
        if needed <= allowed:
            return None
        return (
            f"max_gram_memory must be at least {needed} bytes for the kernel matrix and its factor "
            f"with this method; got {allowed}."
        )

    def start(self, state: State) -> Workspace:
        problem, dual = state.problem, dual_of(state.problem)
        inner, inner_r = numbers_of(inner_point(problem), dual)
        given, given_r = numbers_of(state.point, dual)
        z, r = given + INWARD * (inner - given), given_r + INWARD * (inner_r - given_r)
        x = Iterate(dual, z, r, np.zeros(len(dual.b)), np.ones(0))
        certificate = publish(state, x)
        # at a start far away the gap says little, and 1/theta is the natural multiplier of alpha
        natural = float(z[: dual.p].mean()) / problem.loss.theta
        mu = min(natural, first_mu(problem, x, certificate))
        x.slack_multipliers = mu / positive_slacks(dual, z, r)
        return Workspace(x, certificate, (z, r, certificate), PATIENCE)

    def iterate(self, state: State, workspace: Workspace) -> None:
        w, state.step = workspace, 0.0
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if w.patience > 0:
                predictor_corrector_step(state, w)
            if state.step == 0:
                step_that_cannot_stall(state, w)


def publish(state: State, x: Iterate) -> Certificate:
    """Write the point to the state; return its certificate."""
    return state.publish(point_of(state.problem, x.dual, x.z, x.r))


def first_mu(problem: Problem, x: Iterate, certificate: Certificate) -> float:
    """Return a mu for a certificate, which is the gap at the centre for mu, in parts."""
    gap = max(certificate.gap, LEAST_GAP * abs(certificate.primal))
    lowest = problem.estimate(inner_point(problem)).dual
    if lowest > 0:
        gap = min(gap, MOST_GAP * lowest)
    return gap / (2 * len(x.z))


def predictor_corrector_step(state: State, w: Workspace) -> None:
    """Make a predictor-corrector step; use up the patience if there is none."""
    x = w.iterate
    try:
        state.step = predictor_corrector(x, w.least_mu)
    except np.linalg.LinAlgError:
        pass  # singular to rounding
    if state.step == 0:
        w.patience = 0
        return
    state.n_steps += 1
    w.certificate, w.patience = publish(state, x), w.patience - 1
    if w.certificate.gap <= w.best[2].gap / 2:
        w.best, w.patience = (x.z, x.r, w.certificate), PATIENCE


def step_that_cannot_stall(state: State, w: Workspace) -> None:
    """Make a Newton step with a barrier, the first one from the best point."""
    x = w.iterate
    if w.mu == 0:
        x.z, x.r, w.certificate = w.best
        w.mu = first_mu(state.problem, x, w.certificate)
        x.slack_multipliers = w.mu / positive_slacks(x.dual, x.z, x.r)
    try:
        state.step, near = barrier_step(x, w.mu)
    except np.linalg.LinAlgError:
        return  # singular to rounding: no step can be told from noise
    if state.step == 0:
        return
    state.n_steps += 1
    w.certificate = publish(state, x)
    if near or w.certificate.gap <= WIDE * w.mu * len(x.slack_multipliers):
        w.mu = min(w.mu, max(FALL * w.mu, w.least_mu))
