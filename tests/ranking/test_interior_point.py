"""Interior-point steps: gradients, Newton steps, and both kinds of steps reach the optimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fwlab.ranking import Problem, TopPush, interior_point, solve
from fwlab.ranking.barrier_steps import barrier_step
from fwlab.ranking.dual import (
    Dual,
    dual_of,
    numbers_of,
    point_of,
    pulled_back,
    slack_moves,
    slacks,
    smooth_gradient,
    smooth_hessian,
)
from fwlab.ranking.newton_step import Iterate, Move, NewtonMatrix
from fwlab.ranking.predictor_corrector import APART, LONGEST, kept_near, longest_step
from fwlab.ranking.start import central_point, inner_point
from fwlab.ranking.state import State
from tests.ranking.instances import OVER_ALL, random_instance

pytestmark = pytest.mark.small
SEEDS = [*range(30), *OVER_ALL]  # every objective, surrogate and kernel


def random_iterate(seed: int) -> tuple[Problem, Iterate, np.random.Generator]:
    """Return an inner iterate of a random instance, with random multipliers."""
    problem, rng = Problem(**random_instance(seed).arguments()), np.random.default_rng(seed)
    dual = dual_of(problem)
    z, r = numbers_of(inner_point(problem), dual)
    count = dual.n_slacks
    x = Iterate(dual, z, r, rng.normal(size=len(dual.b)), rng.uniform(0.5, 2, count))
    return problem, x, rng


def equal_moves(dual: Dual, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Return a random change of (z, r) that keeps the equalities."""
    rows = np.column_stack([dual.A, dual.b if dual.has_r else 0 * dual.b])
    move = rng.normal(size=rows.shape[1])
    move -= np.linalg.pinv(rows) @ (rows @ move)
    return move[:-1], float(move[-1]) if dual.has_r else 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_the_gradient_and_the_hessian_are_derivatives_of_the_dual(seed):
    """Along a line: of the dual at a feasible move, and of the gradient."""
    problem, x, rng = random_iterate(seed)
    d, (dz, dr) = x.dual, equal_moves(x.dual, rng)
    step = 1e-5 * slacks(d, x.z, x.r).min() / max(1e-300, np.abs(slack_moves(d, dz, dr)).max())
    dz, dr = step * dz, step * dr
    ends = [problem.dual(point_of(problem, d, x.z + t * dz, x.r + t * dr)) for t in (-1, 1)]
    gz, gr = x.gradient()
    slope = gz @ dz + gr * dr  # the multipliers of the equalities do not count
    curved = abs(slope) + abs(d.slope @ dz) + abs(d.price * dr)
    rounding = 1e-14 * (abs(ends[0]) + d.slope @ x.z + d.price * abs(x.r))
    assert (ends[0] - ends[1]) / 2 == pytest.approx(slope, abs=1e-6 * curved + rounding)

    diagonal, cross, corner = smooth_hessian(d, x.z, x.r, np.zeros(d.n_slacks))
    one, other = (smooth_gradient(d, x.z + t * dz, x.r + t * dr) for t in (-1, 1))
    found = diagonal * dz + cross * dr, cross @ dz + corner * dr
    for a, b, wanted in zip(one, other, found, strict=True):
        size = np.abs(wanted) + np.abs(np.asarray(a)).max() * 1e-9
        assert (np.abs((b - a) / 2 - wanted) <= 1e-6 * size + 1e-14).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_slacks_and_their_transpose(seed):
    _, x, rng = random_iterate(seed)
    d, dz, dr = x.dual, rng.normal(size=len(x.z)), float(rng.normal())
    moves = slack_moves(d, dz, dr)
    assert slacks(d, x.z + dz, x.r + dr) - slacks(d, x.z, x.r) == pytest.approx(moves)
    v = rng.normal(size=d.n_slacks)
    pz, pr = pulled_back(d, v)
    assert v @ moves == pytest.approx(pz @ dz + pr * dr)


@pytest.mark.parametrize("refinements", [0, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_newton_step_solves_its_equations(seed, refinements):
    _, x, rng = random_iterate(seed)
    d, barrier = x.dual, 10.0 ** rng.uniform(-1, 1, x.dual.n_slacks)
    f, g, e = rng.normal(size=len(x.z)), float(rng.normal()), rng.normal(size=len(d.b))
    if not d.has_r:
        g = 0.0
    move = NewtonMatrix(d, x.z, x.r, barrier).solve(f, g, e, refinements)
    Q = np.column_stack([d.system.product(row) for row in np.eye(len(f))])
    bz, br = pulled_back(d, barrier * slack_moves(d, move.z, move.r))
    diagonal, cross, corner = smooth_hessian(d, x.z, x.r, np.zeros(d.n_slacks))
    above = (Q @ move.z + bz + diagonal * move.z + cross * move.r, d.A.T @ move.multipliers, -f)
    size = sum(np.abs(part).max() for part in above)
    assert sum(above) == pytest.approx(0.0, abs=1e-9 * size)
    assert d.A @ move.z + d.b * move.r == pytest.approx(e, abs=1e-9 * size)
    if d.has_r:
        parts = (cross @ move.z, corner * move.r, br, d.b @ move.multipliers, -g)
        assert sum(parts) == pytest.approx(0.0, abs=1e-8 * sum(map(abs, parts)))
    norm = NewtonMatrix(d, x.z, x.r, barrier).square(move)
    square = move.z @ (Q @ move.z + diagonal * move.z) + 2 * move.r * (cross @ move.z)
    square += corner * move.r**2 + barrier @ slack_moves(d, move.z, move.r) ** 2
    assert norm == pytest.approx(square, rel=1e-8)


def test_a_huge_step_has_an_infinite_norm():
    x = next(x for seed in SEEDS if (x := random_iterate(seed)[1]).dual.has_r)
    zero = np.zeros_like(x.z)
    matrix = NewtonMatrix(x.dual, x.z, x.r, np.ones(x.dual.n_slacks))
    assert matrix.square(Move(zero, 1e200, np.zeros(len(x.dual.b)))) == np.inf


@pytest.mark.parametrize("seed", SEEDS)
def test_a_barrier_step_follows_its_equations(seed):
    _, x, _ = random_iterate(seed)
    mu, d, z, m, v = 0.5, x.dual, x.z.copy(), x.slack_multipliers.copy(), x.multipliers.copy()
    s, (gz, gr), miss = slacks(d, x.z, x.r), x.gradient(), x.miss()
    bz, br = pulled_back(d, mu / s)
    move = NewtonMatrix(d, x.z, x.r, m / s).solve(bz - gz, br - gr, -miss, 2)
    step, _ = barrier_step(x, mu)
    assert_allclose(x.multipliers, v + move.multipliers, rtol=1e-8, atol=1e-9)
    scale = np.abs(z).max() + np.abs(move.z).max()
    assert_allclose(x.z, z + step * move.z, rtol=1e-9, atol=1e-9 * scale)
    moved = (mu - m * slack_moves(d, move.z, move.r)) / s
    assert step > 0
    # from 0.5 .. 2, to a fraction of the way to `moved` at which the first one has almost vanished
    share = min(1.0, LONGEST * longest_step(m, moved - m))
    after, centre = m + share * (moved - m), mu / slacks(d, x.z, x.r)
    wanted = np.minimum(np.maximum(after, centre / APART), centre * APART)
    assert_allclose(x.slack_multipliers, wanted, rtol=1e-7)


def test_multipliers_are_kept_near_a_centre_by_hand():
    kept = kept_near(np.array([0.0, 3.0, 9.0 * APART]), np.array([2.0, 3.0, 4.0]))
    assert_allclose(kept, [2.0 / APART, 3.0, 4.0 * APART], rtol=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_barrier_steps_alone_lead_to_the_optimum(seed, monkeypatch):
    arguments = random_instance(seed).arguments()
    best = solve(**arguments, tol=1e-8)
    monkeypatch.setattr(interior_point, "PATIENCE", 0)
    other = solve(**arguments, tol=1e-8)
    assert best.success and other.success
    assert other.dual == pytest.approx(best.dual, rel=3e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_bad_steps_end_at_the_best_point(seed, monkeypatch):
    """Barrier steps go on from the last point that halved the gap, and reach the optimum."""
    arguments = random_instance(seed).arguments()
    best, made, begun = solve(**arguments, tol=1e-8), [], []
    step, barrier = interior_point.predictor_corrector, interior_point.barrier_step

    def bad_from_the_third(x, least_mu):
        made.append(step(x, least_mu))
        if len(made) >= 3:
            x.z, x.r = 0.5 * x.z, 0.5 * x.r
        return made[-1]

    def noted(x, mu):
        begun.append(x.z.copy())
        return barrier(x, mu)

    monkeypatch.setattr(interior_point, "PATIENCE", 1)
    monkeypatch.setattr(interior_point, "predictor_corrector", bad_from_the_third)
    monkeypatch.setattr(interior_point, "barrier_step", noted)
    alphas = []
    again = solve(**arguments, tol=1e-8, callback=lambda now: alphas.append(now.alpha.copy()))
    assert again.success and again.dual == pytest.approx(best.dual, rel=3e-8)
    assert begun and len(made) <= 4
    last_good = alphas[len(made) - 1]  # the last step that halved the gap
    assert np.array_equal(begun[0][: len(last_good)], last_good)


def test_a_singular_matrix_ends_the_predictor(monkeypatch):
    def singular(x, least_mu):
        raise np.linalg.LinAlgError

    arguments = random_instance(3).arguments()
    best = solve(**arguments, tol=1e-8)
    monkeypatch.setattr(interior_point, "predictor_corrector", singular)
    again = solve(**arguments, tol=1e-8)
    assert again.success and again.dual == pytest.approx(best.dual, rel=3e-8)


def test_the_steps_are_few():
    """A step of the predictor leaves a tenth of mu at best; nine decades need about twice nine."""
    steps = [solve(**random_instance(seed).arguments(), tol=1e-8).nit for seed in SEEDS]
    assert np.mean(steps) <= 18


@pytest.mark.parametrize("seed", SEEDS)
def test_the_central_point_is_inside(seed):
    problem = Problem(**random_instance(seed).arguments())
    dual, point = dual_of(problem), central_point(problem)
    assert problem.is_feasible(point) and slacks(dual, *numbers_of(point, dual)).min() > 0


def test_a_published_point_is_judged_once():
    """The certificate that a method has seen is the loop's, as long as the point is the same."""
    problem = Problem(**random_instance(3).arguments())
    state = State(problem, inner_point(problem), np.random.default_rng(0))
    first = state.judge()
    known = state.publish(central_point(problem))
    assert state.judge() is known and known is not first
    state.point = inner_point(problem)
    assert state.judge() == first


def test_the_inner_point_by_hand():
    """|w|^2 = 4 and |alpha|^2/16 on the ray: D = s/2 - 17/8 s^2 is largest at s = 2/17."""
    problem = Problem(np.eye(4), [1, 1, 0, 0], TopPush("quadratic", 4.0), 0.25)
    point = inner_point(problem)
    assert np.concatenate([point.alpha, point.beta]) == pytest.approx(np.full(4, 2 / 17), rel=1e-14)
    assert problem.dual(point) == pytest.approx(1 / 34, rel=1e-14)
