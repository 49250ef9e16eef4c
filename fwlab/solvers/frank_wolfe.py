"""Frank-Wolfe on the whole dual variable: exact line search, or steps fixed in advance.

The LMO splits by sample and has a closed form, minus a subgradient at the shifted scores (K19 (24),
T20 (2.25)). Its gap is the duality gap; with smoothing, the augmented duality gap.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.kernels.steps.exact_step import exact_step
from fwlab.problem import Problem
from fwlab.solvers.method import Method, Needs, State


@dataclass(frozen=True)
class FrankWolfe(Method):
    """A <- A + step (U - A), U the LMO's vertex at the gradient.

    With line_search the step is the exact maximiser of the dual in [0, 1]   (K19 (20), T20 (2.26));
    without it iteration t = 1, 2, .. takes 2 / (t + 1)   (T20 3.1).
    """

    line_search: bool

    @property
    def sentence(self) -> str:
        if self.line_search:
            return "Frank-Wolfe with exact line search."
        return "Frank-Wolfe with the step 2/(t+1), t = 1, 2, .."

    def needs(self, problem: Problem) -> Needs:
        return Needs(scores=True)

    def iterate(self, state: State, workspace: None) -> None:
        problem, polytopes = state.problem, state.problem.polytopes
        shifted = problem.shifted_scores(state.A, state.scores)
        columns, entries, losses = polytopes.compact_vertices(shifted)
        entries *= problem.sample_weight[:, None]
        n_gap = float(
            np.vdot(shifted, state.A)
            + polytopes.cost_products(state.A).sum()
            + np.vdot(problem.sample_weight, losses)
        )
        del shifted
        link = problem.vertex_link(columns, entries)
        scores = problem.features.scores(link)
        link -= state.link
        scores -= state.scores

        if self.line_search:
            curvature = problem.vertex_curvature(state.A, columns, entries, link, scores)
            step = float(exact_step(n_gap / problem.n_samples, curvature, 1.0))
        else:
            step = 2.0 / (state.n_steps + 2.0)

        state.A *= 1.0 - step
        state.A[np.arange(problem.n_samples)[:, None], columns] += step * entries
        link *= step
        scores *= step
        state.link += link
        state.scores += scores
        state.step = step
        state.n_steps += 1
        state.n_lmo += problem.n_samples
