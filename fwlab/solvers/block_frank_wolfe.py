"""Run block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013) and its variants, with step rules.

Along a block the dual is a quadratic whose curvature is known, |x_i|^2 / (lam n) + ridge, in every
direction, so that the short step is the exact one. An adaptive step estimates the curvature by
backtracking all the same, as for a dual that can only be evaluated: its estimates stay between the
curvature and twice that, and in its block it never rises more than the exact step.

Exact steps are compiled, and so are the adaptive steps of BlockFrankWolfe. For all other rules
Python visits the rows one by one (solvers.row_steps), in the order of the compiled pass.
"""

from dataclasses import dataclass, field

import numpy as np

from fwlab.arrays import Integers
from fwlab.checks.arguments import as_flag
from fwlab.kernels.steps.rules import ADAPTIVE, AWAY, BLENDED, FRANK_WOLFE, PAIRWISE
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.averaging import Average, parts_without_repeats
from fwlab.solvers.blocks import SENTENCES, BlockMethod, BlockWorkspace
from fwlab.solvers.method import Needs, State
from fwlab.solvers.row_steps import visit_rows
from fwlab.solvers.step_rules import StepRule, as_step_rule


@dataclass(frozen=True)
class BlockStepMethod(BlockMethod):
    """A pass of n block steps, each along the direction that `rule` gives.

    Parameters
    ----------
    step : "exact", "open-loop", "short", "adaptive", or a StepRule
        The step of each block. "short" is "exact" here. An open-loop step counts the passes. Rules
        that are not compiled visit the rows in Python, at 0.02 to 0.1 ms per row.
    order, block_size
        As for `BlockMethod`.
    """

    rule: int = field(init=False, default=FRANK_WOLFE, repr=False)
    step: StepRule | str = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        as_step_rule(self.step)
        if self.rule == FRANK_WOLFE and self.step == "adaptive":
            object.__setattr__(self, "rule", ADAPTIVE)

    @property
    def step_in_python(self) -> bool:
        """Whether Python visits the rows."""
        return self.rule != ADAPTIVE and self.step not in ("exact", "short")

    @property
    def sentence(self) -> str:
        sentence, phrase = SENTENCES[self.rule], as_step_rule(self.step).phrase
        if not self.step_in_python:
            return sentence
        if self.rule == FRANK_WOLFE:
            return sentence.replace("exact line search", phrase)
        return f"{sentence[:-1]}, with {phrase}."

    @property
    def monotone(self) -> bool:
        return as_step_rule(self.step).monotone

    def start(self, state: State) -> BlockWorkspace:
        workspace = super().start(state)
        if self.rule == ADAPTIVE:
            workspace.estimates = np.zeros(state.problem.n_samples)
        if self.step_in_python:
            rule = as_step_rule(self.step)
            workspace.memories = [rule.start(state) for _ in range(state.problem.n_samples)]
        return workspace

    def visit(self, order: Integers, state: State, workspace: BlockWorkspace) -> None:
        if not self.step_in_python:
            super().visit(order, state, workspace)
            return
        workspace.active_sets.reserve(order)
        visit_rows(self.rule, as_step_rule(self.step), order, state, workspace)


@dataclass(frozen=True)
class BlockFrankWolfe(BlockStepMethod):
    """A pass of n block steps, each towards the LMO's vertex of its block.

    Parameters
    ----------
    step, order, block_size
        As for `BlockStepMethod`.
    averaging : bool
        Whether the result is the average of the points after all steps, with weights proportional
        to the number of the step (solvers.averaging), instead of the last point. The certificate
        is the average's, and the dual may fall. An iteration makes one more product A^T X, and the
        method does not change over to a Gram matrix.
    """

    averaging: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        as_flag("averaging", self.averaging)

    @property
    def sentence(self) -> str:
        sentence = super().sentence
        return f"{sentence[:-1]}, averaged over its steps." if self.averaging else sentence

    @property
    def monotone(self) -> bool:
        return not self.averaging and super().monotone

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(gram=not self.averaging)

    def start(self, state: State) -> BlockWorkspace:
        workspace = super().start(state)
        if self.averaging:
            workspace.average = Average.starting(state.A, state.link)
        return workspace

    def iterate(self, state: State, workspace: BlockWorkspace) -> None:
        average = workspace.average
        if average is None:
            super().iterate(state, workspace)
            return
        state.A, state.link = average.A, average.link
        super().iterate(state, workspace)
        average.stay(np.arange(len(average.A)), average.count)
        state.A, state.link = average.point, state.problem.link(average.point)

    def visit(self, order: Integers, state: State, workspace: BlockWorkspace) -> None:
        average = workspace.average
        if average is None:
            super().visit(order, state, workspace)
            return
        for rows in parts_without_repeats(order):
            average.stay(rows, average.count + np.arange(len(rows)))
            super().visit(rows, state, workspace)
            average.count += len(rows)


@dataclass(frozen=True)
class BlockAwayStep(BlockStepMethod):
    """A pass of n block steps, each the steeper of the Frank-Wolfe step and the away step.

    `BlockStepMethod` describes the parameters.
    """

    rule: int = field(init=False, default=AWAY, repr=False)


@dataclass(frozen=True)
class BlockPairwise(BlockStepMethod):
    """A pass of n block steps, each from the away atom of its block to the LMO's vertex.

    `BlockStepMethod` describes the parameters.
    """

    rule: int = field(init=False, default=PAIRWISE, repr=False)


@dataclass(frozen=True)
class BlockBlendedPairwise(BlockStepMethod):
    """A pass of n block steps: pairwise within the active set of the block, or else Frank-Wolfe.

    `BlockStepMethod` describes the parameters.
    """

    rule: int = field(init=False, default=BLENDED, repr=False)
