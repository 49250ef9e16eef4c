"""The command line's runs: tables, files, JSON and exit codes."""

import csv
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import compared, solved

import fwlab
from fwlab.cli import commands, main
from fwlab.experiments import runs
from fwlab.result import Result, Status

METHODS = list(fwlab.methods())


@pytest.mark.turns
def test_compare_prints_a_table_and_writes_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", "--data", "four.npz", "--normalize", "unit", "-k", "2"]
    assert main([*arguments, "--C", "0.5", "--tol", "1e-4", "--out", "new/out"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    lam = 2 / 28
    assert lines[0] == (
        f"four.npz: TopK(k=2), n = 28, d = 5, m = 4, lam = {lam:.4g}, normalize = unit"
    )
    assert [line.split()[1] for line in lines[4 : 4 + len(METHODS)]] == METHODS
    assert f"{len(METHODS)} of {len(METHODS)} runs" in err
    written = folder / "new" / "out"
    kept = {path.name for path in written.iterdir()}
    reports = {f"comparison.{ending}" for ending in ("csv", "toml", "png", "pdf")}
    assert kept == {"table.txt", *reports, "runs", ".lock"}
    assert (written / "table.txt").read_text().splitlines() == lines[: len(lines) - 2]
    assert (written / "comparison.png").read_bytes().startswith(b"\x89PNG")
    with (written / "comparison.csv").open(newline="") as file:
        # a method that refuses the problem has no trace
        assert {row["method"] for row in csv.DictReader(file)} == set(METHODS) - {"lbfgs"}
    assert len(list((written / "runs").iterdir())) == len(METHODS) - 1


def test_compare_defaults_to_digits_and_stores_its_runs(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, undrawn: None
) -> None:
    arguments = ["compare", "--methods", "ascent", "--max-iter", "2", "--json"]
    assert main(arguments) == 0
    first = json.loads(capsys.readouterr().out)
    monkeypatch.setattr(runs, "solve", None)
    assert main(arguments) == 0
    second = json.loads(capsys.readouterr().out)
    assert [run.pop("stored") for run in (*first["runs"], *second["runs"])] == [False, True]
    assert second == first
    (one,) = first["problems"]
    assert (one["name"], one["n"], one["d"], one["m"]) == ("digits", 1347, 64, 10)
    assert (one["loss"], one["normalize"], one["lam"]) == ("TopK(k=3)", None, 1 / 1347)
    assert (folder / "results" / "comparison.csv").is_file()


def test_json_is_the_comparison(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    arguments = ["--methods", "fw, ascent", "--tol", "1e-3", "--lam", "0.1", "--max-iter", "7"]
    document = compared(capsys, *arguments)
    data = fwlab.datasets.load("four.npz")
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), 0.1)
    assert [run["method"] for run in document["runs"]] == ["fw", "ascent"]
    for run in document["runs"]:
        result = fwlab.solve(problem, run["method"], tol=1e-3, max_iter=7, check_every=1)
        for name in ("primal", "dual", "gap", "success", "message"):
            assert run[name] == getattr(result, name)
        assert (run["iterations"], run["status"]) == (result.nit, result.status.name)
    assert document["options"]["max_iter"] == 7
    assert set(document["files"]) == {"table", "csv", "settings", "png", "pdf"}


def test_data_and_losses_multiply(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    arguments = ["--data", "four.npz,two.csv", "-k", "1", "--max-iter", "2", "--methods", "fw"]
    document = compared(capsys, *arguments, "--loss", "topk,max-hinge")
    names = [run["problem"] for run in document["runs"]]
    assert names == ["four.npz/topk", "four.npz/max-hinge", "two.csv/topk", "two.csv/max-hinge"]


def test_repeated_lists_add_up(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    lists = [("--data", "four.npz"), ("--data", "two.csv"), ("--loss", "topk")]
    lists += [("--loss", "usunier"), ("--methods", "fw"), ("--methods", "afw,pfw")]
    arguments = [word for pair in lists for word in pair]
    document = compared(capsys, *arguments, "-k", "1", "--max-iter", "1e0")
    runs = {(run["problem"], run["method"]) for run in document["runs"]}
    names = [f"{data}/{loss}" for data in ("four.npz", "two.csv") for loss in ("topk", "usunier")]
    assert runs == {(name, method) for name in names for method in ("fw", "afw", "pfw")}


@pytest.mark.parametrize("text", ["40", "4e1", "40.0", "0.4e2"])
def test_whole_numbers_in_any_notation(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    Path("run.toml").write_text(f"max-iter = {text}")
    given = solved(capsys, "--max-iter", text, "--rng", text, "--method", "fw", "--tol", "0")
    assert (given["options"]["rng"], given["result"]["iterations"]) == (40, 40)
    stored = solved(capsys, "--config", "run.toml", "--method", "fw", "--tol", "0")
    assert stored["result"]["iterations"] == 40


def test_lines_tell_the_time_left(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    options = ["--methods", "fw,ascent", "--max-iter", "3", "--time-limit", "60", "-v"]
    assert main(["compare", "--data", "four.npz", "-k", "2", *options]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "run 1 of 2: four.npz fw, at most 2.0 min left for all"
    assert lines[1].startswith("fw      0      0.00 s") and lines[1].endswith(
        "at most 1.0 min left"
    )
    assert lines[2] == "run 2 of 2: four.npz ascent, at most 1.0 min left for all"


def test_a_class_of_the_test_part_alone_counts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X = np.eye(4)
    np.savez("late.npz", X_train=X[:3], y_train=[0, 1, 2], X_test=X[3:], y_test=[3])
    document = solved(capsys, "--data", "late.npz", "--max-iter", "1")
    assert document["problem"]["m"] == 4


def test_files_of_one_name_keep_their_folders(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "four.npz").write_bytes((folder / "four.npz").read_bytes())
    document = compared(
        capsys, "--data", "four.npz,sub/four.npz", "--max-iter", "1", "--methods", "fw"
    )
    assert [run["problem"] for run in document["runs"]] == ["four.npz", "sub/four.npz"]


def test_all_losses(folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None) -> None:
    arguments = ["--loss", "all", "--weights", "exponential", "--methods", "ascent"]
    document = compared(capsys, *arguments, "--tol", "1e-2")
    assert [problem["loss"] for problem in document["problems"]] == [
        "MaxHinge()",
        "TopK(k=2)",
        "PseudoTopK(k=2)",
        "Usunier(k=2)",
        "WeightedTopK(rho=[0.622, 0.378])",
        "WeightedUsunier(rho=[0.622, 0.378])",
        "StructuredHinge(costs=<4 x 4>)",
    ]
    assert all(run["success"] for run in document["runs"])


@pytest.mark.parametrize(
    ("arguments", "loss"),
    [
        (["--loss", "topk", "--weights", "flat"], fwlab.TopK(3)),
        (["--loss", "topk", "--weights", "linear"], fwlab.WeightedTopK(fwlab.weights.linear(3))),
        (
            ["--loss", "usunier", "--weights", "exponential"],
            fwlab.WeightedUsunier(fwlab.weights.exponential(3)),
        ),
        (["--loss", "weighted-usunier"], fwlab.WeightedUsunier(fwlab.weights.linear(3))),
        (
            ["--loss", "weighted-topk", "--weights", "flat"],
            fwlab.WeightedTopK(fwlab.weights.flat(3)),
        ),
        (["--loss", "pseudo-topk"], fwlab.PseudoTopK(3)),
    ],
)
def test_loss_options(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], loss: fwlab.losses.Loss
) -> None:
    document = solved(capsys, *arguments, "-k", "3", "--C", "2", "--max-iter", "3")
    data = fwlab.datasets.load("four.npz")
    problem = fwlab.Problem(data.X_train, data.y_train, loss, 1 / 56)
    assert document["result"]["gap"] == fwlab.solve(problem, "ascent", max_iter=3).gap


def test_costs_are_class_distances_unless_a_file_is_given(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distances = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    np.save("costs.npy", distances)
    np.savetxt("costs.csv", 2 * distances, delimiter=",")
    arguments = ["--loss", "structured", "--max-iter", "0"]
    plain = solved(capsys, *arguments)["result"]
    assert plain["primal"] == pytest.approx(distances.max(axis=1).mean())
    assert solved(capsys, *arguments, "--costs", "costs.npy")["result"]["primal"] == plain["primal"]
    doubled = solved(capsys, *arguments, "--costs", "costs.csv")["result"]
    assert doubled["primal"] == pytest.approx(2 * plain["primal"])


def test_problem_and_solve_options_arrive(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--smoothing", "0.5", "--kernel", "linear", "--normalize", "standard"]
    more = ["--rng", "4", "--check-every", "2", "--relative", "--time-limit", "60"]
    document = solved(capsys, *arguments, *more, "--method", "bcfw", "--tol", "0.01")
    data = fwlab.datasets.load("four.npz", normalize="standard")
    problem = fwlab.Problem(
        data.X_train, data.y_train, fwlab.TopK(2), 1 / 28, smoothing=0.5, kernel="linear"
    )
    result = fwlab.solve(problem, "bcfw", 0.01, True, 1000, 60.0, rng=4, check_every=2)
    assert document["result"]["gap"] == result.gap
    assert document["result"]["iterations"] == result.nit
    assert document["problem"]["kernel"] == "linear"


# solve


def test_solve_prints_a_certificate_and_saves_the_result(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["solve", "--data", "four.npz", "-k", "2", "--tol", "1e-4"]
    assert main([*arguments, "--save", "new/result.npz", "-v"]) == 0
    out, err = capsys.readouterr()
    report = dict(line.split("  ", 1) for line in out.splitlines()[1:])
    report = {name.strip(): value.strip() for name, value in report.items()}
    saved = Result.load(folder / "new" / "result.npz")
    data = fwlab.datasets.load("four.npz")
    assert float(report["gap"]) == pytest.approx(saved.gap)
    assert float(report["train error"]) == pytest.approx(
        np.mean(saved.predict(data.X_train) != data.y_train)
    )
    wrong = np.mean(saved.predict(data.X_test) != data.y_test)
    right = fwlab.metrics.topk_accuracy(data.y_test, data.X_test @ saved.W.T, 2)
    assert float(report["test error"]) == pytest.approx(wrong)
    assert float(report["test top 2 error"]) == pytest.approx(1 - right)
    assert "valid error" not in report
    assert report["message"] == Status.CONVERGED.value
    assert "ascent" in err
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""


# exit codes


@pytest.mark.parametrize(("strict", "code"), [([], 0), (["--strict"], 1)])
def test_met_cap_is_a_failure_only_if_strict(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None, strict: list[str], code: int
) -> None:
    capped = ["--tol", "1e-9", "--max-iter", "1", *strict]
    document = compared(capsys, "--methods", "fw", *capped, code=code)
    assert document["runs"][0]["status"] == "MAX_ITER"
    assert solved(capsys, *capped, code=code)["result"]["status"] == "MAX_ITER"


def test_strict_is_content_with_certified_runs(
    folder: Path, capsys: pytest.CaptureFixture[str], undrawn: None
) -> None:
    compared(capsys, "--methods", "ascent", "--tol", "1e-3", "--strict")
    solved(capsys, "--tol", "1e-3", "--strict")


@pytest.mark.turns
@pytest.mark.parametrize(
    ("error", "methods", "kind", "code"),
    [
        (RuntimeError, "fw,ascent", "failed", 1),
        (RuntimeError, "all", "failed", 1),
        (ValueError, "fw,ascent", "refused", 1),
        (ValueError, "all", "refused", 0),
        (ValueError, "fw", "refused", 1),
    ],
)
def test_exit_code_of_failed_and_refused_runs(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    undrawn: None,
    error: type[Exception],
    methods: str,
    kind: str,
    code: int,
) -> None:
    def solve(problem: fwlab.Problem, method: fwlab.Method, **options: object) -> Result:
        if method == fwlab.FrankWolfe():
            raise error("not this one")
        return fwlab.solve(problem, method, **options)

    monkeypatch.setattr(runs, "solve", solve)
    document = compared(capsys, "--methods", methods, "--max-iter", "2", code=code)
    assert document["runs"][0]["status"] == kind
    assert "not this one" in document["runs"][0]["message"]
    assert document["runs"][0]["gap"] is None


def test_interrupted_runs_end_with_130_and_a_report(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, undrawn: None
) -> None:
    def solve(*args: object, **options: object) -> Result:
        return replace(fwlab.solve(*args, **options), status=Status.INTERRUPTED)

    monkeypatch.setattr(runs, "solve", solve)
    monkeypatch.setattr(commands, "solve", solve)
    document = compared(capsys, "--methods", "fw,ascent", "--max-iter", "2", code=130)
    assert [run["status"] for run in document["runs"]] == ["INTERRUPTED", "not run"]
    solved(capsys, "--max-iter", "2", code=130)


def test_ctrl_c_before_the_first_run(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "load_problems", press)
    assert main(["compare"]) == 130
    assert capsys.readouterr().err.startswith("fwlab: interrupted")


def test_ctrl_c_in_a_run_ends_with_its_certificate(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, undrawn: None
) -> None:
    def solve(*args: object, callback: Callable, **options: object) -> Result:
        def press(progress: object) -> None:
            callback(progress)
            if progress.iteration == 3:
                signal.raise_signal(signal.SIGINT)

        return fwlab.solve(*args, callback=press, **options)

    monkeypatch.setattr(runs, "solve", solve)
    options = ["--methods", "fw,ascent", "--tol", "0"]
    assert main(["compare", "--data", "four.npz", "-k", "2", "--json", *options]) == 130
    out, err = capsys.readouterr()
    assert "--resume --out results goes on from here" in err.splitlines()[-1]
    document = json.loads(out)
    first, second = document["runs"]
    assert (first["status"], first["iterations"]) == ("INTERRUPTED", 3)
    assert first["gap"] == pytest.approx(first["primal"] - first["dual"])
    assert (second["status"], second["gap"]) == ("not run", None)
    (kept,) = Path("results", "runs").iterdir()
    assert (Result.load(kept).gap, Result.load(kept).nit) == (first["gap"], 3)


def test_unwritable_results_end_with_1(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError("no space left on the device")

    monkeypatch.setattr(commands, "write_text_atomically", full)
    assert main(["compare", "--data", "two.csv", "-k1", "--max-iter", "1", "--methods", "fw"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "fwlab: no space left on the device"


def test_without_matplotlib_the_table_stands_alone(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["compare", "--data", "two.csv", "-k1", "--max-iter", "1", "--methods", "fw"]) == 0
    out, err = capsys.readouterr()
    assert "two.csv" in out
    assert err.splitlines()[-1] == commands.NO_FIGURE
    kept = {path.name for path in Path("results").glob("[!.]*.*")}
    assert kept == {"table.txt", "comparison.csv", "comparison.toml"}


def test_solve_encloses_and_proves_on_request(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The numbers are what the library returns for the same run."""
    pytest.importorskip("flint", reason="python-flint, the extra verify, is not installed")
    arguments = ("--data", "four.npz", "-k", "2", "--tol", "1e-6", "--verify", "--proved")
    report = solved(capsys, *arguments)["result"]
    data = fwlab.datasets.load("four.npz")
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.TopK(2), 1 / 28)
    result = fwlab.solve(problem, tol=1e-6)
    assert tuple(report["verified_gap"]) == fwlab.verify(problem, result).gap
    assert report["test_labels_proved"] == result.proved(data.X_test).mean()
    shown = report["test_top_2_accuracy_of_the_optimum"]
    assert tuple(shown) == result.proved_accuracy(data.X_test, data.y_test, 2)
    assert main(["solve", *arguments]) == 0
    lines = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines()[1:])
    low, high = json.loads(lines["verified gap"])
    assert low <= result.gap + result.gap_error
    assert result.gap - result.gap_error <= high


def test_verify_without_flint_is_refused_before_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    assert main(["solve", "--data", "four.npz", "--verify"]) == 2
    shown = capsys.readouterr()
    assert shown.err == "fwlab: verify needs python-flint: pip install 'fwlab[verify]'.\n"
    assert shown.out == ""
