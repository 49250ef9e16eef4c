"""Take proximal point steps on the dual, each by a semismooth Newton method in W.

With L = lam n, r_i = smoothing / omega_i, a centre A0 and a weight sigma, a proximal step maximises
n D(A) - |A - A0|^2 / (2 sigma). Its own dual is smooth and strongly convex in W, an augmented
Lagrangian:

    psi(W) = L/2 |W|^2 - min over A of sum_i <a_i, W x_i + delta_i> + r_i/2 |a_i|^2
                                             + |a_i - a0_i|^2 / (2 sigma),
    A(W)_i = the point of omega_i times the negated domain nearest to t_i (a0_i / sigma
             - W x_i - delta_i),    t_i = 1 / (1/sigma + r_i),
    grad psi = L W - A(W)^T X,    H = L I + sum_i t_i J_i (x) x_i x_i^T,

with J_i the generalised Jacobian of the projection. It is 0 for rows at rest at a vertex, most rows
near the optimum. The inner problem ends when

    |grad|^2 / (2 L) <= |A(W) - A0|^2 / (4 sigma).

The left side bounds what A(W) misses of the maximum, so n D(A(W)) is at least n D(A0) plus the
right side. A(W) is then the next centre and sigma doubles. W is offered as the primal point: it is
far better than W(A(W)), because P is kinked.

The cross-entropy has a smooth P, and another Newton method (solvers.entropy_newton).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.checks.arguments import as_integer
from fwlab.kernels.steps.rules import EXACT
from fwlab.operators.jacobians import projection_jacobians
from fwlab.operators.scores import score_parts
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.ascent import Ascent
from fwlab.solvers.blocks import BlockWorkspace
from fwlab.solvers.entropy_newton import EntropyNewton
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.proximal_hessian import MOST_UNKNOWNS, ProximalHessian

# phase 1 ends when a tenth of the gap would take more passes than STEPS_PER_DECADE Newton steps; a
# step is worth PASSES_PER_STEP where H is factorised, else PASSES_PER_ITERATIVE_STEP
STEPS_PER_DECADE = 6
PASSES_PER_STEP = 8
PASSES_PER_ITERATIVE_STEP = 12
PASSES_BETWEEN_CHECKS = 16
ARMIJO = 1e-4
MOST_HALVINGS = 30
ROUNDING = 1e-15
# in units of the weight of a block step, or as `_largest` says; the projected points lose the
# digits of this factor
LARGEST_SIGMA = 1e8


@dataclass(eq=False)
class Point:
    """W with its scores, the projected points (over omega), A(W) and psi(W)."""

    W: Floats
    scores: Floats
    targets: Floats
    A: Floats
    value: float


@dataclass(eq=False)
class Proximal:
    """The inner problem of the centre A0 with weight sigma, and the work on it so far.

    n_rows and n_projections are as in `State`; a product with H counts its rows of X, although it
    takes only some classes of each.
    """

    problem: PrimalDual
    centre: Floats
    sigma: float
    n_rows: int = 0
    n_projections: int = 0

    @property
    def t(self) -> Floats:
        """t_i, (n, 1)."""
        return 1.0 / (1.0 / self.sigma + self.problem.ridge())

    def at(self, W: Floats, scores: Floats) -> Point:
        """Return the point of W: psi(W) and A(W)."""
        problem = self.problem
        self.n_projections += problem.n_samples
        omega = problem.sample_weight[:, None]
        shifted = problem.polytopes.add_costs(scores)
        targets = self.t * (self.centre / self.sigma - shifted) / np.where(omega > 0, omega, 1.0)
        A = omega * problem.polytopes.project(targets)
        value = problem.lam_n / 2 * np.vdot(W, W) - np.vdot(A, shifted)
        value -= np.vdot(problem.ridge() * A, A) / 2 + self.distance(A)
        return Point(W, scores, targets, A, float(value))

    def distance(self, A: Floats) -> float:
        """Return |A - A0|^2 / (2 sigma)."""
        difference = A - self.centre
        return float(np.vdot(difference, difference)) / (2 * self.sigma)

    def gradient(self, point: Point) -> Floats:
        """Return grad psi, (m, d)."""
        return self.problem.lam_n * point.W - self.problem.features.transposed_product(point.A)

    def is_solved(self, point: Point, gradient: Floats) -> bool:
        """Return whether A(W) can be the next centre."""
        error = float(np.vdot(gradient, gradient)) / (2 * self.problem.lam_n)
        return error <= self.distance(point.A) / 2

    def hessian(self, point: Point) -> ProximalHessian:
        """Return H at a point."""
        problem = self.problem
        index, jacobians = projection_jacobians(problem.row_polytopes, point.targets)
        t = np.where(problem.sample_weight > 0, np.broadcast_to(self.t[:, 0], len(point.A)), 0.0)
        return ProximalHessian(problem.lam_n, problem.X, index, jacobians, t[index])

    def newton_step(self, point: Point, gradient: Floats) -> tuple[Point, float]:
        """Make a step W - s H^-1 grad with the first s = 1, 1/2, .. that lowers psi enough.

        Returns the new point, and the cost of the products with H in passes.
        """
        hessian = self.hessian(point)
        direction = -hessian.solve(gradient)
        scores = self.problem.features.scores(direction)
        self.n_rows += hessian.met + self.problem.n_samples
        slope = float(np.vdot(gradient, direction))
        step = 1.0
        for _ in range(MOST_HALVINGS):
            new = self.at(point.W + step * direction, point.scores + step * scores)
            if new.value <= point.value + ARMIJO * step * slope + ROUNDING * abs(point.value):
                return new, hessian.passes
            step /= 2
        return point, hessian.passes


@dataclass(eq=False)
class NewtonWorkspace:
    """The workspace of both phases.

    Attributes
    ----------
    ascent : BlockWorkspace
        The workspace of phase 1.
    checked, last_gap : float
        Passes and gap at the last check.
    patience : float
        Passes until the next check.
    newton_passes : float
        The cost of iterative Newton steps, in passes.
    decay : float
        The decay of the gap at the end of phase 1, in decades per pass.
    inner : tuple or None
        In phase 2 the inner problem, its point and gradient.
    """

    ascent: BlockWorkspace
    checked: float = 0.0
    last_gap: float = np.inf
    patience: float = PASSES_BETWEEN_CHECKS
    newton_passes: float = 0.0
    decay: float = 0.0
    inner: tuple[Proximal, Point, Floats] | None = None


@dataclass(frozen=True)
class Newton(Method):
    """Passes of shrunken block ascent while they gain enough, then one Newton step per iteration.

    If Newton steps by conjugate gradients turn out to gain less, the passes return. In the second
    phase A moves when an inner problem is solved. W is the best primal point seen, not W(A). The
    second phase holds about ten arrays of the shape of A.

    Parameters
    ----------
    passes : int, optional
        The least number of passes of the first phase. By default they go on as long as they gain
        enough.
    """

    takes_entropy = True
    sentence = (
        "Block ascent, then proximal point steps on the dual by a semismooth Newton method in W; "
        "with CrossEntropy Newton-CG on the primal."
    )

    passes: int | None = None

    def __post_init__(self) -> None:
        if self.passes is not None:
            as_integer("passes", self.passes, low=1)

    def refuses(self, problem: PrimalDual) -> str | None:
        if problem.kernel is not None:
            return f"its kernel must be None, a Newton step is one in W; got {problem.kernel!r}."
        if problem.has_entropy and self.passes is not None:
            return f"its passes must be None with {problem.loss!r}; got {self.passes}."
        return EntropyNewton().refuses(problem) if problem.has_entropy else None

    def needs(self, problem: PrimalDual) -> Needs:
        if problem.has_entropy:
            return EntropyNewton().needs(problem)
        return Needs(best_primal=True)  # no Gram matrix: the second phase needs the link to be W

    def start(self, state: State) -> Any:
        if state.problem.has_entropy:
            return EntropyNewton().start(state)
        return NewtonWorkspace(Ascent(EXACT).start(state))

    def iterate(self, state: State, workspace: Any) -> None:
        if state.problem.has_entropy:
            EntropyNewton().iterate(state, workspace)
            return
        mean_curvature = float(np.mean(state.problem.curvatures))
        first_phase = workspace.inner is None
        passes = workspace.ascent.work
        if first_phase and mean_curvature > 0.0 and self._switches(passes, state, workspace):
            # sigma as if the passes so far had been one proximal step
            _centre(state, workspace, passes / mean_curvature, state.link.copy())
        if workspace.inner is None:
            Ascent(EXACT).iterate(state, workspace.ascent)
        else:
            _newton_iteration(state, workspace, *workspace.inner)
            self.give_up_if_slower(passes, state, workspace)

    def progress(self, state: State, workspace: Any) -> float:
        """Return the progress of the first phase; in the second 0, to judge every Newton step."""
        if state.problem.has_entropy:
            return EntropyNewton().progress(state, workspace)
        return Ascent(EXACT).progress(state, workspace.ascent) if workspace.inner is None else 0.0

    def warm_up(self, state: State) -> None:
        if state.problem.has_entropy:
            return
        Ascent(EXACT).warm_up(state)
        proximal = Proximal(state.problem, state.A, 1.0)
        point = proximal.at(state.link, state.problem.features.scores(state.link))
        gradient = proximal.gradient(point)
        proximal.newton_step(point, gradient)
        proximal.hessian(point).solve(np.ones_like(gradient))

    def _switches(self, passes: float, state: State, workspace: NewtonWorkspace) -> bool:
        if self.passes is not None:
            return passes >= self.passes
        since = passes - workspace.checked
        if since < workspace.patience:
            return False
        last, gap = workspace.last_gap, _gap(state)
        workspace.checked, workspace.last_gap = passes, gap
        if not has_stalled(last, gap, since, direct=state.link.size <= MOST_UNKNOWNS):
            return False
        workspace.newton_passes, workspace.decay = 0.0, max(0.0, np.log10(last / gap) / since)
        return True

    def give_up_if_slower(self, passes: float, state: State, workspace: NewtonWorkspace) -> None:
        """Return to the first phase where iterative steps gain less per pass than that phase did.

        It then lasts four times as long.
        """
        if self.passes is not None or workspace.newton_passes < PASSES_BETWEEN_CHECKS:
            return
        gap = state.best_primal - _dual(state.problem, state.A, state.link)
        decades = workspace.decay * workspace.newton_passes
        if 0.0 < workspace.last_gap * 10.0**-decades < gap:
            workspace.inner, workspace.checked = None, passes
            workspace.patience *= 4
        workspace.newton_passes, workspace.last_gap = 0.0, gap


def has_stalled(last: float, gap: float, passes: float, direct: bool) -> bool:
    """Return whether passes decrease the gap too slowly.

    Parameters
    ----------
    last, gap : float
        The gaps at the last check and now; `last` is infinite at the first check, which never finds
        a stall.
    passes : int
        The passes between the two checks.
    direct : bool
        Whether Newton steps would factorise H.

    """
    if min(last, gap) <= 0.0 or np.isinf(last):
        return False
    worth = STEPS_PER_DECADE * (PASSES_PER_STEP if direct else PASSES_PER_ITERATIVE_STEP)
    return bool(worth * np.log10(last / gap) < passes)


def _gap(state: State) -> float:
    """Return the gap of the best primal point at A, from the driver if it has just judged."""
    if state.judged is not None and state.judged[0] == state.n_steps:
        return state.judged[1].gap
    certificate = state.problem.certificate(state.A, state.link)
    state.n_rows += state.problem.n_samples
    state.offer(state.link, certificate.primal)
    return state.best_primal - certificate.dual


def _centre(state: State, workspace: NewtonWorkspace, sigma: float, W: Floats) -> None:
    """Start the inner problem of the centre state.A at W."""
    proximal = Proximal(state.problem, state.A.copy(), sigma, n_rows=state.problem.n_samples)
    point = proximal.at(W, state.problem.features.scores(W))
    _take_work(state, proximal)
    workspace.inner = proximal, point, proximal.gradient(point)


def _newton_iteration(
    state: State, workspace: NewtonWorkspace, proximal: Proximal, last: Point, gradient: Floats
) -> None:
    """Make one Newton step; if it solves the inner problem, go to the next centre."""
    problem, (point, passes) = state.problem, proximal.newton_step(last, gradient)
    _take_work(state, proximal)
    workspace.newton_passes += passes
    square_norm = float(np.vdot(point.W, point.W))
    losses = problem.losses(score_parts(problem.features, point.W, point.scores))[0]
    state.offer(point.W, problem.objective(losses, square_norm))
    gradient = proximal.gradient(point)
    workspace.inner = proximal, point, gradient
    # rounding has ended the line search: no better point can be found
    if point is last or proximal.is_solved(point, gradient):
        grows = _accept(state, point.A)
        state.n_projections += problem.n_samples
        sigma = min(2 * proximal.sigma, _largest(problem, point)) if grows else proximal.sigma / 4
        _centre(state, workspace, sigma, point.W)


def _largest(problem: PrimalDual, point: Point) -> float:
    """Return the largest sigma of a centre at a point.

    With few features, A has to move along directions that change no score, and a proximal step
    moves it by sigma times the costs. The curvatures of the rows, however large, are no bound
    there. The rounding error of the shifted scores s moves a target by about sigma 2^-53 |s|. With

        sigma = LARGEST_SIGMA (size of the smallest domain) / |s|

    this is LARGEST_SIGMA 2^-53 of the domain.
    """
    shifted = float(np.abs(problem.polytopes.add_costs(point.scores)).max())
    omega = problem.sample_weight
    smallest = problem.polytopes.scale * float(omega[omega > 0].min())
    by_scores = smallest / shifted if shifted > 0 else 0.0
    return LARGEST_SIGMA * max(1.0 / float(np.mean(problem.curvatures)), by_scores)


def _take_work(state: State, proximal: Proximal) -> None:
    """Count the new work on an inner problem as the run's."""
    state.n_rows, proximal.n_rows = state.n_rows + proximal.n_rows, 0
    state.n_projections, proximal.n_projections = state.n_projections + proximal.n_projections, 0


def _dual(problem: PrimalDual, A: Floats, link: Floats) -> float:
    return problem.dual_value(A, problem.features.link_norm(link, A, problem.lam_n))


def _accept(state: State, A: Floats) -> bool:
    """Make A the dual point unless the dual would fall by more than its last digits."""
    problem = state.problem
    # for large sigma the projection of large numbers missed the domain by their rounding errors
    A = problem.nearest_feasible(A, slice(None))
    link = problem.link(A)
    new, old = _dual(problem, A, link), _dual(problem, state.A, state.link)
    if new < old - ROUNDING * abs(old):
        return False
    state.A[:], state.link[:] = A, link
    return True
