"""A folder belongs to one comparison: methods are added, other settings refused, all is told."""

import csv
import tomllib
from dataclasses import replace

import numpy as np
import pytest

import fwlab
from fwlab.experiments import compare, plan, runs
from fwlab.experiments.figure import comparison_figure
from fwlab.experiments.record import Record
from fwlab.result import Result
from fwlab.toml_text import as_toml


def problem(seed=0, loss=None, **options):
    X = np.random.default_rng(seed).normal(size=(24, 4))
    return fwlab.Problem(X, np.arange(24) % 3, loss or fwlab.TopK(2), **{"lam": 0.1, **options})


@pytest.fixture
def solved(monkeypatch):
    """Provide the number of runs computed."""
    calls = []

    def solve(*arguments, **options):
        calls.append(arguments[1])
        return fwlab.solve(*arguments, **options)

    monkeypatch.setattr(runs, "solve", solve)
    return calls


def from_elsewhere(folder, method):
    """Let the stored run of a method be one of another machine and time."""
    (file,) = (folder / "runs").glob(f"a-{method}-*.npz")
    made = {"processor": "Abacus 9", "date": "1999-12-31T00:00:00+00:00"}
    result = Result.load(file)
    replace(result, made_by={**result.made_by, **made}).save(file)


# TOML


@pytest.mark.parametrize(
    "document",
    [
        {"a": 1, "b": -1.5e-300, "c": True, "d": False, "e": [1, 2], "f": ["x", "y,z"], "g": []},
        {"text": 'a "b" \\ \n\t\x00\x1f\x7f é 😀 \u2028'},
        {"big": 10**18, "inf": float("inf"), "small": 5e-324, "huge": 1e22},
        {"plain": 1, "table": {"x": 1, "deep er": {"ü.": "y", "": 0}}, "empty": {}},
        {"": {"quoted.key": {"a b": [True, 1.0]}}, "1": 2},
    ],
)
def test_tomllib_reads_what_is_written(document):
    assert tomllib.loads(as_toml(document)) == document


def test_numbers_of_numpy_are_numbers():
    document = {"a": np.float64(1e-5), "b": np.int64(3), "c": [np.float32(0.5)]}
    assert tomllib.loads(as_toml(document)) == {"a": 1e-5, "b": 3, "c": [0.5]}


def test_toml_leaves_out_none_and_refuses_the_rest():
    assert as_toml({"a": None, "b": 1}) == "b = 1\n"
    assert "\\u" not in as_toml({"name": "caf\udce9"})
    with pytest.raises(TypeError, match="TOML has no complex"):
        as_toml({"a": 1j})


# the record


def test_the_record_holds_settings_data_and_environment(tmp_path):
    one = problem(smoothing=0.5)
    compare({"a": one}, ["fw", "ascent"], max_iter=3, time_limit=9.0, out=tmp_path)
    document = tomllib.loads((tmp_path / "comparison.toml").read_text())
    assert document["methods"] == ["fw", "ascent"]
    settings = (document["max-iter"], document["tol"], document["time-limit"], document["rng"])
    assert settings == (3, 1e-5, 9.0, 0)
    entry = document["problems"]["a"]
    assert (entry["lam"], entry["smoothing"], entry["n"], entry["m"]) == (0.1, 0.5, 24, 3)
    for method, file in document["runs"]["a"].items():
        assert Result.load(tmp_path / file).method == method
    (environment,) = document["environment"].values()
    assert environment["numpy"] == np.__version__ and environment["processor"]
    compare({"a": one}, ["fw"], max_iter=3, time_limit=9.0, out=tmp_path)
    assert tomllib.loads((tmp_path / "comparison.toml").read_text()) == document


def test_a_second_comparison_adds_its_methods(tmp_path, solved):
    first = compare(problem(), ["fw", "bcfw"], max_iter=3, out=tmp_path)
    both = compare(problem(), "ascent", max_iter=3, out=tmp_path)
    assert len(solved) == 3 and both.methods == ("fw", "bcfw", "ascent")
    assert both.stored == {("problem", "fw"), ("problem", "bcfw")}
    np.testing.assert_array_equal(both.results["problem", "fw"].A, first.results["problem", "fw"].A)
    assert Record.read(tmp_path).flags["methods"] == ["fw", "bcfw", "ascent"]


def test_methods_of_one_s_own_and_refusals_are_kept(tmp_path):
    own = fwlab.FrankWolfe(step=fwlab.OpenLoop(3))
    problems = {"a": problem(kernel="linear")}
    compare(problems, [own, "newton"], max_iter=3, out=tmp_path)
    both = compare(problems, ["fw"], max_iter=3, out=tmp_path)
    assert both.methods == (own.name, "newton", "fw")
    assert ("a", own.name) in both.stored
    assert both.failures["a", "newton"].kind == "refused"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tol": 1e-3}, "it has tol = 1e-05, and this one tol = 0.001"),
        ({"max_iter": 4}, "it has max-iter = 3, and this one max-iter = 4"),
        ({"time_limit": 4.0}, "it has no time-limit, and this one time-limit = 4.0"),
        ({"order": "cyclic"}, "it has no order, and this one order = 'cyclic'"),
        ({"problems": {"a": problem(1)}}, "for 'a' it has data = '.*', and this one data = '"),
        ({"problems": {"a": problem(lam=0.2)}}, "it has lam = 0.1, and this one lam = 0.2"),
        ({"problems": {"a": problem(loss=fwlab.TopK(1))}}, r"loss = 'TopK\(k=2\)'"),
        ({"problems": {"b": problem()}}, "a problem 'a', and this one no such one"),
    ],
    ids=["tol", "max_iter", "time_limit", "order", "data", "lam", "loss", "name"],
)
def test_other_settings_are_refused_before_any_run(tmp_path, solved, change, words):
    arguments = {"problems": {"a": problem()}, "methods": ["bcfw"], "max_iter": 3}
    compare(**arguments, out=tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(ValueError, match=f"out must be a new folder .*{words}"):
        compare(**{**arguments, **change}, out=tmp_path)
    assert len(solved) == 1
    assert before == {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}


def test_options_that_toml_does_not_have_are_kept_in_words(tmp_path):
    settings = {"max_iter": np.int64(2), "step": fwlab.OpenLoop(3), "out": tmp_path}
    for tol in (1e-5, np.float64(1e-5)):
        compare(problem(), "fw", tol=tol, **settings)
    assert Record.read(tmp_path).method_options == {"step": repr(fwlab.OpenLoop(3))}


def test_costs_that_read_alike_are_told_apart(tmp_path):
    costs = 1.0 - np.eye(3)
    compare(problem(loss=fwlab.StructuredHinge(costs)), "fw", max_iter=1, out=tmp_path)
    costs[0, 1] = 2.0
    with pytest.raises(ValueError, match="loss-arrays"):
        compare(problem(loss=fwlab.StructuredHinge(costs)), "fw", max_iter=1, out=tmp_path)


@pytest.mark.parametrize("text", ["tol = = 1", "runs = 3", "\udcff"])
def test_a_damaged_record_is_refused(tmp_path, text):
    (tmp_path / "comparison.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=r"comparison.toml cannot be read"):
        compare(problem(), "fw", max_iter=1, out=tmp_path)


def test_reports_without_a_record_are_not_overwritten(tmp_path):
    (tmp_path / "table.txt").write_text("a year of work")
    with pytest.raises(ValueError, match=r"holds table.txt without comparison.toml"):
        compare(problem(), "fw", max_iter=1, out=tmp_path)


def test_other_code_for_the_same_method_is_told(tmp_path, monkeypatch, capsys):
    compare(problem(), "fw", max_iter=1, out=tmp_path)
    (file,) = (tmp_path / "runs").iterdir()
    monkeypatch.setattr("numpy.__version__", "99")
    capsys.readouterr()
    compare(problem(), "fw", max_iter=1, out=tmp_path)
    said = f"fwlab: problem fw was made anew, by other code than before; was: runs/{file.name}."
    assert said in capsys.readouterr().err
    assert file.is_file()


# what was made when and where


def test_a_stored_run_is_marked_with_machine_and_date(tmp_path):
    compare({"a": problem()}, ["fw", "ascent"], max_iter=3, out=tmp_path)
    from_elsewhere(tmp_path, "fw")
    again = compare({"a": problem()}, ["fw", "bcfw"], max_iter=3, out=tmp_path)
    rows = {row["method"]: row for row in again.rows()}
    assert rows["fw"]["machine"] == "Abacus 9" and rows["fw"]["date"].startswith("1999-12-31")
    stored = {method: row["stored"] for method, row in rows.items()}
    assert stored == {"fw": True, "ascent": True, "bcfw": False}
    fw, bcfw = again.table().splitlines()[2], again.table().splitlines()[4]
    assert fw.endswith("1999-12-31T00:00:00+00:00 on Abacus 9") and bcfw.endswith("now")
    again.to_csv(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        made = {(row["method"], row["machine"], row["stored"]) for row in csv.DictReader(file)}
    assert ("fw", "Abacus 9", "True") in made and len(made) == 3


def machines(comparison):
    """Return the lines on machines in the titles of the figure, by problem."""
    titles = [ax.get_title(loc="left") for ax in comparison_figure(comparison).axes[::2]]
    return [[line for line in t.splitlines() if line.startswith("seconds of")] for t in titles]


def test_seconds_of_two_machines_are_told_apart(tmp_path):
    problems = {"a": problem(), "b": problem(lam=0.3)}
    one = compare(problems, ["fw", "ascent"], max_iter=3, out=tmp_path)
    assert machines(one) == [[], []]
    from_elsewhere(tmp_path, "fw")
    two = compare(problems, ["fw", "ascent"], max_iter=3, out=tmp_path)
    here = two.results["b", "fw"].made_by["processor"]
    assert machines(two) == [
        ["seconds of fw: Abacus 9", f"seconds of ascent: {here}"],
        [f"seconds of fw, ascent: {here}"],
    ]


def test_the_plan_says_what_it_does(capsys):
    plan.say("a sentence.")
    assert capsys.readouterr().err == "fwlab: a sentence.\n"
