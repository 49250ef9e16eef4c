"""Certify a machine that anything has trained: how far it is from the optimum of a problem.

For any machine W, any dual point A' and any other machine W+ (fwlab.primal_dual)

    P(W) - P(W+) <= P(W) - P* <= P(W) - D(A'),

and both sides meet as W+ and A' approach the optimum. A run of `solve` improves them until the
right side is at most `factor` times the left one. With the certificates of the pairs (W, A) and
(W+, A), whose gaps g and g+ are right to e and e+ for the same exact A',

    excess = g + e,    excess_low = (g - e) - (g+ + e+).

At the dual point 0 the errors are those of P alone: where rounding errors are most of what is left
open, the bounds P(W) and P(W) - P(W+) of that point count, too.

The optimal machine W* lies in the balls of both pairs (fwlab.enclosing_ball), and with the
cross-entropy in an ellipsoid near the better machine, too (fwlab.ellipsoid).
"""

import reprlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fwlab.arrays import Floats, like, on_host
from fwlab.checks.arguments import as_floats, as_integer, as_real
from fwlab.checks.labels import codes_of_rows
from fwlab.ellipsoid import Ellipsoid, ellipsoid_of, joined_interval, joined_proofs
from fwlab.enclosing_ball import Ball, ball_of_pair, smallest
from fwlab.excess import ExcessStatus, ExcessTest, excess_test
from fwlab.operators.tensor_rows import tensor_rows
from fwlab.other_constant import hint_of_constant
from fwlab.problem import Problem
from fwlab.problem_input import checked_matrix, require_weights
from fwlab.proved import proved_accuracy, proved_in_ball
from fwlab.result import Certificate, Result, Status, checked_rows
from fwlab.solvers.interrupt import deferred_interrupt
from fwlab.solvers.registry import build, refusal, require_taken
from fwlab.solvers.solve import solve
from fwlab.solvers.warm_up import warm_up
from fwlab.text import html_facts, in_brackets, named, size_of

# no limit of the iterations, and a gap relative to P that rounding hides
ENDLESS, TINY = 10**12, 1e-16
# the methods that run the dual: the first one that takes the problem
METHODS = ("auto", "direct", "pfw")


@dataclass(frozen=True, eq=False, repr=False)
class Certification:
    """How far a machine is from the optimum of a problem; see `certify`.

    Attributes
    ----------
    excess, excess_low : float
        Proved bounds of P(W) - P*, above and below, rounding included.
    distance : float
        A proved bound of |W - W*|, with W* the machine of the exact optimum; infinity with an
        LpNorm(p) of p > 2 or p = 1.
    primal : float
        P(W), right to gap_error.
    gap_error : float
        A bound of the rounding error of P(W) - D(A).
    status : ExcessStatus
        Whether the excess is known within the factor; its value is a sentence.
    message : str
        The status as a sentence, why the run ended, and the hint.
    hint : str
        The constant C for which W is about an optimum, if that is another one; empty otherwise.
    W : array (m, d)
        The machine.
    ball : Ball
        The smallest ball found that holds W*.
    result : Result
        The run behind it. Its W is W+, its A the dual point.
    problem : Problem
    """

    excess: float
    excess_low: float
    distance: float
    primal: float
    gap_error: float
    status: ExcessStatus
    message: str
    hint: str
    W: Floats
    ball: Ball
    result: Result
    problem: Problem

    def __repr__(self) -> str:
        return in_brackets("Certification", named(self._facts()))

    def _repr_html_(self) -> str:
        return html_facts("Certification", self._facts())

    def proved(self, X_new: Any) -> Any:
        """Return whether W and the exact optimum are proved to predict one label, (n_new,) bool.

        X_new is (n_new, d); for a tensor the answer is one, and no ellipsoid is used. With the
        cross-entropy the first call computes the ellipsoid, if that is affordable.
        """
        W, centre = (like(M, X_new) for M in (self.W, self.ball.centre))
        rows = checked_rows(X_new, W)
        proved = proved_in_ball(W, centre, self.ball.radius, rows)
        return joined_proofs(proved, self.ellipsoid, W, rows)

    def proved_accuracy(self, X_new: Any, y: Any, k: int = 1) -> tuple[float, float]:
        """Return an interval (low, high) that holds the top-k accuracy of the exact optimum.

        X_new is (n_new, d) and y (n_new,). fwlab.metrics.topk_accuracy defines the accuracy; a
        label that is no class counts as wrong. Raises ValueError if no label is a class.
        """
        centre = like(self.ball.centre, X_new)
        rows = checked_rows(X_new, centre)
        k = as_integer("k", k, low=1, high=len(self.W))
        codes = codes_of_rows(y, self.result.classes, rows.shape[0])
        interval = proved_accuracy(centre, self.ball.radius, rows, codes, k)
        return joined_interval(interval, self.ellipsoid, rows, codes, k)

    @cached_property
    def ellipsoid(self) -> Ellipsoid | None:
        """An ellipsoid that holds W*, if one is known (fwlab.ellipsoid); computed when first read.

        It takes two to six times n (m d)^2 products, and memory for ten arrays (m d, m d) and ten
        (n, m). It is known for the cross-entropy with at most 1000 entries of W and n (m d)^2 <=
        2^36, unless X is a tensor or rounding hides the Hessian.
        """
        if self.status is ExcessStatus.INCONSISTENT:
            return None
        better = self.W if self.primal < self.result.primal else self.result.W
        return ellipsoid_of(self.problem, on_host(better))

    def _facts(self) -> dict[str, str]:
        return {
            "status": self.status.name,
            "excess": f"{self.excess:.6g}",
            "excess_low": f"{self.excess_low:.6g}",
            "distance": f"{self.distance:.3g}",
            "primal": f"{self.primal:.8g}",
            "W": size_of(self.W),
        }


def certify(
    problem: Problem,
    W: Any,
    intercept: Any = None,
    factor: float = 1.1,
    time_limit: float | None = None,
) -> Certification:
    """Prove how far a machine is from the optimum, whatever trained it.

    Ctrl-C and the time limit end the run with what is known so far.

    Parameters
    ----------
    problem : Problem
        The problem that the machine should solve, with its features, labels, loss and constant:
        with C, lam = 1 / (C n), as LogisticRegression and LinearSVC count. kernel="precomputed" is
        refused, because it has no W.
    W : array (m, d)
        The machine: one row per class, in the order of problem.classes; a tensor, too.
    intercept : array (m,), optional
        The intercept of a machine whose last feature in X is a constant c, which LinearSVC calls
        intercept_scaling. W then has d - 1 columns, and the last column of the machine is
        intercept / c. Without such a feature an intercept other than 0 is refused: the problem
        has none.
    factor : float
        The run ends when excess <= factor * excess_low, or when the excess is at most
        max(1e-12 |P(W)|, min(2 gap_error, 1e-6 |P(W)|)), or when rounding errors hide more. Above
        1.
    time_limit : float, optional
        Seconds of the whole call without compiling, kept as `solve` keeps it.

    Returns
    -------
    Certification
        Bounds of the excess and of the distance, proved labels and accuracies, and the run.

    Raises
    ------
    ValueError, TypeError
        Before any work, if an argument is not allowed or no method takes the problem.
    """
    began = time.perf_counter()
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a fwlab.Problem; got {reprlib.repr(problem)}.")
    require_weights(problem.kernel, "certify")
    problem = problem.at_data
    machine = checked_machine(problem, W, intercept)
    factor = as_real("factor", factor, positive=True)
    if factor <= 1:
        raise ValueError(f"factor must be above 1; got {factor}.")
    if time_limit is not None:
        time_limit = as_real("time_limit", time_limit, positive=False)
    method = method_for(problem)
    clock = time.perf_counter()
    if not problem.has_tensors:
        warm_up(problem, build(method, {}))
    began += time.perf_counter() - clock
    with deferred_interrupt() as interrupt:
        test = excess_test(problem, machine, factor)
        if time_limit is not None:
            # the certificate of W follows the run
            time_limit = max(0.0, time_limit - 3 * (time.perf_counter() - began))
        result = solve(
            problem,
            method,
            tol=TINY,
            relative=True,
            max_iter=0 if interrupt.pressed else ENDLESS,
            time_limit=time_limit,
            A0=test.start,
            callback=test.end_if_known,
        )
        return _certification(test, result)


def checked_machine(problem: Problem, W: Any, intercept: Any) -> Floats:
    """Return the machine (m, d) of W and an intercept. Raises ValueError or TypeError."""
    rows, (m, d) = (
        as_floats("W", on_host(W), ndims=(2,)).copy(),
        (problem.n_classes, problem.n_features),
    )
    if len(rows) == 1 and m == 2:
        raise ValueError(
            f"W must be (m, d) = {(m, d)}; got shape {rows.shape}: a binary machine w has the rows "
            "-w / 2 and w / 2, for which LogisticRegression(C) has half of its C here."
        )
    if intercept is None:
        return checked_matrix("W", "(m, d)", rows, (m, d))
    b = as_floats("intercept", on_host(intercept), ndims=(1,))
    if b.shape != (m,):
        raise ValueError(f"intercept must be (m,) = {(m,)}; got shape {b.shape}.")
    constant = _last_constant(problem) if rows.shape == (m, d - 1) else 0.0
    if constant:
        with np.errstate(over="ignore"):
            weights = b / constant
        if not np.isfinite(weights).all():
            raise ValueError(
                f"intercept must be at most the largest float times the constant {constant:.3g} of "
                f"the last feature; got {np.abs(b).max():.3g}."
            )
        return np.column_stack([rows, weights])
    if rows.shape == (m, d) and not b.any():
        return rows
    raise ValueError(
        "intercept must be 0 or None, or X must end in a constant feature that W leaves out, so "
        "that the intercept is regularised, as in LinearSVC: append a column of 1 to X and train "
        f"with fit_intercept=False; got W of shape {rows.shape} and an intercept up to "
        f"{np.abs(b).max():.3g} with d = {d}."
    )


def _last_constant(problem: Problem) -> float:
    """Return the value of the last feature if that is constant, otherwise 0."""
    if problem.has_tensors:
        column = tensor_rows(problem.features).last_column()
    else:
        column = problem.X[:, -1:]
    column = np.asarray(column.todense() if hasattr(column, "todense") else column)
    return float(column[0, 0]) if (column == column[0, 0]).all() else 0.0


def method_for(problem: Problem) -> str:
    """Return the method that runs the dual. Raises ValueError if none takes the problem."""
    for name in METHODS:
        if refusal(build(name, {}), problem) is None:
            return name
    require_taken(METHODS[0], build(METHODS[0], {}), problem)
    raise AssertionError


def _certification(test: ExcessTest, result: Result) -> Certification:
    """Return what a run has found out."""
    problem, W = test.problem, test.W
    own, V = test.outcome(result)
    found = own.contradiction or (result.status is Status.INCONSISTENT and result.message)
    if found or not np.isfinite(own.gap_error):
        (high, low), ball = (np.inf, 0.0), Ball(W, np.inf)
        distance, status = np.inf, ExcessStatus.INCONSISTENT if found else ExcessStatus.OPEN
    else:
        high, low = test.bounds(own, result, result.W)
        status = test.status(high, low, own.gap_error, at_floor=_at_floor(result))
        balls = list(_balls(problem, W, V, own, result))
        ball, distance = smallest(balls), min(ball.distance(W) for ball in balls)
    hint = hint_of_constant(problem, W, test.link)
    why = str(found or result.message)
    if status in (ExcessStatus.KNOWN, ExcessStatus.NEGLIGIBLE):
        why = ""
    elif _at_floor(result) and high < np.inf:
        # tol, which the run's own message names, is no argument here
        why = f"It lies in {low:.3g}..{high:.3g}; rounding errors are up to {own.gap_error:.3g}."
    return Certification(
        excess=high,
        excess_low=low,
        distance=distance,
        primal=own.primal,
        gap_error=own.gap_error,
        status=status,
        message=" ".join(part for part in (status.value, why, hint) if part),
        hint=hint,
        W=W,
        ball=ball,
        result=result,
        problem=problem,
    )


def _at_floor(result: Result) -> bool:
    """Return whether the run ended because it cannot bring the gap further down."""
    return result.status in (Status.ROUNDING_FLOOR, Status.CONVERGED)


def _balls(
    problem: Problem, W: Floats, V: Floats, own: Certificate, result: Result
) -> Iterator[Ball]:
    """Yield balls that hold the optimal machine; V is the link of the run's dual point."""
    better = on_host(result.W)
    yield Ball(W, own.distance)
    yield Ball(better, result.distance)
    if problem.regularizer.plain:
        for machine, gap in ((W, own.proved_gap), (better, result.gap + result.gap_error)):
            yield ball_of_pair(machine, V, gap, problem.lam, own.link_error)
