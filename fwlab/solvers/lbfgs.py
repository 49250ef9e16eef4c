"""Minimise the primal of a smooth loss by L-BFGS, preconditioned by the Hessian at W = 0.

With A(W) the rows omega_i (e_y - p_i) at W's own scores, and V the link,

    grad P(W) = lam (W - V(A(W))),    P(W) - D(A(W)) = lam/2 |W - V(A(W))|^2,

so that every gradient comes with a dual point and its gap. D is concave, and for A between two
dual points, with the links V_0 and V_1,

    D(A_0 + t (A_1 - A_0)) >= (1 - t) D_0 + t D_1 + lam/2 t (1 - t) |V_0 - V_1|^2.

The dual point of the run goes to the maximum of this bound between itself and each new A(W), so
that the bound never falls; the entropies that it leaves out make D itself larger.
"""

from dataclasses import dataclass, field

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
from fwlab.solvers.preconditioner import Operator, inverse_hessian
from fwlab.threads import for_rows

ARMIJO = 1e-4
MOST_HALVINGS = 30
# of P, below which a change of P is no more than rounding
ROUNDING = 1e-15


@dataclass(eq=False)
class SmoothPoint:
    """W (m, d) with P(W), the dual point A(W) and its link V."""

    W: Floats
    primal: float
    A: Floats
    link: Floats

    @classmethod
    def at(cls, problem: PrimalDual, W: Floats) -> "SmoothPoint":
        """Return the point of W."""
        simplices = problem.polytopes
        assert isinstance(simplices, Simplices)
        losses, A = np.empty(problem.n_samples), np.empty((problem.n_samples, problem.n_classes))
        for part, scores in score_parts(problem.features, W):
            _write_softmax(simplices, part, scores, losses, A)
        A *= problem.sample_weight[:, None]
        return cls(W, problem.objective(losses, square_in_parts(W)), A, problem.link(A))

    def gradient(self, lam: float) -> Floats:
        """Return grad P, (m, d)."""
        return lam * (self.W - self.link)


def _write_softmax(
    simplices: Simplices, part: slice, scores: Floats, losses: Floats, A: Floats
) -> None:
    def work(rows: slice) -> None:
        whole = slice(part.start + rows.start, part.start + rows.stop)
        losses[whole], A[whole] = simplices.take(whole).losses_and_duals(scores[rows])

    for_rows(work, len(scores))


@dataclass(eq=False)
class LbfgsWorkspace:
    """The present point, the preconditioner, the history, and whether rounding ended the search."""

    point: SmoothPoint
    inverse: Operator
    history: History
    sparse: bool
    dual: float = field(default=-np.inf)
    is_stuck: bool = False


@dataclass(frozen=True)
class Lbfgs(Method):
    """One L-BFGS step with 10 pairs, halved from 1 until P falls enough; W is its own iterate."""

    sentence = "L-BFGS on the primal, preconditioned by the Hessian at W = 0; CrossEntropy alone."
    takes_entropy = True

    def refuses(self, problem: PrimalDual) -> str | None:
        if not problem.has_entropy:
            return (
                f'its loss must be CrossEntropy(); use "auto" for a {type(problem.loss).__name__}.'
            )
        return None

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(own_values=True)

    def start(self, state: State) -> LbfgsWorkspace:
        problem, sparse = state.problem, scipy.sparse.issparse(state.problem.X)
        point, inverse = SmoothPoint.at(problem, state.link.copy()), inverse_hessian(problem)
        gradient = _flat(point.gradient(problem.lam), sparse)
        history = History(gradient, _image(inverse, gradient, point, sparse))
        workspace = LbfgsWorkspace(point, inverse, history, sparse)
        square = problem.features.link_norm(state.link, state.A, problem.lam_n)
        workspace.dual = problem.dual_value(state.A, square)
        _keep(state, workspace)
        return workspace

    def iterate(self, state: State, workspace: LbfgsWorkspace) -> None:
        if workspace.is_stuck:
            return
        problem, last, history = state.problem, workspace.point, workspace.history
        z = history.direction()
        slope = -float(np.vdot(history.gradient, z))
        step, direction = 1.0, _shaped(z, last.W, workspace.sparse)
        for _ in range(MOST_HALVINGS):
            new = SmoothPoint.at(problem, last.W - step * direction)
            if new.primal <= last.primal + ARMIJO * step * slope + ROUNDING * last.primal:
                break
            step /= 2
        else:
            workspace.is_stuck = not history.order
            history.clear()
            return
        gradient = _flat(new.gradient(problem.lam), workspace.sparse)
        image = _image(workspace.inverse, gradient, new, workspace.sparse)
        history.add(-step * z, gradient, image)
        workspace.point, state.step, state.n_steps = new, step, state.n_steps + 1
        _keep(state, workspace)

    def progress(self, state: State, workspace: LbfgsWorkspace) -> float:
        """Return 0: the state keeps the values, so that every step is judged."""
        return 0.0


def _keep(state: State, workspace: LbfgsWorkspace) -> None:
    """Make W the primal point, move the dual point towards A(W), and set the state's values.

    A(W) is overwritten.
    """
    new, lam = workspace.point, state.problem.lam
    dual = new.primal - lam / 2 * square_in_parts(new.W - new.link)
    apart = lam * square_in_parts(new.link - state.link)
    t = mixed_share(workspace.dual, dual, apart)
    workspace.dual = (1 - t) * workspace.dual + t * dual + t * (1 - t) * apart / 2
    if t == 1.0:
        state.A[:], state.link = new.A, new.link
    elif t > 0.0:
        state.A *= 1 - t
        new.A *= t
        state.A += new.A
        state.link = state.link + t * (new.link - state.link)
    state.best_link = new.W
    state.values = Objectives(new.primal, workspace.dual, new.primal)


def mixed_share(old: float, new: float, apart: float) -> float:
    """Return the t in [0, 1] with the largest (1 - t) old + t new + t (1 - t) apart / 2."""
    if apart <= 0.0:
        return float(new > old)
    return min(1.0, max(0.0, 0.5 + (new - old) / apart))


def _flat(matrix: Floats, sparse: bool) -> Floats:
    """Return a matrix (m, d) as a vector, in the order of the links of X."""
    return np.reshape(matrix.T if sparse else matrix, -1)


def _shaped(vector: Floats, like: Floats, sparse: bool) -> Floats:
    """Return a vector of `_flat` as a matrix."""
    return np.reshape(vector, like.shape[::-1]).T if sparse else np.reshape(vector, like.shape)


def _image(inverse: Operator, gradient: Floats, point: SmoothPoint, sparse: bool) -> Floats:
    """Return the preconditioner's inverse times a gradient, as vectors."""
    shape = point.W.shape[::-1] if sparse else point.W.shape
    return np.reshape(inverse(np.reshape(gradient, shape)), -1)
