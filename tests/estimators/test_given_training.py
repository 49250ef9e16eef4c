"""`training` proves more labels of an estimator's optimum."""

import numpy as np
import pytest

import fwlab


def drawn():
    rng = np.random.default_rng(0)
    means, y = rng.normal(size=(4, 5)), rng.integers(0, 4, 120)
    X_new = rng.normal(size=(300, 5))
    return 0.5 * means[y] + rng.normal(size=(120, 5)), y, X_new, rng.integers(0, 4, 300)


FITS = [
    {"C": 30.0},
    {"C": 30.0, "fit_intercept": True, "intercept_scaling": 2.0},
    {"C": 10.0, "class_weight": "balanced"},
    {"C": 10.0, "class_weight": {0: 3.0}, "storage": "float32"},
]


@pytest.mark.parametrize("parameters", FITS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_proves_more_labels_and_no_false_one(parameters, weighted):
    X, y, X_new, y_new = drawn()
    omega = (np.random.default_rng(1).random(120),) if weighted else ()
    training = (X, y, *omega)
    tight = fwlab.TopKClassifier(**parameters, tol=1e-11).fit(*training)
    head = fwlab.TopKClassifier(**parameters, tol=1e-2).fit(*training)
    # parameters that are set later are for the next fit
    head.set_params(C=1.0, class_weight=None, fit_intercept=False)
    ball, proved = head.proved(X_new), head.proved(X_new, training=training)
    assert (proved | ~ball).all() and proved.mean() > 0.8 > ball.mean() + 0.1
    assert (head.predict(X_new) == tight.predict(X_new))[proved & tight.proved(X_new)].all()
    low, high = head.proved_accuracy(X_new, y_new, training=training)
    least, most = tight.proved_accuracy(X_new, y_new)
    assert low <= most and least <= high and high - low < 0.05


def test_two_classes_and_a_chosen_constant():
    X, y, X_new, _ = drawn()
    training = X, np.where(y > 1, "b", "a")
    for head in (
        fwlab.TopKClassifier(C=30.0, tol=1e-2),
        fwlab.TopKSVCCV([1.0, 30.0], loss="cross-entropy", method="auto", tol=1e-2, cv=2),
    ):
        head.fit(*training)
        assert head.proved(X_new, training=training).mean() > 0.8


def test_a_hinge_has_no_ellipsoid():
    X, y, X_new, y_new = drawn()
    head = fwlab.TopKSVC(k=2).fit(X, y)
    assert np.array_equal(head.proved(X_new), head.proved(X_new, training=(X, y)))
    assert head.proved_accuracy(X_new, y_new) == head.proved_accuracy(X_new, y_new, training=(X, y))


def test_other_training_data_are_refused():
    X, y, X_new, _ = drawn()
    head = fwlab.TopKClassifier().fit(X, y)
    for given in (X, [X, y], (X,), (X, y, None, None)):
        with pytest.raises(ValueError, match=r"training must be the tuple \(X, y\) or \(X, y, sam"):
            head.proved(X_new, training=given)
    for given, found in (((X[:, :3], y), "4 and 3"), ((X, np.minimum(y, 2)), "3 and 5")):
        with pytest.raises(ValueError, match=f"with 4 classes and 5 features.*got {found}"):
            head.proved(X_new, training=given)
    head.coef_[0, 0] += 1.0
    with pytest.raises(ValueError, match="coef_ has changed"):
        head.proved(X_new, training=(X, y))
    assert head.n_features_in_ == 5
