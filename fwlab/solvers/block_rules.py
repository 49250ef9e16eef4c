"""Move the rows of A one by one, as a rule written in Python says.

With all other rows fixed, n times the dual is a quadratic of row i. A step from a to another point
of the row's domain raises it by

    -<gradient, new - a> - curvature |new - a|^2 / 2.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fwlab.arrays import Floats, Integers
from fwlab.losses import DOMAIN_TOLERANCE
from fwlab.operators.domains import Domains
from fwlab.solvers.blocks import BlockMethod, BlockWorkspace
from fwlab.solvers.method import State

# no rule of kernels.steps.rules
IN_PYTHON = -1
SHOWN = 10


@dataclass(eq=False)
class DualBlock:
    """One block of the dual variable, a row of A, as a block rule sees it.

    Attributes
    ----------
    row : int
        The sample.
    a : array (m,)
        The row; it cannot be written to.
    gradient : array (m,)
        Minus n times the gradient of the dual in this block: the scores of the sample plus costs
        and smoothing. It cannot be written to.
    curvature : float
        n times minus the second derivative of the dual along any direction of norm 1 in this block.
        It is 0 for a sample with x = 0 if there is no smoothing.
    iteration : int
        Number of passes before this one, 0 at first.
    memory : dict
        Empty at first. It belongs to this block and lives as long as the run.
    state : State
        The state of the run.
    """

    row: int
    a: Floats
    gradient: Floats
    curvature: float
    iteration: int
    memory: dict[Any, Any]
    state: State = field(repr=False)

    def lmo(self, gradient: Any) -> Floats:
        """Return the vertex v of the block's domain that minimises <gradient, v>, (m,)."""
        if gradient is self.gradient:
            return self._vertex.copy()
        return self._lowest(self._as_row("gradient", gradient))

    def project(self, point: Any) -> Floats:
        """Return the point of the block's domain nearest to a point (m,)."""
        self.state.n_projections += 1
        scaled = self._as_row("point", point)[None, :] / self.omega
        return np.asarray(self.omega * self.domain.project(scaled)[0])

    def rise(self, new: Any) -> float:
        """Return by how much the dual rises if the row becomes `new`, (m,)."""
        change = self._as_row("new", new) - self.a
        rise = -(self.gradient @ change) - self.curvature * (change @ change) / 2
        return float(rise / self.state.problem.n_samples)

    @property
    def omega(self) -> float:
        """The sample weight, which is not 0."""
        return float(self.state.problem.sample_weight[self.row])

    @cached_property
    def domain(self) -> Domains:
        """The domain of samples of this label with weight 1, without costs."""
        problem = self.state.problem
        return problem.row_polytopes.take(slice(self.row, self.row + 1)).without_costs()

    @property
    def gap(self) -> float:
        """The block's part of n times the gap."""
        return float(self.gradient @ (self.a - self._vertex))

    @cached_property
    def _vertex(self) -> Floats:
        return self._lowest(self.gradient)

    def _lowest(self, gradient: Floats) -> Floats:
        self.state.n_lmo += 1
        vertices, _ = self.domain.lowest(gradient[None, :])
        return np.asarray(self.omega * vertices[0])

    def _as_row(self, name: str, given: Any) -> Floats:
        """Return an argument as an array (m,); raise ValueError if it is none."""
        row = as_row(given, len(self.a))
        if row is None:
            raise ValueError(f"{name} must be {len(self.a)} finite numbers; got {given!r}.")
        return row


@dataclass(frozen=True)
class BlockRule(BlockMethod):
    """A block method whose steps you write. Subclass it and define `__call__`.

    `__call__(block)` gets a `DualBlock` and returns the new row, a point (m,) of the domain of the
    block, such as `block.a`. An object of your class is a method, as the built-in ones are: pass
    it to `solve`, to `compare` or to `fwlab.testing.check_method`. Python visits the rows one by
    one, which takes up to 0.1 ms per row. The trace counts every answer of `lmo` and `project`.

    An object holds the options of the rule, as in a frozen dataclass. Everything that changes
    during a run belongs into `block.memory`. `monotone` is False unless you say otherwise.

    Parameters
    ----------
    order, block_size
        As for the built-in block methods, such as BlockFrankWolfe.

    Examples
    --------
    Block-coordinate Frank-Wolfe with exact steps::

        class Towards(fwlab.BlockRule):
            monotone = True

            def __call__(self, block):
                d = block.lmo(block.gradient) - block.a
                slope, bend = -block.gradient @ d, block.curvature * (d @ d)
                step = slope / bend if 0.0 < slope < bend else float(slope > 0.0)
                return block.a + step * d
    """

    rule: int = field(init=False, default=IN_PYTHON, repr=False)

    @property
    def sentence(self) -> str:
        return (type(self).__doc__ or f"{type(self).__name__}.").strip().splitlines()[0]

    @property
    def monotone(self) -> bool:
        return False

    def __call__(self, block: DualBlock) -> Any:
        """Return the new row, (m,)."""
        raise NotImplementedError(f"{type(self).__name__} must define `__call__`.")

    def start(self, state: State) -> BlockWorkspace:
        workspace = super().start(state)
        workspace.memories = [{} for _ in range(state.problem.n_samples)]
        return workspace

    def count_answers(self, state: State) -> None:
        """Count nothing: a DualBlock counts what it is asked for."""

    def visit(self, order: Integers, state: State, workspace: BlockWorkspace) -> None:
        problem, A = state.problem, state.A
        for row in order.tolist():
            workspace.moves[row] = 0.0
            if problem.sample_weight[row] == 0.0:
                continue
            block = _block_of(row, state, workspace)
            if len(workspace.gaps) > 0:
                workspace.gaps[row] = block.gap
            new = self._new_row(block)
            change = new - A[row]
            workspace.moves[row] = np.abs(change).sum()
            problem.features.add_row(row, change / problem.lam_n, state.link)
            A[row] = new

    def _new_row(self, block: DualBlock) -> Floats:
        """Return the row of the rule; raise ValueError if it is not in the domain."""
        given, m = self(block), len(block.a)
        where = f"for row {block.row} at iteration {block.iteration}"
        new = as_row(given, m)
        if new is None:
            raise ValueError(
                f"a block rule must return a row of {m} finite numbers; {self!r} returned "
                f"{given!r} {where}."
            )
        scaled = new[None, :] / block.omega
        slack = DOMAIN_TOLERANCE * block.state.problem.polytopes.scale
        if not block.domain.contains(-scaled, slack)[0]:
            nearest = block.omega * block.domain.project(scaled)[0]
            raise ValueError(
                f"a block rule must return a point of the block's domain; {self!r} returned "
                f"{_text(new)} {where}, and the nearest feasible row is {_text(nearest)}."
            )
        return new


def as_row(given: Any, m: int) -> Floats | None:
    """Return an array of m finite numbers as float64, in one piece; None for anything else."""
    try:
        row = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return row if row.shape == (m,) and np.isfinite(row).all() else None


def _block_of(row: int, state: State, workspace: BlockWorkspace) -> DualBlock:
    """Return the block of a row whose sample weight is not 0."""
    problem, a = state.problem, state.A[row].copy()
    ridge = problem.smoothing / problem.sample_weight[row]
    shifted = problem.features.row_scores(row, state.link) + ridge * a
    gradient = problem.polytopes.take(slice(row, row + 1)).add_costs(shifted[None, :])[0]
    a.flags.writeable = gradient.flags.writeable = False
    curvature = float(problem.curvatures[row] + ridge)
    memory = workspace.memories[row]
    return DualBlock(row, a, gradient, curvature, workspace.passes - 1, memory, state)


def _text(row: Floats) -> str:
    return np.array2string(row, precision=6, threshold=SHOWN, edgeitems=3, separator=", ")
