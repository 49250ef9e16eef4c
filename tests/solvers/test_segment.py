"""The line search on the full dual of an LpNorm, and the length of a block step there."""

import numpy as np
import pytest
from solvers.solver_table import Case, random_feasible

import fwlab
from fwlab.kernels.layouts import BlockNorm
from fwlab.solvers.dual_layout import dual_of
from fwlab.solvers.segment import best_share

pytestmark = pytest.mark.small
SHARES = np.linspace(0.0, 1.0, 2001)


def problem(p: float, smoothing: float) -> tuple[fwlab.Problem, Case]:
    case = Case("TopK-1", smoothing=smoothing, weighted=True)
    made = fwlab.Problem(
        case.X,
        case.y,
        case.entry.loss,
        case.lam,
        smoothing=smoothing,
        n_classes=4,
        sample_weight=case.sample_weight,
        regularizer=fwlab.LpNorm(p),
    )
    return made, case


@pytest.mark.turns
@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("p", [1.2, 3.0])
def test_the_best_share_beats_every_other(p, smoothing, seed):
    """The dual is concave along the segment: no point of a fine grid is higher."""
    (made, case), rng = problem(p, smoothing), np.random.default_rng(seed)
    A = random_feasible(case, rng)
    D = random_feasible(case, rng) - A
    share = best_share(made, A, made.link(A), D, made.link(D))
    grid = [made.dual(A + t * D) for t in SHARES]
    best = made.dual(A + share * D)
    assert 0.0 <= share <= 1.0
    assert best >= max(grid) - 1e-13 * max(1.0, abs(max(grid)))


@pytest.mark.parametrize("p", [1.2, 3.0])
def test_block_steps_with_a_norm_keep_its_squares_and_the_domain(p):
    """|v_j|^2 follow the step that was made: also one that ends at its target, the limit."""
    made, case = problem(p, 0.0)
    A = np.zeros((case.n, 4))
    link = made.link(A)
    squares = np.zeros(4)
    norm = BlockNorm(np.empty(0), squares, made.regularizer.q)
    steps = np.tile(np.arange(case.n), 3)
    rounding = 16 * len(steps) * np.finfo(float).eps  # some ten operations per step
    for i in steps:
        made.features.norm_pass(np.array([i]), link, A, dual_of(made), norm)
        size = made.square_norms(made.link(np.abs(A)), np.abs(A)).max()
        np.testing.assert_allclose(
            squares, made.square_norms(link, A), rtol=0, atol=rounding * size
        )
        assert made.is_feasible(A)
