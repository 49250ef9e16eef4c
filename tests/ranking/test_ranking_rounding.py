"""The bound of the rounding error of a certificate, against ball arithmetic."""

import numpy as np
import pytest

from fwlab import Status, datasets, ranking
from fwlab.operators.sums import MARGIN, UNDERFLOW, UNIT, gamma
from fwlab.ranking import PatMat, Problem, TopPush, TopPushK, gram, rounding, verify
from fwlab.ranking.problem import Point
from fwlab.ranking.registry import METHODS
from fwlab.ranking.start import inner_point
from fwlab.ranking.verify import enclose
from tests.ranking.instances import OVER_ALL, random_instance

TOL = 1e-10


@pytest.fixture
def flint():
    return pytest.importorskip("flint", reason="python-flint is not installed: no ball arithmetic")


def exact(problem: Problem, point) -> tuple[tuple[float, float], ...]:
    """Return the intervals of `enclose`, which hold a float or two around the exact value."""
    found = enclose(problem, point)
    for low, high in found[:2]:
        assert high - low <= 8 * np.spacing(abs(high))
    return found


def furthest(value: float, interval: tuple[float, float]) -> float:
    """Return the largest distance of a value in the interval, less two roundings outwards."""
    low, high = interval
    return max(value - low, high - value) - 2 * np.spacing(max(abs(low), abs(high)))


@pytest.mark.grid
@pytest.mark.small
@pytest.mark.usefixtures("flint")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [*range(30), *OVER_ALL])
def test_the_error_is_within_its_bound(seed, method):
    """The instances take turns through all objectives, surrogates and kernels."""
    arguments = random_instance(seed).arguments()
    problem = Problem(**arguments)
    for iterations in (0, 6):
        run = ranking.solve(**arguments, method=method, tol=0.0, max_iter=iterations)
        _, _, gap = exact(problem, run)
        assert furthest(run.gap, gap) <= run.gap_error <= TOL * max(run.primal, abs(run.dual))


@pytest.mark.small
@pytest.mark.usefixtures("flint")
@pytest.mark.parametrize("seed", [*range(30), *OVER_ALL])
def test_points_that_are_feasible_only_to_rounding(seed):
    """The repair is what the bound says it is: errors of 1e-13 in every constraint."""
    rng, arguments = np.random.default_rng(seed), random_instance(seed).arguments()
    problem = Problem(**arguments)
    best = ranking.solve(**arguments, tol=1e-8)
    alpha, beta = (v * (1 + 3e-13 * rng.uniform(-1, 1, len(v))) for v in (best.alpha, best.beta))
    if problem.loss.power == 1:
        alpha[0] = problem.C * problem.loss.largest * (1 + 3e-13)
        beta *= alpha.sum() / beta.sum() * (1 + 1e-13)
    delta = best.delta
    if delta is not None and problem.threshold.cap < np.inf:
        delta = float(beta.max()) / problem.threshold.cap * (1 - 1e-13)
    if not problem.is_feasible(point := Point(alpha, beta, delta)):
        pytest.skip("the bound of beta moved with sum(alpha)")
    certificate = rounding.certificate(problem, point)
    _, dual, gap = exact(problem, point)
    assert dual[0] > -np.inf
    assert furthest(certificate.gap, gap) <= certificate.gap_error
    scale = max(certificate.primal, abs(certificate.dual))
    assert certificate.gap_error <= 1e-10 * scale


@pytest.mark.small
def test_a_move_of_the_repair_counts():
    """sum(alpha) is 1e-13 above sum(beta): alpha is scaled down, and D falls by its slope."""
    X, y = np.array([[1.0], [2.0], [0.0], [0.5]]), np.array([1, 1, 0, 0])
    problem = Problem(X, y, TopPush("hinge"), 1.0)
    even = Point(np.full(2, 0.25), np.full(2, 0.25), None)
    odd = Point(even.alpha * (1 + 1e-13), even.beta, None)
    moves = rounding.repair_moves(problem, odd)
    assert moves.alpha == pytest.approx(2.5e-14, rel=0.2) and not moves.beta.max() > 1e-15
    more = (
        rounding.certificate(problem, odd).gap_error - rounding.certificate(problem, even).gap_error
    )
    assert 4e-14 < more < 4e-13


@pytest.mark.small
@pytest.mark.usefixtures("flint")
@pytest.mark.parametrize("kernel, sigma", [("linear", None), ("rbf", 0.7)])
@pytest.mark.parametrize("objective", [TopPushK(2), PatMat(0.3, "hinge"), PatMat(0.3)])
def test_large_sums_that_cancel(kernel, sigma, objective):
    """The error shows where the scores of the rows are large and their differences are not."""
    rng, errors = np.random.default_rng(3), []
    for offset in (1.0, 1e4, 1e7):
        X = rng.normal(size=(9, 2)) + offset
        problem = Problem(X, np.arange(9) % 3 == 0, objective, 10.0, kernel, sigma)
        certificate = rounding.certificate(problem, point := inner_point(problem))
        assert furthest(certificate.gap, exact(problem, point)[2]) <= certificate.gap_error
        errors.append(certificate.gap_error)
    # centring makes distances independent of the offset
    assert errors[2] > 1e4 * errors[0] if kernel == "linear" else errors[2] < 10 * errors[0]


@pytest.mark.small
@pytest.mark.parametrize("surrogate", ["quadratic", "hinge"])
@pytest.mark.parametrize("seed", range(30))
def test_the_bracket_of_a_threshold_is_close(surrogate, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=12) * 10.0 ** rng.integers(-3, 6)
    for objective in (TopPushK(5), PatMat(rng.uniform(1e-15, 0.9), surrogate, budget="negatives")):
        rule = objective.threshold(3, 12)
        low, high = rule.bracket(scores, scores)
        t = rule.value(scores)
        assert low <= t <= high
        assert high - low <= 1e-13 * (1 + np.abs(scores).max())
        wide = rule.bracket(scores - 1, scores + 1)
        assert wide == pytest.approx((t - 1, t + 1), rel=1e-9)


@pytest.mark.small
@pytest.mark.usefixtures("flint")
def test_a_column_on_demand_has_the_same_bound():
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.arange(90) % 3 == 0
    errors = []
    for memory in (2**30, 0):
        problem = Problem(X, y, TopPushK(3), 1.0, "rbf", 0.4, max_gram_memory=memory)
        certificate = rounding.certificate(problem, point := inner_point(problem))
        assert furthest(certificate.gap, exact(problem, point)[2]) <= certificate.gap_error
        errors.append(certificate.gap_error)
    assert errors[0] == pytest.approx(errors[1], rel=0.01)


@pytest.mark.small
def test_the_two_bounds_of_an_rbf_kernel_agree(monkeypatch):
    """The bound from three products, for small h, and the bound from the entries, for any h."""
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(150, 3)) * 10.0 ** rng.uniform(-2, 1, (150, 1)), rng.normal(size=150)
    rbf = gram.RbfGram(X, 0.01, 2**30)
    products, fast = rbf.product_with_errors(c)
    assert products == pytest.approx(rbf.stored @ c)
    monkeypatch.setattr(gram, "SMALL", 0.0)
    _, slow = rbf.product_with_errors(c)
    # MARGIN^2 = 1.0201 on one part of the errors
    assert (slow * (1 - 1e-12) <= fast).all() and (fast <= 1.0202 * slow).all()


@pytest.mark.small
def test_success_counts_the_rounding_error():
    """All digits of a precomputed kernel cancel: the gap looks small, and proves nothing."""
    x = np.random.default_rng(0).normal(size=(12, 2))
    K = 1e9 + x @ x.T
    y = np.arange(12) % 2
    result = ranking.solve(K, y, TopPush(), 1.0, "precomputed", tol=1e-7, max_iter=60)
    scale = max(abs(result.primal), abs(result.dual))
    assert result.gap_error > 1e-7 * scale
    assert not result.success
    loose = ranking.solve(x, y, TopPush(), 1.0, tol=1e-300, max_iter=200)
    assert loose.status is Status.ROUNDING_FLOOR and "can be reached" in loose.message
    reachable = float(loose.message.split("tol=")[1].split(" ")[0])
    again = ranking.solve(x, y, TopPush(), 1.0, tol=reachable, max_iter=200)
    assert again.success and again.gap + again.gap_error <= reachable * again.primal


@pytest.mark.small
@pytest.mark.wrong_gaps
def test_a_gap_below_its_error_is_a_contradiction(monkeypatch):
    X, y = np.array([[1.0], [2.0], [0.0], [0.5]]), np.array([1, 1, 0, 0])
    plain = Problem._dual
    monkeypatch.setattr(Problem, "_dual", lambda *arguments: 2 * plain(*arguments))
    result = ranking.solve(X, y, TopPush(), 1.0)
    assert result.status is Status.INCONSISTENT and not result.success
    assert "The gap is -" in result.message


@pytest.mark.parametrize("kernel, sigma", [("linear", None), ("rbf", 0.05)])
@pytest.mark.parametrize("objective", [TopPush(), TopPushK(5, "hinge"), PatMat(0.05)])
@pytest.mark.parametrize("name", ["ionosphere", "winequality_red"])
@pytest.mark.usefixtures("data_folder")
def test_the_bound_is_useful_on_data(name, objective, kernel, sigma):
    data = datasets.load(name, normalize="standard", rng=0)
    arguments = (data.X_train, data.y_train, objective, 1.0, kernel, sigma)
    result = ranking.solve(*arguments, tol=1e-6, max_iter=200)
    assert result.success and 0 < result.gap_error <= 1e-10 * result.primal


@pytest.mark.parametrize(
    ("alpha", "beta", "repaired_alpha", "repaired_beta"),
    [
        # beta is halved to (3, 1/2, 1/2); then 3/5 of the mean 4/3 brings it below half its sum
        ([2.0, 2.0], [6.0, 1.0, 1.0], [2.0, 2.0], [2.0, 1.0, 1.0]),
        ([4.0, 4.0], [1.0, 1.0, 2.0], [2.0, 2.0], [1.0, 1.0, 2.0]),
        # no entry of alpha is above C = 9
        ([12.0, 1.0], [5.0, 5.0, 0.0], [9.0, 1.0], [5.0, 5.0, 0.0]),
    ],
)
def test_the_judge_repairs_points_by_hand(flint, alpha, beta, repaired_alpha, repaired_beta):
    problem = Problem(np.eye(5), [1, 1, 0, 0, 0], TopPushK(2, "hinge"), 9.0)
    point = [[flint.arb(v) for v in values] for values in (alpha, beta)]
    found = verify._repaired(flint.arb, problem, *point, None)
    for values, right in zip(found, (repaired_alpha, repaired_beta), strict=False):
        assert [float(v) for v in values] == pytest.approx(right, rel=1e-14)


def test_without_flint_the_judge_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "flint", None)
    problem = Problem(np.eye(2), [1, 0], TopPush(), 1.0)
    with pytest.raises(ImportError, match="verify needs python-flint: pip install"):
        enclose(problem, inner_point(problem))


@pytest.mark.small
def test_the_errors_of_products_grow_with_what_cancels():
    """One row far away makes the squared distances of the others inexact."""
    X, c = np.random.default_rng(0).normal(size=(8, 2)), np.resize([1.0, -1.0], 8)
    X[7] = 1e5
    y = np.arange(8) % 2
    near = Problem(X[:7], y[:7], TopPush(), 1.0, "rbf", 0.5).gram.product_with_errors(c[:7])[1]
    far = Problem(X, y, TopPush(), 1.0, "rbf", 0.5).gram.product_with_errors(c)[1]
    assert 1e-15 < near.min() and near.max() < 1e-13 and far[:7].max() > 1e-7
    point = Point(np.ones(4), np.ones(4), None)
    found = rounding.scored(Problem(X, y, TopPush(), 1.0), point)
    assert found.errors.min() > 0 and found.link > 0 and found.link_size > 0


def test_the_error_counts_the_sizes_of_both_objectives(monkeypatch):
    problem = Problem(np.eye(4), [1, 0, 1, 0], TopPush(), 1.0)
    told = []
    monkeypatch.setattr(rounding, "gap_error", lambda *given: told.append(given[-1]) or 1.0)
    found = rounding.certificate(problem, inner_point(problem))
    assert told == [abs(found.primal) + abs(found.dual)] and found.dual != 0.0


@pytest.mark.small
def test_terms_of_the_constraints_by_hand():
    """At alpha = beta = 0 nothing but the price of r has an error; r is 3 here."""
    problem = Problem(np.eye(4), [1, 0, 1, 0], PatMat(0.3), 1.0)
    point = Point(np.zeros(2), np.zeros(2), 3.0)
    moves = rounding.repair_moves(problem, point)
    assert moves.delta == 0.0 and not moves.alpha.any() and not moves.beta.any()
    error = rounding.linear_part_error(problem, point, moves)
    assert error == pytest.approx(8 * UNIT * 3.0 * problem.threshold.price, rel=1e-12, abs=0)
    none = np.zeros(3)
    assert rounding._square_error(none, none) == 3 * UNDERFLOW
    feasible = Point(np.ones(2), np.ones(2), 3.0)
    # each sum of two numbers 1 may be off by gamma(4) times 2, and alpha has half of both errors
    moves = rounding.repair_moves(problem, feasible)
    assert moves.alpha == pytest.approx(np.full(2, 2 * gamma(4) * MARGIN), rel=1e-12, abs=0)


@pytest.mark.small
def test_moves_of_the_repair_change_the_sums_by_hand():
    """alpha moves by 1/2 and beta by 2 from 0; theta is 4 and theta2 is 5."""
    problem = Problem(np.eye(4), [1, 0, 1, 0], PatMat(0.3, "quadratic", 4.0, 5.0), 8.0)
    moves = rounding.Moves(np.array([0.5, 0.0]), np.array([1.0, 1.0]), 0.0)
    error = rounding.linear_part_error(problem, Point(np.zeros(2), np.zeros(2), 0.0), moves)
    slope, curvature = problem.threshold.slope, problem.loss.curvature
    assert slope not in (0.0, 1.0) and curvature > 0.0
    assert error == pytest.approx(0.5 / 4.0 + 2 * slope + curvature / 16.0 * 0.5**2, rel=1e-12)


def test_moves_of_the_repair_count_by_the_roots_of_the_diagonal(monkeypatch):
    """A row of norm 3 that moves by 2 moves w by 6, and half its square counts."""
    problem = Problem(3 * np.eye(2), [1, 0], TopPush(), 1.0)
    moves = rounding.Moves(np.array([2.0]), np.zeros(1), 0.0)
    monkeypatch.setattr(rounding, "repair_moves", lambda *given: moves)
    monkeypatch.setattr(rounding, "loss_error", lambda *given: 0.0)
    monkeypatch.setattr(rounding, "linear_part_error", lambda *given: 0.0)
    found = rounding.Scored(np.zeros(2), np.zeros(2), 0.0, 0.0)
    point = Point(np.ones(1), np.ones(1), None)
    error = rounding.gap_error(problem, point, found, 0.0)
    assert error == pytest.approx(MARGIN**2 * 6.0**2 / 2, rel=1e-12)
    moves.alpha[0] = 0.0
    error = rounding.gap_error(problem, point, found, 2.0)
    assert error == pytest.approx(8 * UNIT * 2.0, rel=1e-12, abs=0)


@pytest.mark.small
@pytest.mark.parametrize(
    ("surrogate", "moved", "size", "rounded"),
    [("hinge", 1.25, 3, 12), ("quadratic", 9.0625, 9, 99)],
)
def test_the_error_of_the_losses_by_hand(surrogate, moved, size, rounded):
    """The threshold 2 is a margin of 1 above the score 1, and of -3 above 5; theta is 2."""
    problem = Problem(np.eye(4), [1, 1, 0, 0], TopPush(surrogate, 2.0), 3.0)
    scores, e = np.array([1.0, 5.0, 2.0, 0.0]), np.array([0.5, 0.25, 0.125, 0.0625])
    # 2 (1/8 + 1/2) in the margin of the first, whose square is 3^2
    error = rounding.loss_error(problem, scores, e)
    assert error == pytest.approx(3 * moved, rel=1e-12)
    # with exact scores and the threshold 0 only roundings are left
    error = rounding.loss_error(problem, np.array([-1.0, 3.0, 0.0, 0.0]), 0 * e)
    assert error == pytest.approx(3 * (rounded * UNIT + gamma(10) * size), rel=1e-12, abs=0)


@pytest.mark.small
def test_moves_of_the_repair_change_the_squares_by_hand():
    """beta = (3, 0) moves by (1, 2): its square of 9 moves by 6 + 1 + 4 at most."""
    problem = Problem(np.eye(4), [1, 0, 1, 0], PatMat(0.3, "quadratic", 4.0, 5.0), 8.0)
    rule = problem.threshold
    moves = rounding.Moves(np.zeros(2), np.array([1.0, 2.0]), 0.0)
    point = Point(np.zeros(2), np.array([3.0, 0.0]), 4.0)
    error = rounding.linear_part_error(problem, point, moves)
    assert error == pytest.approx(3 * rule.slope + rule.curvature / 2 * 11 / 4, rel=1e-12)


@pytest.mark.small
def test_the_share_of_the_mean_in_the_repair_by_hand():
    """6, 1, 1 need 3/5 of their mean 8/3; equal entries beyond the cap move by a rounding alone."""
    moved = rounding._mixing(np.array([6.0, 1.0, 1.0]), 8.0, 0.5)
    assert moved == pytest.approx([2.0, 1.0, 1.0], rel=1e-13)
    moved = rounding._mixing(np.array([1.0, 1.0]), 2.0, 0.25)
    assert moved == pytest.approx(np.full(2, gamma(6)), rel=1e-15, abs=0)


@pytest.mark.small
def test_an_entry_that_underflows_has_an_error():
    """exp(-2^48) is 0 in floats, and not in fact."""
    rbf = gram.RbfGram(np.array([[0.0], [2.0**24]]), 1.0, 2**30)
    r, rows = gram.norms_above(rbf.norms), np.arange(2)
    found = rbf._errors_of_entries(np.zeros((2, 2)), r, rows, np.array([2.0**1000, 0.0]))
    h = gamma(9) * r.sum() ** 2
    assert gram.SMALL < h < 1 and found[0] == 0.0
    error = gram.SMALLEST_NORMAL * (h * np.exp(h) + gram.EXP_ERROR) * 2.0**1000
    assert found[1] == pytest.approx(error, rel=1e-12, abs=0)


@pytest.mark.parametrize(("surrogate", "root"), [("hinge", 0.75), ("quadratic", 0.5)])
@pytest.mark.parametrize("guess", [-5.0, 5.0])
def test_a_wrong_guess_of_a_quantile_does_not_count(flint, monkeypatch, guess, surrogate, root):
    """One score of 0, whose middle is said to be elsewhere, takes a quarter; no step mends t."""

    class Score:
        def mid(self):
            return flint.arb(guess)

        def rad(self):
            return flint.arb(0)

        def __sub__(self, t):
            return -t

    monkeypatch.setattr(verify, "NEWTON_STEPS", 0)
    problem = Problem(np.eye(2), [1, 0], PatMat(0.25, surrogate, budget="negatives"), 1.0)
    found = verify._root(flint.arb, problem, [Score()])
    assert found.lower() <= root <= found.upper()
