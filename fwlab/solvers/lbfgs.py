"""Minimise the primal of a smooth loss by L-BFGS, preconditioned by blocks of the Hessian.

With A(W) the rows omega_i (e_y - p_i) at W's own scores, and V the link,

    grad P(W) = lam (W - V(A(W))),    P(W) - D(A(W)) = lam/2 |W - V(A(W))|^2,

so that every gradient comes with a dual point and its gap. Far from the optimum a shorter one is
better (solvers.scaled_dual). The dual point of the run is the best one so far.

The preconditioner is the Hessian at W = 0 (solvers.preconditioner), and where X has few features
the blocks of the classes at the present W later on.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse

from fwlab.arrays import Floats
from fwlab.operators.scores import score_parts
from fwlab.operators.simplices import Simplices
from fwlab.operators.sums import square_in_parts
from fwlab.primal_dual import PrimalDual
from fwlab.result import Objectives
from fwlab.solvers.lbfgs_history import History
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.preconditioner import (
    Operator,
    cost_by_class,
    inverse_at_zero,
    inverse_by_class,
)
from fwlab.solvers.scaled_dual import NEAR, best_scale
from fwlab.threads import for_rows

# Steps before the first renewal of the preconditioner, and the growth of the waits after it. With
# 64 features a renewal costs 14 evaluations. To a gap of 1e-4, a run on digits (C = 100) then takes
# 47 steps instead of 638, on letter (C = 100) 32 instead of 135. One matrix for all classes,
# renewed for more features, saved nothing.
FIRST_WAIT, GROWTH, MOST_COST = 6, 1.5, 16.0
ARMIJO = 1e-4
MOST_HALVINGS = 30
# of P, below which a change of P is no more than rounding
ROUNDING = 1e-15


@dataclass(eq=False)
class SmoothPoint:
    """W (m, d) with P(W), A(W), its link V, and the losses (n,)."""

    W: Floats
    primal: float
    A: Floats
    link: Floats
    losses: Floats

    @classmethod
    def at(cls, problem: PrimalDual, W: Floats, A: Floats) -> "SmoothPoint":
        """Return the point of W; A(W) is written to A (n, m)."""
        simplices, omega = problem.polytopes, problem.sample_weight
        assert isinstance(simplices, Simplices)
        losses, is_weighted = np.empty(problem.n_samples), bool((omega != 1.0).any())

        def write(first: int, scores: Floats, part: slice) -> None:
            rows = slice(first + part.start, first + part.stop)
            losses[rows], A[rows] = simplices.take(rows).losses_and_duals(scores[part])
            if is_weighted:
                A[rows] *= omega[rows, None]

        for rows, scores in score_parts(problem.features, W):
            for_rows(partial(write, rows.start, scores), len(scores))
        return cls(W, problem.objective(losses, square_in_parts(W)), A, problem.link(A), losses)

    def gradient(self, lam: float) -> Floats:
        """Return grad P, (m, d)."""
        return lam * (self.W - self.link)

    def dual(self, lam: float) -> float:
        """Return D(A(W))."""
        return self.primal - lam / 2 * square_in_parts(self.W - self.link)

    def scale_and_dual(self, problem: PrimalDual) -> tuple[float, float]:
        """Return theta <= 1 and D(theta A(W)); theta < 1 only where that is better."""
        dual, lam = self.dual(problem.lam), problem.lam
        if self.primal - dual <= NEAR * self.primal:
            return 1.0, dual
        scaled = best_scale(lam, self.losses, problem.sample_weight, self.W, self.link)
        return scaled if scaled[1] > dual else (1.0, dual)


@dataclass(eq=False)
class Renewals:
    """The steps of a run before which its preconditioner is renewed, with ever longer waits.

    Attributes
    ----------
    next, wait : float
        The step of the next renewal, and how many steps later the one after it is.
    """

    next: float
    wait: float

    @classmethod
    def of(cls, problem: PrimalDual, times: float = 1.0) -> "Renewals":
        """Return the renewals of a run: none where one costs too much.

        times: the cost of a renewal in evaluations, in units of cost_by_class.
        """
        cost = cost_by_class(problem)
        wait = max(FIRST_WAIT, times * cost) if cost <= MOST_COST else np.inf
        return cls(wait, wait)

    @property
    def are_planned(self) -> bool:
        """Whether the run renews its preconditioner at all."""
        return self.wait < np.inf

    def note(self, n_steps: int) -> None:
        """Plan the renewal after the one before this step."""
        self.wait *= GROWTH
        self.next = n_steps + self.wait


@dataclass(eq=False, kw_only=True)
class SmoothWorkspace:
    """The workspace of a method on the primal.

    Attributes
    ----------
    point : SmoothPoint
        The present point.
    inverse : Operator
        The inverse of the preconditioner.
    dual : float
        D at the dual point of the run.
    room : array (n, m)
        Where the next point writes A(W).
    is_stuck : bool
        Whether no step lowers P, so that the point stays where it is.
    """

    point: SmoothPoint
    inverse: Operator
    dual: float
    room: Floats
    is_stuck: bool = False

    @classmethod
    def at(cls, state: State, W: Floats, renewals: "Renewals") -> "SmoothWorkspace":
        """Return the workspace at a machine W (m, d), or at 0 if P is smaller there.

        keep still has to be called.
        """
        problem = state.problem
        square = problem.features.link_norm(state.link, state.A, problem.lam_n)
        dual = problem.dual_value(state.A, square) if state.A.any() else 0.0
        room = np.empty_like(state.A)
        point = visited(state, W, room)
        if point.W.any() and point.primal > primal_at_zero(problem):
            point = visited(state, np.zeros_like(W), room)
        if renewals.are_planned and point.W.any():
            inverse = inverse_by_class(problem, point.A)
        else:
            inverse = inverse_at_zero(problem)
        return cls(point=point, inverse=inverse, dual=dual, room=room)


@dataclass(eq=False, kw_only=True)
class LbfgsWorkspace(SmoothWorkspace):
    """The workspace of a run of L-BFGS.

    Attributes
    ----------
    renewals : Renewals
        The steps before which the preconditioner is renewed.
    history : History
        The last steps.
    sparse : bool
        Whether X is sparse; links are then transposed in memory.
    """

    renewals: Renewals
    history: History
    sparse: bool


@dataclass(frozen=True)
class Lbfgs(Method):
    """One L-BFGS step with 10 pairs, halved from 1 until P falls enough; W is its own iterate."""

    sentence = "L-BFGS on the primal, preconditioned by blocks of the Hessian; for entropies alone."
    takes_entropy = True
    takes_tensors = True

    def refuses(self, problem: PrimalDual) -> str | None:
        if not problem.has_entropy:
            given = type(problem.loss).__name__
            return f'its loss must be CrossEntropy() or TopKEntropy(k); use "auto" for a {given}.'
        if problem.kernel is not None:
            return f"its kernel must be None, as it works on W; got {problem.kernel!r}."
        return None

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(own_values=True)

    def start(self, state: State) -> LbfgsWorkspace:
        return self.start_at(state, state.link.copy())

    def start_at(self, state: State, W: Floats) -> LbfgsWorkspace:
        """Return the workspace of a run from any machine W (m, d) on."""
        problem, sparse = state.problem, scipy.sparse.issparse(state.problem.X)
        renewals = Renewals.of(problem)
        begun = SmoothWorkspace.at(state, W, renewals)
        gradient = _flat(begun.point.gradient(problem.lam), sparse)
        image = _image(begun.inverse, gradient, W, sparse)
        history = History(gradient, image, renewals.are_planned)
        workspace = LbfgsWorkspace(**vars(begun), renewals=renewals, history=history, sparse=sparse)
        keep(state, workspace)
        return workspace

    def iterate(self, state: State, workspace: LbfgsWorkspace) -> None:
        if workspace.is_stuck:
            return
        problem, last, history = state.problem, workspace.point, workspace.history
        if state.n_steps >= workspace.renewals.next:
            _renew(problem, workspace, state.n_steps)
        z = history.direction()
        slope = -float(np.vdot(history.gradient, z))
        direction = _shaped(z, last.W, workspace.sparse)
        found = line_search(state, last, direction, slope, workspace.room)
        if found is None:
            workspace.is_stuck = state.is_stuck = not history.order
            history.clear()
            return
        new, step = found
        gradient = _flat(new.gradient(problem.lam), workspace.sparse)
        image = _image(workspace.inverse, gradient, new.W, workspace.sparse)
        history.add(-step * z, gradient, image)
        workspace.point, state.step, state.n_steps = new, step, state.n_steps + 1
        keep(state, workspace)

    def progress(self, state: State, workspace: LbfgsWorkspace) -> float:
        """Return 0: the state keeps the values, so that every step is judged."""
        return 0.0


def primal_at_zero(problem: PrimalDual) -> float:
    """Return P(0); the loss of equal scores is the same for all samples."""
    equal = np.zeros((1, problem.n_classes))
    first = problem.polytopes.take(slice(0, 1))
    assert isinstance(first, Simplices)
    losses, _ = first.losses_and_duals(equal)
    return float(losses[0]) * float(problem.sample_weight.mean())


def visited(state: State, W: Floats, room: Floats) -> SmoothPoint:
    """Return the point of W, and count its work."""
    state.n_rows += state.problem.n_samples
    state.n_projections += state.problem.n_samples
    return SmoothPoint.at(state.problem, W, room)


def line_search(
    state: State, last: SmoothPoint, direction: Floats, slope: float, room: Floats
) -> tuple[SmoothPoint, float] | None:
    """Return W - s direction for the first s = 1, 1/2, .. that lowers P enough, and s, or None.

    The mean of W over the classes is taken off: it changes no loss, and rounding leaves some of it,
    which no later direction would take back. slope is minus <grad P, direction>. room (n, m) is
    overwritten.
    """
    step = 1.0
    for _ in range(MOST_HALVINGS):
        W = last.W - step * direction
        new = visited(state, W - W.mean(axis=0), room)
        if new.primal <= last.primal + ARMIJO * step * slope + ROUNDING * last.primal:
            return new, step
        step /= 2
    return None


def _renew(problem: PrimalDual, workspace: LbfgsWorkspace, n_steps: int) -> None:
    """Precondition by the blocks of the classes at the present point from now on."""
    W = workspace.point.W
    workspace.inverse = inverse_by_class(problem, workspace.point.A)
    workspace.history.renew(lambda g: _image(workspace.inverse, g, W, workspace.sparse))
    workspace.renewals.note(n_steps)


def keep(state: State, workspace: SmoothWorkspace) -> None:
    """Make W the primal point, and theta A(W) the dual point if D is larger there.

    No step lowers P, or raises D, by more than the gap. The run ends where that is no more than
    rounding.
    """
    new = workspace.point
    theta, dual = new.scale_and_dual(state.problem)
    if dual > workspace.dual:
        if theta < 1.0:
            np.multiply(theta, new.A, out=state.A)
            state.link = theta * new.link
        else:
            state.A, workspace.room = workspace.room, state.A
            state.link = new.link
        workspace.dual = dual
    state.best_link = new.W
    state.values = Objectives(new.primal, workspace.dual, new.primal)
    state.is_stuck = new.primal - workspace.dual <= ROUNDING * new.primal


def _flat(matrix: Floats, sparse: bool) -> Floats:
    """Return a matrix (m, d) as a vector, in the order of the links of X."""
    return np.reshape(matrix.T if sparse else matrix, -1)


def _shaped(vector: Floats, like: Floats, sparse: bool) -> Floats:
    """Return a vector of `_flat` as a matrix."""
    return np.reshape(vector, like.shape[::-1]).T if sparse else np.reshape(vector, like.shape)


def _image(inverse: Operator, gradient: Floats, like: Floats, sparse: bool) -> Floats:
    """Return the preconditioner's inverse times a gradient, as vectors."""
    shape = like.shape[::-1] if sparse else like.shape
    return np.reshape(inverse(np.reshape(gradient, shape)), -1)
