"""The tables of large k, passes over faces, float32 and searches are made; no time is tested."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import fwlab
from figures.benchmarks import face_passes, grid_search, large_k, single_precision


def lines(capsys):
    return capsys.readouterr().out.splitlines()


def test_grid_search_table(monkeypatch, capsys):
    X, y = load_digits(return_X_y=True)
    monkeypatch.setattr(grid_search, "GRID", {"C": [0.01, 0.1]})
    monkeypatch.setattr(grid_search, "load_digits", lambda return_X_y: (X[:200], y[:200]))
    grid_search.run(quick=True)
    rows = [line.strip("|").split("|") for line in lines(capsys)[2:]]
    assert [row[1].strip() for row in rows] == 2 * ["TopKSVC", "LogisticRegression"]
    for ours, peer in (rows[:2], rows[2:]):
        quotient = float(ours[2]) / float(peer[2])
        assert float(ours[4]) == pytest.approx(quotient, rel=0.2, abs=0.01)
        assert all(0.8 < float(row[3]) < 1 for row in (ours, peer))


def test_large_k_table(monkeypatch, capsys):
    monkeypatch.setattr(large_k, "SIZES", {(90, 8, 9): (3, 1)})
    large_k.run(quick=True)
    rows = [line.split() for line in lines(capsys)[2:]]
    assert [row[5] for row in rows] == ["3", "1"] and rows[0][8] == "1.00"
    for row in rows:
        assert float(row[7]) == pytest.approx(1e3 * float(row[6]) / 90, rel=0.2, abs=0.2)
    changed, flops = ([float(row[place]) for row in rows] for place in (9, 10))
    assert flops == pytest.approx([1.0, (9 + changed[1]) / (9 + changed[0])], abs=0.02)


def test_changes_are_those_of_one_pass(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 5)), rng.integers(0, 3, 40)
    problem = fwlab.Problem(X, y, fwlab.TopK(1), C=1.0)
    monkeypatch.setattr(large_k, "BEFORE", 0)
    first = fwlab.solve(problem, "ascent", tol=0.0, max_iter=1, shrink=False)
    assert large_k.changes(problem) == np.count_nonzero(first.A) / 40 > 0


@pytest.mark.turns
def test_passes_over_faces_are_timed_and_counted(monkeypatch, capsys):
    data = fwlab.datasets.synthetic(300, 6, 5, 0.25, rng=0, normalize="unit")
    monkeypatch.setattr(face_passes, "SETS", ("", "letter"))
    monkeypatch.setattr(face_passes.fwlab.datasets, "load", lambda name, normalize: data)
    monkeypatch.setattr(face_passes, "rates", lambda: (1.0, 1.0, 10.0, 1.0))
    monkeypatch.setattr(face_passes, "milliseconds", lambda *calls: {"": 100.0})
    face_passes.run(quick=True)
    [row] = (line.split() for line in lines(capsys)[2:])
    assert row[0] == "letter" and float(row[3]) > 0
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(3), C=1.0)
    everything, seconds, products = face_passes.seconds_and_products(problem)
    assert everything > 0 and seconds > 0
    # a face holds two classes at least, and a visit has at most fifty passes over 300 rows
    assert 0 < products <= 10 * 50 * 300 * 5
    assert float(row[1]) == pytest.approx(products / 1000, abs=0.5)
    # SQUARE^3 products of numbers in a tenth of a second
    of_flops = 1e-3 * float(row[2]) * 10 * face_passes.SQUARE**3 / (products * 6)
    assert float(row[4]) == pytest.approx(of_flops, rel=0.1)
    of_bytes = 1e-3 * float(row[2]) * 10e9 / (24 * products * data.X_train.shape[1])
    assert float(row[5]) == pytest.approx(of_bytes, rel=0.1)


@pytest.mark.turns
def test_single_precision_table(capsys):
    single_precision.run(quick=True)
    row = lines(capsys)[-1].strip("| ").split(" | ")
    n, _, m = single_precision.QUICK
    assert row[0] == "600 x 16 x 5" and float(row[1]) > 0
    X, _ = single_precision.samples(single_precision.QUICK)
    assert X.dtype == np.float32
    assert float(row[2]) == pytest.approx(8 * n * m / X.nbytes, abs=0.05)
    assert all(float(cell) >= 0 for cell in row[3:])
