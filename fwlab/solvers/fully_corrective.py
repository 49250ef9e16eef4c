"""Run fully corrective Frank-Wolfe over whole-matrix atoms, by affine maximisers.

The dual of a convex combination w of the atoms V_k is the quadratic

    <b, w> - w^T G w / 2,   b_k = -<delta, V_k> / n,
    G_kl = <V_k, X link(V_l)^T + ridge V_l> / n.

An iteration makes the exact step to the LMO's vertex, which lets it in. Then it corrects w: it goes
towards the maximiser of this quadratic over the affine hull of the atoms, one linear system, and
stops where the first weight reaches 0. That atom leaves, and the next correction has one atom less;
the last one ends at the affine maximiser. Every step is exact, so the dual never falls. These are
the minor cycles of Wolfe (1976) for a general quadratic; arXiv 2506.02635 states the corrections.

With the last atom as origin and p the changes of the other weights, the dual rises by

    <r, p> - p^T H p / 2,   H_kl = G_kl - G_kL - G_Ll + G_LL,   r_k = g_k - g_L,   g = b - G w.

Atoms can be dependent in this quadratic, and H singular. Along a null direction of H the dual is
linear: where r has a part in the null space, the correction follows that part until a weight
reaches 0. Otherwise the affine maximisers are many, and the correction goes towards the nearest.
"""

from dataclasses import dataclass

import numpy as np

from fwlab.arrays import Floats
from fwlab.kernels.steps.exact_step import exact_step
from fwlab.kernels.steps.pairwise_rule import NOISE, TIES
from fwlab.operators.vertices import Atom
from fwlab.primal_dual import PrimalDual
from fwlab.solvers.atoms import ActiveSet
from fwlab.solvers.method import Method, Needs, State

# an eigenvalue below this fraction of the size of G, for each atom, is the rounding of 0
SINGULAR = 4 * np.finfo(float).eps


@dataclass(eq=False)
class CorrectiveWorkspace:
    """The active set, and the dual of its combinations: G (atoms, atoms) and b (atoms,)."""

    active_set: ActiveSet
    gram: Floats
    linear: Floats

    def enter(self, problem: PrimalDual, atom: Atom) -> int:
        """Append an atom without weight; return its place."""
        place = self.active_set.enter(atom)
        row, cost = _products(problem, self.active_set.atoms)
        gram = np.empty((place + 1, place + 1))
        gram[:place, :place], gram[place], gram[:, place] = self.gram, row, row
        self.gram, self.linear = gram, np.append(self.linear, cost)
        return place

    def step_to(self, place: int, slope: float) -> float:
        """Make the exact step to an atom and return it; slope is the derivative of the dual."""
        direction = -self.active_set.atom_weights
        direction[place] += 1.0
        step = float(exact_step(slope, direction @ self.gram @ direction, 1.0))
        if step > 0.0:
            self.active_set.atom_weights *= 1.0 - step
            self.active_set.atom_weights[place] += step
        self._drop()
        return step

    def correct(self) -> None:
        """Go towards affine maximisers until one is inside; each one before costs an atom."""
        while len(self.linear) > 1:
            weights = self.active_set.atom_weights
            ascent = self.linear - self.gram @ weights
            noise = NOISE * float(np.abs(self.linear).max() + np.abs(self.gram).max())
            direction = affine_direction(self.gram, ascent, noise)
            losing = np.flatnonzero(direction < 0.0)
            if not len(losing):
                return
            limits = weights[losing] / -direction[losing]
            limit, slope = float(limits.min()), float(ascent @ direction)
            with np.errstate(over="ignore", invalid="ignore"):
                curvature = float(direction @ self.gram @ direction)
            if not np.isfinite(curvature):
                return
            step = exact_step(slope, curvature, limit)
            weights += step * direction
            if step < limit:
                self._drop()
                return
            weights[losing[limits == limit]] = 0.0
            self._drop()

    def _drop(self) -> None:
        kept = self.active_set.drop()
        self.gram, self.linear = self.gram[np.ix_(kept, kept)], self.linear[kept]


@dataclass(frozen=True)
class FullyCorrective(Method):
    """Fully corrective Frank-Wolfe over whole-matrix atoms, by affine maximisers."""

    any_loss = True

    @property
    def monotone(self) -> bool:
        return True

    def needs(self, problem: PrimalDual) -> Needs:
        return Needs(scores=True)

    def start(self, state: State) -> CorrectiveWorkspace:
        state.active = 1
        active_set = ActiveSet.holding(state.problem, state.A)
        row, cost = _products(state.problem, active_set.atoms)
        state.n_rows += state.problem.n_samples
        return CorrectiveWorkspace(active_set, row[None], np.array([cost]))

    def iterate(self, state: State, workspace: CorrectiveWorkspace) -> None:
        problem, active_set = state.problem, workspace.active_set
        shifted = problem.shifted_scores(state.A, state.scores)
        vertex = problem.lowest(shifted)[0].atom()
        gradient = problem.polytopes.add_costs(shifted)
        products, lowest = active_set.products(gradient), vertex.product(gradient)
        del shifted, gradient
        size = max(abs(lowest), float(np.abs(products).max()))
        n_slope = float(active_set.atom_weights @ products) - lowest
        state.step = 0.0
        if n_slope > NOISE * size:
            lows = np.flatnonzero(products <= lowest + TIES * size)
            place = int(lows[0]) if len(lows) else workspace.enter(problem, vertex)
            state.n_rows += problem.n_samples * (1 if len(lows) else 2)
            state.step = workspace.step_to(place, n_slope / problem.n_samples)
            workspace.correct()
            active_set.combine(state.A)
            state.refresh()
        state.active = len(active_set.atoms)
        state.n_steps += 1
        state.n_lmo += problem.n_samples


def affine_direction(gram: Floats, ascent: Floats, noise: float) -> Floats:
    """Return the direction, of sum 0, to an affine maximiser, or the null part of the ascent.

    gram is G (atoms, atoms), ascent the gradient g (atoms,); entries up to `noise` are rounding.
    """
    H = gram[:-1, :-1] - gram[:-1, -1:] - gram[-1:, :-1] + gram[-1, -1]
    r = ascent[:-1] - ascent[-1]
    singular = SINGULAR * len(gram) * float(np.abs(gram).max())
    p = _solved(H, r, singular)
    if p is None:
        from scipy.linalg import eigh

        values, vectors = eigh(H)
        parts, null = vectors.T @ r, values <= singular
        if np.any(np.abs(parts[null]) > noise):
            p = vectors[:, null] @ parts[null]
        else:
            p = vectors[:, ~null] @ (parts[~null] / values[~null])
    return np.append(p, -p.sum())


def _solved(H: Floats, r: Floats, singular: float) -> Floats | None:
    """Return H^-1 r, None if a pivot of H is rounding."""
    # imported here because scipy.linalg would lengthen `import fwlab`
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        factor = cho_factor(H, lower=True)
    except LinAlgError:
        return None
    if (np.diag(factor[0]) ** 2).min() <= singular:
        return None
    solution: Floats = cho_solve(factor, r)
    return solution


def _products(problem: PrimalDual, atoms: list[Atom]) -> tuple[Floats, float]:
    """Return the row of G that belongs to the last atom, and its entry of b."""
    last = np.zeros((problem.n_samples, problem.n_classes))
    atoms[-1].add_to(last, 1.0)
    cost = -float(problem.polytopes.cost_products(last).mean())
    scores = problem.features.scores(problem.link(last))
    last *= problem.ridge()
    last += scores
    return np.array([atom.product(last) for atom in atoms]) / problem.n_samples, cost
