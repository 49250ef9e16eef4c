"""Run block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013), with exact or adaptive steps.

Along a block the dual is a quadratic whose curvature is known, |x_i|^2 / (lam n) + ridge, in every
direction. An adaptive step estimates it by backtracking all the same, as for a dual that can only
be evaluated: its estimates stay between the curvature and twice that, and in its block it never
rises more than the exact step.
"""

from dataclasses import dataclass, field

import numpy as np

from fwlab.kernels.steps.rules import ADAPTIVE, FRANK_WOLFE
from fwlab.solvers.blocks import BlockMethod, BlockWorkspace
from fwlab.solvers.method import State

RULES = {"exact": FRANK_WOLFE, "adaptive": ADAPTIVE}


@dataclass(frozen=True)
class BlockFrankWolfe(BlockMethod):
    """A pass of n block steps, each towards the LMO's vertex of its block.

    Parameters
    ----------
    step : "exact" or "adaptive"
        "adaptive" backtracks, with one curvature estimate per block.
    order, block_size
        As for `BlockMethod`.
    """

    rule: int = field(init=False, default=FRANK_WOLFE, repr=False)
    step: str = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step not in RULES:
            raise ValueError(f"step must be one of {tuple(RULES)}; got {self.step!r}.")
        object.__setattr__(self, "rule", RULES[self.step])

    def start(self, state: State) -> BlockWorkspace:
        workspace = super().start(state)
        if self.step == "adaptive":
            workspace.estimates = np.zeros(state.problem.n_samples)
        return workspace
