"""Check a run at each checkpoint against values computed from the dual point alone.

The tolerances follow from the sizes of the terms that are summed. An entry of A in row i is at most
omega_i r_i, with r_i the largest entry of a vertex; so an entry of the link is at most
sum_i omega_i r_i |x_i| / (lam n), and scores and losses have bounds in turn. Each iteration may add
the roundings of n updates of such numbers.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.losses import DOMAIN_TOLERANCE
from fwlab.polytope_loss import PolytopeLoss
from fwlab.problem import Problem
from fwlab.solvers.method import Method, State
from fwlab.testing.domain_checks import separation
from fwlab.testing.shrinking import Contradiction
from fwlab.testing.tried_loss import ROUNDINGS, TriedLoss, text

UNIT = 2.0**-52
COUNTERS = ("n_steps", "n_lmo", "n_projections", "n_rows")


@dataclass(eq=False)
class Watch:
    """The callback of a run. It raises a Contradiction at the first checkpoint that has one.

    With only_points it keeps the dual points and checks nothing.
    """

    method: Method
    problem: Problem
    duals: list[float] = field(default_factory=list)
    points: list[Floats] = field(default_factory=list)
    counters: tuple[float, ...] = (0,) * len(COUNTERS)
    only_points: bool = False

    def __call__(self, progress: Any) -> None:
        state, iteration = progress.state, progress.iteration
        self.points.append(state.A.copy())
        if not self.only_points:
            self._check(progress, state, iteration)

    @cached_property
    def largest(self) -> Floats:
        """The largest size of an entry of the domain, for each sample, (n,)."""
        n, m = self.problem.n_samples, self.problem.n_classes
        largest = np.zeros(n)
        for j in range(m):
            for sign in (1.0, -1.0):
                gradient = np.zeros((n, m))
                gradient[:, j] = sign / UNIT  # no cost changes its minimiser
                vertices, _ = self.problem.polytopes.lowest(gradient)
                largest = np.maximum(largest, np.abs(vertices).max(axis=1))
        return largest

    def _check(self, progress: Any, state: State, iteration: int) -> None:
        self._shapes(state, iteration)
        self._feasible(state, iteration)
        sizes = Sizes.of(self.problem, self.largest, state, iteration)
        self._tracked(state, sizes, iteration)
        self._gap(progress, state, sizes)
        self._dual(progress, sizes)
        self._counters(state, iteration)

    def _shapes(self, state: State, iteration: int) -> None:
        shape = self.problem.n_samples, self.problem.n_classes
        if state.A.shape != shape or state.A.dtype != np.float64:
            raise Contradiction(
                "shape",
                f"state.A must stay an array {shape} of float64; it is {state.A.shape} of "
                f"{state.A.dtype} at iteration {iteration}.",
            )
        if not np.isfinite(state.A).all():
            i = int(np.argwhere(~np.isfinite(state.A))[0][0])
            raise Contradiction(
                "finite",
                f"row {i} of state.A must be finite; it is {text(state.A[i])} at iteration "
                f"{iteration}.",
            )

    def _feasible(self, state: State, iteration: int) -> None:
        own = state.own_problem or self.problem
        if state.own_problem is not None and iteration == 0:
            return  # a start belongs to the domain of the problem's loss
        omega, A = own.sample_weight, state.A
        idle = np.flatnonzero((omega == 0) & A.any(axis=1))
        if len(idle):
            raise Contradiction(
                "feasible",
                f"row {idle[0]} of state.A must be 0, as its sample has no weight; it is "
                f"{text(A[idle[0]])} at iteration {iteration}.",
            )
        rows = np.flatnonzero(omega)
        scaled, domains = A[rows] / omega[rows, None], own.polytopes.take(rows)
        if domains.checks_membership:
            inside = domains.contains(-scaled, DOMAIN_TOLERANCE * own.polytopes.scale)
        else:
            assert isinstance(own.loss, PolytopeLoss)
            tried = TriedLoss(own.loss, UNIT)
            distances = separation(tried, scaled, own.y[rows])
            inside = distances <= DOMAIN_TOLERANCE * (1 + np.abs(scaled).max(axis=1))
        if not inside.all():
            i = int(np.argmin(inside))
            nearest = ""
            if domains.projects:
                nearest = f"; the nearest feasible row is {text(domains.project(scaled)[i])}"
            raise Contradiction(
                "feasible",
                f"state.A leaves the domain at iteration {iteration}: row {rows[i]} with label "
                f"{own.y[rows[i]]}, divided by its sample weight, is {text(scaled[i])}{nearest}.",
            )

    def _tracked(self, state: State, sizes: "Sizes", iteration: int) -> None:
        link = state.problem.link(state.machine)
        scores = state.problem.features.scores(link)
        pairs = [("link", state.link, link, sizes.link)]
        if state.needs.scores:
            pairs.append(("scores", state.scores, scores, sizes.scores))
        for name, tracked, expected, size in pairs:
            if tracked.shape != expected.shape:
                raise Contradiction(
                    name,
                    f"state.{name} must have shape {expected.shape}; it has {tracked.shape} at "
                    f"iteration {iteration}.",
                )
            if not (np.abs(tracked - expected) <= sizes.rounding * size).all():
                excess = np.abs(tracked - expected) - sizes.rounding * size
                i = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)) // excess.shape[1])
                whose = "the coefficients" if state.needs.coefficients else "A"
                raise Contradiction(
                    name,
                    f"state.{name} does not follow {whose} at iteration {iteration}: row {i} is "
                    f"{text(tracked[i])}, and recomputed {text(expected[i])}.",
                )

    def _gap(self, progress: Any, state: State, sizes: "Sizes") -> None:
        own = state.own_problem
        if own is not None and not self.problem.is_feasible(state.A):
            return
        # a row that `contains` accepts may be DOMAIN_TOLERANCE outside
        allowed = (sizes.rounding + DOMAIN_TOLERANCE) * sizes.values
        if not progress.gap >= -allowed:
            raise Contradiction(
                "gap",
                f"the gap is {progress.gap:.6g} at iteration {progress.iteration}, below 0 by more "
                f"than {allowed:.3g}: the primal value {progress.primal:.10g} is below the dual "
                f"value {progress.dual:.10g}.",
            )

    def _dual(self, progress: Any, sizes: "Sizes") -> None:
        allowed = sizes.rounding * sizes.values
        if self.method.monotone and self.duals and progress.dual < self.duals[-1] - allowed:
            raise Contradiction(
                "monotone",
                f"the dual falls from {self.duals[-1]:.17g} to {progress.dual:.17g} at iteration "
                f"{progress.iteration}, but the method says that it is monotone.",
            )
        self.duals.append(progress.dual)

    def _counters(self, state: State, iteration: int) -> None:
        now = tuple(getattr(state, name) for name in COUNTERS)
        for name, before, after in zip(COUNTERS, self.counters, now, strict=True):
            if not after >= before:
                raise Contradiction(
                    "counters",
                    f"state.{name} falls from {before} to {after} at iteration {iteration}.",
                )
        self.counters = now


@dataclass(frozen=True, eq=False)
class Sizes:
    """Bounds of link (1, d), scores (n, 1) and objective values, and the relative rounding."""

    link: Floats
    scores: Floats
    values: float
    rounding: float

    @classmethod
    def of(cls, problem: Problem, largest: Floats, state: State, iteration: int) -> "Sizes":
        n, m = problem.n_samples, problem.n_classes
        omega, X = problem.sample_weight, np.abs(problem.X)
        rows = np.maximum(omega * largest, np.abs(state.machine).max(axis=1))
        gram = state.problem.kernel is not None
        link = rows @ (X @ X.T if gram else X) / problem.lam_n
        scores = link if gram else X @ link
        delta = np.abs(problem.polytopes.add_costs(np.zeros((n, m)))).max()
        losses = m * largest * (delta + 2 * scores + problem.smoothing * largest)
        norm = problem.lam * m * float(rows @ scores) / problem.lam_n
        rounding = ROUNDINGS * (n + m + X.shape[1]) * (iteration + 1) * UNIT
        return cls(link[None, :], scores[:, None], norm + float(np.mean(omega * losses)), rounding)
