"""Define step rules: how far a Frank-Wolfe step goes along its direction.

With or without smoothing, the dual is quadratic along a line: a step s raises it by

    s slope - s^2 curvature / 2.

A step rule sees the direction and, if it wants one, a memory of its own that lives as long as the
run.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fwlab.checks.arguments import as_real
from fwlab.kernels.steps.exact_step import exact_step
from fwlab.solvers.method import State
from fwlab.text import describe


@dataclass(eq=False)
class Direction:
    """A direction of the dual variable, as a step rule sees it.

    The properties are computed when they are first read.

    Attributes
    ----------
    iteration : int
        Number of iterations before this one, 0 at first.
    slope : float
        The derivative of the dual at step 0.
    limit : float
        The largest feasible step.
    state : State
        The state of the run.
    measure_curvature, measure_square : callable
        Compute `curvature` and `square_norm`.
    row : int or None
        The sample whose block a block method moves, None if all blocks move.
    row_smoothness : float or None
        The largest curvature along a direction of norm 1 in this block.
    """

    iteration: int
    slope: float
    limit: float
    state: State = field(repr=False)
    measure_curvature: Callable[[], float] = field(repr=False)
    measure_square: Callable[[], float] = field(repr=False)
    row: int | None = None
    row_smoothness: float | None = field(default=None, repr=False)

    @cached_property
    def curvature(self) -> float:
        """Minus the second derivative of the dual along the direction."""
        return self.measure_curvature()

    @cached_property
    def square_norm(self) -> float:
        """The squared Frobenius norm of the direction (n, m)."""
        return self.measure_square()

    @property
    def smoothness(self) -> float:
        """The largest curvature along any direction of norm 1, in the block if only one moves."""
        return self.state.smoothness if self.row_smoothness is None else self.row_smoothness

    @cached_property
    def dual(self) -> float:
        """The dual at step 0."""
        problem, A = self.state.problem, self.state.A
        return problem.dual_value(A, problem.dual_square_norm(self.state.link, A))

    def rise(self, step: float) -> float:
        """Return by how much the dual rises with this step."""
        return step * (self.slope - step * self.curvature / 2)

    def dual_at(self, step: float) -> float:
        """Return the dual at this step."""
        return self.dual + self.rise(step)


class StepRule:
    """How far to go along a direction. Subclass it and define `__call__`.

    An object holds the constants of the rule. Everything that changes during a run belongs into the
    memory that `start` returns, because one object may serve several runs. Pass it as
    `fwlab.FrankWolfe(step=..)`, and to AwayStep, Pairwise and BlendedPairwise likewise.

    BlockFrankWolfe, BlockAwayStep, BlockPairwise and BlockBlendedPairwise take it, too: they call
    it for every block that can move, with the direction of this block, and `start` once for each
    block. Python then visits the rows one by one, at 0.02 to 0.1 ms per row.

    Examples
    --------
    Half of the exact step::

        class Half(fwlab.StepRule):
            monotone = True

            def __call__(self, direction, memory):
                if direction.slope <= 0:
                    return 0.0
                if direction.slope >= direction.curvature * direction.limit:
                    return direction.limit
                return 0.5 * direction.slope / direction.curvature
    """

    @property
    def phrase(self) -> str:
        """The words after "with" in the sentence of a method, without a full stop."""
        return f"the step rule {self!r}"

    @property
    def monotone(self) -> bool:
        """Whether the dual never falls, up to rounding."""
        return False

    def start(self, state: State) -> Any:
        """Return the memory of a run, or of one block in it; it is handed to every call."""
        return None

    def __call__(self, direction: Direction, memory: Any) -> float:
        """Return a step in [0, direction.limit]."""
        raise NotImplementedError(f"{type(self).__name__} must define `__call__`.")

    def __repr__(self) -> str:
        return describe(self)


class Exact(StepRule):
    """The maximiser of the dual in [0, limit]   (K19 (20), T20 (2.26))."""

    phrase = "exact line search"
    monotone = True

    def __call__(self, direction: Direction, memory: None) -> float:
        return float(exact_step(direction.slope, direction.curvature, direction.limit))


@dataclass(frozen=True)
class OpenLoop(StepRule):
    """The step ell / (t + ell) at iteration t = 0, 1, .., cut at the limit.

    ell = 2 is the usual step   (T20 3.1). ell = "log" stands for 2 + log(t + 1), which grows with
    the iterations and follows the best fixed ell on every problem   (Pokutta 2024).
    """

    ell: float | str = 2

    def __post_init__(self) -> None:
        if not isinstance(self.ell, str):
            as_real("ell", self.ell, positive=True)
        elif self.ell != "log":
            raise ValueError(f'ell must be a positive number or "log"; got {self.ell!r}.')

    @property
    def phrase(self) -> str:
        if self.ell == 2:
            return "the step 2/(t+1), t = 1, 2, ."
        if self.ell == "log":
            return "the step l/(t+l), l = 2 + log(t+1), t = 0, 1, ."
        return f"the step {self.ell:g}/(t+{self.ell:g}), t = 0, 1, ."

    def __call__(self, direction: Direction, memory: None) -> float:
        t = direction.iteration
        ell = 2.0 + np.log(t + 1.0) if self.ell == "log" else float(self.ell)
        return min(float(ell / (t + ell)), direction.limit)


class Short(StepRule):
    """The step slope / (smoothness |direction|^2), cut at the limit.

    It maximises the lower bound of the dual that follows from its smoothness alone.
    """

    phrase = "the short step slope / (smoothness |direction|^2)"
    monotone = True

    def __call__(self, direction: Direction, memory: None) -> float:
        bound = direction.smoothness * direction.square_norm
        return float(exact_step(direction.slope, bound, direction.limit))


@dataclass(eq=False)
class Estimate:
    """The estimate of the smoothness that `Adaptive` carries from one iteration to the next."""

    smoothness: float = 0.0


@dataclass(frozen=True)
class Adaptive(StepRule):
    """The short step with an estimate of the smoothness   (Pedregosa et al. 2020, Algorithm 2).

    Each iteration multiplies the estimate by `shrink`, and then by `grow` until the rise of the
    dual is at least the rise that the estimate promises.
    """

    shrink: float = 0.9
    grow: float = 2.0

    phrase = "backtracking on the curvature"
    monotone = True

    def __post_init__(self) -> None:
        if not 0 < as_real("shrink", self.shrink, positive=True) <= 1:
            raise ValueError(f"shrink must be in (0, 1]; got {self.shrink}.")
        if not as_real("grow", self.grow, positive=True) > 1:
            raise ValueError(f"grow must be above 1; got {self.grow}.")

    def start(self, state: State) -> Estimate:
        return Estimate()

    def __call__(self, direction: Direction, memory: Estimate) -> float:
        slope, limit, square = direction.slope, direction.limit, direction.square_norm
        # the slope of a direction without length is a rounding error
        if slope <= 0.0 or square < TINY:
            return 0.0
        if memory.smoothness == 0.0:
            memory.smoothness = direction.curvature / square
        else:
            memory.smoothness *= self.shrink
        while True:
            bound = memory.smoothness * square
            step = float(exact_step(slope, bound, limit))
            promise = step * (slope - step * bound / 2)
            # the first test ends the loop whatever the rounding errors are
            if bound >= direction.curvature or direction.rise(step) >= promise * (1 - PROMISE):
                return step
            memory.smoothness = max(memory.smoothness, TINY) * self.grow


# the relative rounding error of a promised rise, which is a difference of at most twice its size
PROMISE = 8 * np.finfo(float).eps
TINY = np.finfo(float).tiny
NAMED = {"exact": Exact(), "open-loop": OpenLoop(), "short": Short(), "adaptive": Adaptive()}


def as_step_rule(step: Any) -> StepRule:
    """Return the step rule of this name, or the step rule itself.

    Raises ValueError or TypeError for anything else.
    """
    if isinstance(step, StepRule):
        return step
    if not isinstance(step, str):
        raise TypeError(f"step must be a fwlab.StepRule or the name of one; got {step!r}.")
    if step not in NAMED:
        raise ValueError(f"step must be one of {', '.join(NAMED)} or a StepRule; got {step!r}.")
    return NAMED[step]


def chosen_step(rule: StepRule, direction: Direction, memory: Any) -> float:
    """Return the step of the rule.

    Raises TypeError if it is not a number, and ValueError if it is not in [0, direction.limit].
    """
    given = rule(direction, memory)
    try:
        step = float(given)
    except (TypeError, ValueError):
        raise TypeError(
            f"step must be a number; the step rule {rule!r} returned {given!r} at iteration "
            f"{direction.iteration}."
        ) from None
    if not 0.0 <= step <= direction.limit:
        raise ValueError(
            f"step must be in [0, {direction.limit:.6g}], the limit of the direction at iteration "
            f"{direction.iteration}; the step rule {rule!r} returned {step!r}."
        )
    return step
