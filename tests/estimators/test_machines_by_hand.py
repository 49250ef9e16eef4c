"""The machines of the estimators on numbers for which they are known by hand.

As long as C is so small that all margins stay below 1, each sample adds C omega_i x_i to the row of
its class and takes it from the row of the other class that scores most: of two classes, the other.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fwlab
from fwlab.estimators import machine as module

pytestmark = pytest.mark.small
X = np.array([[1.0, 2.0], [3.0, -1.0], [-2.0, 0.5]])
Y = np.array(["b", "a", "b"])
SIGNS = np.array([1.0, -1.0, 1.0])  # of the second class
OMEGA = np.array([1.0, 3.0, 0.5])
C = 0.01


def fitted(**options):
    return fwlab.TopKSVC(C=C, tol=1e-12, **options).fit(X, Y, sample_weight=OMEGA)


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
    """The scores of both classes are 0 together; the intercept belongs to the constant's square."""
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
    machine._trained = replace(machine._trained, radius=distance)
    assert_allclose(machine.decision_function([[1.0]]), -1.0)
    assert machine.proved([[1.0]]) == [sure]
    assert machine.proved_accuracy([[1.0]], ["a"]) == (float(sure), 1.0)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y must hold at least two classes; got one class, 'a'"):
        fwlab.TopKSVC().fit([[1.0], [2.0]], ["a", "a"])


# ---------------------------------------------------------------- runs


@pytest.fixture
def runs(monkeypatch):
    """Record the problem, the method, the start and the seed of each run."""
    made, solve = [], module.solve

    def recorded(problem, method, **options):
        made.append((problem, method, options["A0"], options["rng"]))
        return solve(problem, method, **options)

    monkeypatch.setattr(module, "solve", recorded)
    return made


@pytest.mark.parametrize(
    ("norm", "method", "used"),
    [
        (2, "bcfw", "bcfw"),
        (1, "bcfw", "direct"),
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


def test_a_seed_draws_the_seed_of_its_run(runs):
    fitted(random_state=5)
    assert runs[0][3] == np.random.RandomState(5).randint(2**31 - 1)


def test_a_path_whose_largest_C_is_refused_trains_no_machine(runs):
    """With C = 1e140 machines reach 1e150 and more."""
    with pytest.raises(ValueError, match=r"must keep all products below 1e\+150"):
        fwlab.TopKSVC.path(1e10 * X, Y, [C, 1e140])
    assert runs == []


@pytest.mark.parametrize("warm_start", [False, True])
def test_only_a_warm_start_begins_at_the_last_dual_point(warm_start, runs):
    machine = fwlab.TopKSVC(C=C, warm_start=warm_start).fit(X, Y)
    machine._end = SIGNS[:, None] * [-1.0, 1.0] if not warm_start else machine._end
    machine.fit(X, Y)
    assert runs[0][2] is None
    assert (runs[1][2] is not None) == warm_start


def test_a_warm_start_that_is_not_feasible_is_left(runs):
    """A third of the weight is too little for the last dual point."""
    machine = fwlab.TopKSVC(C=C, warm_start=True).fit(X, Y)
    machine.fit(X, Y, sample_weight=np.full(3, 1 / 3))
    assert runs[1][2] is None


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
