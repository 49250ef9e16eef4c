"""Run Frank-Wolfe on the whole dual variable.

The LMO splits by sample and has a closed form, minus a subgradient at the shifted scores (K19 (24),
T20 (2.25)). Its gap is the duality gap; with smoothing, the augmented duality gap.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fwlab.arrays import Floats
from fwlab.operators.vertices import Vertex
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.method import Method, Needs, State
from fwlab.solvers.step_rules import Direction, StepRule, as_step_rule, chosen_step


@dataclass(frozen=True)
class FrankWolfe(Method):
    """A <- A + step (U - A), U the LMO's vertex at the gradient   (K19 Algorithm 1, T20 3.1).

    step: "exact", "open-loop", "short", "adaptive", or a StepRule.
    """

    any_loss = True
    without_entropy = "its rate needs a bound of the curvature, and an entropy has none at vertices"

    step: StepRule | str = "exact"

    def __post_init__(self) -> None:
        as_step_rule(self.step)

    @property
    def sentence(self) -> str:
        return f"Frank-Wolfe with {as_step_rule(self.step).phrase}."

    @property
    def monotone(self) -> bool:
        return as_step_rule(self.step).monotone

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(scores=True)

    def start(self, state: State) -> Any:
        """Return the memory of the step rule."""
        return as_step_rule(self.step).start(state)

    def iterate(self, state: State, memory: Any) -> None:
        problem, A = state.problem, state.A
        shifted = problem.shifted_scores(A, state.scores)
        vertex, losses = problem.lowest(shifted)
        n_gap = float(
            np.vdot(shifted, A)
            + problem.polytopes.cost_products(A).sum()
            + np.vdot(problem.sample_weight, losses)
        )
        del shifted
        link = problem.atom_link(vertex)
        scores = problem.features.scores(link)
        link -= state.link
        scores -= state.scores

        direction = Direction(
            iteration=state.n_steps,
            slope=n_gap / problem.n_samples,
            limit=1.0,
            state=state,
            measure_curvature=lambda: _curvature(problem, A, vertex, link, scores),
            measure_square=lambda: _square_norm(A, vertex),
        )
        step = chosen_step(as_step_rule(self.step), direction, memory)

        A *= 1.0 - step
        vertex.add_to(A, step)
        link *= step
        scores *= step
        state.link += link
        state.scores += scores
        state.step = step
        state.n_steps += 1
        state.n_lmo += problem.n_samples
        state.n_rows += problem.n_samples


def _square_norm(A: Floats, vertex: Vertex) -> float:
    """Return |U - A|^2 from its entries: from |U|^2 and |A|^2 it would be noise near the vertex."""
    D = -A
    vertex.add_to(D, 1.0)
    return float(np.vdot(D, D))


def _curvature(
    problem: PrimalDual, A: Floats, vertex: Vertex, link: Floats, scores: Floats
) -> float:
    """Return minus the second derivative of D along U - A   (T20 (2.26)).

    link and scores belong to the direction U - A, which is not formed: U may be sparse.
    """
    square_norm = problem.features.link_norm(link, -A, problem.lam_n)
    if problem.kernel is not None:
        square_norm += vertex.product(scores) / problem.lam_n
    own = vertex.row_squares() - 2 * vertex.row_products(A)
    quadratic = problem.ridge_term(A) + float(np.vdot(problem.ridge()[:, 0], own)) / (2 * len(A))
    return problem.lam * max(0.0, square_norm) + 2 * max(0.0, quadratic)
