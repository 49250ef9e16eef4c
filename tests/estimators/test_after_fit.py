"""A fitted estimator keeps what it was fitted with, and predicts from its public attributes."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.preprocessing import scale

import fwlab

X, Y = load_iris(return_X_y=True)
X = scale(X)
TWO = (Y > 0).astype(int)


def linear(A, B):
    return A @ B.T


FITTED = {
    "linear": (fwlab.TopKSVC(fit_intercept=True, intercept_scaling=3.0, k=2), X, Y),
    "binary": (fwlab.TopKSVC(fit_intercept=True, intercept_scaling=3.0), X, TWO),
    "rbf": (fwlab.TopKSVC(kernel="rbf", gamma=0.3, fit_intercept=True, k=2), X, Y),
    "callable": (fwlab.TopKSVC(kernel=linear, fit_intercept=True), X, Y),
    "precomputed": (fwlab.TopKSVC(kernel="precomputed"), rbf_kernel(X), Y),
    "choice of C": (fwlab.TopKSVCCV([0.1, 1.0], cv=2, fit_intercept=True), X, Y),
    "ranking": (fwlab.TopPushClassifier(K=3), X, TWO),
    "ranking, rbf": (fwlab.PatMatClassifier(tau=0.1, kernel="rbf", gamma=0.1), X, TWO),
}
OTHER = {
    "kernel": "rbf",
    "gamma": 7.0,
    "fit_intercept": False,
    "intercept_scaling": 40.0,
    "loss": "usunier",
    "k": 1,
    "K": 1,
    "C": 99.0,
    "norm": 1.5,
}


def fitted(name):
    machine, samples, labels = FITTED[name]
    return deepcopy(machine).fit(samples, labels), samples, labels


@pytest.mark.parametrize("name", FITTED)
def test_new_parameters_wait_for_the_next_fit(name):
    machine, samples, _ = fitted(name)
    before = machine.decision_function(samples), machine.duality_gap_
    if hasattr(machine, "predict_topk"):
        before_topk = machine.predict_topk(samples)
    parameters = machine.get_params()
    for parameter, value in OTHER.items():
        if parameter in parameters:
            machine.set_params(**{parameter: value})
            np.testing.assert_array_equal(machine.decision_function(samples), before[0])
    assert machine.duality_gap_ == before[1]
    if hasattr(machine, "predict_topk"):
        np.testing.assert_array_equal(machine.predict_topk(samples), before_topk)
    if name in ("linear", "binary", "choice of C"):
        model = machine.to_model()
        np.testing.assert_array_equal(model.predict(samples), machine.predict(samples))
        assert model.settings["intercept_scaling"] == repr(parameters["intercept_scaling"])


@pytest.mark.parametrize("name", ["rbf", "callable", "ranking, rbf"])
def test_changes_of_the_training_samples_do_not_reach_the_machine(name):
    machine, samples, labels = FITTED[name]
    mine = samples.copy()
    machine = deepcopy(machine).fit(mine, labels)
    before = machine.decision_function(samples)
    mine *= 2
    np.testing.assert_array_equal(machine.decision_function(samples), before)


def test_a_fit_that_fails_leaves_the_last_machine():
    machine = fwlab.TopKSVC().fit(X, Y)
    before = machine.predict(X)
    for bad in ({"C": -1}, {"method": "sgd"}, {"kernel": "poly"}):
        with pytest.raises(ValueError, match="must be"):
            machine.set_params(**bad).fit(X, Y[::-1] + 10)
        machine.set_params(C=1.0, method="ascent", kernel="linear")
        np.testing.assert_array_equal(machine.predict(X), before)
    with pytest.raises(NotFittedError):
        fwlab.TopKSVC().predict(X)
    with pytest.raises(AttributeError, match="TopKSVC has no duality_gap_ before `fit`"):
        _ = fwlab.TopKSVC().duality_gap_
    assert not hasattr(fwlab.TopPushClassifier(), "threshold_")


@pytest.mark.parametrize("name", FITTED)
def test_a_fit_that_fails_changes_nothing(name):
    machine, samples, labels = FITTED[name]
    frame = pd.DataFrame(samples, columns=[f"x{j}" for j in range(samples.shape[1])])
    machine = deepcopy(machine).fit(frame, labels)
    before, scores = dict(vars(machine)), machine.decision_function(frame)
    permuted, fewer = frame[frame.columns[::-1]], samples[:, :2]
    attempts = [
        (permuted, np.zeros(150)),
        (fewer, [*labels[:-1], 0.5]),
        (permuted, labels[:-1]),
        (np.full((150, 9), np.nan), labels),
        (samples.astype(complex), labels),
    ]
    for X_bad, y_bad in attempts:
        with pytest.raises((TypeError, ValueError)):
            machine.fit(X_bad, y_bad)
        assert vars(machine).keys() == before.keys()
        assert all(value is before[key] for key, value in vars(machine).items())
    np.testing.assert_array_equal(machine.decision_function(frame), scores)
    if name != "precomputed":
        with pytest.raises(ValueError, match="feature names"):
            machine.predict(permuted)
    machine.set_params(max_iter=-1)
    with pytest.raises(ValueError, match="max_iter"):
        machine.fit(frame.rename(columns=str.upper), labels)
    np.testing.assert_array_equal(machine.feature_names_in_, frame.columns)


def test_a_new_fit_forgets_the_names_and_the_kernel_of_the_last_one():
    machine = fwlab.TopKSVC(warm_start=True).fit(pd.DataFrame(X, columns=list("abcd")), Y)
    machine.set_params(kernel="rbf").fit(X[:, :3], Y)
    assert not hasattr(machine, "feature_names_in_") and not hasattr(machine, "coef_")
    assert machine.n_features_in_ == 3 and machine.dual_coef_.shape == (3, 150)


# ---------------------------------------------------------------- public attributes

LINEAR = ["linear", "binary", "choice of C", "ranking"]


@pytest.mark.parametrize("name", LINEAR)
def test_predictions_follow_coefficients(name):
    machine, samples, _ = fitted(name)
    coef, intercept = machine.coef_, machine.intercept_
    rng = np.random.default_rng(0)
    machine.coef_, machine.intercept_ = rng.normal(size=coef.shape), rng.normal(size=len(coef))
    scores = samples @ machine.coef_.T + machine.intercept_
    found = machine.decision_function(samples)
    np.testing.assert_allclose(found, scores[:, 0] if len(coef) == 1 else scores, atol=1e-12)
    best = (scores[:, 0] > 0).astype(int) if len(coef) == 1 else scores.argmax(axis=1)
    np.testing.assert_array_equal(machine.predict(samples), machine.classes_[best])
    if name != "ranking":
        model = machine.to_model()
        np.testing.assert_array_equal(model.predict(samples), machine.predict(samples))
        assert model.certificate == {}
    machine.coef_, machine.intercept_ = sp.csr_array(np.zeros(coef.shape)), 1.0
    assert (machine.decision_function(samples) == 1.0).all()
    machine.coef_, machine.intercept_ = coef, intercept
    assert machine.duality_gap_ >= 0


@pytest.mark.parametrize("name", FITTED)
def test_a_change_in_place_is_followed_and_ends_the_certificate(name):
    machine, samples, _ = fitted(name)
    before = machine.decision_function(samples)
    assert machine.duality_gap_ >= 0 and machine.gap_error_ >= 0
    machine.intercept_ += 2.0
    moved = 0 if name in ("rbf", "callable", "precomputed") or before.ndim == 2 else 2
    shift = 2.0 if before.ndim == 2 else moved
    np.testing.assert_allclose(machine.decision_function(samples), before + shift, atol=1e-9)
    for attribute in ("duality_gap_", "gap_error_"):
        with pytest.raises(AttributeError, match=f"{attribute} is about .* intercept_ has changed"):
            getattr(machine, attribute)
    if "coef_" in vars(machine) and hasattr(machine, "proved"):
        for prove in (machine.proved, lambda X: machine.proved_accuracy(X, machine.predict(X))):
            with pytest.raises(ValueError, match=r"proved\w* is about .* intercept_ has changed"):
                prove(samples)
    machine.fit(*FITTED[name][1:])
    assert machine.duality_gap_ >= 0


def test_kernel_machines_predict_from_their_coefficients():
    machine, samples, _ = fitted("rbf")
    gram = rbf_kernel(samples, samples, gamma=0.3)
    scores = gram @ machine.dual_coef_.T + machine.intercept_
    np.testing.assert_allclose(machine.decision_function(samples), scores, atol=1e-12)
    with_constant = (gram + 1.0) @ machine.dual_coef_.T
    np.testing.assert_allclose(machine.decision_function(samples), with_constant, atol=1e-9)
    machine.dual_coef_ = 2 * machine.dual_coef_
    machine.intercept_ = np.zeros(3)
    scores = 2 * gram @ (machine.dual_coef_ / 2).T
    np.testing.assert_allclose(machine.decision_function(samples), scores, atol=1e-12)
    with pytest.raises(AttributeError, match="dual_coef_ has changed"):
        _ = machine.duality_gap_


def test_the_threshold_is_minus_the_intercept():
    for kernel in ("linear", "rbf"):
        machine = fwlab.TopPushClassifier(K=2, kernel=kernel).fit(X, TWO)
        values = machine.decision_function(X)
        machine.threshold_ += 0.5
        assert machine.intercept_ == -machine.threshold_
        np.testing.assert_allclose(machine.decision_function(X), values - 0.5, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("linear", {"coef_": np.zeros((2, 4))}, r"coef_ must have shape \(3, 4\).* got \(2, 4\)"),
        ("binary", {"coef_": np.zeros(4)}, r"coef_ must have shape \(1, 4\).* got \(4,\)"),
        ("linear", {"intercept_": np.zeros(2)}, r"intercept_ must be a number or .* got \(2,\)"),
        ("rbf", {"dual_coef_": np.zeros((3, 2))}, r"dual_coef_ must have shape \(3, 150\)"),
        ("binary", {"intercept_": np.zeros((1, 1))}, r"intercept_ must .* \(1,\).* got \(1, 1\)"),
        ("linear", {"coef_": [[1.0], [1.0, 2.0]]}, "coef_ must be an array; got rows of different"),
        ("ranking", {"intercept_": np.zeros(2)}, r"intercept_ must .* \(1,\).* got \(2,\)"),
        ("ranking, rbf", {"intercept_": np.zeros(2)}, r"intercept_ must .* \(1,\).* got \(2,\)"),
    ],
)
def test_coefficients_of_another_shape_are_refused(name, change, sentence):
    machine, samples, _ = fitted(name)
    for attribute, value in change.items():
        setattr(machine, attribute, value)
    with pytest.raises(ValueError, match=sentence):
        machine.predict(samples)
    if hasattr(machine, "to_model") and name != "rbf":
        with pytest.raises(ValueError, match=sentence):
            machine.to_model()


@pytest.mark.turns
@pytest.mark.parametrize("value", [None, "x", 1j, {}, [None]])
@pytest.mark.parametrize("name", FITTED)
def test_coefficients_that_are_no_numbers_are_refused(name, value):
    machine, samples, _ = fitted(name)
    for attribute in machine._trained.public:
        kept = getattr(machine, attribute)
        setattr(machine, attribute, value)
        with pytest.raises(TypeError, match=rf"^{attribute} must .*real numbers; got \S+\.$"):
            machine.predict(samples)
        setattr(machine, attribute, np.full(kept.shape, np.nan))
        with pytest.raises(ValueError, match=rf"^{attribute} must be finite .* got nan"):
            machine.predict(samples)
        setattr(machine, attribute, kept)
    machine.predict(samples)


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        (None, TypeError, "None"),
        ("x", TypeError, "'x'"),
        (np.zeros((2, 2)), ValueError, r"\(2, 2\)"),
        (np.zeros(7), ValueError, r"\(7,\)"),
        (np.nan, ValueError, "nan"),
    ],
)
def test_a_threshold_is_one_number(value, kind, found):
    machine, samples, _ = fitted("ranking")
    before = machine.predict(samples)
    with pytest.raises(kind, match=rf"^threshold_ must .* got {found}\.$"):
        machine.threshold_ = value
    np.testing.assert_array_equal(machine.predict(samples), before)
    machine.threshold_ = np.array([0.25])
    assert machine.threshold_ == 0.25 and machine.intercept_ == [-0.25]


# ---------------------------------------------------------------- Gram matrices in float32


def float32_grams():
    """Gram matrices as float32 data give them: not symmetric or semidefinite to float64's eps."""
    single = np.ascontiguousarray(X, dtype=np.float32)
    product = single @ single.T
    yield "linear", product
    unit = single / np.linalg.norm(single, axis=1, keepdims=True)
    yield "cosine", unit @ unit.T
    yield "polynomial", (product + np.float32(1)) ** 3
    yield "normalised", product / np.float32(np.abs(product).max())
    yield "asymmetric", product * (1 + np.float32(1e-7) * np.triu(np.ones_like(product)))


@pytest.mark.turns
@pytest.mark.parametrize(("name", "gram"), list(float32_grams()))
def test_float32_gram_matrices_are_taken(name, gram):
    assert gram.dtype == np.float32
    C, tol = 0.01, 1e-4  # a smaller gap drowns in the rounding of float32
    exact = gram.astype(np.float64)
    exact = (exact + exact.T) / 2 + 1e-6 * np.abs(exact).max() * np.eye(150)
    for intercept in (False, True):
        machine = fwlab.TopKSVC(kernel="precomputed", C=C, tol=tol, fit_intercept=intercept)
        expected = machine.fit(exact, Y).decision_function(exact)
        found = machine.fit(gram, Y).decision_function(gram)
        # |W - W*|^2 is at most 2 n C times the gap, for either machine
        near = 2 * np.sqrt(2 * 150 * C * tol * exact.diagonal().max())
        np.testing.assert_allclose(found, expected, atol=near)
        assert near < np.abs(expected).max()
    for ranking in (fwlab.TopPushClassifier(3), fwlab.PatMatClassifier(0.1)):
        ranking.set_params(kernel="precomputed", C=0.001, tol=1e-3).fit(gram, TWO)
        assert np.isfinite(ranking.decision_function(gram)).all()
    fwlab.TopKSVCCV([C], cv=2, kernel="precomputed").fit(gram, Y)


def test_a_float32_gram_matrix_of_a_callable_is_taken():
    def kernel(A, B):
        return linear_kernel(A, B).astype(np.float32) * np.float32(1.1)

    machine = fwlab.TopKSVC(kernel=kernel, fit_intercept=True).fit(X, Y)
    assert machine.score(X, Y) > 0.9


# as a user may hold float32 values
FLOAT32 = {
    "big-endian": lambda gram: gram.astype(">f4"),
    "columns": np.asfortranarray,
    "frame": pd.DataFrame,
    "nullable frame": lambda gram: pd.DataFrame(gram).astype("Float32"),
}


@pytest.mark.parametrize("form", FLOAT32.values(), ids=FLOAT32)
def test_a_float32_gram_matrix_is_taken_in_any_form(form):
    gram = dict(float32_grams())["asymmetric"]
    expected = fwlab.TopKSVC(kernel="precomputed", C=0.01, random_state=0).fit(gram, Y)
    machine = fwlab.TopKSVC(kernel="precomputed", C=0.01, random_state=0).fit(form(gram), Y)
    np.testing.assert_array_equal(machine.dual_coef_, expected.dual_coef_)
    called = fwlab.TopKSVC(kernel=lambda A, B: form(gram), C=0.01, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(called.dual_coef_, expected.dual_coef_)
    problem = fwlab.Problem(form(gram), Y, fwlab.TopK(1), 1.0, kernel="precomputed")
    plain = fwlab.Problem(gram, Y, fwlab.TopK(1), 1.0, kernel="precomputed")
    np.testing.assert_array_equal(problem.X, plain.X)
    ranking = fwlab.TopPushClassifier(3, kernel="precomputed", C=0.001, tol=1e-3)
    assert np.isfinite(ranking.fit(form(gram), TWO).decision_function(form(gram))).all()


def test_a_kernel_of_python_objects_is_refused():
    with pytest.raises(TypeError, match=r"kernel\(X, samples\) must hold real numbers; got dtype"):
        fwlab.TopKSVC(kernel=lambda A, B: linear(A, B).astype(object)).fit(X, Y)


def test_a_float64_gram_matrix_is_symmetric_to_the_rounding_of_float64():
    gram = dict(float32_grams())["asymmetric"].astype(np.float64)
    for values in (gram, pd.DataFrame(gram), pd.DataFrame(gram).astype({0: np.float32})):
        with pytest.raises(ValueError, match="X must be a symmetric Gram matrix"):
            fwlab.TopKSVC(kernel="precomputed", C=0.01).fit(values, Y)
