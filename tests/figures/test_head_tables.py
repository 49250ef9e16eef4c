"""The tables about linear heads: parts of a set, the choice of C, and their lines."""

import multiprocessing
from typing import ClassVar

import numpy as np
import pytest

import fwlab
from figures.benchmarks import choice, defaults, heads


def small_parts(name, normalize):
    data = fwlab.datasets.synthetic(120, 5, 4, 1.0, rng=0, n_test=40)
    X, y = data.X_train, data.y_train
    return choice.ThreeParts(X[:80], y[:80], X[80:], y[80:], data.X_test, data.y_test)


def cells(printed):
    return [line.strip("| ").split(" | ") for line in printed.splitlines()]


class Scripted:
    """A head whose validation scores were written down for each C."""

    classes_ = np.arange(3)
    # how many of the four samples are right for k = 1, and for k = 2
    right: ClassVar = {
        0.1: (1, 3),
        1.0: (3, 3),
        10.0: (2, 4),
        100.0: (3, 1),
        1e3: (2, 2),
        1e4: (4, 4),
    }

    def __init__(self, C):
        self.C = C

    def get_params(self):
        return {"C": self.C}

    def set_params(self, C):
        self.C = C

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        first, second = self.right[self.C]
        scores = np.tile([0.0, 1.0, 2.0], (len(X), 1))
        scores[:second, 0] = 1.5
        scores[:first, 0] = 3.0
        return scores


def test_C_ascends_until_two_in_a_row_are_worse_for_each_k():
    X, y = np.zeros((4, 1)), np.zeros(4, int)
    data = choice.ThreeParts(X, y, X, y, X, y)
    found = choice.choose(lambda C, n: Scripted(C), data, (1, 2), list(Scripted.right))
    # the fourth C is as good as the second for top-1
    assert found.C == [1e4, 10.0] and list(found.accuracies) == list(Scripted.right)
    shorter = {**Scripted.right, 100.0: (1, 1)}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Scripted, "right", shorter)
        found = choice.choose(lambda C, n: Scripted(C), data, (1, 2), list(shorter))
        assert found.C == [1.0, 10.0] and list(found.accuracies)[-1] == 1e3
        patched.setattr(choice, "LONG", -1.0)
        found = choice.choose(lambda C, n: Scripted(C), data, (1, 2), list(shorter))
        assert found.C == [0.1, 0.1] and list(found.accuracies) == [0.1]


def test_a_large_set_is_cut_within_each_class(monkeypatch):
    monkeypatch.setattr(choice, "MOST_ROWS", 500)
    found = choice.parts("digits", "unit")
    assert len(found.y_train) == 400 and len(found.y_valid) == 100
    assert np.ptp(np.bincount(found.y_valid)) <= 2
    assert np.linalg.norm(found.X_train, axis=1) == pytest.approx(1.0)


def test_a_set_that_is_not_here_is_left_out(monkeypatch, tmp_path):
    monkeypatch.setenv("FWLAB_DATA", str(tmp_path))
    monkeypatch.setattr(fwlab.datasets, "load", no_file)
    assert list(choice.data_sets(["letter"])) == []


def no_file(name, normalize):
    raise FileNotFoundError(name)


def test_k_is_smaller_than_the_number_of_classes():
    data = small_parts("", None)
    assert choice.heads(data)[:2] == ["TopKSVC, k = 1", "TopKClassifier"]
    assert choice.heads(data._replace(y_train=np.arange(11))) == list(choice.HEADS)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="heads are measured in forks"
)
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_table_of_heads(monkeypatch, capsys):
    monkeypatch.setattr(choice, "parts", small_parts)
    heads.run(quick=True)
    header, _, *rows = cells(capsys.readouterr().out)
    assert len(header) == 10
    assert [row[:3] for row in rows] == [
        ["digits", "80 x 5 x 4", head]
        for head in ("TopKSVC, k = 1", "TopKClassifier", "LogisticRegression", "LinearSVC")
    ]
    for row in rows:
        assert {float(row[3]), float(row[5])} <= set(choice.CS) and 0.2 < float(row[4]) < float(
            row[6]
        ) == 1.0
        assert float(row[7]) >= 0 and float(row[8]) >= 0 and int(row[9]) >= 0


def test_every_head_minimises_its_objective_with_C():
    """The heads have weights of one size, whatever they call their constant."""
    data = small_parts("", None)
    X, y, norms = data.X_train, data.y_train, {}
    for name, make in choice.HEADS.items():
        if not name.startswith("TopKSVC, k = "):
            head = choice.fitted(make(1e-3, len(y)), X, y)
            norms[name] = np.linalg.norm(head.coef_)
    assert max(norms.values()) < 8 * min(norms.values())


def test_tables_of_defaults(monkeypatch, capsys):
    monkeypatch.setattr(choice, "parts", small_parts)
    monkeypatch.setattr(defaults, "TESTED", (1, 3))
    defaults.run(quick=True)
    tols, intercepts, ks = (cells(part) for part in capsys.readouterr().out.split("\n\n"))
    assert [(row[1], float(row[3])) for row in tols[2:]] == [
        (head, tol) for head in defaults.HEADS for tol in defaults.TOLS
    ]
    assert float(tols[2][6]) <= float(tols[7][6]) and not any("*" in row[4] for row in tols[2:])
    assert [row[:3] for row in intercepts[2:]] == [
        ["digits", scaling, head] for scaling in ("raw", "standard") for head in defaults.HEADS
    ]
    assert [row[1] for row in ks[2:]] == ["1", "2", "3"]


def test_a_fit_that_its_cap_ended_has_a_star(monkeypatch):
    monkeypatch.setattr(defaults, "MAX_ITER", 1)
    monkeypatch.setattr(defaults, "TOLS", (1e-9,))
    assert all(row[3].endswith("*") for row in defaults.tol_rows(small_parts("", None)))
