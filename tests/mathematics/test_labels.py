"""Labels in every form of a user, through every function that takes labels.

The answers are those for integers 0 .. m-1, given back in the labels of the user.
"""

import re

import numpy as np
import pytest

import fwlab
from fwlab import distributed, ranking
from fwlab.checks.labels import as_labels, as_positive, codes_of, encoded_labels
from tests.label_forms import ANY, CODES, FLOATS, OBJECTS, REFUSED, STRINGS, TRUTHS

EVERY = {**ANY, **OBJECTS}
Y = np.array([0, 1, 2, 3, 2, 0, 3, 3])
X = np.random.default_rng(0).normal(size=(8, 3))
NEW = np.array([3, 1, 1, 0])


def plain(labels):
    """Return labels as a list, without numpy's conversion of a list."""
    return [*labels] if isinstance(labels, list) else np.asarray(labels).tolist()


@pytest.mark.parametrize("form", EVERY.values(), ids=EVERY)
def test_labels_become_codes_and_come_back(form):
    codes, classes = encoded_labels(form(Y))
    np.testing.assert_array_equal(codes, Y)
    assert codes.dtype == np.int64 and classes.dtype.kind in "iufU"
    assert classes[codes].tolist() == plain(form(Y))
    np.testing.assert_array_equal(codes_of(form(NEW), classes), NEW)
    np.testing.assert_array_equal(codes_of(form(NEW), classes.astype(object)), NEW)
    np.testing.assert_array_equal(
        codes_of(form(Y[Y > 0]), classes[1:2]), np.where(Y == 1, 0, -1)[Y > 0]
    )


@pytest.mark.parametrize("form", TRUTHS.values(), ids=TRUTHS)
def test_truth_values_are_two_classes(form):
    codes, classes = encoded_labels(form(Y))
    assert classes.tolist() == [False, True]
    np.testing.assert_array_equal(codes, Y > 0)
    np.testing.assert_array_equal(codes_of(form(Y), np.array([0, 1])), Y > 0)


@pytest.mark.parametrize(("labels", "kind", "shown"), REFUSED.values(), ids=REFUSED)
def test_no_function_takes_other_labels(labels, kind, shown):
    for take in (encoded_labels, as_labels, as_positive, lambda y: codes_of(y, ["ant", "bee"])):
        with pytest.raises(
            kind, match=re.escape(shown).replace(r"\|", "|").replace(r"\.", ".")
        ) as caught:
            take(labels)
        assert re.match(r"y must [^\n]+\.$", str(caught.value))


def test_labels_of_one_value_are_one_label_whatever_their_type():
    assert codes_of([1.0, 2.0], [1, 2]).tolist() == [0, 1]
    assert codes_of([True, False], [0.0, 1.0]).tolist() == [1, 0]
    assert codes_of(["1", "2"], ["2", "1"]).tolist() == [1, 0]
    assert codes_of(np.array([2**63, 2**63 + 1], np.uint64), [2**63 + 1]).tolist() == [-1, 0]
    assert codes_of([2**53 + 1, 2**53], np.array([2.0**53])).tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("labels", "classes", "sentence"),
    [
        (["1"], [1, 2], "y must hold labels of the classes 1, 2; got none of them, but '1'."),
        (
            [7, 8, 9, 10],
            np.arange(6),
            "y must hold labels of the classes 0, 1, 2, ..; got none of them, but 7, 8, 9, ...",
        ),
    ],
)
def test_labels_of_which_none_is_a_class_are_refused(labels, classes, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        codes_of(labels, classes)
    assert codes_of([], classes).tolist() == []


# ---------------------------------------------------------------- the functions


@pytest.mark.parametrize("form", EVERY.values(), ids=EVERY)
def test_a_problem_and_its_result(form, tmp_path):
    expected = fwlab.solve(fwlab.Problem(X, Y, fwlab.TopK(2), 0.1), tol=1e-3)
    result = fwlab.solve(fwlab.Problem(X, form(Y), fwlab.TopK(2), 0.1), tol=1e-3)
    result.save(tmp_path / "run.npz")
    stored = fwlab.Result.load(tmp_path / "run.npz")
    for one in (result, stored):
        np.testing.assert_array_equal(one.A, expected.A)
        assert one.predict(X).tolist() == one.classes[expected.predict(X)].tolist()
        assert set(one.predict(X).tolist()) <= set(plain(form(Y)))
        for k in (1, 2):
            interval = expected.proved_accuracy(X, Y, k)
            assert one.proved_accuracy(X, form(Y), k) == interval
        with pytest.raises(ValueError, match="y must hold labels of the classes"):
            one.proved_accuracy(X, np.full(8, "emu"))


@pytest.mark.parametrize("form", EVERY.values(), ids=EVERY)
def test_a_problem_out_of_core_and_its_validation_set(form):
    expected = distributed.OutOfCoreProblem(X, Y, fwlab.TopK(2), lam=0.1)
    problem = distributed.OutOfCoreProblem(X, form(Y), fwlab.TopK(2), lam=0.1)
    np.testing.assert_array_equal(problem.y, Y)
    assert problem.classes[problem.y].tolist() == plain(form(Y))
    W = np.random.default_rng(1).normal(size=(4, 3))
    found = distributed.ValidationSet(X, form(Y), problem).proved(W, 0.1, 2)
    assert found == distributed.ValidationSet(X, Y, expected).proved(W, 0.1, 2)
    assert found.share == fwlab.metrics.topk_accuracy(Y, X @ W.T, 2)


@pytest.mark.parametrize("form", {**CODES, **OBJECTS}.values(), ids={**CODES, **OBJECTS})
def test_functions_of_scores_and_codes(form):
    scores = np.random.default_rng(1).normal(size=(8, 4))
    loss = fwlab.Usunier(2)
    np.testing.assert_array_equal(loss.value(scores, form(Y)), loss.value(scores, Y))
    accuracy = fwlab.metrics.topk_accuracy(form(Y), scores, 2)
    assert accuracy == fwlab.metrics.topk_accuracy(Y, scores, 2)
    assert fwlab.Problem(X, form(Y), loss, 0.1, n_classes=5).y.tolist() == Y.tolist()


NO_CODES = {**FLOATS, **STRINGS, **TRUTHS}


@pytest.mark.parametrize("form", NO_CODES.values(), ids=NO_CODES)
def test_codes_are_no_other_labels(form):
    with pytest.raises(TypeError, match=r"y must hold integer class labels; got dtype"):
        fwlab.metrics.topk_accuracy(form(Y), np.zeros((8, 4)), 2)


TWO = {
    **TRUTHS,
    **CODES,
    **FLOATS,
    **OBJECTS,
    "-1 and 1": lambda codes: 2 * codes - 1,
    "-1.0 and 1": lambda codes: [-1.0 if code == 0 else 1 for code in codes],
}


@pytest.mark.parametrize("form", TWO.values(), ids=TWO)
def test_rankings_of_positives_and_negatives(form):
    two = (Y > 1).astype(np.int64)
    expected = ranking.solve(X, two, ranking.TopPushK(2), C=1.0, tol=1e-3)
    result = ranking.solve(X, form(two), ranking.TopPushK(2), C=1.0, tol=1e-3)
    np.testing.assert_array_equal(result.alpha, expected.alpha)
    precision = fwlab.metrics.precision_at_recall(form(two), X[:, 0], 0.5)
    assert precision == fwlab.metrics.precision_at_recall(two, X[:, 0], 0.5)
