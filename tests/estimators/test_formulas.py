"""The formulas of the estimators on numbers for which the machine is known by hand.

As long as C is so small that all margins stay below 1, each sample adds C omega_i x_i to the row of
its class and takes it from the row of the other class that scores most: of two classes, the other.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import fwlab
from fwlab.estimators import machine as module
from fwlab.estimators.class_weights import class_weights
from fwlab.estimators.kernels import FittedKernel, gamma_of, variance_of, with_constant
from fwlab.estimators.named_losses import largest_k, named_loss
from fwlab.estimators.topk_svc_cv import best_mean
from fwlab.estimators.warm_starts import may_start, warn_if_unfinished
from fwlab.ranking.objectives import PatMat, TopPushK

pytestmark = pytest.mark.small
X = np.array([[1.0, 2.0], [3.0, -1.0], [-2.0, 0.5]])
Y = np.array(["b", "a", "b"])
SIGNS = np.array([1.0, -1.0, 1.0])  # of the second class
OMEGA = np.array([1.0, 3.0, 0.5])
C = 0.01
each_form = pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])


def fitted(**options):
    return fwlab.TopKSVC(C=C, tol=1e-12, **options).fit(X, Y, sample_weight=OMEGA)


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


def test_a_linear_kernel_keeps_no_samples():
    parameters = {"kernel": "linear", "gamma": "scale", "fit_intercept": True}
    found = FittedKernel.of({**parameters, "intercept_scaling": 2.0}, X)
    assert found.samples is None
    assert_array_equal(found.features(X)[:, 2], 2.0)


# ---------------------------------------------------------------- machines


@pytest.mark.parametrize("c", [0.0, 0.5])
def test_a_machine_of_two_classes_by_hand(c):
    """coef_ is the difference of the two rows; the intercept is c times the weight of c."""
    machine = fitted(fit_intercept=c > 0, intercept_scaling=c or 1.0)
    rows = C * OMEGA * SIGNS  # of the second class; of the first the negative
    assert_allclose(machine.coef_, 2 * (rows @ X)[None])
    assert_allclose(machine.intercept_, [2 * c**2 * rows.sum()], atol=1e-15)
    scores = X @ machine.coef_[0] + machine.intercept_[0]
    assert_allclose(machine.decision_function(X), scores)
    assert_array_equal(machine.predict(X), np.where(scores > 0, "b", "a"))
    assert machine.duality_gap_ + machine.gap_error_ <= 1e-12


@pytest.mark.parametrize("c", [0.0, 0.5])
def test_a_kernel_machine_of_two_classes_by_hand(c):
    """The scores of both classes are 0 together; the intercept is that of the constant's square."""
    machine = fwlab.TopKSVC(
        C=C, tol=1e-12, kernel="precomputed", fit_intercept=c > 0, intercept_scaling=c or 1.0
    ).fit(X @ X.T, Y, sample_weight=OMEGA)
    rows = C * OMEGA * SIGNS
    assert_allclose(machine.dual_coef_, [-rows, rows], atol=1e-15)
    assert_allclose(machine.intercept_, [-(c**2) * rows.sum(), c**2 * rows.sum()], atol=1e-15)
    scores = X @ X.T @ rows + c**2 * rows.sum()
    assert_allclose(machine.decision_function(X @ X.T), 2 * scores)


def test_class_weights_multiply_C():
    machine = fitted(class_weight={"a": 0.5, "b": 1.5})
    rows = C * OMEGA * SIGNS * [1.5, 0.5, 1.5]
    assert_allclose(machine.coef_, 2 * (rows @ X)[None])


def test_a_path_multiplies_by_each_C():
    """The values of C come in no order; the largest one does not stay for the others."""
    Cs = [2 * C, C / 2, C]
    for machine, value in zip(fwlab.TopKSVC.path(X, Y, Cs, tol=1e-12), Cs, strict=True):
        assert_allclose(machine.coef_, 2 * value * (SIGNS @ X)[None])
        assert machine.C == value


def scored(scores, classes):
    """Return a fitted machine that gives these scores (1, m) to any sample."""
    m = len(classes)
    machine = fwlab.TopKSVC(k=2 if m > 2 else 1).fit(np.arange(m)[:, None] / m, classes)
    machine.coef_, machine.intercept_ = 0 * machine.coef_, np.array(scores)
    return machine


def test_the_best_classes_come_first_and_the_first_of_equal_ones():
    machine = scored([1.0, 3.0, 2.0, 3.0], ["a", "b", "c", "d"])
    assert machine.predict([[1.0]]) == ["b"]
    assert machine.predict_topk([[1.0]]).tolist() == [["b", "d"]]  # k of the fit
    assert machine.predict_topk([[1.0]], 4).tolist() == [["b", "d", "c", "a"]]
    for k in (0, 5):
        with pytest.raises(ValueError, match=rf"k must be in 1\.\.4; got {k}"):
            machine.predict_topk([[1.0]], k)


@pytest.mark.parametrize(("score", "best"), [(-1.0, "a"), (0.0, "a"), (1.0, "b")])
def test_of_two_classes_a_tie_goes_to_the_first(score, best):
    machine = scored([score], ["a", "b"])
    assert machine.decision_function([[1.0]]) == score
    assert machine.predict([[1.0]]) == [best]
    assert machine.predict_topk([[1.0]], 2).tolist() == [[best, "b" if best == "a" else "a"]]


@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"]])
def test_a_model_scores_as_its_machine(classes):
    """Also after coef_ and intercept_ were changed: a machine of two classes has a row of zeros."""
    data = np.arange(len(classes))[:, None] / 2
    machine = fwlab.TopKSVC(fit_intercept=True, intercept_scaling=0.5).fit(data, classes)
    for change in (0.0, 0.7):
        machine.coef_, machine.intercept_ = machine.coef_ + change, machine.intercept_ - change
        model = machine.to_model()
        assert model.W.shape == (len(classes), 1)
        assert ("gap" in model.certificate) == (change == 0.0)
        scores = data @ model.W.T + model.intercept
        decision = scores[:, 1] - scores[:, 0] if len(classes) == 2 else scores
        assert_allclose(machine.decision_function(data), decision, atol=1e-15)


def test_a_proof_needs_more_than_the_distance():
    """Samples far from the boundary keep their labels at the optimum; k = 2 needs no label."""
    machine = fwlab.TopKSVC(C=1.0, tol=1e-9).fit([[1.0], [-1.0]], ["a", "b"])
    near, far = [[1.0], [-2.0]], [[1e-9], [-1e-9]]
    assert machine.proved(near).all()
    assert machine.proved_accuracy(near, ["a", "b"]) == (1.0, 1.0)
    assert machine.proved_accuracy(near, ["a", "a"]) == (0.5, 0.5)
    assert machine.proved_accuracy(far, ["b", "b"], k=2) == (1.0, 1.0)
    for k in (0, 3):
        with pytest.raises(ValueError, match=rf"k must be in 1\.\.2; got {k}"):
            machine.proved_accuracy(near, ["a", "b"], k)


@pytest.mark.parametrize(("distance", "sure"), [(0.5, True), (1.0, False)])
def test_a_lead_of_less_than_the_distance_proves_nothing(distance, sure):
    """The two scores differ by 1, and at that distance by up to sqrt(2) less."""
    machine = fwlab.TopKSVC(C=1.0, tol=1e-9).fit([[1.0], [-1.0]], ["a", "b"])
    machine._trained = replace(machine._trained, distance=distance)
    assert_allclose(machine.decision_function([[1.0]]), -1.0)
    assert machine.proved([[1.0]]) == [sure]
    assert machine.proved_accuracy([[1.0]], ["a"]) == (float(sure), 1.0)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y must hold at least two classes; got one class, 'a'"):
        fwlab.TopKSVC().fit([[1.0], [2.0]], ["a", "a"])


# ---------------------------------------------------------------- runs


@pytest.fixture
def runs(monkeypatch):
    """Record the problem, the method and the start of each run."""
    made, solve = [], module.solve

    def recorded(problem, method, **options):
        made.append((problem, method, options["A0"]))
        return solve(problem, method, **options)

    monkeypatch.setattr(module, "solve", recorded)
    return made


@pytest.mark.parametrize(
    ("norm", "method", "used"),
    [
        (2, "bcfw", "bcfw"),
        (1.5, "bcfw", "direct"),
        (1.5, "alternate", "alternate"),
    ],
)
def test_other_norms_are_trained_by_direct(norm, method, used, runs):
    fitted(norm=norm, method=method, max_iter=2000)
    assert runs[0][1] == used
    assert runs[0][0].regularizer == fwlab.LpNorm(norm)


def test_a_path_starts_where_the_last_machine_ended(runs):
    fwlab.TopKSVC.path(X, Y, [C, 2 * C])
    assert runs[0][2] is None
    assert_allclose(runs[1][2], SIGNS[:, None] * [-1.0, 1.0])


@pytest.mark.parametrize("warm_start", [False, True])
def test_only_a_warm_start_begins_at_the_last_dual_point(warm_start, runs):
    machine = fwlab.TopKSVC(C=C, warm_start=warm_start).fit(X, Y)
    machine._dual = SIGNS[:, None] * [-1.0, 1.0] if not warm_start else machine._dual
    machine.fit(X, Y)
    assert runs[0][2] is None
    assert (runs[1][2] is not None) == warm_start


def test_a_warm_start_that_is_not_feasible_is_left(runs):
    """A third of the weight is too little for the last dual point."""
    machine = fwlab.TopKSVC(C=C, warm_start=True).fit(X, Y)
    machine.fit(X, Y, sample_weight=np.full(3, 1 / 3))
    assert runs[1][2] is None


# ---------------------------------------------------------------- parts


def test_balanced_classes_have_the_same_total():
    """Totals of 4, 1 and 0: the two that occur get half of all weight each."""
    codes, omega = np.array([0, 0, 1, 2]), np.array([1.0, 3.0, 1.0, 0.0])
    found = class_weights("balanced", np.array(["a", "b", "c"]), codes, omega)
    assert_allclose(found, [5 / 8, 5 / 2, 1.0])
    assert_allclose(class_weights(None, np.array(["a", "b", "c"]), codes, omega), 1.0)


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


def test_the_warning_names_its_gap_and_the_caller_of_fit():
    with pytest.warns(ConvergenceWarning, match=r"TopKSVC stopped .*tol = 1e-09: .*smaller C") as w:
        fwlab.TopKSVC(C=100.0, tol=1e-9, max_iter=1, random_state=0).fit(X, Y)
    assert w[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = fwlab.solve(fwlab.Problem(X, np.array([0, 1, 0]), fwlab.TopK(1), 0.1))
        warn_if_unfinished("any", result, 1.0)


# ---------------------------------------------------------------- the choice of C


def test_a_number_of_Cs_reaches_from_1e_4_to_1e4():
    machine = fwlab.TopKSVCCV(Cs=3, cv=2, max_iter=2000)
    machine.fit([[1.0], [2.0], [-1.0], [-2.0]], [0, 0, 1, 1])
    assert_allclose(machine.Cs_, [1e-4, 1.0, 1e4])
    assert machine.scores_.shape == (2, 3)
    assert machine.C_ == 1e-4
    assert_allclose(machine.coef_, [[-2e-4 * 6]])


def test_the_values_of_C_ascend():
    data, labels = [[1.0], [2.0], [-1.0], [-2.0]], [0, 0, 1, 1]
    machine = fwlab.TopKSVCCV(Cs=[0.02, 0.01], cv=2).fit(data, labels)
    assert_array_equal(machine.Cs_, [0.01, 0.02])
    assert machine.C_ == 0.01


def test_weights_of_the_training_rows_reach_the_folds(runs):
    omega, folds = np.array([1.0, 2.0, 3.0, 4.0]), [([1, 2], [0, 3]), ([0, 3], [1, 2])]
    machine = fwlab.TopKSVCCV(Cs=[C], cv=folds)
    machine.fit([[1.0], [2.0], [-1.0], [-2.0]], [0, 0, 1, 1], sample_weight=omega)
    assert [problem.sample_weight.tolist() for problem, *_ in runs] == [
        [2, 3],
        [1, 4],
        [1, 2, 3, 4],
    ]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_fold_has_the_largest_k_of_its_classes(k, runs):
    """The training rows of the fold have two of the three classes."""
    data, labels = [[1.0], [2.0], [-1.0], [-2.0]], [0, 1, 2, 1]
    machine = fwlab.TopKSVCCV(Cs=[C], cv=[([0, 1], [2, 3])], k=k)
    if k == 3:
        with pytest.warns(
            UserWarning, match="fold 0 trains on 2 of the 3 classes, with k = 2 inst"
        ):
            machine.fit(data, labels)
    else:
        machine.fit(data, labels)
    assert [problem.loss for problem, *_ in runs] == [fwlab.TopK(min(k, 2)), fwlab.TopK(k)]


# ---------------------------------------------------------------- rankings


def test_parameters_reach_the_objectives_of_rankings():
    push = fwlab.TopPushClassifier(K=3, surrogate="hinge", theta=0.5)
    assert push._objective() == TopPushK(3, "hinge", 0.5)
    quantile = fwlab.PatMatClassifier(
        tau=0.2, surrogate="hinge", theta=0.5, theta2=2.0, budget="negatives"
    )
    assert quantile._objective() == PatMat(0.2, "hinge", 0.5, 2.0, "negatives")


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
