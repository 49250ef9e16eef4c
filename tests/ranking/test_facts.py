"""Facts that can be checked by hand, statuses, and bad input."""

import numpy as np
import pytest

from fwlab import Status
from fwlab.ranking import PatMat, TopPush, TopPushK, rounding, solve, state
from fwlab.ranking.problem import Point, Problem
from fwlab.ranking.subgradient import Subgradient
from fwlab.ranking.surrogates import Surrogate
from fwlab.ranking.thresholds import SurrogateQuantile
from tests.ranking.instances import OVER_ALL, random_instance

X = np.array([[2.0, 1.0], [1.0, -1.0], [0.0, 1.0], [-1.0, 0.5], [0.5, 0.0]])
Y = np.array([1, 1, 0, 0, 0])


@pytest.mark.parametrize("surrogate", ["quadratic", "hinge"])
def test_at_delta_zero_beta_must_be_zero(surrogate):
    problem = Problem(X, Y, PatMat(0.2, surrogate), 1.0)
    alpha, beta = np.full(2, 0.3), np.full(3, 0.2)
    assert problem.dual(Point(np.zeros(2), np.zeros(3), 0.0)) == 0.0
    assert problem.dual(Point(alpha, beta, 0.0)) == -np.inf
    assert problem.dual(Point(alpha, beta, 0.5)) > -np.inf


def test_the_dual_is_minus_infinity_outside_each_constraint():
    problem = Problem(X, Y, TopPushK(2, "hinge"), 1.0)
    inside = np.array([0.4, 0.4]), np.array([0.4, 0.3, 0.1])
    assert problem.dual(Point(*inside, None)) > -np.inf
    for alpha, beta in (
        ([0.4, 0.4], [0.5, 0.2, 0.1]),  # beta above sum(alpha)/K
        ([0.4, 0.4], [0.4, 0.3, 0.2]),  # another sum
        ([1.2, 0.4], [0.6, 0.5, 0.5]),  # alpha above C theta
        ([0.9, -0.1], [0.4, 0.3, 0.1]),
        ([0.4, 0.4], [0.4, 0.5, -0.1]),
    ):
        assert problem.dual(Point(np.array(alpha), np.array(beta), None)) == -np.inf


def test_one_positive_and_one_negative():
    # w = a (x - z) with a the least of a^2 |x - z|^2/2 + C (1 - a |x - z|^2)^2
    a = 2 * 3.0 / (1 + 2 * 3.0 * 4)
    result = solve([[3.0], [1.0]], [1, 0], TopPush(), 3.0, tol=1e-12)
    assert result.alpha == pytest.approx([a]) and result.beta == pytest.approx([a])
    assert result.w == pytest.approx([2 * a]) and result.threshold == pytest.approx(2 * a)
    assert result.primal == pytest.approx(2 * a**2 + 3 * (1 - 4 * a) ** 2)


@pytest.mark.parametrize("surrogate", ["quadratic", "hinge"])
@pytest.mark.parametrize("seed", range(30))
def test_the_quantile_solves_its_equation(surrogate, seed):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=12), 1) * 10.0 ** rng.integers(-3, 6)
    rule = SurrogateQuantile(Surrogate(surrogate, rng.uniform(0.5, 2)), rng.uniform(0.05, 12))
    t = rule.value(scores)
    total = rule.surrogate.value(scores - t).sum()
    assert total == pytest.approx(rule.budget, rel=1e-8 * (1 + np.abs(scores).max()))


def test_labels_kernels_and_order_of_rows():
    instance = random_instance(0)
    one = solve(**instance.arguments())
    K = instance.X @ instance.X.T
    common = (instance.objective, instance.C)
    other = solve(K, 2 * instance.y - 1, *common, kernel="precomputed")
    new = np.random.default_rng(1).normal(size=(5, instance.X.shape[1]))
    wanted = new @ one.w - one.threshold
    assert one.decision_function(new) == pytest.approx(wanted)
    assert other.decision_function(new @ instance.X.T) == pytest.approx(wanted, abs=1e-2)
    positive = instance.y == 1
    w = one.alpha @ instance.X[positive] - one.beta @ instance.X[~positive]
    assert w == pytest.approx(one.w)
    assert other.w is None


def test_a_sparse_matrix_gives_the_same():
    from scipy.sparse import csr_matrix

    for kernel, sigma in (("linear", None), ("rbf", 0.5)):
        dense = solve(X, Y, TopPushK(2), 1.0, kernel, sigma)
        sparse = solve(csr_matrix(X), Y, TopPushK(2), 1.0, kernel, sigma)
        assert sparse.dual == pytest.approx(dense.dual, rel=1e-9)
        new = dense.decision_function(X)
        assert sparse.decision_function(csr_matrix(X)) == pytest.approx(new, abs=1e-6)


@pytest.mark.parametrize("seed", [*range(0, 40, 3), *OVER_ALL])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_any_feasible_start_leads_to_the_optimum(seed, share):
    arguments = random_instance(seed).arguments()
    best = solve(**arguments, tol=1e-8)
    start = (share * best.alpha, share * best.beta, best.delta and share * best.delta)
    again = solve(**arguments, tol=1e-8, start=start)
    assert again.success
    assert again.dual == pytest.approx(best.dual, rel=3e-8)


@pytest.mark.small
def test_each_step_along_a_subgradient_counts():
    problem = Problem(X, Y, TopPush(), 1.0)
    start = Point(np.zeros(2), np.zeros(3), None)
    run = state.State(problem, start, np.random.default_rng(0))
    for count in (1, 2, 3):
        Subgradient().iterate(run, None)
        assert run.n_steps == count and 0.0 < run.step <= 1.0


@pytest.mark.turns
@pytest.mark.parametrize("seed", [*range(12), *OVER_ALL])
def test_the_subgradient_method_closes_its_gap(seed):
    instance = random_instance(seed)
    best = solve(**instance.arguments(), tol=1e-8)
    run = solve(**instance.arguments(), method="subgradient", tol=0.0, max_iter=2000)
    primal, dual, gap = run.trace.primal, run.trace.dual, run.trace.gap
    slack = 1e-9 * primal.max()
    assert dual.max() <= best.primal + slack and best.dual <= primal.min() + slack
    assert (np.diff(dual) >= -slack).all()
    assert gap.min() <= 0.1 * gap[:20].min() + slack


def stop(progress):
    assert not progress.alpha.flags.writeable
    raise StopIteration


def press(progress):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({}, Status.CONVERGED),
        ({"max_iter": 2}, Status.MAX_ITER),
        ({"tol": 0.0, "max_iter": 3}, Status.MAX_ITER),
        ({"time_limit": 0.0}, Status.TIME_LIMIT),
        ({"callback": stop}, Status.STOPPED_BY_CALLBACK),
        ({"callback": press}, Status.INTERRUPTED),
        ({"tol": 1e-300, "max_iter": 300}, Status.ROUNDING_FLOOR),
    ],
)
def test_statuses(options, status):
    result = solve(X, Y, TopPush(), 1.0, **options)
    assert result.status is status and result.success is (status is Status.CONVERGED)
    assert status.value in result.message
    assert result.trace.gap[-1] == result.gap == result.primal - result.dual


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"y": [0, 0, 0, 0, 0]}, ValueError, "at least one positive"),
        ({"y": [1, 1, 1, 1, 1]}, ValueError, "at least one negative"),
        ({"y": [1, 2, 0, 0, 0]}, ValueError, "labels 0 and 1"),
        ({"y": ["a"] * 5}, TypeError, "labels 0 and 1"),
        ({"y": [1, 0]}, ValueError, "one per row"),
        ({"objective": TopPushK(4)}, ValueError, "K must be at most the 3 negatives; got 4"),
        ({"objective": PatMat(0.7, "hinge")}, ValueError, "at most the 3 negatives; got 3.5"),
        ({"objective": PatMat(0.7)}, ValueError, "at most the 3 negatives; got 3.5"),
        ({"objective": "TopPush"}, TypeError, "objective must be"),
        ({"C": 0.0}, ValueError, "C must be finite and > 0"),
        ({"C": -1.0}, ValueError, "C must be finite and > 0"),
        ({"kernel": "rbf", "sigma": 0.0}, ValueError, "sigma must be finite and > 0"),
        ({"kernel": "rbf", "sigma": -0.5}, ValueError, "sigma must be finite and > 0; got -0.5"),
        ({"kernel": "rbf"}, ValueError, "sigma must be given"),
        ({"sigma": 1.0}, ValueError, "sigma must be None"),
        ({"kernel": "poly"}, ValueError, "kernel must be one of"),
        ({"kernel": "precomputed"}, ValueError, "square Gram matrix"),
        ({"X": [[np.nan, 1.0]] * 5}, ValueError, "X must be finite"),
        (
            {"kernel": "rbf", "sigma": 1.0, "max_gram_memory": 100, "method": "interior-point"},
            ValueError,
            "at least 400 bytes",
        ),
        ({"method": "newton"}, ValueError, "method must be one of"),
        ({"method": ["auto"]}, ValueError, r"method must be one of .*; got \['auto'\]"),
        ({"callback": 3}, TypeError, "callback must be callable"),
        ({"start": (np.ones(2), np.ones(3), None)}, ValueError, "meet the constraints"),
        ({"start": (np.ones(3), np.ones(3), None)}, ValueError, "2 alpha and 3 beta"),
        ({"start": (np.ones(2), np.ones(3), 1.0)}, ValueError, "None for TopPushK"),
        ({"start": np.ones(5)}, TypeError, "tuple .* of three; got a ndarray"),
        ({"start": [np.ones(20), np.ones(30), None]}, TypeError, "tuple .* of three; got a list"),
        ({"start": (np.ones(2), np.ones(3))}, TypeError, "of three; got a tuple of 2"),
    ],
)
def test_bad_input_is_one_sentence(change, error, sentence):
    arguments = {"X": X, "y": Y, "objective": TopPush(), "C": 1.0, **change}
    with pytest.raises(error, match=sentence) as caught:
        solve(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("build", "error", "sentence"),
    [
        (lambda: TopPushK(0), ValueError, "K must be at least 1"),
        (lambda: TopPushK(1.5), TypeError, "K must be an integer"),
        (lambda: TopPush("square"), ValueError, "surrogate must be one of"),
        (lambda: TopPush(["hinge"]), ValueError, "surrogate must be one of"),
        (lambda: TopPush(theta=0.0), ValueError, "theta must be"),
        *(
            (lambda tau=tau: PatMat(tau), ValueError, "tau must be a number of at least")
            for tau in (0.0, 1.0, -0.1, 1.5, np.nan, "half", True, 1e-300)
        ),
        (lambda: PatMat(0.1, theta2=-1.0), ValueError, "theta2 must be"),
        (lambda: PatMat(0.1, budget="some"), ValueError, "budget must be one of"),
        *(
            (lambda over=over: PatMat(0.1, over=over), ValueError, "over must be one of all, neg")
            for over in ("positives", "All", None, True, ["all"], np.array(["all", "all"]))
        ),
    ],
)
def test_bad_objectives_are_refused(build, error, sentence):
    with pytest.raises(error, match=sentence):
        build()


@pytest.mark.parametrize("C", [1e-150, 1e-20, 1e6])
@pytest.mark.parametrize("objective", [TopPush(), TopPushK(2, "hinge"), PatMat(1e-15)])
def test_scales_of_C(objective, C):
    assert solve(X, Y, objective, C, "rbf", 0.3).success


@pytest.mark.parametrize("objective", [TopPush(), TopPushK(3, "hinge"), PatMat(0.1)])
def test_iterations_beyond_rounding_do_no_harm(objective):
    # the scores are a million millionfold, and rounded accordingly
    X = 1e6 * np.random.default_rng(0).normal(size=(20, 3))
    result = solve(X, np.arange(20) % 3 == 0, objective, 1.0, max_iter=200)
    assert -result.gap_error <= result.gap <= 0.05 * result.primal


@pytest.mark.parametrize("options", [{"tol": 1e-2}, {"tol": 0.0, "max_iter": 3}])
def test_the_error_is_bounded_once_before_the_end(options, monkeypatch):
    counted, certificate = [], rounding.certificate
    monkeypatch.setattr(state, "certificate", lambda *a: counted.append(1) or certificate(*a))
    result = solve(X, Y, TopPush(), 1.0, **options)
    assert len(counted) == 1 < len(result.trace.gap) and result.gap_error > 0
