"""Cross-validation along C: the folds, the fits, and the choice."""

import os
import signal

import numpy as np
import pytest

import fwlab
from fwlab.experiments import cross_validation as sweeps
from fwlab.experiments.cross_validation import CrossValidation, Protocol, accuracy_path, fold_of_row
from fwlab.experiments.data_name import DataName

DIGITS = DataName("digits", "unit", rows=120)
PROTOCOL = Protocol(Cs=(0.1, 1.0), ks=(1, 3), n_folds=3, max_iter=200, check_every=1)


@pytest.mark.small
def test_folds_are_stratified_and_repeatable():
    y = np.repeat([0, 1, 2], [9, 30, 4])
    folds = fold_of_row(y, 3, rng=0)
    counts = np.array([[np.sum((y == c) & (folds == f)) for f in range(3)] for c in range(3)])
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    assert counts.sum(axis=0).max() - counts.sum(axis=0).min() <= 1
    assert np.array_equal(folds, fold_of_row(y, 3, rng=0))
    assert not np.array_equal(folds, fold_of_row(y, 3, rng=1))


def test_each_fit_is_that_of_solve():
    data = DIGITS.load()
    held_out = fold_of_row(data.y_train, 3, 0) == 1
    X, y = data.X_train[~held_out], data.y_train[~held_out]
    entries = accuracy_path(DIGITS, fwlab.TopK(2), 0.01, 1, PROTOCOL)
    for entry, C in zip(entries, PROTOCOL.Cs, strict=True):
        problem = fwlab.Problem(X, y, fwlab.TopK(2), 1 / (C * len(y)), smoothing=0.01)
        result = fwlab.solve(problem, tol=1e-9, max_iter=5000)
        assert entry["status"] == "CONVERGED" and entry["gap"] <= 1e-3
        assert result.dual - 1e-9 <= entry["primal"] <= result.primal + 1e-3
        scores = data.X_train[held_out] @ result.W.T
        for k, accuracy in zip(PROTOCOL.ks, entry["accuracy"], strict=True):
            expected = fwlab.metrics.topk_accuracy(data.y_train[held_out], scores, k)
            assert accuracy == pytest.approx(expected, abs=0.08)


def test_the_test_fold_trains_on_all_rows():
    data = DIGITS.load()
    X, _, X_new, y_new = sweeps.split(data, "test", PROTOCOL)
    assert X is data.X_train and X_new is data.X_test and y_new is data.y_test
    with pytest.raises(ValueError, match="data must have a valid part; 'digits' has none"):
        sweeps.split(data, "valid", PROTOCOL)


def test_the_other_loss_is_reported_with_its_own_gap():
    entry = accuracy_path(DIGITS, fwlab.TopK(2), 0.0, "test", PROTOCOL, method="sdca-lapin")[-1]
    assert entry["status"] == "SOLVED_OTHER_PROBLEM"
    assert entry["own_gap"] <= 1e-3 < entry["gap"]


def test_the_choice_reads_the_folds_alone():
    validation = {"a": np.zeros((2, 2, 2)), "b": np.zeros((2, 2, 2))}
    validation["b"][:, 1, 0] = (0.9, 0.5)
    validation["a"][:, 0, 0] = (0.8, 0.5)
    validation["a"][:, 1, 1] = validation["b"][:, 0, 1] = 0.6
    test = {"a": np.ones((2, 2)), "b": np.zeros((2, 2))}
    found = CrossValidation(PROTOCOL, validation, test, {}, "")
    assert found.best(["a", "b"], 0) == ("b", 1)
    assert found.best(["b", "a"], 0) == ("b", 1)
    assert found.best(["a"], 0) == ("a", 0)
    assert found.best(["a", "b"], 1) == ("a", 1)


def test_cross_validate_stores_and_answers(tmp_path):
    machines = {"top-2": {"loss": fwlab.TopK(2)}, "hinge": {"loss": fwlab.MaxHinge()}}
    found = fwlab.cross_validate(DIGITS, machines, (0.1, 1.0), ks=(1, 3), n_folds=2, out=tmp_path)
    assert found.validation["hinge"].shape == (2, 2, 2)
    assert found.test["top-2"].shape == (2, 2)
    machine, C_index = found.best(list(machines), 0)
    fit = found.fit(machine, C_index)
    assert fit["accuracy"] == found.test[machine][C_index].tolist()
    assert len(list(tmp_path.glob("*.json"))) == 6
    with pytest.raises(ValueError, match="Cs must be an ascending list"):
        fwlab.cross_validate(DIGITS, machines, (1.0, 0.1), out=tmp_path)


def test_an_interrupted_path_ends():
    data = DIGITS.load()
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), 1.0)

    def press(state):
        if state.iteration == 1:
            os.kill(os.getpid(), signal.SIGINT)

    results = fwlab.path(problem, [0.1, 1.0, 10.0], tol=0.0, max_iter=30, callback=press)
    assert len(results) == 1 and results[0].status is fwlab.Status.INTERRUPTED


@pytest.mark.small
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_topk_accuracy_counts_ties_against(k):
    rng = np.random.default_rng(k)
    scores, y = rng.integers(0, 3, (200, 5)).astype(float), rng.integers(0, 5, 200)
    right = [
        sum(scores[i, j] >= scores[i, y[i]] for j in range(5) if j != y[i]) < k for i in range(200)
    ]
    assert fwlab.metrics.topk_accuracy(y, scores, k) == np.mean(right)


@pytest.mark.small
def test_topk_accuracy_refuses_what_it_cannot_count():
    scores = np.zeros((3, 2))
    for y, k, sentence in (
        ([0, 1], 1, "y must have 3 entries"),
        ([0, 1, 2], 1, r"y must be in 0\.\.1; got 2"),
        ([0, 1, 0], 3, r"k must be in 1\.\.2; got 3"),
    ):
        with pytest.raises(ValueError, match=sentence):
            fwlab.metrics.topk_accuracy(y, scores, k)
