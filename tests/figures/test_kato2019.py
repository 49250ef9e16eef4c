"""Findings of K19's figures and tables from planted values, and the rows that they fit."""

import math
from dataclasses import replace

import numpy as np
import pytest

import fwlab
from figures.kato2019 import figure1, figure2, figure3, figure4, machines, news20, tables
from figures.kato2019.printed import TABLE_1, TABLES
from figures.kit.findings import FigureOutcome
from fwlab.experiments import DataName, Protocol

DIGITS = DataName("digits", rows=60)


def curve(first, last, end):
    """A run whose gap falls evenly on logarithmic axes: 1e-3 at `first`, `end` at `last`."""
    iterations = np.unique([1, 3, 10, first, 30, 100, last])
    slope = math.log(end / 1e-3) / math.log(last / first)
    gaps = 1e-3 * (iterations / first) ** slope
    reached = {"1e-3": [first, first / 100]} | ({"1e-5": [last, 1.0]} if end <= 1e-5 else {})
    return {"iteration": [0, *iterations], "gap": [1e9, *gaps], "reached": reached}


@pytest.mark.parametrize("divisor", ["", news20.LARGEST, news20.MEAN_SQUARE])
def test_a_scaling_is_a_constant(divisor):
    found = news20.scaled_trace(
        DIGITS, divisor, 2.0, loss=fwlab.TopK(2), method="fw", tol=0.0, max_iter=8, smoothing=0.1
    )
    data, n = DIGITS.load(), 60
    X = (
        data.X_train
        / {
            "": 1.0,
            news20.LARGEST: np.linalg.norm(data.X_train, axis=1).max(),
            news20.MEAN_SQUARE: np.sqrt(np.mean(np.linalg.norm(data.X_train, axis=1) ** 2)),
        }[divisor]
    )
    problem = fwlab.Problem(X, data.y_train, fwlab.TopK(2), 1 / (2.0 * n), 0.1, n_classes=10)
    expected = fwlab.solve(problem, "fw", tol=0.0, max_iter=8, check_every=1).trace
    assert found["gap"] == pytest.approx(expected.gap, rel=1e-9)


def test_the_sketch_agrees_unless_sdca_attains_the_optimum():
    square = {"true": [(0, 0), (0.5, 0), (0.5, 0.5), (0, 0.5)], "pseudo": [(0, 0), (0.5, 0.5)]}
    runs = {
        "sdca-lapin": {"gap": [1.0, 0.2], "own_gap": [1.0, 1e-9]},
        "ascent": {"gap": [1.0, 1e-9]},
    }
    values = {"domains": square, "runs": runs}
    assert figure1.finding(values, "standard").outcome is FigureOutcome.AGREES
    runs["sdca-lapin"]["gap"] = [1.0, 1e-9]
    assert figure1.finding(values, "standard").outcome is FigureOutcome.NOT_EXPLAINED


def sdca_and_fw(sdca_gap=1.34e-2, fw=(50, 890), afw=95, pfw=90):
    return {
        "sdca-lapin": {"gap": [1.0, sdca_gap], "last_primal": 0.5 + 4.17e-3},
        "auto": {"last_primal": 0.5},
        "fw": curve(*fw, 1e-5),
        "afw": curve(afw, 100, 1e-4),
        "pfw": curve(pfw, 100, 1e-4),
    }


def finding_2(chosen, others):
    readings = [r.name for r in figure2.READINGS]
    values = {f"{readings[0]}|{news20.run(m)}": v for m, v in chosen.items()}
    values |= {f"{name}|{news20.run(m)}": v for name in readings[1:] for m, v in others.items()}
    return figure2.finding(values, "standard")


def test_section_7_1_agrees_or_says_what_does_not():
    far = sdca_and_fw(sdca_gap=1e-5)
    assert finding_2(sdca_and_fw(), far).outcome is FigureOutcome.AGREES
    found = finding_2(sdca_and_fw(afw=50), far)
    assert found.outcome is FigureOutcome.NOT_EXPLAINED
    assert "FW is there sooner than AFW and PFW" in found.because
    assert "PFW takes fewer iterations than AFW" in found.because
    assert "FW 50, AFW 50, PFW 90" in found.because
    assert finding_2(sdca_and_fw(fw=(50, 1100)), far).outcome is FigureOutcome.NOT_EXPLAINED
    assert finding_2(far, far).outcome is FigureOutcome.NOT_EXPLAINED


def runs_of_figure_3(first):
    """Iterations to 1e-3 by smoothing; only FW slows down at 1e-2."""
    ends = {"fw": 1e-4, "afw": 1e-5, "pfw": 1e-5}
    return {
        news20.run(method, smoothing): curve(first[smoothing], 100, ends[method])
        for method in figure3.METHODS
        for smoothing in figure3.SMOOTHINGS
    }


def test_within_eight_iterations():
    near = runs_of_figure_3({0.1: 6, 0.01: 8, 1e-3: 20, 0.0: 22})
    far = runs_of_figure_3({0.1: 60, 0.01: 50, 1e-3: 60, 0.0: 55})
    chosen = figure3.READINGS[3].name
    values = {
        f"{reading.name}|{run}": value
        for reading in figure3.READINGS
        for run, value in (near if reading.name == chosen else far).items()
    }
    found = figure3.finding(values, "standard")
    assert (found.outcome, found.reading) == (FigureOutcome.AGREES, chosen)
    for method in ("afw", "pfw"):
        values[f"{chosen}|{news20.run(method, 0.1)}"] = curve(70, 100, 1e-4)
    assert figure3.finding(values, "standard").outcome is FigureOutcome.NOT_EXPLAINED


def test_the_gap_at_an_iteration_is_the_smallest_until_it():
    value = {"iteration": [0, 1, 4, 9], "gap": [5.0, 2.0, 3.0, 0.5]}
    assert [figure4.gap_at(value, i) for i in (1, 3, 4, 9, 100)] == [2.0, 2.0, 2.0, 0.5, 0.5]


def planted_table(name, exact, machine_of_lapin):
    """Values of a table: printed accuracies on the rows `exact`, 0.1 off elsewhere."""
    chosen = machines.grid("standard")
    values = {}
    for cell in machines.cells("standard", [name]):
        label, machine, _ = cell.name.removeprefix(f"{name}, ").rsplit(", ", 2)
        row, k = machine.split(" ")[0], int(machine.split("k=")[1].split(" ")[0])
        row = {"pseudo": "Chu", machine_of_lapin: "Lapin"}.get(row, row)
        line = TABLES[name].get(row, TABLES[name]["Chu"])[machines.KS.index(k)]
        off = 0.0 if label == exact and row in TABLES[name] else 0.1
        fit = {"accuracy": [a - off for a in line], "gap": 0.0, "own_gap": None, "n_test": 3000}
        values[cell.name] = [fit] * len(chosen.protocol.Cs)
    return values


def test_a_table_chooses_its_reading_and_confirms_it():
    values = planted_table("News20", machines.HALF, machines.USUNIER)
    found = tables.finding(values, "standard", "News20")
    assert found.outcome is FigureOutcome.NOT_EXPLAINED and found.n_readings == 4
    assert machines.HALF in found.reading and "Usunier" in found.reading
    values = planted_table("News20", "", machines.USUNIER)
    assert tables.finding(values, "standard", "News20").outcome is FigureOutcome.NOT_EXPLAINED
    assert tables.finding({}, "standard", "News20").outcome is FigureOutcome.NOTHING


def test_the_best_of_each_column():
    entries = {
        (row, k): [tables.Chosen(a, 0.0, False, 10) for a in TABLES["Letter"][row][i]]
        for row in machines.ROWS
        for i, k in enumerate(machines.KS)
    }
    best = tables.best_entries(entries)
    assert {r: tuple(e.accuracy for e in line) for r, line in best.items()} == TABLE_1["Letter"]


def test_the_distance_is_in_standard_errors():
    rng = np.random.default_rng(0)
    both = rng.binomial(5000, 0.75, (2, 20_000)) / 5000
    near = [
        tables.distance(tables.Chosen(a, 0.0, False, 5000), b) <= 1
        for a, b in zip(*both, strict=True)
    ]
    assert 0.94 < np.mean(near) < 0.98


def test_halves_share_no_row():
    data = DataName("digits", rows=40)
    whole, half = data.load(), machines.parts(data, 31)
    assert machines.parts(data, None) is whole
    assert (len(half.y_train), len(half.y_test)) == (16, 15)
    rows = {tuple(row) for row in np.vstack([whole.X_train, whole.X_test])}
    assert len(rows) == 80
    train, test = ({tuple(row) for row in X} for X in (half.X_train, half.X_test))
    assert not train & test and train | test <= rows
    protocol = Protocol((1.0,), (1,), n_folds=2, max_iter=5)
    (fit,) = machines.fit_rows(
        data, 31, loss=fwlab.TopK(1), smoothing=0.0, fold="test", protocol=protocol
    )
    assert fit["n_test"] == 15


def test_a_reading_can_fix_c():
    fits = [{"accuracy": [a], "gap": 0.0, "own_gap": None, "n_test": 9} for a in (0.7, 0.2)]
    protocol = Protocol((1.0, 10.0), (1,), n_held_out=1)
    values = {"x, ours, fold 0": fits, "x, ours, fold test": fits}
    found = tables.CrossValidation.of("x", ["ours"], protocol, values)
    assert tables.choose(found, ["ours"], 0, None).accuracy == 0.7
    assert tables.choose(found, ["ours"], 0, 10.0).accuracy == 0.2
    off = replace(tables.choose(found, ["ours"], 0, 10.0), accuracy=0.3)
    assert off.n_test == 9
