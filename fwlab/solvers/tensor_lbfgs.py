"""Minimise the primal of the cross-entropy on tensors by L-BFGS, from fast products to exact ones.

The method is the one of solvers.lbfgs, with its preconditioners and the times of their renewals.
Steps begin with the fastest products that the device has, and go on with more exact ones when the
run itself shows that rounding decides:

    P(W + s) - P(W) > <grad P(W + s), s>     contradicts convexity, where P did not fall enough;
    the certified gap exceeds MISLED times the gap of the step's own numbers.

Neither test counts steps or reads a clock. W, the gradients and the pairs are always float64.
Measured and left out, on 6000 to 24000 rows of length 1: renewing the preconditioner from the
weights p(1 - p), in the basis of X^T X with a spectrum for each class, saved at most 15 % of the
evaluations for C = 1e4 and cost as much; a history of 20 or 40 pairs saved nothing; starting on a
quarter or a sixteenth of the rows cost more evaluations than it saved; so did a path over smaller
C.
"""

from dataclasses import dataclass, field
from typing import Any

from fwlab.arrays import namespace_of
from fwlab.operators.precision import Precision, precisions_of
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.primal_dual import PrimalDual
from fwlab.result import Certificate, Objectives
from fwlab.solvers.certificate_time import shortest, some_samples
from fwlab.solvers.lbfgs import ARMIJO, MOST_HALVINGS, ROUNDING, Renewals
from fwlab.solvers.lbfgs_history import History
from fwlab.solvers.method import Method
from fwlab.solvers.preconditioner import Operator
from fwlab.solvers.run_state import RunState
from fwlab.solvers.tensor_point import TensorPoint
from fwlab.solvers.tensor_preconditioner import inverse_at_zero, inverse_by_class
from fwlab.tensor_certificate import (
    MachineTerms,
    certificate_of_machines,
    dual_point,
    machine_terms,
    terms_of_zero,
)

# of the tracked gap: a certified one beyond it shows that rounding decides
MISLED = 1.5
# of a rise of P along a step, which rounding in tf32 leaves open
SLACK = 2.0**-6
# entries of the dual point that a result keeps
MOST_KEPT = 2**27
# cost of a renewal, which takes 1.5 to 3 times as many evaluations in float32 as on arrays. With 1
# in its place, runs on 3000 rows with 64 features that need no renewal took 1.4 times as long
RENEWAL = 2.0


@dataclass(eq=False, kw_only=True)
class TensorState(RunState):
    """The state of a run on tensors.

    Attributes
    ----------
    problem : Problem
    W : tensor (m, d)
        The start, in float64.
    point : TensorPoint
        The present point.
    precisions : tuple of Precision
        The precisions that are left; the first one is used.
    dual_terms : MachineTerms
        The terms of the best dual point that was certified.
    dual_machine, dual_scale : tensor (m, d) or None, float
        It is dual_scale A(W) of this machine, or 0 for None.
    is_misled : bool
        Whether the last certificate showed that rounding decides.
    """

    counts_work = True

    problem: PrimalDual
    W: Any
    point: TensorPoint = field(init=False)
    precisions: tuple[Precision, ...] = field(init=False)
    dual_terms: MachineTerms = field(init=False)
    dual_machine: Any = field(init=False, default=None)
    dual_scale: float = field(init=False, default=1.0)
    is_misled: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.precisions, self.dual_terms = precisions_of(self.W.device), terms_of_zero(self.problem)
        self.point = self.at(self.W)

    def at(self, W: Any) -> TensorPoint:
        """Return the point of W in the present precision, and count its work."""
        self.n_rows += self.problem.n_samples
        self.n_projections += self.problem.n_samples
        return TensorPoint.at(self.problem, W, self.precisions[0])

    @property
    def A(self) -> Any:
        """The dual point, (n, m), or None if it has more than MOST_KEPT entries."""
        shape = self.problem.n_samples, self.problem.n_classes
        if shape[0] * shape[1] > MOST_KEPT:
            return None
        if self.dual_machine is None:
            xp = namespace_of(self.W)
            return xp.zeros(shape, dtype=xp.float64, device=self.W.device)
        return dual_point(self.problem, self.dual_machine, self.dual_scale)

    @property
    def infeasibility(self) -> float:
        """A bound of the distance of a row of the dual point to a feasible one."""
        return self.dual_terms.infeasibility

    def weights(self) -> Any:
        """Return the primal point, (m, d)."""
        return self.point.W

    def judge(self) -> Certificate:
        """Return the certificate of the step's own numbers."""
        primal, gap = self.point.primal, self.point.gap
        return Objectives(primal, primal - gap, primal).certificate()

    def certify(self) -> Certificate:
        """Return the certificate of the present machine and of the best dual point."""
        point, lam = self.point, self.problem.lam
        terms = machine_terms(self.problem, point.W, point.scale)
        if terms.dual(lam) > self.dual_terms.dual(lam):
            self.dual_terms, self.dual_machine, self.dual_scale = terms, point.W, point.scale
        own = certificate_of_machines(self.problem, terms, terms)
        self.is_misled = own.gap > MISLED * point.gap + own.gap_error
        return certificate_of_machines(self.problem, terms, self.dual_terms)

    def seconds_to_certify(self, judgement: float) -> float:
        """Predict the seconds of `certify` from a certificate of the first part of the rows."""
        n, rows = (
            self.problem.n_samples,
            tensor_rows(self.problem.features).slices(self.W.shape[0])[0],
        )
        part = some_samples(self.problem, rows)
        seconds = shortest(lambda: machine_terms(part, self.point.W))
        return float(seconds * n / rows.stop)


@dataclass(eq=False)
class TensorWorkspace:
    """The inverse of the preconditioner, the steps before its renewals, and the last steps."""

    inverse: Operator
    renewals: Renewals
    history: History


@dataclass(frozen=True)
class TensorLbfgs(Method):
    """L-BFGS on tensors: one step with 10 pairs, halved from 1 until P falls enough."""

    takes_entropy = True
    takes_tensors = True

    def start(self, state: TensorState) -> TensorWorkspace:
        _leave_what_overflows(state)
        problem, point = state.problem, state.point
        renewals = Renewals.of(problem, RENEWAL)
        if renewals.are_planned and bool(namespace_of(point.W).any(point.W != 0)):
            inverse = inverse_by_class(problem, point.W, state.precisions[0])
        else:
            inverse = inverse_at_zero(problem)
        history = History(*_gradient_and_image(point, inverse), renewals.are_planned)
        return TensorWorkspace(inverse, renewals, history)

    def iterate(self, state: TensorState, workspace: TensorWorkspace) -> None:
        if state.is_misled and len(state.precisions) > 1:
            _sharpen(state, workspace)
        if state.n_steps >= workspace.renewals.next:
            _renew(state, workspace)
        last, history = state.point, workspace.history
        z, xp = history.direction(), tensor_rows(state.problem.features).xp
        slope = -float(xp.vecdot(history.gradient, z))
        direction, step = xp.reshape(z, last.W.shape), 1.0
        for _ in range(MOST_HALVINGS):
            new = state.at(last.W - step * direction)
            if new.primal <= last.primal + ARMIJO * step * slope + ROUNDING * last.primal:
                break
            rise = -step * float(xp.vecdot(xp.reshape(new.gradient, (-1,)), z))
            if contradicts(last.primal, new.primal, rise) and len(state.precisions) > 1:
                return _sharpen(state, workspace)
            step /= 2
        else:
            return _without_descent(state, workspace)
        history.add(-step * z, *_gradient_and_image(new, workspace.inverse))
        state.point, state.step, state.n_steps = new, step, state.n_steps + 1
        is_hidden = new.gap <= ROUNDING * new.primal
        state.is_stuck = is_hidden and len(state.precisions) == 1

    def progress(self, state: TensorState, workspace: TensorWorkspace) -> float:
        """Return 0: the state keeps the values, so that every step is judged."""
        return 0.0


def _without_descent(state: TensorState, workspace: TensorWorkspace) -> None:
    """Forget the history, then take more exact products; after that, rounding hides all descent."""
    if workspace.history.order:
        workspace.history.clear()
    elif len(state.precisions) > 1:
        _sharpen(state, workspace)
    else:
        state.is_stuck = True


def contradicts(last: float, new: float, rise: float) -> bool:
    """Return whether the values of P at both ends of a step s contradict its convexity.

    rise is <grad P, s> at the new end. A share SLACK of it is allowed, because a long step ends
    where P is nearly linear. Values beyond all floats contradict it, too.
    """
    return not new - last <= rise + SLACK * abs(rise)


def _leave_what_overflows(state: TensorState) -> None:
    """Take more exact products while the start has values beyond their type."""
    while not state.point.primal + state.point.gap < float("inf") and len(state.precisions) > 1:
        state.precisions = state.precisions[1:]
        state.point = state.at(state.W)


def _sharpen(state: TensorState, workspace: TensorWorkspace) -> None:
    """Go over to more exact products, at the present point."""
    state.precisions, state.is_misled = state.precisions[1:], False
    state.point = state.at(state.point.W)
    workspace.history.correct(*_gradient_and_image(state.point, workspace.inverse))


def _renew(state: TensorState, workspace: TensorWorkspace) -> None:
    """Precondition by the blocks of the classes at the present point from now on."""
    W = state.point.W
    xp, inverse = namespace_of(W), inverse_by_class(state.problem, W, state.precisions[0])
    workspace.inverse = inverse
    workspace.history.renew(lambda g: xp.reshape(inverse(xp.reshape(g, W.shape)), (-1,)))
    workspace.renewals.note(state.n_steps)


def _gradient_and_image(point: TensorPoint, inverse: Operator) -> tuple[Any, Any]:
    """Return the gradient of a point, and the preconditioner's inverse times it, as vectors."""
    G, xp = point.gradient, namespace_of(point.gradient)
    return xp.reshape(G, (-1,)), xp.reshape(inverse(G), (-1,))
