"""Input that scikit-learn or numpy would refuse in their own words, or not at all."""

import warnings

import numpy as np
import pandas as pd
import pytest

import fwlab

X = np.random.default_rng(0).normal(size=(40, 5))
LETTERS = list("abc") * 13
Y = np.array([*LETTERS, "a"])


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (pd.array([None, *LETTERS], dtype="string"), "NAType"),
        (np.array([np.nan, *LETTERS], dtype=object), "float"),
        (np.array([None, *LETTERS], dtype=object), "NoneType"),
        ([None, *LETTERS], "NoneType"),
    ],
    ids=["string", "nan", "None", "list"],
)
def test_missing_labels_are_refused_in_one_sentence(y, kind):
    sentence = f"y must hold labels of one kind, .*; got {kind}, str"
    with pytest.raises(TypeError, match=sentence):
        fwlab.TopKClassifier().fit(X, y)
    with pytest.raises(TypeError, match=sentence):
        fwlab.TopKClassifier().fit(X, Y).score(X, y)


def test_labels_that_are_objects_are_scored():
    machine = fwlab.TopKClassifier().fit(X, Y)
    right = (machine.predict(X) == Y).mean()
    assert machine.score(X, Y.astype(object)) == machine.score(X, Y) == right


@pytest.mark.parametrize("loss", ["cross-entropy", fwlab.CrossEntropy()], ids=str)
def test_parameters_that_a_loss_does_not_use_are_checked(loss):
    for k, error in ((-1, ValueError), (0, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="k must be"):
            fwlab.TopKClassifier(loss=loss, k=k).fit(X, Y)
    for weights in ("linear", [0.5, 0.5], np.array([0.5, 0.5])):
        with pytest.raises(ValueError, match='weights must be "flat" with loss='):
            fwlab.TopKClassifier(loss=loss, weights=weights).fit(X, Y)
    assert fwlab.TopKClassifier(loss=loss, k=2).fit(X, Y).predict_topk(X).shape == (40, 2)


def test_complex_samples_are_refused_in_one_line():
    machine = fwlab.TopKClassifier().fit(X, Y)
    for refused in (lambda: machine.fit(X + 1j, Y), lambda: machine.predict(X + 1j)):
        with pytest.raises(ValueError, match="X must be real; got dtype complex128") as caught:
            refused()
        assert "\n" not in str(caught.value)


def test_rows_whose_length_overflows_are_not_proved_and_give_no_warning():
    machine = fwlab.TopKClassifier().fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not machine.proved(X * 1e160).any()


def test_a_fold_of_one_class_is_named_in_the_singular():
    parts = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    search = fwlab.TopKSVCCV([0.1, 1.0], loss="cross-entropy", method="auto", cv=parts)
    with pytest.raises(ValueError, match="fold 0, which trains on 1 class: y must hold"):
        search.fit(X, np.repeat([0, 1], 20))


class Sparse:
    """A sparse tensor as torch has it, which numpy cannot read."""

    layout, dtype = "torch.sparse_coo", "torch.float32"

    def detach(self):
        return self

    def __array__(self, *arguments, **options):
        raise TypeError


def test_a_sparse_tensor_is_to_be_made_dense():
    with pytest.raises(
        TypeError, match=r"a sparse Sparse of .*: pass X\.detach\(\)\.cpu\(\)"
    ) as why:
        fwlab.TopKClassifier().fit(Sparse(), Y)
    assert str(why.value).endswith(".cpu().to_dense().float().numpy().")
