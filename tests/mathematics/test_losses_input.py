"""Bad input of the losses: one sentence that names the argument, the value and what is allowed."""

import re

import numpy as np
import pytest

import fwlab

pytestmark = pytest.mark.small

SCORES, Y = np.zeros((2, 3)), np.array([0, 1])
METHODS = {
    "value": "scores",
    "subgradient": "scores",
    "lmo": "gradient",
    "conjugate": "v",
    "in_domain": "v",
    "project": "c",
    "moreau": "scores",
}


def evaluate(loss, name="value", scores=SCORES, y=Y, **options):
    if name == "moreau":
        options = {"smoothing": 1.0, **options}
    return getattr(loss, name)(scores, y, **options)


def refused(call, kind, argument, *shown):
    """Assert that the call raises one sentence that names the argument and the value."""
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    assert re.match(rf"{argument} must [^\n]+[.]$", message), message
    assert ". " not in message, message  # one sentence
    assert all(part in message for part in shown), message


def changed(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


# ---------------------------------------------------------------- parameters of the losses

KINDS_WITH_K = [fwlab.TopK, fwlab.PseudoTopK, fwlab.Usunier]
with_k = pytest.mark.parametrize("kind", KINDS_WITH_K)
with_rho = pytest.mark.parametrize("kind", [fwlab.WeightedTopK, fwlab.WeightedUsunier])


@with_k
@pytest.mark.parametrize("k", [1.0, True, np.True_, "3", None, np.nan, 2 + 0j, [2], np.float64(2)])
def test_k_is_an_integer(kind, k):
    refused(lambda: kind(k), TypeError, "k", f"must be an integer; got {k!r}")


@with_k
@pytest.mark.parametrize("k", [0, -1, np.int64(0)])
def test_k_is_at_least_1(kind, k):
    refused(lambda: kind(k), ValueError, "k", f"must be at least 1; got {k}.")


@with_k
@pytest.mark.parametrize("name", METHODS)
def test_k_is_at_most_m(kind, name):
    largest = 2 if kind is fwlab.PseudoTopK else 3
    refused(lambda: evaluate(kind(4), name), ValueError, "k", f"must be in 1..{largest}; got 4.")
    refused(lambda: kind(4).vertices(3, 0), ValueError, "k", f"must be in 1..{largest}; got 4.")
    assert np.all(np.isfinite(evaluate(kind(largest), "value")))
    assert kind(np.int64(largest)) == kind(largest)


def test_the_pseudo_topk_leaves_the_true_class_out():
    refused(lambda: evaluate(fwlab.PseudoTopK(3)), ValueError, "k", "must be in 1..2; got 3.")


@pytest.mark.parametrize("weights", [fwlab.weights.flat, fwlab.weights.linear,
                                     fwlab.weights.exponential])  # fmt: skip
@pytest.mark.parametrize(("k", "kind"), [(0, ValueError), (-2, ValueError), (1.0, TypeError),
                                         (True, TypeError), ("3", TypeError)])  # fmt: skip
def test_the_number_of_weights(weights, k, kind):
    refused(lambda: weights(k), kind, "k", f"got {k!r}.")


@with_rho
@pytest.mark.parametrize(
    ("rho", "error", "shown"),
    [
        ([1.0, 2.0], ValueError, "non-increasing; got 1.0 followed by 2.0"),
        ([3.0, 1.0, 1.5, 2.0], ValueError, "non-increasing; got 1.0 followed by 1.5"),
        ([1.0, -1.0], ValueError, "non-negative; got -1.0"),
        ([0.0, 0.0], ValueError, "not be all zero; got 2 zeros"),
        ([1.0, np.nan], ValueError, "finite and at most 1e+150 in size; got nan"),
        ([np.inf, 1.0], ValueError, "finite and at most 1e+150 in size; got inf"),
        ([], ValueError, "at least one weight; got an empty sequence"),
        ([[1.0, 1.0]], ValueError, "1-D; got shape (1, 2)"),
        (1.0, ValueError, "1-D; got shape ()"),
        ("abc", TypeError, "real numbers; got dtype <U3"),
        ([1j], TypeError, "real numbers; got dtype complex128"),
        (None, TypeError, "real numbers; got dtype object"),
        ([1.0, None], TypeError, "real numbers; got dtype object"),
    ],
)
def test_weights(kind, rho, error, shown):
    refused(lambda: kind(rho), error, "rho", shown)


@with_rho
@pytest.mark.parametrize("name", METHODS)
def test_weights_longer_than_m(kind, name):
    loss = kind([1.0, 0.5, 0.5, 0.0])
    shown = "at most m = 3 weights; got 4."
    refused(lambda: evaluate(loss, name), ValueError, "rho", shown)
    refused(lambda: loss.vertices(3, 0), ValueError, "rho", shown)


COSTS = 1.0 - np.eye(3)


@pytest.mark.parametrize(
    ("costs", "error", "shown"),
    [
        (changed(COSTS, (1, 1), 0.5), ValueError, "zero diagonal; got 0.5 at class 1"),
        (changed(COSTS, (0, 2), -0.25), ValueError, "non-negative; got -0.25"),
        (changed(COSTS, (2, 2), -1), ValueError, "non-negative; got -1.0"),
        (changed(COSTS, (0, 1), np.nan), ValueError, "finite and at most 1e+150 in size; got nan"),
        (changed(COSTS, (0, 1), np.inf), ValueError, "finite and at most 1e+150 in size; got inf"),
        (np.zeros((3, 4)), ValueError, "(m, m); got shape (3, 4)"),
        (np.zeros(3), ValueError, "2-D; got shape (3,)"),
        (np.zeros((1, 3, 3)), ValueError, "2-D; got shape (1, 3, 3)"),
        ("costs", TypeError, "real numbers; got dtype <U5"),
        (COSTS.astype(complex), TypeError, "real numbers; got dtype complex128"),
        (COSTS.astype(object), TypeError, "real numbers; got dtype object"),
    ],
)
def test_costs(costs, error, shown):
    refused(lambda: fwlab.StructuredHinge(costs), error, "costs", shown)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("m", [0, 2, 4])
def test_costs_for_another_number_of_classes(name, m):
    loss = fwlab.StructuredHinge(np.zeros((m, m)))
    shown = f"(m, m) = (3, 3); got shape ({m}, {m})"
    refused(lambda: evaluate(loss, name), ValueError, "costs", shown)


def test_vertices_with_costs_for_another_number_of_classes():
    loss = fwlab.StructuredHinge(COSTS)
    refused(lambda: loss.vertices(5, 0), ValueError, "costs", "got shape (3, 3)")


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("costs", "shown"),
    [
        (np.zeros((3, 3)), "(n, m) = (2, 3); got shape (3, 3)"),
        (np.zeros((2, 4)), "(n, m) = (2, 3); got shape (2, 4)"),
        (changed(np.zeros((2, 3)), (1, 1), 0.5), "0 at the true class; got 0.5 for sample 1"),
    ],
)
def test_costs_for_each_sample(name, costs, shown):
    loss = fwlab.StructuredHinge(costs, per_sample=True)
    refused(lambda: evaluate(loss, name), ValueError, "costs", shown)


def test_negative_costs_for_each_sample():
    costs = changed(np.zeros((2, 3)), (0, 1), -2)
    refused(lambda: fwlab.StructuredHinge(costs, per_sample=True), ValueError, "costs", "-2.0")


def test_the_costs_are_a_copy():
    costs = COSTS.copy()
    loss = fwlab.StructuredHinge(costs)
    costs[:] = 7.0
    assert loss.costs.max() == 1.0


# ---------------------------------------------------------------- scores and labels

every_method = pytest.mark.parametrize("name", METHODS)
HINGE = fwlab.MaxHinge()


@every_method
@pytest.mark.parametrize(
    ("scores", "error", "shown"),
    [
        (changed(SCORES, (1, 2), np.nan), ValueError, "finite and at most 1e+150 in size; got nan"),
        (
            changed(SCORES, (0, 0), -np.inf),
            ValueError,
            "finite and at most 1e+150 in size; got -inf",
        ),
        (changed(SCORES, (0, 1), 1e200), ValueError, "at most 1e+150 in size; got 1e+200"),
        (SCORES.astype(complex), TypeError, "real numbers; got dtype complex128"),
        (SCORES.astype(object), TypeError, "real numbers; got dtype object"),
        (SCORES.astype(str), TypeError, "real numbers; got dtype <U32"),
        (None, TypeError, "real numbers; got dtype object"),
        (np.zeros((2, 2, 2)), ValueError, "1-D or 2-D; got shape (2, 2, 2)"),
        (0.0, ValueError, "1-D or 2-D; got shape ()"),
        (np.zeros((2, 1)), ValueError, "at least 2 columns, one a class; got 1"),
        (np.zeros((2, 0)), ValueError, "at least 2 columns, one a class; got 0"),
    ],
)
def test_scores(name, scores, error, shown):
    refused(lambda: evaluate(HINGE, name, scores), error, METHODS[name], shown)


@every_method
@pytest.mark.parametrize(
    ("scores", "y", "error", "shown"),
    [
        (SCORES, [0, 3], ValueError, "in 0..2; got 3"),
        (SCORES, [-1, 0], ValueError, "in 0..2; got -1"),
        (SCORES[0], 3, ValueError, "in 0..2; got 3"),
        (SCORES[0], -1, ValueError, "in 0..2; got -1"),
        (SCORES, [0.0, 1.0], TypeError, "integer class labels; got dtype float64"),
        (SCORES[0], 1.0, TypeError, "integer class labels; got dtype float64"),
        (SCORES, [True, False], TypeError, "integer class labels; got dtype bool"),
        (SCORES, ["a", "b"], TypeError, "integer class labels; got dtype <U1"),
        (SCORES, [[0], [1]], ValueError, "1-D; got shape (2, 1)"),
        (SCORES, [0, 1, 2], ValueError, "one label per row of {}, 2; got 3"),
        (SCORES, 0, ValueError, "got shapes () and (2, 3)"),
        (SCORES[0], [0], ValueError, "got shapes (1,) and (3,)"),
        (SCORES[0], [0, 1], ValueError, "got shapes (2,) and (3,)"),
    ],
)
def test_labels(name, scores, y, error, shown):
    shown = shown.format(METHODS[name])
    refused(lambda: evaluate(HINGE, name, scores, y), error, "y", shown)


@every_method
def test_ragged_lists(name):
    ragged = [[0.0, 1.0], [2.0]]
    refused(lambda: evaluate(HINGE, name, ragged), ValueError, METHODS[name])
    refused(lambda: evaluate(HINGE, name, SCORES, [[0], [0, 1]]), ValueError, "y")


@pytest.mark.parametrize("build", [fwlab.WeightedTopK, fwlab.StructuredHinge])
def test_ragged_parameters(build):
    name = "rho" if build is fwlab.WeightedTopK else "costs"
    refused(lambda: build([[0.0, 1.0], [1.0]]), ValueError, name)


@every_method
def test_no_rows_give_no_answers(name):
    answer = evaluate(HINGE, name, np.zeros((0, 3)), np.zeros(0, dtype=int))
    for part in answer if name == "moreau" else [answer]:
        assert part.shape in ((0,), (0, 3))


# ---------------------------------------------------------------- options

NOT_REAL = ["a", None, True, 1j, np.array([1.0, 2.0])]


@pytest.mark.parametrize("tol", [-1e-3, np.nan, np.inf])
def test_tolerance_is_not_negative(tol):
    refused(lambda: HINGE.in_domain(SCORES, Y, tol=tol), ValueError, "tol", ">= 0", f"got {tol}.")


@pytest.mark.parametrize("smoothing", [0, 0.0, -1.0, np.nan, np.inf])
def test_smoothing_is_positive(smoothing):
    shown = "> 0", f"got {smoothing}."
    refused(lambda: HINGE.moreau(SCORES, Y, smoothing), ValueError, "smoothing", *shown)


@pytest.mark.parametrize("value", NOT_REAL, ids=str)
def test_options_are_real_numbers(value):
    shown = f"a real number; got {value!r}."
    refused(lambda: HINGE.in_domain(SCORES, Y, tol=value), TypeError, "tol", shown)
    refused(lambda: HINGE.moreau(SCORES, Y, value), TypeError, "smoothing", shown)


@pytest.mark.parametrize(
    ("m", "y", "error", "argument", "shown"),
    [
        (1, 0, ValueError, "m", "at least 2; got 1"),
        (3.0, 0, TypeError, "m", "an integer; got 3.0"),
        (True, 0, TypeError, "m", "an integer; got True"),
        (3, 3, ValueError, "y", "in 0..2; got 3"),
        (3, -1, ValueError, "y", "in 0..2; got -1"),
        (3, 1.0, TypeError, "y", "an integer; got 1.0"),
    ],
)
def test_arguments_of_vertices(m, y, error, argument, shown):
    refused(lambda: HINGE.vertices(m, y), error, argument, shown)


@pytest.mark.parametrize(
    ("loss", "m", "count"),
    [
        (fwlab.TopK(10), 25, 3268761),
        (fwlab.Usunier(18), 18, 2**17),
        (fwlab.WeightedTopK(np.arange(9, 0, -1)), 9, 1 + 8 * 40320),
        (fwlab.TopK(2), 1000, 499501),
        (fwlab.TopK(200), 400, ""),
    ],
    ids=str,
)
def test_too_many_vertices(loss, m, count):
    shown = f"at most 100000 vertices; m={m} gives {count}"
    refused(lambda: loss.vertices(m, 0), ValueError, "m", shown)


def test_the_last_number_of_vertices_that_is_not_too_many(monkeypatch):
    monkeypatch.setattr("fwlab.losses.MOST_VERTICES", 7)
    assert len(fwlab.TopK(2).vertices(4, 0)) == 7
    refused(lambda: fwlab.Usunier(3).vertices(4, 0), ValueError, "m", "m=4 gives 8.")


@pytest.mark.parametrize("loss", [fwlab.WeightedTopK, fwlab.WeightedUsunier])
def test_weights_whose_squares_vanish_are_refused(loss):
    with pytest.raises(ValueError, match=r"^rho must start with at least 1e-150; got 1e-170\.$"):
        loss([1e-170, 1e-180])
    assert loss([1e-150, 1e-170]).rho == (1e-150, 1e-170)
