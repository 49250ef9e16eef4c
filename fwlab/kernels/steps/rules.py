"""Define the rules of block methods: the step of each rule.

A rule has a number for the solvers and a type for numba. numba compiles a pass once per type, with
only the step of that rule: a pass with all ten would take twice as long.
"""

from typing import NamedTuple

from fwlab.kernels._jit import chosen_by_type
from fwlab.kernels.steps.active_sets import active_set_block
from fwlab.kernels.steps.adaptive_step import adaptive_block
from fwlab.kernels.steps.blended_pairwise import blended_block
from fwlab.kernels.steps.block import exact_block, frank_wolfe_block
from fwlab.kernels.steps.decomposition_invariant import invariant_block
from fwlab.kernels.steps.pseudo import (
    BIASED_PROJECTION,
    SEMISMOOTH_NEWTON,
    VARIABLE_FIXING,
    pseudo_block,
)

EXACT, FRANK_WOLFE, AWAY, PAIRWISE, BLENDED, ADAPTIVE, INVARIANT = 0, 1, 2, 3, 7, 8, 9


class ExactRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        exact_block(scores, block, polytope, scratch, old, new)


class FrankWolfeRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        frank_wolfe_block(scores, block, polytope, scratch, old, new)


class AwayRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        active_set_block(False, scores, block, polytope, scratch, record.active_sets, old, new)


class PairwiseRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        active_set_block(True, scores, block, polytope, scratch, record.active_sets, old, new)


class BlendedRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        blended_block(scores, block, polytope, scratch, record.active_sets, old, new)


class AdaptiveRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        adaptive_block(scores, block, polytope, scratch, record.estimates, old, new)


class InvariantRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        invariant_block(scores, block, polytope, scratch, old, new)


class BiasedProjectionRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        pseudo_block(BIASED_PROJECTION, scores, block, polytope, scratch, old, new)


class SemismoothNewtonRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        pseudo_block(SEMISMOOTH_NEWTON, scores, block, polytope, scratch, old, new)


class VariableFixingRule(NamedTuple):
    def step(rule, scores, block, polytope, scratch, record, old, new):
        pseudo_block(VARIABLE_FIXING, scores, block, polytope, scratch, old, new)


TYPES = {
    EXACT: ExactRule(),
    FRANK_WOLFE: FrankWolfeRule(),
    AWAY: AwayRule(),
    PAIRWISE: PairwiseRule(),
    BLENDED: BlendedRule(),
    ADAPTIVE: AdaptiveRule(),
    INVARIANT: InvariantRule(),
    BIASED_PROJECTION: BiasedProjectionRule(),
    SEMISMOOTH_NEWTON: SemismoothNewtonRule(),
    VARIABLE_FIXING: VariableFixingRule(),
}


def step_by(rule, scores, block, polytope, scratch, record, old, new):
    """Set new = the block after its step by a rule of TYPES."""
    rule.step(scores, block, polytope, scratch, record, old, new)


@chosen_by_type(step_by)
def _step_of_type(rule, scores, block, polytope, scratch, record, old, new):
    return rule.instance_class.step
