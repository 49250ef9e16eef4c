"""Compare block-coordinate Frank-Wolfe with ProxSDCA, Option II, step by step (K19 section 9).

Shalev-Shwartz and Zhang (2016), Option II: -u is a subgradient of the loss at the scores W x_i, z =
u - a_i, and s z is added to a_i, where s in [0, 1] maximises

    -Phi*(-(a_i + s z)) - s <W x_i, z> - s^2 |z|^2 |x_i|^2 / (2 lam n).
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import numpy as np

import fwlab
import reference
from paper_checks.cases import Rng
from paper_checks.kato2019.directions import active_slopes
from paper_checks.kato2019.exact_problems import (
    ExactProblem,
    array,
    clipped,
    exact_step,
    small_problems,
    square,
)
from paper_checks.kato2019.smoothing import augmented, smoothed_problems
from paper_checks.ledger import Case, Outcome, claim, version
from paper_checks.outcomes import both, equal
from reference import exact

PASSES = 2


def problems(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield small problems, and the augmented problems of smoothed ones (Proposition 5)."""
    for case in islice(small_problems(rng, deep), 60 if deep else 10):
        yield Case(kind="exact", problem=case.problem, A=case.A)
    for case in islice(smoothed_problems(rng, deep), 60 if deep else 8):
        yield Case(kind="exact, augmented", problem=augmented(case.problem, case.root), A=case.A)


def smoothed(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield smoothed problems.

    In the first, the envelope at A = 0 has the gradient (-1, 1)/4, which is not a vertex.
    """
    one, zero = array([[1]]), array([[0, 0]])
    first = ExactProblem(one, (0,), reference.TopK(1), 2, Fraction(1), Fraction(2))
    yield Case(kind="smoothed", problem=first, A=zero)
    for case in smoothed_problems(rng, deep):
        if isinstance(case.problem.loss, reference.TopK):
            yield Case(kind="smoothed", problem=case.problem, A=case.A)


@claim(
    "K19-bcfw-sdca",
    "9",
    "Block-coordinate Frank-Wolfe on the dual of the weighted top-k problem is ProxSDCA with "
    "Option II: the same direction and the same step, the maximiser of the dual.",
    formula=r"u_i=-\nabla\Phi_{wtk}(W^\top x_i),\quad "
    r"s=\operatorname{argmax}_{s\in[0,1]}D(A+s(u_i-\alpha_i)e_i^\top)",
    shapes="u_i, alpha_i: (m,)",
    judged="without smoothing, as stated, and on the problem in d + n dimensions that "
    "represents a smoothed one; if several subgradients exist, both methods use the "
    "same one.",
    cases=problems,
    planted=(
        version("on the smoothed loss itself", cases=smoothed),
        version("twice the quadratic term", half=1),
    ),
    not_proved="steps of two methods side by side; their direction is K19-eq24 and their step "
    "K19-eq20",
)
def option_two(case: Case, half: int = 2) -> Outcome:
    """Compare the two methods over all blocks in turn, starting from A.

    Each step is computed twice: from D alone, and by Option II.
    """
    problem, A, outcomes = case.problem, case.A.copy(), []
    for i in list(range(problem.n)) * PASSES:
        u = option_two_direction(problem, A, i)
        gradient = problem.one_hot[i] - problem.scores(A)[i] - problem.smoothing * A[i]
        best = -exact.lmo_value(problem.loss, -gradient, problem.y[i])
        outcomes.append(equal(sum(gradient * u), best, u=u))
        if problem.smoothing > 0:
            return outcomes[-1]
        move = 0 * A
        move[i] = u - A[i]
        step = option_two_step(problem, A, i, u, half)
        outcomes.append(equal(step, exact_step(problem, A, move)))
        A = A + step * move
    return both(*outcomes)


def option_two_direction(problem: ExactProblem, A: np.ndarray, i: int) -> np.ndarray:
    """Return u: -u is a subgradient of the loss or, with smoothing, its envelope's gradient."""
    scores, y = problem.scores(A)[i], problem.y[i]
    if problem.smoothing == 0:
        return -np.array(max(active_slopes(problem.loss, scores, y)))
    s, gamma = scores.astype(float), float(problem.smoothing)
    _, nearest = fwlab.TopK(problem.loss.k).moreau(s, y, gamma)
    return (nearest - s) / gamma


def option_two_step(
    problem: ExactProblem, A: np.ndarray, i: int, u: np.ndarray, half: int
) -> Fraction:
    """Return the step of Option II; the conjugate is linear between two points of the domain."""
    z, x, y = u - A[i], problem.X[i], problem.y[i]
    rise = Fraction(exact.conjugate(problem.loss, -A[i], y))
    rise -= Fraction(exact.conjugate(problem.loss, -u, y))
    slope = rise - sum(problem.scores(A)[i] * z)
    return clipped(slope, 2 * square(z) * square(x) / (half * problem.lam * problem.n))
