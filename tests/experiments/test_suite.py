"""The suite: its list of problems, its runs, what it writes, and bad input."""

import re
from hashlib import sha256

import numpy as np
import pytest
from tiny_suite import made_up_run, make_tiny

import fwlab
from fwlab.experiments import suite_problems
from fwlab.experiments.comparison import Comparison
from fwlab.experiments.engine import Failure
from fwlab.experiments.profiles import GAPS
from fwlab.experiments.runs import RunKey, Settings
from fwlab.experiments.suite import tried_method
from fwlab.experiments.suite_problems import (
    BUILT_IN,
    SIZES,
    SUITE_VERSION,
    chosen_names,
    listed_problems,
    load_suite,
)
from fwlab.experiments.suite_record import SuiteRecord
from fwlab.experiments.suite_report import SuiteReport, loading_lines
from fwlab.result import Status

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'fwlab[report]'")
FEW = ["tall top-3 C=0.1", "tall top-3-smooth C=0.1", "tall cross-entropy *"]


class Never(fwlab.StepRule):
    """A step rule that never moves."""

    def __call__(self, direction, memory):
        return 0.0


@pytest.fixture
def tiny(monkeypatch):
    """Let the suite have tiny problems, and runs that do not depend on the machine."""
    make_tiny(monkeypatch, 20)


def test_a_change_of_the_list_needs_another_version():
    listed = {size: listed_problems(size) for size in SIZES}
    losses = {
        name: (repr(make(4)), smoothing)
        for name, (make, smoothing) in (suite_problems.GRID | suite_problems.OTHERS).items()
    }
    text = repr((SIZES, listed, losses, BUILT_IN, GAPS))
    known = {1: "e415dbda390a0330"}
    assert {SUITE_VERSION: sha256(text.encode()).hexdigest()[:16]} == known


@pytest.mark.parametrize("size", SIZES)
def test_a_size_has_60_problems(size):
    listed = listed_problems(size)
    assert len(listed) == 60
    assert {data for data, _, _ in listed.values()} == set(SIZES[size].sets)
    losses = {loss for _, loss, _ in listed.values()}
    assert losses == {*suite_problems.GRID, *suite_problems.OTHERS}
    assert {C for _, _, C in listed.values()} == {0.1, 1.0, 10.0}


def test_every_loss_family_and_the_smoothing_are_there():
    found = load_suite("small", ["tall *"]).problems.values()
    own = {name for name in dir(fwlab) if isinstance(getattr(fwlab, name), type)}
    losses = {type(problem.loss).__name__ for problem in found}
    assert losses <= own and len(losses) == 9
    assert {problem.smoothing for problem in found} == {0.0, 1.0}
    some = load_suite("small", ["tall top-3-smooth C=10"]).problems["tall top-3-smooth C=10"]
    assert some.smoothing == 1.0 and some.lam == 1 / (10 * 1000)
    np.testing.assert_allclose(np.linalg.norm(some.X, axis=1), 1.0)


def test_small_needs_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("FWLAB_DATA", str(tmp_path))
    loaded = load_suite("small", ["* max-hinge C=1"])
    assert len(loaded.problems) == 4 and not loaded.missing
    sets = {name: len(problem.y) for name, problem in loaded.problems.items()}
    assert list(sets.values()) == [300, 200, 1000, 300]


def test_sets_without_files_are_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("FWLAB_DATA", str(tmp_path))
    loaded = load_suite("medium", ["letter *", "synthetic-a max-hinge *"])
    assert list(loaded.missing) == ["letter"] and "letter.npz" in loaded.missing["letter"]
    assert len(loaded.problems) == 3 and loaded.n_listed == 3 + 12
    with pytest.raises(ValueError, match="problems must have data that are here; missing: letter"):
        load_suite("medium", ["letter *"])


def test_a_method_that_never_moves_comes_last_and_a_second_run_computes_nothing(tiny, tmp_path):
    report = fwlab.suite(Never, out=tmp_path, problems=FEW)
    ranking = [row["method"] for row in report.rows()]
    assert ranking[-1] == "Never" and report.profiles.methods[-1] == "Never"
    # the others solve something, so that being last is no tie
    scores = {row["method"]: row["score_calls"] for row in report.rows()}
    assert scores["Never"] == 0.0 and min(scores[m] for m in ("bcfw", "bcpfw", "ascent")) > 0
    page = (tmp_path / "suite.html").read_text("utf-8")
    assert re.findall(r"<tr><td>([\w-]+)</td><td>0\.\d\d</td><td>", page)[-1] == "Never"
    # Frank-Wolfe takes no entropy, and lbfgs nothing else
    assert list(report.refused) == ["tall cross-entropy C=1"]
    assert report.profiles.problems == tuple(FEW[:2]) and "lbfgs" not in ranking
    assert sum("Never refuses" in note for note in report.notes) == 1

    times = {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").iterdir()}
    again = fwlab.suite(Never, out=tmp_path, problems=FEW)
    assert times == {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").iterdir()}
    assert again.comparison.stored == frozenset(again.comparison.results)
    assert again.table() == report.table()

    # another method in the same folder computes its own runs alone
    other = fwlab.suite("fw-open-loop", out=tmp_path, problems=FEW)
    assert set(other.comparison.methods) == {*BUILT_IN, "Never", "fw-open-loop"}
    made = {pair[1] for pair in set(other.comparison.results) - other.comparison.stored}
    assert made == {"fw-open-loop"}
    with pytest.raises(ValueError, match=r"it has a problem 'tall top-3-smooth C=0.1'"):
        fwlab.suite(Never, out=tmp_path, problems=FEW[:1])
    # a call that is refused changes nothing
    assert SuiteRecord.read(tmp_path).method == "fw-open-loop"


def test_the_worst_problem_is_loaded_again(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = fwlab.suite(Never, problems=["tall structured *", "tall top-3 C=0.1"])
    report.save_worst("worst_problem.npz")
    names: dict = {}
    exec(report.worst_lines, names)
    assert fwlab.solve(names["problem"], max_iter=3).dual == (
        fwlab.solve(report.worst_problem, max_iter=3).dual
    )


@pytest.mark.parametrize("name", chosen_names("small", ["tall * C=1"]))
def test_the_lines_of_a_problem_build_its_loss(name, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    problem = load_suite("small", [name]).problems[name]
    fields = {n: v for n, v in vars(problem.loss).items() if isinstance(v, np.ndarray)}
    np.savez("file.npz", X=problem.X, y=problem.y, **fields)
    names: dict = {}
    exec(loading_lines(problem, "file.npz"), names)
    made = names["problem"]
    assert (made.lam, made.smoothing, made.n_classes) == (
        *(problem.lam, problem.smoothing, problem.n_classes),
    )
    scores = np.random.default_rng(0).normal(size=(len(problem.y), 5))
    np.testing.assert_array_equal(
        made.loss.value(scores, problem.y), problem.loss.value(scores, problem.y)
    )


def test_what_is_tried_gets_a_name():
    assert tried_method(Never, None)[0] == "Never"
    assert isinstance(tried_method(Never(), None)[1], fwlab.FrankWolfe)
    assert tried_method("fw", None)[0] == "fw"
    assert tried_method(fwlab.Pairwise, None)[0] == "Pairwise"
    assert tried_method(fwlab.Pairwise(step=Never()), "mine")[0] == "mine"
    with pytest.raises(TypeError, match="method must be a name of"):
        tried_method(3, None)
    with pytest.raises(ValueError, match="name must be a text; got ' '"):
        tried_method(Never, " ")
    with pytest.raises(ValueError, match="name must not be that of a built-in method; got 'fw'"):
        tried_method(Never, "fw")


def test_bad_input_is_refused_before_any_run(tiny, tmp_path):
    with pytest.raises(ValueError, match=r"size must be one of small, medium, large; got 'smal'"):
        fwlab.suite(Never, size="smal")
    with pytest.raises(ValueError, match=r"got 'tall top3 C=1'. Did you mean 'tall top-3 C=1'"):
        fwlab.suite(Never, problems=["tall top3 C=1"])
    with pytest.raises(TypeError, match="problems must be a list of names or patterns"):
        fwlab.suite(Never, problems="tall top-3 C=1")
    (tmp_path / "comparison.toml").write_text("")
    with pytest.raises(ValueError, match="holds a comparison"):
        fwlab.suite(Never, out=tmp_path, problems=FEW[:1])


def test_another_version_or_size_needs_another_folder(tiny, tmp_path):
    SuiteRecord(0, "small", "mine", (), 60).begin(tmp_path)
    with pytest.raises(ValueError, match="holds size 'small' of version 0, and this is size"):
        fwlab.suite(Never, out=tmp_path, problems=FEW[:1])
    assert SuiteRecord.read(tmp_path) == SuiteRecord(0, "small", "mine", (), 60)
    (tmp_path / "suite.toml").write_text("version = 1\n")
    with pytest.raises(ValueError, match="it is damaged"):
        SuiteRecord.read(tmp_path)


def test_ctrl_c_keeps_finished_runs(tiny, tmp_path):
    class Stops(fwlab.StepRule):
        def __call__(self, direction, memory):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fwlab.suite(Stops, out=tmp_path, problems=FEW[:1])
    assert not (tmp_path / "suite.html").exists()
    report = fwlab.suite(Never, out=tmp_path, problems=FEW[:1])
    built_in = {pair for pair in report.comparison.results if pair[1] in BUILT_IN}
    assert len(built_in) == len(BUILT_IN) - 1 and built_in <= report.comparison.stored


def test_what_is_refused_is_in_no_profile_and_what_failed_is_named(tiny):
    loaded = load_suite("small", ["wide max-hinge *"])
    one, two, three = loaded.problems
    good, no = made_up_run([1.0, 1.0], [0.0, 1.0], [0, 5], [0.0, 1.0]), Failure("refused", "a: why")
    wrong = made_up_run([1.0], [0.0], [0], [0.0], Status.INCONSISTENT)
    silent = made_up_run([1.0, 1.0], [0.0, 0.5], [0, 0], [0.0, 1.0])
    runs = {
        (one, "mine"): good,
        (one, "fw"): no,
        (one, "bcfw"): silent,
        (two, "mine"): wrong,
        (two, "fw"): no,
        (two, "bcfw"): Failure("failed", "ValueError: other"),
        (three, "mine"): no,
        (three, "fw"): good,
        (three, "bcfw"): no,
    }
    settings = Settings(1e-4, True, 10, 1.0, 0)
    runs = {RunKey(*pair, 0): run for pair, run in runs.items()}
    comparison = Comparison(loaded.problems, ("mine", "fw", "bcfw"), settings, runs)
    report = SuiteReport(comparison, "mine", loaded, fwlab.Pairwise())
    assert report.profiles.problems == (one, two)
    assert report.profiles.methods == ("mine", "bcfw")  # fw refuses both
    assert report.refused == {three: "a: why"} and report.failed == {two: "its message"}
    assert report.notes == [
        f"mine refuses {three} (in no profile): why",
        f"mine failed on {two}: its message",
        "bcfw counts no oracle calls, and so solves nothing in the profiles by calls: "
        "state.n_lmo and state.n_projections count them.",
    ]
