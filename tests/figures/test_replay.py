"""python -m figures check: stored cells are computed again, and what differs is marked."""

import itertools
import os
import signal

import pytest
from test_kept import SECONDS, cells, plot

import fwlab
from figures import __main__ as command
from figures.kit import replay as _replay
from figures.kit import script as _script
from figures.kit import study as _study
from figures.kit.kept import keep
from figures.kit.listing import stored
from figures.kit.replay import difference
from figures.kit.script import Script
from figures.kit.study import Study


def value(x):
    return {"value": [1.0, x / 3], "seconds": 5.0, "n": 7}


def other(x):
    return {"value": [1.0, x / 3 * 1.01], "seconds": 9.0, "n": 7}


def without_data(x):
    raise FileNotFoundError("letter.scale.bz2 is not here")


@pytest.fixture
def only(tmp_path, monkeypatch):
    """Let a script be the only one; return what makes it of a function or of cells."""
    monkeypatch.setattr(_study, "KEPT", tmp_path / "kept")

    def made(function, **more):
        one = Script("It.", SECONDS, lambda size: cells(size, function), plot, **more)
        monkeypatch.setattr(_script, "_scripts", lambda: {"it": one})

    return made


def checked(tmp_path, capsys, *options):
    capsys.readouterr()
    code = command.main(["check", "--seed", "3", "--out", str(tmp_path), *options])
    return code, capsys.readouterr().out.splitlines()


def computed(tmp_path):
    Study("it", "standard", tmp_path).compute(cells("standard", value))


def test_the_same_numbers_are_no_difference(only, tmp_path, capsys):
    only(value)
    computed(tmp_path)
    assert checked(tmp_path, capsys) == (
        0, ["2 stored cells were computed again (--seed 3); 0 differ."],
    )  # fmt: skip


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_difference_is_told_and_marked_until_it_is_gone(only, tmp_path, capsys, is_kept):
    only(value)
    computed(tmp_path)
    if is_kept:
        keep(tmp_path, "standard", ["it"], _study.KEPT)
        (tmp_path / "standard" / "it.json").unlink()
    only(other)
    code, lines = checked(tmp_path, capsys, "--all")
    assert code == 1 and lines[-1].endswith("; 2 differ.")
    assert "it: two: value is 0.67" in "\n".join(lines)
    study = Study("it", "standard", tmp_path)
    assert stored("it", tmp_path) == "standard (stale)" and set(study.record["differs"]) == {
        "one",
        "two",
    }
    assert is_kept == (len(study.place.read_text().splitlines()) < 20)
    only(value)
    assert checked(tmp_path, capsys)[0] == 0
    assert stored("it", tmp_path) == "standard"


def test_cells_without_data_are_counted(only, tmp_path, capsys):
    only(value)
    computed(tmp_path)
    only(without_data)
    code, lines = checked(tmp_path, capsys)
    assert code == 0 and lines == [
        "0 stored cells were computed again (--seed 3); 0 differ.",
        "2 were not: FWLAB_DATA names no folder with their data.",
    ]


def interrupted(x):
    """Return a run that Ctrl-C ends."""

    def press(progress):
        os.kill(os.getpid(), signal.SIGINT)

    data = fwlab.datasets.synthetic(20, 3, 3, 1.0, rng=0)
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), 0.1, n_classes=3)
    run = fwlab.solve(problem, tol=0.0, max_iter=50, callback=press, check_every=1)
    return {"value": [1.0, run.primal], "n": 7}


def test_ctrl_c_in_a_cell_marks_nothing(only, tmp_path, capsys):
    only(value)
    computed(tmp_path)
    only(interrupted)
    assert command.main(["check", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err.endswith("interrupted; what differs so far is marked.\n")
    assert stored("it", tmp_path) == "standard"


def test_a_damaged_record_is_one_sentence(only, tmp_path, capsys):
    only(value)
    computed(tmp_path)
    (tmp_path / "standard" / "it.json").write_text("{")
    assert command.main(["check", "--out", str(tmp_path)]) == 1
    assert "it.json is damaged (" in capsys.readouterr().err.splitlines()[-1]


def test_times_are_not_replayed(only, tmp_path, capsys):
    only(value)
    computed(tmp_path)
    only(other, alone=True)
    assert checked(tmp_path, capsys)[1][0].startswith("0 stored cells")


def test_the_time_limits_the_sample(only, tmp_path, capsys, monkeypatch):
    only(value)
    computed(tmp_path)
    monkeypatch.setattr(command, "SECONDS_OF_A_CHECK", 0.6)  # of an estimate of 1 s for both
    assert checked(tmp_path, capsys)[1][0].startswith("1 stored cells")


def test_a_cell_that_takes_longer_than_expected_uses_up_the_time(
    only, tmp_path, capsys, monkeypatch
):
    only(value)
    computed(tmp_path)
    monkeypatch.setattr(command, "SECONDS_OF_A_CHECK", 60.0)
    monkeypatch.setattr(_replay, "monotonic", itertools.count(0.0, 59.8).__next__)
    assert checked(tmp_path, capsys)[1][0].startswith("1 stored cells")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["list", "--all"], "--all and --seed are for check."),
        (["check", "--quick"], "check takes no --quick"),
        (["check", "--jobs", "2"], "check takes no --jobs, --plot-only and --scheduler."),
        (["check", "--file", "x.py"], "check is for this repository"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments, sentence, capsys):
    assert command.main(arguments) == 2
    assert sentence in capsys.readouterr().err


RUN = {"primal": 2.0, "gap": 0.5, "accuracy": [0.8], "seconds": 1.0}


@pytest.mark.parametrize(
    ("fresh", "found"),
    [
        ({**RUN, "seconds": 7.0}, ""),
        ({**RUN, "accuracy": [0.800001]}, ""),
        ({**RUN, "accuracy": [0.81]}, "accuracy is 0.81, stored is 0.8"),
        ({**RUN, "accuracy": [0.8, 0.9]}, "accuracy has 2 entries, stored are 1"),
        # other steps: the optimum is in [1.5, 2]
        ({**RUN, "gap": 0.1, "primal": 1.6, "accuracy": [0.5]}, ""),
        ({**RUN, "gap": 0.1, "primal": 1.4}, "the optimum is in [1.29999"),
        ({**RUN, "gap": 0.1, "primal": 2.2}, "the optimum is in [2.09999"),
        ({"gap": 0.5}, "it has other parts"),
    ],
)
def test_runs_are_compared_by_their_certificates(fresh, found):
    assert difference(RUN, fresh).startswith(found) and bool(difference(RUN, fresh)) == bool(found)


@pytest.mark.parametrize(
    ("stored", "fresh", "same"),
    [
        ({"primal": [9.0, 2.0], "gap": [8.0, 0.5]}, {"primal": [2.4], "gap": [1.0]}, True),
        ({"primal": [9.0, 2.0], "gap": [8.0, 0.5]}, {"primal": [2.4], "gap": [0.3]}, False),
        ({"optimum": [1.0, 2.0], "x": 1}, {"optimum": [1.5, 3.0], "x": 2}, True),
        ({"optimum": [1.0, 2.0], "x": 1}, {"optimum": [2.5, 3.0], "x": 2}, False),
        ({"optimum": [1.0, 2.0], "x": 1}, {"optimum": [2.00004, 3.0], "x": 2}, True),
        ({"optimum": [1.0, 2.0], "x": 1}, {"optimum": [2.0001, 3.0], "x": 2}, False),
        ([0.8], [0.80005], False),
        ({"optimum": [1.0, 2.0], "x": 1}, {"optimum": [1.0, 2.0], "x": 2}, False),
        ({"a": {"gap": 1.0, "b": 1}}, {"a": {"gap": 2.0, "b": 2}}, True),
        ([1, "a", None, True], [1, "a", None, True], True),
        ([1, "a"], [1, "b"], False),
    ],
)
def test_what_differs(stored, fresh, same):
    assert (difference(stored, fresh) == "") == same
    assert (difference(fresh, stored) == "") == same
