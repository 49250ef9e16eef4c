"""Solve the problem at some constants C, and interpolate its machines between these knots.

Any machine will do for a bound (fwlab.choice.stretch), so that neither the interpolation nor the
solver adds an error; the better they are, the smaller is the residual. Between the knots the
machine is the polynomial in log C through the nearest FEW knots.
"""

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.choice.clock import Clock
from fwlab.enclosing_ball import norm_above
from fwlab.operators.softmax import cross_entropies
from fwlab.operators.sums import square_in_parts
from fwlab.primal_dual import PrimalDual
from fwlab.problem import Problem
from fwlab.proved import best_classes
from fwlab.result import Result
from fwlab.solvers.lbfgs import Lbfgs
from fwlab.solvers.method import Needs, State
from fwlab.solvers.solve import solve

FEW = 6
MAX_ITER, TINY = 10_000, 1e-300
NEEDS, MOST_STEPS = Needs(own_values=True), 200
# a machine is off by at most this many times the share of its length that was asked for
MISSED = 4.0


@dataclass(eq=False)
class Knots:
    """The machines of some constants C, and the one with the highest validation accuracy.

    Attributes
    ----------
    problem : Problem
        The training problem, for any C.
    X, codes : array (n_validation, d), array (n_validation,)
        The validation samples with their classes.
    clock : Clock
    machines, n_right : dict
        The machine and the number of correct predictions of each C.
    best : Result or None
        The result of the best C, the smallest one of several.
    """

    problem: Problem
    X: Floats
    codes: Integers
    clock: Clock
    machines: dict[float, Floats] = field(default_factory=dict)
    n_right: dict[float, int] = field(default_factory=dict)
    best: Result | None = None

    @property
    def best_C(self) -> float:
        """The C of the best result."""
        return min(self.n_right, key=lambda C: (-self.n_right[C], C))

    def add(self, C: float, W: Floats | None, wanted: float) -> None:
        """Solve at C, from near the machine W, to a residual of about `wanted`, and evaluate."""
        problem = self._problem_at(C)
        start = None if W is None else _start_near(problem, W)
        # P(W) - D(A(W)) = lam/2 |W - C U(W)|^2; with a tol of 0 no run ends before MAX_ITER
        tol = max(problem.lam / 2 * wanted**2, TINY)
        limit = self.clock.remaining
        result = solve(problem, "lbfgs", tol, A0=start, max_iter=MAX_ITER, time_limit=limit)
        self.clock.note(result.status)
        self.machines[C] = result.W
        self.n_right[C] = int((best_classes(result.W, self.X) == self.codes).sum())
        if self.best is None or self.best_C == C:
            self.best = result

    def refine(self, C: float, wanted: float) -> None:
        """Make a knot of C by L-BFGS steps from its machine on, without a certificate.

        They end at a residual of `wanted`, or where rounding hides the descent.
        """
        problem, W = self._problem_at(C), self.machine(C)
        state = State(problem, _gradients(problem, W), np.random.default_rng(0), NEEDS)
        method = Lbfgs()
        workspace = method.start_at(state, W)
        for _ in range(MOST_STEPS):
            point = workspace.point
            is_near = norm_above(point.W - point.link) <= wanted
            if is_near or workspace.is_stuck or self.clock.is_over():
                break
            method.iterate(state, workspace)
        self.machines[C] = workspace.point.W

    def _problem_at(self, C: float) -> Problem:
        return self.problem.with_lam(1.0 / (C * self.problem.n_samples))

    def add_grid(self, grid: Floats, share: float) -> None:
        """Solve at ascending C, to residuals of about this share of the machines' lengths."""
        W, size = None, grid[0] * _norm(self._sum_at_zero())
        for C in grid.tolist():
            if self.machines and self.clock.is_over(before_walk=True):
                return
            self.add(C, W, share * size)
            # the ball of W = 0 may be much larger than the machine
            if _norm(self.machines[C]) < size / MISSED:
                self.add(C, self.machines[C], share * _norm(self.machines[C]))
            W = self.machines[C]
            size = _norm(W)

    def _sum_at_zero(self) -> Floats:
        """Return U(0), which times C is at least as long as the optimum."""
        zero = np.zeros((self.problem.n_classes, self.problem.n_features))
        return self.problem.features.transposed_product(_gradients(self.problem, zero))

    def around(self, C: float) -> tuple[float, float]:
        """Return the knots below and above C, which lies between two of them."""
        Cs = sorted(self.machines)
        place = bisect_left(Cs, C)
        return Cs[place - 1], Cs[place]

    def machine(self, C: float) -> Floats:
        """Return the machine of a knot C, or the interpolated one, (m, d)."""
        if C in self.machines:
            return self.machines[C]
        Cs = sorted(self.machines)
        first = max(0, min(bisect_left(Cs, C) - FEW // 2, len(Cs) - FEW))
        near = Cs[first : first + FEW]
        logs = np.log(near)
        weights = [
            np.prod((np.log(C) - np.delete(logs, j)) / (logs[j] - np.delete(logs, j)))
            for j in range(len(near))
        ]
        return np.asarray(sum(w * self.machines[c] for w, c in zip(weights, near, strict=True)))


def _gradients(problem: PrimalDual, W: Floats) -> Floats:
    """Return the rows omega_i (e_y - p_i) at the scores of W, (n, m), a feasible dual point."""
    duals = cross_entropies(problem.features.scores(W), problem.y)[1]
    return np.asarray(problem.sample_weight[:, None] * duals)


def _start_near(problem: PrimalDual, W: Floats) -> Floats:
    """Return the multiple of the gradients at W whose link is nearest to W, a feasible dual point.

    For the optimum of a smaller C the link of the gradients themselves would be longer than W.
    """
    A = _gradients(problem, W)
    V = problem.link(A)
    square = square_in_parts(V)
    share = float(np.vdot(V, W)) / square if square > 0 else 1.0
    return A * min(max(share, 0.0), 1.0)


def _norm(W: Floats) -> float:
    return float(np.sqrt(square_in_parts(W)))
