"""The formulas of the estimators on small numbers: kernels, weights, starts, rankings."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.utils
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import fwlab
from fwlab.estimators.class_weights import class_weights
from fwlab.estimators.kernels import FittedKernel, gamma_of, variance_of, with_constant
from fwlab.estimators.named_losses import largest_k, named_loss
from fwlab.estimators.topk_svc_cv import best_mean
from fwlab.estimators.warm_starts import may_start, warn_if_unfinished
from fwlab.ranking.objectives import PatMat, TopPushK

pytestmark = pytest.mark.small
X = np.array([[1.0, 2.0], [3.0, -1.0], [-2.0, 0.5]])
Y = np.array(["b", "a", "b"])
each_form = pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])


# ---------------------------------------------------------------- kernels


@each_form
def test_the_variance_is_that_of_all_entries(form):
    """Of 1, 2, 3, -1, -2, .5: the mean is 7/12 and the mean square 19.25/6."""
    assert variance_of(form(X)) == pytest.approx(19.25 / 6 - (3.5 / 6) ** 2)


def test_gamma_by_hand():
    """1 / (d variance), 1 / d where all entries are equal, and 0 for kernels without one."""
    wide = np.hstack([X, X])
    assert gamma_of("rbf", "scale", wide) == pytest.approx(1 / (4 * X.var()))
    assert gamma_of("rbf", "scale", np.ones((3, 4))) == 1 / 4
    assert gamma_of("rbf", "auto", wide) == 1 / 4
    assert gamma_of("rbf", 7.0, wide) == 7.0
    assert gamma_of("linear", "scale", wide) == 0.0


@each_form
def test_the_constant_is_the_last_feature(form):
    with_it = with_constant(form(X), 0.5)
    assert_array_equal(np.asarray(with_it @ np.eye(3)), np.hstack([X, np.full((3, 1), 0.5)]))
    assert with_constant(X, 0.0) is X


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed", "callable"])
def test_the_constant_adds_its_square_to_a_gram_matrix(kernel, fit_intercept):
    given = (lambda A, B: A @ B.T + 1.0) if kernel == "callable" else kernel
    parameters = {"kernel": given, "gamma": 0.3, "intercept_scaling": 2.0}
    data = X @ X.T if kernel == "precomputed" else X
    found = FittedKernel.of({**parameters, "fit_intercept": fit_intercept}, data)
    squares = np.sum((X[:, None] - X) ** 2, axis=2)
    gram = {"rbf": np.exp(-0.3 * squares), "precomputed": X @ X.T, "callable": X @ X.T + 1}[kernel]
    assert_allclose(found.features(data), gram + (4 if fit_intercept else 0))
    assert_allclose(found.gram(data), gram)
    assert (found.samples is None) == (kernel == "precomputed")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gram_matrix_of_a_callable_keeps_its_type(dtype):
    parameters = {"kernel": lambda A, B: (A @ B.T).astype(dtype), "gamma": "scale"}
    found = FittedKernel.of({**parameters, "fit_intercept": False}, X)
    assert found.gram(X).dtype == dtype


def test_a_linear_kernel_keeps_no_samples():
    parameters = {"kernel": "linear", "gamma": "scale", "fit_intercept": True}
    found = FittedKernel.of({**parameters, "intercept_scaling": 2.0}, X)
    assert found.samples is None
    assert_array_equal(found.features(X)[:, 2], 2.0)


# ---------------------------------------------------------------- parts


def test_balanced_classes_have_the_same_total():
    """Totals of 4, 1 and 0: the two that occur get half of all weight each."""
    codes, omega = np.array([0, 0, 1, 2]), np.array([1.0, 3.0, 1.0, 0.0])
    found = class_weights("balanced", np.array(["a", "b", "c"]), codes, omega)
    assert_allclose(found, [5 / 8, 5 / 2, 1.0])
    assert_allclose(class_weights(None, np.array(["a", "b", "c"]), codes, omega), 1.0)
    with pytest.raises(ValueError, match="balance"):
        class_weights("balance", np.array(["a", "b", "c"]), codes, omega)


def test_one_intercept_stands_for_all_classes():
    machine = fwlab.TopKSVC().fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])
    machine.intercept_ = np.array([0.5])
    assert_allclose(machine.decision_function([[2.0]]), 2 * machine.coef_.T + 0.5)


SHARED = {"kernel": "linear", "gamma": "scale", "max_iter": 1000, "random_state": None}
SHARED |= {"verbose": 0}
MULTI_CLASS = SHARED | {"loss": "topk", "k": 1, "weights": "flat", "smoothing": 0.0, "norm": 2.0}
MULTI_CLASS |= {"fit_intercept": False, "intercept_scaling": 1.0, "class_weight": None}
MULTI_CLASS |= {"method": "ascent", "tol": 1e-4, "storage": None}
RANKING = SHARED | {"surrogate": "quadratic", "theta": 1.0, "method": "auto", "tol": 1e-6}
DEFAULTS = {
    fwlab.TopKSVC: MULTI_CLASS | {"C": 1.0, "warm_start": False},
    fwlab.TopKSVCCV: MULTI_CLASS | {"Cs": 10, "cv": 5, "scoring": None},
    fwlab.TopPushClassifier: RANKING | {"C": 1.0, "K": 1},
    fwlab.PatMatClassifier: RANKING
    | {"C": 1.0, "tau": 0.01, "theta2": None, "budget": "all", "over": "negatives"},
}


@pytest.mark.parametrize("kind", DEFAULTS, ids=lambda kind: kind.__name__)
def test_results_of_users_depend_on_the_defaults(kind):
    assert kind().get_params() == DEFAULTS[kind]


def test_the_best_mean_is_the_first_of_the_largest():
    scores = np.array([[0.0, 1.0, 0.0, 0.9], [1.0, 0.8, 0.5, 0.9]])
    Cs = np.array([1.0, 2.0, 3.0, 4.0])
    assert best_mean(Cs, scores) == 1
    scores[:, 1] = np.nan, 1.0
    with pytest.warns(UserWarning, match="NaN for C = 2, not chosen"):
        assert best_mean(Cs, scores) == 3
    with pytest.warns(UserWarning, match="NaN for C = 2, not chosen"):
        assert best_mean(Cs, -scores) == 2
    with pytest.raises(ValueError, match="NaN for all"):
        best_mean(Cs, np.nan * scores)


@pytest.mark.parametrize(
    ("loss", "largest"), [("topk", 4), ("usunier", 4), ("pseudo-topk", 3), ("max-hinge", None)]
)
def test_the_largest_k_of_a_loss(loss, largest):
    assert largest_k(loss, 4) == largest
    if largest is None:
        return
    assert named_loss(loss, largest, "flat", 4) == named_loss(loss, largest, "flat", 9)
    for k in (0, largest + 1):
        with pytest.raises(ValueError, match=rf"k must be in 1\.\.{largest}; got {k}"):
            named_loss(loss, k, "flat", 4)


def test_weights_of_a_named_loss():
    for name, kind in (("topk", fwlab.WeightedTopK), ("usunier", fwlab.WeightedUsunier)):
        assert named_loss(name, 3, "linear", 4) == kind(fwlab.weights.linear(3))
        assert named_loss(name, 3, "exponential", 4) == kind(fwlab.weights.exponential(3))
        assert named_loss(name, 1, [0.7, 0.3], 4) == kind([0.7, 0.3])
    assert named_loss("topk", 3, "flat", 4) == fwlab.TopK(3)
    assert named_loss("usunier", 3, "flat", 4) == fwlab.Usunier(3)
    assert named_loss("pseudo-topk", 3, "flat", 4) == fwlab.PseudoTopK(3)
    assert named_loss("max-hinge", 3, "flat", 4) == fwlab.MaxHinge()


def test_a_run_starts_from_feasible_points_of_its_size():
    problem = fwlab.Problem(X, np.array([0, 1, 0]), fwlab.TopK(1), 0.1)
    feasible = 0.5 * np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    assert may_start(problem, feasible)
    assert not may_start(problem, 3 * feasible)
    assert not may_start(problem, feasible[:2])
    assert not may_start(problem, np.zeros((3, 3)))


def test_no_run_starts_where_a_loss_tells_no_membership():
    from given_hinge import GivenHinge

    problem = fwlab.Problem(X, np.array([0, 1, 0]), GivenHinge(), 0.1)
    assert not may_start(problem, np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("norm", "method", "advised"),
    [(2, "ascent", True), (2, "auto", False), (1.5, "direct", False), (1.5, "auto", False)],
)
def test_a_run_that_ends_early_is_advised_to_take_auto(norm, method, advised):
    with pytest.warns(ConvergenceWarning) as found:
        fwlab.TopKSVC(C=1e5, tol=1e-14, max_iter=1, norm=norm, method=method).fit(X, Y)
    assert ('method="auto" is made for large C.' in str(found[0].message)) == advised


def test_the_warning_names_its_gap_and_the_caller_of_fit():
    with pytest.warns(ConvergenceWarning, match=r"TopKSVC stopped .*tol = 1e-09: .*smaller C") as w:
        fwlab.TopKSVC(C=100.0, tol=1e-9, max_iter=1, random_state=0).fit(X, Y)
    assert w[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = fwlab.solve(fwlab.Problem(X, np.array([0, 1, 0]), fwlab.TopK(1), 0.1))
        warn_if_unfinished("any", result, 1.0)


# ---------------------------------------------------------------- rankings


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("kind", [fwlab.TopKSVC, fwlab.TopKSVCCV, fwlab.TopPushClassifier])
def test_only_precomputed_kernels_are_cut_by_columns(kind, kernel):
    """The tags of today's scikit-learn and of version 1.5."""
    machine, is_gram = kind(kernel=kernel), kernel == "precomputed"
    assert machine._more_tags()["pairwise"] == is_gram
    if hasattr(sklearn.utils, "get_tags"):
        assert sklearn.utils.get_tags(machine).input_tags.pairwise == is_gram


def test_parameters_reach_the_objectives_of_rankings():
    push = fwlab.TopPushClassifier(K=3, surrogate="hinge", theta=0.5)
    assert push._objective() == TopPushK(3, "hinge", 0.5)
    quantile = fwlab.PatMatClassifier(
        tau=0.2, surrogate="hinge", theta=0.5, theta2=2.0, budget="negatives"
    )
    assert quantile._objective() == PatMat(0.2, "hinge", 0.5, 2.0, "negatives")
    assert quantile.set_params(over="all")._objective() == PatMat(
        0.2, "hinge", 0.5, 2.0, "negatives", "all"
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_ranking_decides_by_the_score_less_the_threshold(kernel):
    machine = fwlab.TopPushClassifier(K=1, C=2.0, kernel=kernel, gamma=0.3)
    machine.fit([[2.0], [0.5], [-1.0]], ["b", "a", "a"])
    assert machine.threshold_ == -machine.intercept_[0]
    new = np.array([[3.0], [-3.0], [0.5]])
    old = machine.decision_function(new)
    machine.threshold_ += 0.25
    assert_allclose(machine.decision_function(new), old - 0.25)
    assert machine.intercept_[0] == -machine.threshold_
    machine.intercept_ = machine.intercept_ + machine.decision_function(new[2:]) * -1
    assert_allclose(machine.decision_function(new[2:]), 0.0, atol=1e-12)


def test_a_score_at_the_threshold_is_not_above_it():
    machine = fwlab.TopPushClassifier().fit([[2.0], [0.5], [-1.0]], ["b", "a", "a"])
    machine.coef_, machine.intercept_ = np.array([[1.0]]), np.array([-2.0])
    assert machine.predict([[2.0], [2.5], [1.5]]).tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("gamma", [0.3, 0.6])
def test_gamma_reaches_the_kernel_of_a_ranking(gamma):
    data, labels = np.array([[2.0], [0.5], [-1.0]]), [1, 0, 0]
    gram = np.exp(-gamma * (data - data.T) ** 2)
    one = fwlab.TopPushClassifier(C=2.0, kernel="rbf", gamma=gamma, tol=1e-9).fit(data, labels)
    other = fwlab.TopPushClassifier(C=2.0, kernel="precomputed", tol=1e-9).fit(gram, labels)
    assert_allclose(one.decision_function(data), other.decision_function(gram), atol=1e-6)


def test_C_weighs_the_sum_of_a_ranking():
    """With the hinge and a small C the positive lies below its margin: w = C theta (x - z)."""
    machine = fwlab.TopPushClassifier(
        C=0.01, surrogate="hinge", theta=2.0, tol=1e-9, kernel="linear"
    )
    machine.fit([[2.0], [0.5], [-1.0]], [1, 0, 0])
    assert_allclose(machine.coef_, [[0.01 * 2 * (2 - 0.5)]], rtol=1e-6)
    assert_allclose(machine.threshold_, 0.5 * machine.coef_[0, 0], rtol=1e-6)
