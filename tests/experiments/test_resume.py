"""An interrupted run is kept as it is, and a resumed one goes on from it."""

import signal
from dataclasses import replace

import numpy as np
import pytest
from test_record import problem

import fwlab
from fwlab.experiments import compare, runs
from fwlab.result import Result, Trace

ORDINARY = ["fw", "afw", "bcfw", "ascent", "newton", "auto", "sdca-lapin"]
SETTINGS = {"tol": 0.0, "max_iter": 10}


@pytest.fixture
def press(monkeypatch):
    """Provide a function that lets Ctrl-C come at this iteration of the next run."""
    at = []

    def solve(*arguments, callback, **options):
        def note(progress):
            callback(progress)
            if at and progress.iteration == at[0]:
                at.clear()
                signal.raise_signal(signal.SIGINT)

        return fwlab.solve(*arguments, callback=note, **options)

    monkeypatch.setattr(runs, "solve", solve)
    return at.append


def only(comparison):
    (result,) = comparison.results.values()
    return result


def test_ctrl_c_keeps_iterate_and_trace(tmp_path, press):
    press(4)
    comparison = compare(problem(), ["bcfw", "fw"], **SETTINGS, out=tmp_path)
    assert [row["status"] for row in comparison.rows()] == ["INTERRUPTED", "not run"]
    (file,) = (tmp_path / "runs").iterdir()
    assert file.name.endswith(".unfinished.npz")
    kept = Result.load(file)
    assert (kept.status.name, kept.nit) == ("INTERRUPTED", 4)
    np.testing.assert_array_equal(kept.A, only(comparison).A)
    np.testing.assert_array_equal(kept.trace.iteration, np.arange(5))


@pytest.mark.parametrize("method", ORDINARY)
def test_a_resumed_run_goes_on(tmp_path, press, method):
    press(4)
    first = only(compare(problem(), method, **SETTINGS, out=tmp_path))
    comparison = compare(problem(), method, **SETTINGS, out=tmp_path, resume=True)
    result = only(comparison)
    alone = fwlab.solve(problem(), method, tol=0.0, max_iter=6, A0=first.A, check_every=1)
    np.testing.assert_array_equal(result.A, alone.A)
    assert (result.nit, result.status.name, result.gap) == (10, "MAX_ITER", alone.gap)
    np.testing.assert_array_equal(result.trace.iteration, np.arange(11))
    for name, column in result.trace.as_dict().items():
        np.testing.assert_array_equal(column[:5], getattr(first.trace, name))
    for name in ("seconds", "n_lmo", "n_steps"):
        assert (np.diff(getattr(result.trace, name)) >= 0).all()
    assert result.trace.seconds[-1] == pytest.approx(result.seconds)
    assert result.wall_seconds > first.wall_seconds
    assert result.made_by["resumed"] == "iteration 4"
    assert result.message.endswith("Resumed at iteration 4.")
    assert comparison.table().splitlines()[2].endswith("resumed at iteration 4")
    assert comparison.rows()[0]["resumed"] == "iteration 4"
    (file,) = (tmp_path / "runs").iterdir()
    assert Result.load(file).nit == 10 and "unfinished" not in file.name


def test_a_run_is_interrupted_and_resumed_twice(tmp_path, press):
    press(2)
    compare(problem(), "fw", **SETTINGS, out=tmp_path)
    press(3)
    half = only(compare(problem(), "fw", **SETTINGS, out=tmp_path, resume=True))
    assert (half.nit, half.status.name) == (5, "INTERRUPTED")
    whole = only(compare(problem(), "fw", **SETTINGS, out=tmp_path, resume=True))
    assert (whole.nit, whole.made_by["resumed"]) == (10, "iteration 2, iteration 5")


def test_limits_count_both_parts(tmp_path, press):
    press(2)
    settings = {"tol": 0.0, "max_iter": 10**9, "time_limit": 2.0}
    first = only(compare(problem(), "fw", **settings, out=tmp_path))
    (file,) = (tmp_path / "runs").iterdir()
    replace(first, wall_seconds=1e6).save(file)
    second = only(compare(problem(), "fw", **settings, out=tmp_path, resume=True))
    assert second.status.name == "TIME_LIMIT" and second.nit <= first.nit + 1
    assert second.wall_seconds >= 1e6 > second.seconds


def test_without_resume_it_begins_anew_and_says_so(tmp_path, press, capsys):
    press(4)
    compare(problem(), "fw", **SETTINGS, out=tmp_path)
    result = only(compare(problem(), "fw", **SETTINGS, out=tmp_path))
    assert "1 unfinished runs begin anew; with resume they would go on." in capsys.readouterr().err
    assert result.nit == 10 and "resumed" not in result.made_by
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_nothing_to_resume_is_told(tmp_path, capsys):
    compare(problem(), "fw", **SETTINGS, out=tmp_path, resume=True)
    assert f"there is no unfinished run of this code in {tmp_path}" in capsys.readouterr().err


def test_another_machine_s_run_begins_anew(tmp_path, press, capsys):
    press(4)
    first = only(compare(problem(), "fw", **SETTINGS, out=tmp_path))
    (file,) = (tmp_path / "runs").iterdir()
    replace(first, made_by={**first.made_by, "processor": "Abacus 9"}).save(file)
    result = only(compare(problem(), "fw", **SETTINGS, out=tmp_path, resume=True))
    assert "resumed" not in result.made_by
    assert "problem fw begins anew: it was made on Abacus 9" in capsys.readouterr().err


def test_a_machine_apart_from_the_dual_point_begins_anew(tmp_path, press, capsys):
    press(4)
    compare(problem(), "subgradient", **SETTINGS, out=tmp_path)
    result = only(compare(problem(), "subgradient", **SETTINGS, out=tmp_path, resume=True))
    assert "resumed" not in result.made_by and len(result.trace.gap) == 11
    assert "subgradient begins anew: its machine is not determined" in capsys.readouterr().err


def test_an_unfinished_run_stays_when_methods_are_added(tmp_path, press):
    press(4)
    compare(problem(), "fw", **SETTINGS, out=tmp_path)
    both = compare(problem(), "afw", **SETTINGS, out=tmp_path)
    assert [row["status"] for row in both.rows()] == ["INTERRUPTED", "MAX_ITER"]
    assert isinstance(both.results["problem", "fw"].trace, Trace)


def test_resume_without_a_folder_is_refused():
    with pytest.raises(ValueError, match="resume needs the folder of the comparison"):
        compare(problem(), "fw", resume=True)
