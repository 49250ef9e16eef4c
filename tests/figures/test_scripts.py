"""Numbers of single scripts: geometry, baselines, choices and the printed numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import fwlab
from figures.kato2019 import figure1 as kato2019_figure1
from figures.kato2019 import figure2 as kato2019_figure2
from figures.kato2019 import machines as kato2019_machines
from figures.kato2019.printed import TABLE_1, TABLES
from figures.kit import own_files
from figures.kit.script import script
from figures.kit.study import Study
from figures.kit.traces import trace
from figures.lapin2015 import figure2 as lapin2015_figure2
from figures.lapin2015 import figure3 as lapin2015_figure3
from figures.lapin2015 import tables as lapin2015_tables
from figures.lapin2015.tables import PRINTED as L15_PRINTED
from figures.lei2015 import corollary8 as lei2015_corollary8
from figures.lei2015 import table2 as lei2015_table2
from fwlab import ranking
from fwlab.experiments.cross_validation import Protocol
from fwlab.experiments.data_name import DataName

DIGITS = DataName("digits", "unit", rows=60)
PROTOCOL = Protocol((0.1, 1.0), (1, 2), n_folds=2, max_iter=300, check_every=1)


def as_set(points):
    return {tuple(np.round(point, 12) + 0.0) for point in np.asarray(points)}


def test_the_domains_are_a_square_and_its_diagonal():
    found = kato2019_figure1.domains(3, 2)
    square = [(0, 0), (0.5, 0), (0.5, 0.5), (0, 0.5)]
    assert as_set(found["true"]) == as_set(square)
    assert as_set(found["pseudo"]) == as_set([(0, 0), (0.5, 0.5)])
    corners = np.array([*found["true"], found["true"][0]])
    assert np.abs(np.diff(corners, axis=0)).sum(axis=1) == pytest.approx(0.5)  # in order


def test_sdca_stops_on_the_diagonal_and_ascent_at_the_optimum():
    found = kato2019_figure1.runs(24)
    blocks = {method: np.array(found[method]["block"]) for method in kato2019_figure1.RUNS}
    assert blocks["sdca-lapin"][:, 0] == pytest.approx(blocks["sdca-lapin"][:, 1])
    assert blocks["ascent"][-1] == pytest.approx(found["optimum"], abs=1e-3)
    assert found["sdca-lapin"]["own_gap"][-1] < 1e-6 < 0.1 < found["sdca-lapin"]["gap"][-1]
    # where SDCA ends, the dual still rises away from the diagonal
    last = kato2019_figure1.surface(found["sdca-lapin"]["dual"][-1])
    assert last.max() > last.diagonal().max() + 1e-3


def test_the_surface_goes_through_the_block():
    training, last = kato2019_figure1.problem(), kato2019_figure1.GRID - 1
    A = fwlab.solve(training, tol=1e-9, max_iter=500).A
    for row, y in enumerate(training.y):
        values = kato2019_figure1.surface(kato2019_figure1.quadratic(training, A, row))
        assert values.max() <= training.dual(A) + 1e-8
        moved = A.copy()
        first, second = kato2019_figure1.others(y)
        moved[row, [first, second, y]] = (-5 / last / 2, -20 / last / 2, 25 / last / 2)
        assert values[20, 5] == pytest.approx(training.dual(moved), abs=1e-12)


@pytest.mark.parametrize(("k", "vertices", "edges"), [(1, 4, 6), (2, 4, 6), (3, 2, 1)])
def test_the_topk_simplex(k, vertices, edges):
    found = lapin2015_figure2.simplex(3, k)
    assert len(found["vertices"]) == vertices and len(found["edges"]) == edges
    assert found["moved"] < 1e-12
    assert as_set(found["vertices"]) >= {(0.0, 0.0, 0.0)}


def test_times_of_projections_are_positive_and_scaled():
    found = lapin2015_figure3.milliseconds(50, 20)
    assert set(found) == set(lapin2015_figure3.SETS) and min(found.values()) > 0


def test_one_versus_all_is_a_hinge_svm_for_each_class():
    data = DIGITS.load()
    entries = lapin2015_tables.one_versus_all(DIGITS, "test", replace(PROTOCOL, tol=1e-9))
    X, n = data.X_train, len(data.y_train)
    C = PROTOCOL.Cs[-1]
    machines = []
    for c in range(data.n_classes):
        sign = np.where(data.y_train == c, 1.0, -1.0)
        # min 1/(2 n C) |w|^2 + (1/n) sum max(0, 1 - sign w x), by its box-constrained dual
        Z = sign[:, None] * X

        def minus_dual(a, Z=Z):
            w = C * (a @ Z)
            return w @ w / (2 * C) - a.sum(), Z @ w - 1

        a = minimize(minus_dual, np.zeros(n), jac=True, bounds=[(0, 1)] * n, tol=1e-14).x
        machines.append(C * (a @ Z))
    scores = data.X_test @ np.array(machines).T
    expected = fwlab.metrics.topk_accuracy(data.y_test, scores, 1)
    assert entries[-1]["accuracy"][0] == pytest.approx(expected, abs=0.02)
    assert entries[-1]["status"] == "0 of 10 capped"


def test_toppush_compares_the_decisions_of_its_machines():
    data = DIGITS.load()
    decisions = np.empty((len(data.y_test), 10))
    for c in range(10):
        y = (data.y_train == c).astype(int)
        result = ranking.solve(data.X_train, y, ranking.TopPush(), C=0.1, tol=1e-6)
        decisions[:, c] = result.decision_function(data.X_test)
    (entry,) = lapin2015_tables.toppush(DIGITS, "test", PROTOCOL, (0.1,))
    for k, accuracy in zip(PROTOCOL.ks, entry["accuracy"], strict=True):
        expected = fwlab.metrics.topk_accuracy(data.y_test, decisions, k)
        assert accuracy == pytest.approx(expected, abs=0.02)


def test_a_new_cut_keeps_all_rows():
    given, cut = DIGITS.load(), lei2015_table2.recut(DIGITS, 1)
    assert len(cut.y_train) == len(given.y_train) and len(cut.y_test) == len(given.y_test)
    both = [np.sort(np.append(d.y_train, d.y_test)) for d in (given, cut)]
    assert np.array_equal(*both)
    assert np.linalg.norm(cut.X_train.sum(0) + cut.X_test.sum(0)) == pytest.approx(
        np.linalg.norm(given.X_train.sum(0) + given.X_test.sum(0))
    )
    assert not np.array_equal(cut.y_train, given.y_train)
    assert np.array_equal(cut.y_train, lei2015_table2.recut(DIGITS, 1).y_train)


def test_each_p_is_another_machine():
    paths = [lei2015_table2.repetition_path(DIGITS, p, 0, "test", PROTOCOL) for p in (1.5, 2.0)]
    assert all(entry["gap"] <= PROTOCOL.tol for path in paths for entry in path)
    # |W| for p < 2 is the larger norm
    assert all(a["primal"] > b["primal"] + 1e-3 for a, b in zip(*paths, strict=True))


def test_risk_and_bounds_are_those_of_one_machine():
    c, n, n_test = 4, 80, 50
    found = lei2015_corollary8.risk_and_bounds(c, 2.0, n, n_test, draws=20)
    data = fwlab.datasets.synthetic(n, 50, c, 0.4, rng=0, normalize="unit", n_test=n_test)
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.MaxHinge(), 0.02, n_classes=c)
    result = fwlab.solve(problem, tol=1e-9, max_iter=1000)
    wrong = result.predict(data.X_test) != data.y_test
    assert found["risk"] == pytest.approx(wrong.mean(), abs=2 / n_test)
    # Lambda = 10 admits the machine; trace = n for unit rows
    assert np.linalg.norm(result.W) <= 10
    shared = found["mean_loss"] + found["confidence"]
    margins = fwlab.MaxHinge().value(data.X_train @ result.W.T, data.y_train)
    assert found["mean_loss"] == pytest.approx(np.minimum(margins, 1).mean(), abs=0.01)
    assert found["corollary_8"] - shared == pytest.approx(20 / n**0.5 * 4**1.5 * c**0.5)
    # E |sum_i sigma_i x_i| is at most sqrt(n), here estimated from 200 draws
    assert 0.8 < (found["remark_6"] - shared) / (4 * c * 10 / n**0.5) < 1.03
    assert shared < found["theorem_5"] < found["corollary_8"]
    # of (6): a machine of the fresh rows, judged on the training rows
    strength = 0.02 * n / (n + 1)
    other = fwlab.Problem(data.X_test, data.y_test, fwlab.MaxHinge(), strength, n_classes=c)
    W = fwlab.solve(other, tol=1e-9, max_iter=1000).W
    hinge = fwlab.MaxHinge().value(data.X_train @ W.T, data.y_train).mean()
    least = hinge + strength / 2 * np.linalg.norm(W) ** 2
    assert found["equation_6"] == pytest.approx(least + 2 / (0.02 * n), abs=0.02)


def test_at_k_1_all_weightings_are_one_machine():
    found = kato2019_machines.machines(kato2019_machines.grid("quick"), "Letter")
    assert sum("k=1" in name and name[0] in "ole" for name in found) == 1
    assert kato2019_machines.machine("exp", 1, 0.1) == kato2019_machines.machine("ours", 1, 0.1)
    assert isinstance(found["linear k=3 smoothing=0"]["loss"], fwlab.WeightedTopK)


def test_the_readers_own_features_join_the_tables(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 5
    parts = {"X_train": X[:20], "y_train": y[:20], "X_test": X[20:], "y_test": y[20:]}
    for file in ("cub.npz", "sector.npz", "indoor67.npz", "sun397.npz"):
        np.savez(tmp_path / file, **parts)
    monkeypatch.setenv("FWLAB_DATA", str(tmp_path))
    assert list(own_files.own_data(["ALOI", "CUB"])) == ["CUB"]
    assert all(c.name.startswith("CUB, ") for c in kato2019_machines.cells("standard", ["CUB"]))
    assert list(kato2019_machines.sources("standard", ["ALOI", "CUB"])) == ["CUB"]
    (cell,) = (c for c in script("lei2015_table1").cells("standard") if c.name == "Sector")
    assert cell.function(**cell.settings) == [5, 20, 10, 4]
    assert any(
        c.name.startswith("Indoor67, ") for c in script("lapin2015_table1").cells("standard")
    )
    assert {c.settings["fold"] for c in script("lapin2015_table2").cells("standard")} == {0, "test"}
    cells = [c for c in lei2015_table2.cells("standard") if c.name.startswith("Sector, p = 2,")]
    cell = cells[-1]
    path = cell.function(**{**cell.settings, "protocol": replace(PROTOCOL, ks=(1,))})
    assert cell.name.endswith("fold test") and 0 <= path[-1]["accuracy"][0] <= 1


def store_planted(study, cells, alone=False):
    """In place of Study.compute: the same accuracy everywhere."""
    fit = {
        "accuracy": [0.5] * 6,
        "gap": 1e-4,
        "own_gap": None,
        "status": "0 of 5 capped",
        "n_test": 100,
    }
    values = {
        cell.name: [{"C": C, **fit} for C in cell.settings.get("Cs", cell.settings["protocol"].Cs)]
        for cell in cells
    }
    record = {"size": study.size, "command": "", "version": "", "data": [], "values": values}
    study.folder.mkdir(parents=True)
    (study.folder / f"{study.name}.json").write_text(json.dumps(record))


@pytest.mark.parametrize("at_the_run", [True, False])
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("kato2019_table1", "cub.npz"),
        ("kato2019_table4", "cub.npz"),
        ("lapin2015_table1", "indoor67.npz"),
        ("lei2015_table2", "sector.npz"),
    ],
)
def test_drawing_asks_for_no_data(name, file, at_the_run, tmp_path, monkeypatch):
    monkeypatch.setattr(Study, "compute", store_planted)
    study = Study("example", "standard", tmp_path / "out")

    def drawn(folder):
        monkeypatch.setenv("FWLAB_DATA", str(tmp_path / folder))
        return [path.read_text() for path in script(name).plot(study)]

    for folder in ("with", "without"):
        (tmp_path / folder).mkdir()
    (tmp_path / "with" / file).touch()
    monkeypatch.setenv("FWLAB_DATA", str(tmp_path / ("with" if at_the_run else "without")))
    script(name).compute(study)
    assert drawn("with") == drawn("without")
    assert (file in "".join(drawn("with"))) != at_the_run  # the caption says where it belongs


def test_a_table_says_what_is_lacking_and_where_it_belongs():
    told = own_files.missing(["Sector", "Rcv1"])
    assert "Sector, Rcv1: the features are unavailable here" in told
    assert told.endswith("FWLAB_DATA as sector.npz, rcv1.npz.")
    assert own_files.missing([]) == ""


def test_printed_numbers_are_consistent():
    for name, machines in TABLES.items():
        for row, lines in machines.items():
            best = [max(column) for column in zip(*lines, strict=True)]
            assert tuple(best) == TABLE_1[name][row]
            assert all(list(line) == sorted(line) for line in lines)
    for machine, line in ((m, row) for found in L15_PRINTED.values() for m, row in found.items()):
        assert list(line) == sorted(line) and len(line) == 6, machine
    for found in L15_PRINTED.values():
        same = zip(found["top-1 SVM alpha"], found["top-1 SVM beta"], strict=True)
        assert all(abs(a - b) < 0.03 for a, b in same)


def test_a_trace_keeps_its_ends_and_what_was_reached():
    value = trace(DIGITS, fwlab.TopK(2), "ascent", tol=1e-5, max_iter=500)
    data = DIGITS.load()
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), 1 / 60, n_classes=10)
    result = fwlab.solve(problem, tol=1e-5, max_iter=500, check_every=1)
    whole = result.trace
    assert (
        value["iteration"][0] == 0 and value["iteration"][-1] == result.nit == value["iterations"]
    )
    assert value["last_gap"] == result.gap
    first = whole.iteration[np.flatnonzero(whole.gap <= 1e-3)[0]]
    assert value["reached"]["1e-3"][0] == first
    assert "1e-9" not in value["reached"]


def test_numbers_of_the_prose_are_read_from_the_runs():
    runs = {"fw": (0.5, 1e-6, {"1e-3": [3, 0.25]}), "pfw": (0.5, 1e-2, {})}
    runs |= {m: (0.7, 0.1, {}) for m in kato2019_figure2.SDCA}
    values = {
        f"data|{m}": {"last_primal": p, "gap": [1.0, gap], "reached": reached}
        for m, (p, gap, reached) in runs.items()
    }
    read = kato2019_figure2.measured
    assert read(values, "fw: seconds to a gap of 1e-3", "data") == 0.25
    assert read(values, "pfw: seconds to a gap of 1e-3", "data") is None
    assert read(values, "sdca: smallest gap", "data") == 0.1
    what = "sdca: smallest primal at the end minus that of fw"
    assert read(values, what, "data") == pytest.approx(0.2)
