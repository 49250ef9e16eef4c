"""Seeds and repetitions: every run is made, in turn, stored under its own name, and shown."""

import csv
import tomllib
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from test_record import problem, solved  # noqa: F401 - a fixture

import fwlab
from fwlab.experiments import RunKey, compare, runs
from fwlab.experiments.record import Record
from fwlab.solvers.frank_wolfe import FrankWolfe

METHODS = ["bcfw", "fw"]
SETTINGS = {"max_iter": 4, "tol": 0.0}


def test_every_method_runs_for_every_seed_and_repetition():
    comparison = compare(problem(), METHODS, **SETTINGS, rng=[3, 1], repeat=2)
    keys = [RunKey("problem", *rest) for rest in product(METHODS, (3, 1), (0, 1))]
    assert list(comparison.runs) == keys
    assert (comparison.seeds, comparison.repeat) == ((3, 1), 2)
    for key, result in comparison.runs.items():
        alone = fwlab.solve(problem(), key.method, **SETTINGS, rng=key.seed, check_every=1)
        np.testing.assert_array_equal(result.A, alone.A)
    assert list(comparison.results) == [("problem", method) for method in METHODS]
    assert comparison.results["problem", "bcfw"] is comparison.runs[keys[0]]


def test_one_seed_is_a_plain_comparison():
    plain, listed = (compare(problem(), METHODS, **SETTINGS, rng=rng) for rng in (2, [2]))
    assert list(plain.runs) == list(listed.runs)
    assert plain.table().splitlines()[0] == listed.table().splitlines()[0]


def test_rounds_are_interleaved(monkeypatch):
    made = []

    def solve(a_problem, method, *, rng, **options):
        made.append((a_problem.lam, type(method).__name__, rng))
        return fwlab.solve(a_problem, method, rng=rng, **options)

    monkeypatch.setattr(runs, "solve", solve)
    problems = {"a": problem(), "b": problem(lam=0.2)}
    compare(problems, METHODS, **SETTINGS, rng=[0, 7], repeat=2)
    names = ("BlockFrankWolfe", "FrankWolfe")
    one_round = [(lam, name, seed) for lam in (0.1, 0.2) for seed in (0, 7) for name in names]
    assert made == 2 * one_round


def test_a_run_is_the_same_whether_it_is_watched_or_not():
    settings, seen = runs.Settings(0.0, False, 4, None, 0), []
    (run,) = runs.planned({"p": problem()}, {"fw": FrankWolfe()}, settings, [0], 1)
    watched, alone = (
        run.compute(lambda progress: seen.append(progress.iteration)),
        run.compute(None),
    )
    assert seen == [0, 1, 2, 3, 4] and alone.primal == watched.primal


def test_a_repetition_shares_equal_arrays():
    comparison = compare(problem(), "bcfw", **SETTINGS, rng=[0, 1], repeat=2)
    first, again, other, last = comparison.runs.values()
    assert again.A is first.A and again.W is first.W and last.A is other.A
    assert other.A is not first.A and not np.array_equal(other.A, first.A)
    assert again.trace is not first.trace


def test_a_repetition_keeps_arrays_of_its_own(monkeypatch):
    calls = []

    def solve(*arguments, max_iter, **options):
        calls.append(max_iter)
        return fwlab.solve(*arguments, max_iter=max_iter + len(calls), **options)

    monkeypatch.setattr(runs, "solve", solve)
    first, again = compare(problem(), "bcfw", **SETTINGS, repeat=2).runs.values()
    assert again.A is not first.A and not np.array_equal(again.A, first.A)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"rng": [0, -1]}, ValueError, r"rng must be at least 0; got -1"),
        ({"rng": [0, 1.5]}, TypeError, r"rng must be an integer; got 1.5"),
        ({"rng": []}, ValueError, r"rng must hold at least one seed; got an empty list"),
        ({"rng": [1, 2, 1]}, ValueError, r"rng must name each seed once; got \[1, 2, 1\]"),
        ({"rng": "0,1"}, TypeError, r"rng must be an integer; got '0,1'"),
        ({"repeat": 0}, ValueError, r"repeat must be at least 1; got 0"),
        ({"n_threads": 0}, ValueError, r"n_threads must be at least 1; got 0"),
        ({"methods": {}}, ValueError, r"methods must hold at least one method"),
        ({"methods": {" ": "fw"}}, ValueError, r"methods must have printable names; got ' '"),
        ({"methods": {3: "fw"}}, ValueError, r"methods must have printable names; got 3"),
    ],
)
def test_bad_input_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        compare(**{"problems": problem(), "methods": "fw", **change})


def test_a_dict_names_methods():
    own = fwlab.FrankWolfe(step=fwlab.OpenLoop(3))
    methods = {"mine": own, "blocks": "bcfw"}
    comparison = compare(problem(), methods, **SETTINGS, order="cyclic")
    assert comparison.methods == ("mine", "blocks")
    assert comparison.results["problem", "mine"].method == "mine"
    alone = fwlab.solve(problem(), "bcfw", **SETTINGS, order="cyclic")
    np.testing.assert_array_equal(comparison.results["problem", "blocks"].A, alone.A)


def test_threads_reach_the_runs(monkeypatch):
    given = []

    def solve(*arguments, n_threads=1, **options):
        given.append(n_threads)
        return fwlab.solve(*arguments, n_threads=n_threads, **options)

    monkeypatch.setattr(runs, "solve", solve)
    assert compare(problem(), "fw", **SETTINGS).clock == "cpu"
    assert compare(problem(), "fw", **SETTINGS, n_threads=2).clock == "wall"
    assert given == [1, 2]


# ---------------------------------------------------------------- the store


def test_every_run_has_its_own_file_and_entry(tmp_path):
    comparison = compare(problem(), METHODS, **SETTINGS, rng=[0, 1], repeat=2, out=tmp_path)
    document = tomllib.loads((tmp_path / "comparison.toml").read_text())
    assert (document["seeds"], document["repeat"]) == ("0,1", 2) and "rng" not in document
    entries, record = document["runs"]["problem"], Record.read(tmp_path)
    assert {record.key("problem", name) for name in entries} == set(comparison.runs)
    assert len(set(entries.values())) == 8
    for name, file in entries.items():
        key = record.key("problem", name)
        assert record.entry(key) == name
        kept = fwlab.Result.load(tmp_path / file)
        np.testing.assert_array_equal(kept.A, comparison.runs[key].A)
        assert kept.trace.seconds.tolist() == comparison.runs[key].trace.seconds.tolist()
    assert set(document["clocks"]["problem"]) == set(entries)
    assert document["clocks"]["problem"]["fw"] == "load 0.50 on 2 processors"


def test_seeds_and_repetitions_are_added_to_a_folder(tmp_path, solved):  # noqa: F811
    first = compare(problem(), METHODS, **SETTINGS, out=tmp_path)
    more = compare(problem(), "bcfw", **SETTINGS, rng=[1, 0], repeat=2, out=tmp_path)
    assert len(solved) == 2 + 3
    key = RunKey("problem", "bcfw", 0)
    assert more.read == {key, RunKey("problem", "fw", 0)}
    assert more.runs[key].trace.seconds.tolist() == first.runs[key].trace.seconds.tolist()
    assert [tuple(key[1:]) for key in more.runs] == [
        *(("bcfw", seed, repetition) for seed in (1, 0) for repetition in (0, 1)),
        ("fw", 0, 0),
    ]
    assert ("problem", "bcfw") not in more.stored and ("problem", "fw") in more.stored
    record = Record.read(tmp_path)
    assert (record.seeds, record.repeat, record.flags["methods"]) == ((0, 1), 2, METHODS)
    # a call shows the seeds and the repetitions that it asks for
    again = compare(problem(), "fw", **SETTINGS, out=tmp_path)
    assert [key[1:] for key in again.runs] == [("bcfw", 0, 0), ("fw", 0, 0)]
    assert len(solved) == 5 and len(again.read) == 2
    assert Record.read(tmp_path).flags == record.flags


def test_a_call_shows_other_methods_at_its_own_seeds(tmp_path):
    compare(problem(), "fw", **SETTINGS, rng=[0, 1, 2], repeat=2, out=tmp_path)
    found = compare(problem(), "bcfw", **SETTINGS, rng=[5, 1], out=tmp_path)
    keys = [("fw", 1, 0), ("bcfw", 5, 0), ("bcfw", 1, 0)]
    assert [key[1:] for key in found.runs] == keys and not found.failures


def test_a_repetition_is_stored_and_found(tmp_path, solved):  # noqa: F811
    problems = {"a name that is too long for a file " * 3: problem()}
    first = compare(problems, "fw", **SETTINGS, repeat=3, out=tmp_path)
    again = compare(problems, "fw", **SETTINGS, repeat=3, out=tmp_path)
    assert len(solved) == 3 and again.stored == {(*problems, "fw")}
    for key, result in first.runs.items():
        assert again.runs[key].trace.seconds.tolist() == result.trace.seconds.tolist()
    assert len({tuple(run.trace.seconds) for run in again.runs.values()}) == 3


def test_a_record_of_the_last_version_is_read(tmp_path, capsys, solved):  # noqa: F811
    compare(problem(), METHODS, **SETTINGS, out=tmp_path)
    path = tmp_path / "comparison.toml"
    old = path.read_text().split("[clocks.")[0] + "# end\n"
    path.write_text(old)
    # other code made its runs: one is computed again, and the other one is shown as it was
    (file,) = (tmp_path / "runs").glob("problem-fw-*.npz")
    file.rename(older := file.with_name("problem-fw-0123456789abcdef.npz"))
    path.write_text(old.replace(file.name, older.name))
    capsys.readouterr()
    both = compare(problem(), "fw", **SETTINGS, out=tmp_path)
    said = f"fwlab: problem fw was made anew, by other code than before; was: runs/{older.name}."
    assert said in capsys.readouterr().err
    assert len(solved) == 3 and both.stored == {("problem", "bcfw")}


def test_a_trace_of_the_last_version_is_shown_with_what_it_has(tmp_path):
    compare(problem(), METHODS, **SETTINGS, out=tmp_path)
    (file,) = (tmp_path / "runs").glob("problem-bcfw-*.npz")
    kept = fwlab.Result.load(file)
    old = replace(kept.trace, cpu_seconds=None, n_projections=None, n_rows=None)
    replace(kept, trace=old, cpu_seconds=np.nan, made_by={}).save(file)
    both = compare(problem(), METHODS, **SETTINGS, out=tmp_path)
    assert both.clock == "wall"
    row = both.rows()[0]
    assert row["method"] == "bcfw" and row["seconds"] == kept.seconds
    assert [row[name] for name in ("cpu_seconds", "calls", "passes", "load")] == [None] * 4
    assert " - " in both.table().splitlines()[2]


# ---------------------------------------------------------------- rows, traces


@pytest.fixture
def several():
    return compare(problem(), METHODS, **SETTINGS, rng=[0, 1], repeat=2)


def test_rows_and_csv_have_a_place_for_every_run(several, tmp_path):
    rows = several.rows()
    assert [RunKey(*(row[name] for name in RunKey._fields)) for row in rows] == list(several.runs)
    for row, result in zip(rows, several.runs.values(), strict=True):
        assert row["cpu_seconds"] == result.trace.cpu_seconds[-1]
        assert (row["calls"], row["passes"]) == (4 * 24, 4.0)
        assert (row["load"], row["loaded"]) == (0.5, False)
    several.to_csv(tmp_path / "traces.csv")
    with (tmp_path / "traces.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == 8 * 5
    seeds = {(row["seed"], row["repetition"]) for row in found}
    assert seeds == {("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")}


def test_traces_are_one_tidy_frame(several):
    pytest.importorskip("pandas", reason="frames need pandas")
    frame = several.traces()
    names = "method problem seed repetition iteration cpu wall calls passes primal dual gap"
    assert list(frame.columns) == names.split()
    assert len(frame) == 8 * 5
    for key, result in several.runs.items():
        here = frame[
            (frame.method == key.method)
            & (frame.seed == key.seed)
            & (frame.repetition == key.repetition)
        ]
        trace = result.trace
        columns = {"cpu": "cpu_seconds", "wall": "seconds"}
        for name in ("iteration", "cpu", "wall", "primal", "dual", "gap"):
            expected = getattr(trace, columns.get(name, name))
            np.testing.assert_array_equal(here[name], expected)
        np.testing.assert_array_equal(here.calls, trace.n_lmo + trace.n_projections)
        np.testing.assert_array_equal(here.passes, trace.n_rows / 24)
    assert frame.dtypes["seed"] == frame.dtypes["iteration"] == np.int64


def test_traces_of_failures_are_an_empty_frame():
    pytest.importorskip("pandas", reason="frames need pandas")
    refused = compare(problem(kernel="linear"), "newton", **SETTINGS)
    assert len(refused.traces()) == 0 and "gap" in refused.traces().columns
