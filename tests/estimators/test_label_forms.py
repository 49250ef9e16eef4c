"""Labels in every form of a user, through the estimators and the scorer."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV

import fwlab
from fwlab.metrics import make_topk_scorer
from tests.label_forms import ANY, OBJECTS, REFUSED, TRUTHS, names

Y = np.tile([0, 1, 2, 3, 3], 8)
X = np.random.default_rng(0).normal(size=(40, 3)) + np.eye(4, 3)[Y]
EVERY = {**ANY, **OBJECTS, **TRUTHS}


def accepts(estimator, y):
    """Return whether the estimator's fit takes these labels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(X, y)
    except (OverflowError, TypeError, ValueError):
        return False
    return True


TAKEN = {name: form for name, form in EVERY.items() if accepts(RidgeClassifier(), form(Y))}
# labels that numpy, and so scikit-learn's accuracy, cannot tell apart
MERGED = {"beyond 2^53, beside a float", "Enum of strings"}
LEFT = {name: form for name, form in OBJECTS.items() if name not in TAKEN}


@cache
def fitted_on_codes(k, truths):
    return fwlab.TopKSVC(k=k, random_state=0).fit(X, (Y > 0).astype(int) if truths else Y)


@pytest.mark.turns
@pytest.mark.parametrize("name", TAKEN)
def test_the_machine_and_its_measures_are_those_of_the_codes(name):
    labels, codes = TAKEN[name](Y), (Y > 0).astype(int) if name in TRUTHS else Y
    expected = fitted_on_codes(1, name in TRUTHS)
    machine = fwlab.TopKSVC(random_state=0).fit(X, labels)
    np.testing.assert_array_equal(machine.coef_, expected.coef_)
    predicted = [*machine.classes_].index
    assert [predicted(label) for label in machine.predict(X)] == expected.predict(X).tolist()
    if name not in MERGED:
        assert machine.score(X, labels) == expected.score(X, codes)
    assert machine.proved_accuracy(X, labels) == expected.proved_accuracy(X, codes)
    assert machine.proved_accuracy(X, labels) > (0.0, 0.0)
    assert make_topk_scorer(1)(machine, X, labels) == expected.score(X, codes)
    (again,) = fwlab.TopKSVC.path(X, labels, [1.0], random_state=0)
    np.testing.assert_array_equal(again.coef_, expected.coef_)


@pytest.mark.turns
@pytest.mark.parametrize("name", ["int64", *(name for name in TAKEN if name not in TRUTHS)])
def test_the_choice_of_C_does_not_depend_on_the_form(name):
    settings = {"cv": 2, "scoring": make_topk_scorer(2)}
    Cs = [1e-3, 1.0]
    machine = fwlab.TopKSVCCV(Cs, k=2, **settings, random_state=0).fit(X, TAKEN[name](Y))
    expected = fwlab.TopKSVCCV(Cs, k=2, **settings, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(machine.scores_, expected.scores_)
    assert machine.C_ == expected.C_ and machine.scores_.min() > 0.5
    if name in ("str", "objects", "Categorical, reordered"):
        search = GridSearchCV(fwlab.TopKSVC(k=2, random_state=0), {"C": Cs}, **settings)
        assert search.fit(X, TAKEN[name](Y)).best_params_["C"] == expected.C_


def test_forms_of_the_same_labels_may_be_mixed():
    machine = fwlab.TopKSVC(random_state=0).fit(X, EVERY["Categorical"](Y))
    for form in ("str", "list of str", "Series of objects", "Series of string"):
        assert machine.proved_accuracy(X, EVERY[form](Y)) > (0.0, 0.0)
        assert make_topk_scorer(1)(machine, X, EVERY[form](Y)) == machine.score(X, EVERY["str"](Y))


TWO = {name: form for name, form in TAKEN.items() if name not in MERGED}


@pytest.mark.turns
@pytest.mark.parametrize("name", TWO)
def test_rankings_take_the_second_class_as_the_positive_one(name):
    two = (Y > 1).astype(int)
    machine = fwlab.TopPushClassifier(K=2, tol=1e-3).fit(X, TWO[name](two))
    expected = fwlab.TopPushClassifier(K=2, tol=1e-3).fit(X, two)
    np.testing.assert_array_equal(machine.coef_, expected.coef_)
    assert machine.score(X, TWO[name](two)) == expected.score(X, two)


@pytest.mark.parametrize("estimator", [fwlab.TopKSVC(), fwlab.TopPushClassifier()])
def test_what_scikit_learn_refuses_is_refused(estimator):
    for name, form in LEFT.items():
        assert not accepts(estimator, form(Y)), name
    for name, (labels, _, _) in REFUSED.items():
        if name not in ("masked", "lists") and np.ndim(labels) == 1:
            labels = np.tile(labels, 20) if isinstance(labels, np.ndarray) else [*labels] * 20
        assert not accepts(estimator, labels), name


@pytest.mark.parametrize("name", REFUSED)
def test_measures_refuse_what_is_no_label(name):
    labels, kind, _ = REFUSED[name]
    machine = fitted_on_codes(1, False)
    for measure in (machine.proved_accuracy, lambda X, y: make_topk_scorer(1)(machine, X, y)):
        with pytest.raises(kind):
            measure(X[:2], labels)


COLUMNS = {
    "array": lambda labels: labels[:, None],
    "objects": lambda labels: labels.astype(object)[:, None],
    "list": lambda labels: labels[:, None].tolist(),
    "frame": lambda labels: pd.DataFrame({"y": labels}),
    "nullable frame": lambda labels: pd.DataFrame({"y": pd.array(labels)}, index=labels),
    "categorical frame": lambda labels: pd.DataFrame({"y": pd.Categorical(labels)}),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_labels_is_taken_with_the_warning_of_scikit_learn(column):
    machine = fwlab.TopKSVC(random_state=0).fit(X, names(Y))
    labels = column(names(Y))
    for take, expected in (
        (lambda y: make_topk_scorer(2)(machine, X, y), make_topk_scorer(2)(machine, X, names(Y))),
        (lambda y: machine.proved_accuracy(X, y), machine.proved_accuracy(X, names(Y))),
        (lambda y: fwlab.TopKSVC(random_state=0).fit(X, y).coef_.tolist(), machine.coef_.tolist()),
    ):
        with pytest.warns(DataConversionWarning, match="column-vector") as found:
            assert take(labels) == expected
        assert len(found) == 1


@pytest.mark.parametrize("name", ["array", "list", "frame", "nullable frame", "categorical frame"])
def test_a_column_of_integers_is_fitted(name):
    with pytest.warns(DataConversionWarning, match="column-vector"):
        machine = fwlab.TopKSVC(random_state=0).fit(X, COLUMNS[name](Y))
    np.testing.assert_array_equal(machine.coef_, fitted_on_codes(1, False).coef_)
