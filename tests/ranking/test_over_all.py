"""Pat&Mat over all rows: its dual, its machine and its rounding by hand, and against cvxpy."""

import numpy as np
import pytest
import scipy.sparse

import fwlab
from fwlab import datasets
from fwlab.operators.sums import MARGIN, UNIT
from fwlab.ranking import PatMat, Problem, Result, TopPush, TopPushK, rounding, solve
from fwlab.ranking.problem import Point, twins
from reference.ranking import Ranking
from tests.ranking.instances import OVER_ALL, random_instance

RNG = np.random.default_rng(2)
X = np.round(RNG.normal(size=(9, 3)), 1)
Y = np.arange(9) % 3 == 0
TAU = 0.2
POINT = Point(RNG.random(3), RNG.random(9), 0.6)
POINT.beta *= POINT.alpha.sum() / POINT.beta.sum()


def doubled(objective: PatMat) -> tuple[np.ndarray, np.ndarray, PatMat]:
    """Return rows, labels and an objective over negatives with the same sums and budget.

    Each positive is there a second time, as a negative.
    """
    rows = np.concatenate([X[Y], X])
    labels = np.repeat([1, 0], [Y.sum(), len(X)])
    tau = objective.tau * len(X) / len(rows)
    return rows, labels, PatMat(tau, objective.surrogate, objective.theta, objective.theta2)


@pytest.mark.parametrize("surrogate", ["quadratic", "hinge"])
@pytest.mark.parametrize("kernel, sigma", [("linear", None), ("rbf", 0.4)])
def test_it_is_the_problem_with_a_second_copy_of_each_positive(kernel, sigma, surrogate):
    objective = PatMat(TAU, surrogate, 1.5, 0.7, over="all")
    found = solve(X, Y, objective, 2.0, kernel, sigma, tol=1e-9)
    rows, labels, same = doubled(objective)
    other = solve(rows, labels, same, 2.0, kernel, sigma, tol=1e-9)
    assert found.success and other.success
    assert found.dual == pytest.approx(other.dual, rel=3e-9)
    assert found.threshold == pytest.approx(other.threshold, rel=1e-3)
    scores = found.decision_function(X) + found.threshold
    inside = np.maximum(0.0, 1 + 0.7 * (scores - found.threshold))
    total = inside.sum() if surrogate == "hinge" else (inside**2).sum()
    assert total == pytest.approx(TAU * 9, rel=1e-12)


@pytest.mark.parametrize("budget", ["all", "negatives"])
def test_the_quadratic_dual_by_hand(budget):
    """M20 (30) with nine beta; theta is 1.5, theta2 is 0.7 and C is 2."""
    problem = Problem(X, Y, PatMat(TAU, "quadratic", 1.5, 0.7, budget, "all"), 2.0)
    alpha, beta, delta = POINT.alpha, POINT.beta, POINT.delta
    w = alpha @ X[Y] - beta @ X
    wanted = -w @ w / 2 + alpha.sum() / 1.5 - alpha @ alpha / (4 * 2.0 * 1.5**2)
    wanted += beta.sum() / 0.7 - beta @ beta / (4 * delta * 0.7**2)
    wanted -= delta * TAU * (9 if budget == "all" else 6)
    assert problem.dual(POINT) == pytest.approx(wanted, rel=1e-14)


def test_the_dual_of_the_hinge_by_hand():
    """M20 (34) with nine beta, each of which is bounded by delta theta2."""
    problem = Problem(X, Y, PatMat(TAU, "hinge", 1.5, 0.7, over="all"), 2.0)
    alpha, beta = POINT.alpha, POINT.beta
    delta, w = beta.max() / 0.7, alpha @ X[Y] - beta @ X
    wanted = -w @ w / 2 + alpha.sum() / 1.5 + beta.sum() / 0.7 - delta * TAU * 9
    assert problem.dual(Point(alpha, beta, delta)) == pytest.approx(wanted, rel=1e-14)
    assert problem.dual(Point(alpha, beta, 0.999 * delta)) == -np.inf


@pytest.mark.parametrize("seed", OVER_ALL)
def test_no_dual_is_above_a_primal(seed):
    """At random points, each delta of which is feasible."""
    instance, rng = random_instance(seed), np.random.default_rng(seed)
    problem, reference = Problem(**instance.arguments()), instance.reference()
    lowest = min(reference.primal(rng.normal(size=reference.counted.shape[1])) for _ in range(30))
    for _ in range(30):
        given = rng.random(problem.n_positive), rng.random(problem.n_counted), rng.random()
        alpha, beta, delta = reference.feasible(*given)
        value = problem.dual(Point(alpha, beta, delta * (1 + 1e-15)))
        assert value == pytest.approx(reference.lagrangian(alpha, beta, delta), rel=1e-9)
        assert value <= lowest + 1e-9 * (abs(value) + lowest)


@pytest.mark.parametrize("surrogate", ["quadratic", "hinge"])
@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.usefixtures("data_folder")
def test_on_ionosphere_the_two_sums_are_far_apart(surrogate, C):
    """cvxpy agrees with both; in all rows the positives take most of the budget."""
    data = datasets.load("ionosphere", rng=0)
    rows, positive = data.X_train, data.y_train == 1
    found = {}
    for over, counted in (("all", rows), ("negatives", rows[~positive])):
        objective = PatMat(0.05, surrogate, over=over)
        run = solve(rows, positive, objective, C, tol=1e-8)
        power = 2 if surrogate == "quadratic" else 1
        problem = Ranking(rows[positive], counted, C, power, 1.0, budget=0.05 * len(rows))
        optimum = problem.optimum()
        assert run.success and optimum.contains(run.dual, 1e-8 * run.primal)
        assert optimum.contains(run.primal, 1e-8 * run.primal)
        found[over] = run.primal
    assert found["all"] > 3 * found["negatives"]


# ---------------------------------------------------------------- the machine


def test_a_positive_has_one_coefficient():
    """Rows 0, 3, 6 are the positives; order holds them first, and then every row."""
    problem = Problem(X, Y, PatMat(TAU, over="all"), 1.0)
    assert problem.order.tolist() == [0, 3, 6, *range(9)]
    c = problem.coefficients(POINT)
    assert c[:3].tolist() == (POINT.alpha - POINT.beta[Y]).tolist()
    assert c[3:].tolist() == np.where(Y, 0.0, -POINT.beta).tolist()
    assert (problem.n_positive, problem.n_counted, problem.n_negative) == (3, 9, 6)
    # in the problem of alpha_3, beta_3, beta_6 and beta_8, only row 3 has both
    small = problem.restricted(np.array([1, 6, 9, 11]))
    assert (small.n_positive, small.n_counted) == (1, 3)
    c = small.coefficients(Point(np.array([5.0]), np.array([1.0, 2.0, 3.0]), 1.0))
    assert c.tolist() == [4.0, 0.0, -2.0, -3.0]


def test_a_threshold_over_the_negatives_has_no_twins():
    for objective in (PatMat(TAU), TopPush(), TopPushK(2)):
        problem = Problem(X, Y, objective, 1.0)
        assert problem.order.tolist() == [0, 3, 6, 1, 2, 4, 5, 7, 8]
        assert [len(part) for part in problem.twins] == [0, 0]
    alphas, betas = twins(np.array([4, 7, 2, 7, 9, 4]), 3)
    assert (alphas.tolist(), betas.tolist()) == ([0, 1], [5, 3])


KERNELS = {
    "linear": (X, X @ X.T, "linear", None),
    "sparse": (scipy.sparse.csr_matrix(X), X @ X.T, "linear", None),
    "precomputed": (X @ X.T, X @ X.T, "precomputed", None),
    "rbf": (X, np.exp(-0.4 * ((X[:, None] - X) ** 2).sum(axis=2)), "rbf", 0.4),
}


@pytest.mark.parametrize("method", ["interior-point", "working-set", "pairwise", "subgradient"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_result_is_the_machine_of_its_variables_and_comes_back_from_disk(name, method, tmp_path):
    rows, K, kernel, sigma = KERNELS[name]
    objective = PatMat(TAU, theta=0.5, over="all")
    run = solve(rows, Y, objective, 0.5, kernel, sigma, method, tol=1e-5, max_iter=3000)
    assert run.success, run.message
    assert (len(run.alpha), len(run.beta)) == (3, 9)
    c = -run.beta
    c[Y] += run.alpha
    new = rows if kernel != "precomputed" else K
    scores = run.decision_function(new) + run.threshold
    assert scores == pytest.approx(K @ c, abs=1e-12)
    losses = np.maximum(0.0, 1 + 0.5 * (run.threshold - (K @ c)[Y])) ** 2
    assert run.primal == pytest.approx(c @ K @ c / 2 + 0.5 * losses.sum(), rel=1e-10)
    run.save(tmp_path / "run.npz")
    again = Result.load(tmp_path / "run.npz")
    assert np.array_equal(again.beta, run.beta) and again.delta == run.delta
    assert np.array_equal(again.decision_function(new), run.decision_function(new))
    assert run.trace.active[-1] == np.count_nonzero(run.alpha) + np.count_nonzero(run.beta)


# ---------------------------------------------------------------- rounding


def test_the_rounding_of_a_difference_counts(monkeypatch):
    """alpha - beta is 3 at a row of norm 2: w may be off by 6 u, and <w, x> is 8."""
    problem = Problem([[2.0], [0.0]], [1, 0], PatMat(TAU, over="all"), 1.0)
    nothing = rounding.Moves(np.zeros(1), np.zeros(2), 0.0)
    monkeypatch.setattr(rounding, "repair_moves", lambda *given: nothing)
    monkeypatch.setattr(rounding, "loss_error", lambda *given: 0.0)
    monkeypatch.setattr(rounding, "linear_part_error", lambda *given: 0.0)
    found = rounding.Scored(np.array([8.0, 8.0, 0.0]), np.zeros(3), 0.0, 0.0)
    point = Point(np.array([5.0]), np.array([2.0, 3.0]), 1.0)
    error = rounding.gap_error(problem, point, found, 0.0)
    assert error == pytest.approx(MARGIN * 3 * UNIT * 8, rel=1e-12, abs=0)


def test_the_shift_of_a_kernel_matrix_reaches_both_copies_of_a_sample():
    """The second copy has the coefficient 0, and the score of the first."""
    K = X @ X.T
    problem = Problem(K, Y, PatMat(TAU, over="all"), 1.0, "precomputed")
    with_shift = rounding.scored(problem, POINT).errors
    mu, problem.gram_shift = problem.gram_shift, 0.0
    without = rounding.scored(problem, POINT).errors
    c = np.abs(problem.coefficients(POINT))
    c[3:][Y] = c[:3]
    assert mu > 0 and with_shift - without == pytest.approx(mu * c, rel=1e-9, abs=0)


def test_large_variables_that_cancel_leave_small_errors():
    """alpha = beta at the only positive: w is a millionth of them, and so are the errors."""
    rows, positive = np.array([[1.0], [2.0], [3.0]]), np.array([1, 0, 0])
    problem = Problem(rows @ rows.T, positive, PatMat(0.4, over="all"), 1e8, "precomputed")
    point = Point(np.array([1e6]), np.array([1e6 - 1, 0.5, 0.5]), 1e12)
    assert rounding.scored(problem, point).errors.max() < 1e-12


# ---------------------------------------------------------------- as a user


def test_a_budget_above_the_negatives_is_taken():
    """One negative: 0.9 of ten rows is more than it can take alone."""
    rows, labels = np.arange(10.0)[:, None], np.arange(10) > 0
    with pytest.raises(ValueError, match="at most the 1 negatives; got 9"):
        solve(rows, labels, PatMat(0.9), 1.0)
    for surrogate in ("quadratic", "hinge"):
        assert solve(rows, labels, PatMat(0.9, surrogate, over="all"), 1.0).success


def test_a_start_has_a_beta_for_each_row():
    objective = PatMat(TAU, over="all")
    best = solve(X, Y, objective, 1.0, tol=1e-9)
    start = (best.alpha, best.beta, best.delta)
    again = solve(X, Y, objective, 1.0, method="pairwise", start=start, max_iter=0)
    assert again.dual == best.dual
    with pytest.raises(ValueError, match="start must hold 3 alpha and 9 beta; got 3 and 6"):
        solve(X, Y, objective, 1.0, start=(best.alpha, best.beta[:6], best.delta))


@pytest.mark.parametrize("kernel, sigma", [("linear", None), ("rbf", 0.4), ("precomputed", None)])
@pytest.mark.parametrize("surrogate", ["quadratic", "hinge"])
def test_it_is_verified_in_ball_arithmetic(kernel, sigma, surrogate):
    pytest.importorskip("flint", reason="python-flint is not installed: no ball arithmetic")
    rows = X @ X.T if kernel == "precomputed" else X
    objective = PatMat(TAU, surrogate, over="all")
    run = solve(rows, Y, objective, 3.0, kernel, sigma)
    found = fwlab.verify(Problem(rows, Y, objective, 3.0, kernel, sigma), run)
    assert found.gap[0] - run.gap_error <= run.gap <= found.gap[1] + run.gap_error
    other = Problem(rows, Y, PatMat(TAU, surrogate), 3.0, kernel, sigma)
    with pytest.raises(ValueError, match=r"result must have \(3, 6\) alpha and beta; got \(3, 9\)"):
        fwlab.verify(other, run)


def test_single_precision_is_taken_as_it_is_stored():
    objective = PatMat(TAU, over="all")
    single = solve(X.astype(np.float32), Y, objective, 1.0)
    same = solve(X.astype(np.float32).astype(np.float64), Y, objective, 1.0)
    assert single.dual == same.dual


def test_the_set_of_rows_holds_a_positive_as_either_of_the_two():
    """The working set begins with one row of each kind, and ends at the optimum of all rows."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(900, 5)), rng.random(900) < 0.5
    objective = PatMat(0.01, over="all")
    best = solve(rows, labels, objective, 1.0, tol=1e-8)
    run = solve(rows, labels, objective, 1.0, method="working-set", tol=1e-7)
    assert run.success and run.dual == pytest.approx(best.dual, rel=2e-7)
