"""Test `compare`: one row per run, finished runs kept and found again, traces written whole."""

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import fwlab
from fwlab.experiments import Comparison, compare, runs
from fwlab.experiments.comparison import MADE, RUN
from fwlab.experiments.summary import COLUMNS, TIMES
from fwlab.identity import digest
from fwlab.result import Result, Status
from fwlab.solvers.registry import build
from fwlab.trace import Trace

METHODS = ["fw", "bcfw", "ascent"]


def data(n: int = 24, d: int = 5, m: int = 4) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(7)
    return generator.standard_normal((n, d)), np.arange(n) % m


def problem(loss: fwlab.losses.Loss | None = None, **options: object) -> fwlab.Problem:
    return fwlab.Problem(*data(), loss or fwlab.TopK(2), **{"lam": 0.05, **options})


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Provide the methods that `solve` was called with."""
    calls: list[str] = []

    def solve(*args: object, **options: object) -> Result:
        calls.append(name_of(args[1]))
        return fwlab.solve(*args, **options)

    monkeypatch.setattr(runs, "solve", solve)
    return calls


def name_of(built: fwlab.Method) -> str:
    """Return the name of a method with its default options, or of bcfw with an order."""
    return next(name for name in fwlab.methods() if build(name, {}) == replace_order(built))


def replace_order(built: fwlab.Method) -> fwlab.Method:
    return replace(built, order="permutation") if hasattr(built, "order") else built


def replace_solve(monkeypatch: pytest.MonkeyPatch, method: str, action: object) -> None:
    """Make `solve` do `action` for one method."""

    def solve(a_problem: fwlab.Problem, built: fwlab.Method, **options: object) -> Result:
        if name_of(built) == method:
            return action(a_problem, built, **options)
        return fwlab.solve(a_problem, built, **options)

    monkeypatch.setattr(runs, "solve", solve)


# every run a row


def test_each_run_is_that_of_solve() -> None:
    problems = {"a": problem(), "b": problem(fwlab.MaxHinge(), smoothing=0.1)}
    comparison = compare(problems, METHODS, tol=1e-3, max_iter=40, rng=3)
    assert list(comparison.results) == [(name, m) for name in "ab" for m in METHODS]
    for (name, method), result in comparison.results.items():
        alone = fwlab.solve(problems[name], method, tol=1e-3, max_iter=40, rng=3, check_every=1)
        np.testing.assert_array_equal(result.A, alone.A)
        assert (result.gap, result.nit, result.status) == (alone.gap, alone.nit, alone.status)


def test_processes_find_what_one_process_finds(tmp_path: Path) -> None:
    problems = {"a": problem()}
    alone = compare(problems, ["fw", "ascent"], tol=1e-3, max_iter=20)
    both = compare(problems, ["fw", "ascent"], tol=1e-3, max_iter=20, n_jobs=2, out=tmp_path)
    assert list(both.results) == list(alone.results)
    for key, result in alone.results.items():
        np.testing.assert_array_equal(both.results[key].A, result.A)
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_options_reach_the_method() -> None:
    cyclic = compare({"a": problem()}, ["bcfw"], max_iter=3, order="cyclic").results["a", "bcfw"]
    alone = fwlab.solve(problem(), "bcfw", max_iter=3, order="cyclic")
    np.testing.assert_array_equal(cyclic.A, alone.A)


def test_table_has_a_line_a_run_and_a_sentence_a_status() -> None:
    comparison = compare({"a": problem()}, ["fw", "ascent"], tol=1e-6, max_iter=4)
    lines = comparison.table().splitlines()
    assert tuple(lines[0].split()) == COLUMNS
    for line, method in zip(lines[2:4], ["fw", "ascent"], strict=True):
        result = comparison.results["a", method]
        cells = line.split()
        assert cells[:3] == ["a", method, "4"]
        assert cells[-1] == "MAX_ITER"
        numbers = [getattr(result, name) for name in (*TIMES, "primal", "dual", "gap")]
        np.testing.assert_allclose(
            [float(cell) for cell in cells[3:9]], numbers, atol=1e-4, rtol=5e-3
        )
    assert lines[4:] == ["", f"MAX_ITER: {Status.MAX_ITER.value}"]


def test_refusal_is_a_row_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> Result:
        raise ValueError("smoothing must be 0\n for this method; got 0.1.")

    replace_solve(monkeypatch, "fw", refuse)
    comparison = compare({"a": problem()}, ["fw", "ascent"], max_iter=2)
    assert list(comparison.results) == [("a", "ascent")]
    row = comparison.rows()[0]
    assert (row["status"], row["gap"], row["success"]) == ("refused", None, False)
    assert row["message"] == "smoothing must be 0 for this method; got 0.1."
    assert "refused: smoothing must be 0 for this method; got 0.1." in comparison.table()


def during_work(error: Exception) -> object:
    def solve(a_problem: fwlab.Problem, name: str, callback: object, **options: object) -> Result:
        fwlab.solve(a_problem, name, callback=callback, max_iter=1)
        raise error

    return solve


def before_work(error: Exception) -> object:
    def solve(*args: object, **options: object) -> Result:
        raise error

    return solve


@pytest.mark.parametrize(
    "action",
    [
        during_work(ValueError("broken")),
        before_work(np.linalg.LinAlgError("broken")),
        before_work(RuntimeError("broken")),
        before_work(TypeError("broken")),
    ],
)
def test_any_other_error_is_a_failed_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, action: object
) -> None:
    replace_solve(monkeypatch, "fw", action)
    comparison = compare({"a": problem()}, ["fw", "ascent"], max_iter=2, out=tmp_path)
    assert comparison.failures["a", "fw"].kind == "failed"
    assert comparison.failures["a", "fw"].message.endswith("Error: broken")
    assert [path.name.split("-")[1] for path in (tmp_path / "runs").iterdir()] == ["ascent"]


def test_progress_goes_to_stderr_alone(capsys: pytest.CaptureFixture[str]) -> None:
    compare({"a": problem()}, ["fw", "ascent"], max_iter=2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "2 of 2 runs" in err


# bad input


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"problems": [problem()]}, TypeError, "problems must be a dict"),
        ({"problems": {}}, ValueError, "problems must hold at least one"),
        ({"problems": {"a": 3}}, TypeError, "problems must map names to Problems; got 'a': 3"),
        ({"problems": {1: problem()}}, TypeError, "problems must map names"),
        ({"methods": {"fw"}}, TypeError, "methods must be a list"),
        ({"methods": []}, ValueError, "methods must hold at least one"),
        ({"methods": ["fw", "nosuch"]}, ValueError, "method must be one of fw.*got 'nosuch'"),
        ({"methods": ["fw", "fw"]}, ValueError, "each method once; got 'fw' twice"),
        ({"tol": -1.0}, ValueError, "tol must be .*>= 0.*; got -1.0"),
        ({"max_iter": 1.5}, TypeError, "max_iter must be an integer; got 1.5"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be at least 1; got 0"),
        ({"time_limit": -1}, ValueError, "time_limit must be .*; got -1"),
        ({"check_every": 0}, ValueError, "check_every must be at least 1; got 0"),
        ({"rng": np.random.default_rng(0)}, TypeError, "rng must be an integer"),
        ({"colour": "red"}, TypeError, "method 'fw' .*got 'colour'"),
    ],
)
def test_bad_input_is_refused_before_any_work(
    counted: list[str], change: dict, error: type[Exception], words: str
) -> None:
    arguments = {"problems": {"a": problem()}, "methods": ["fw"], **change}
    with pytest.raises(error, match=words) as caught:
        compare(**arguments)
    assert "\n" not in str(caught.value)
    assert counted == []


# finished runs are kept


def test_second_comparison_computes_nothing(tmp_path: Path, counted: list[str]) -> None:
    first = compare({"a": problem()}, METHODS, max_iter=5, out=tmp_path)
    assert counted == METHODS
    again = compare({"a": problem()}, METHODS, max_iter=5, out=tmp_path)
    assert counted == METHODS
    made = {"stored": False}
    assert [{**row, **made} for row in again.rows()] == first.rows()
    for key, result in first.results.items():
        np.testing.assert_array_equal(again.results[key].A, result.A)
        np.testing.assert_array_equal(again.results[key].trace.gap, result.trace.gap)


def test_a_problem_that_was_used_is_the_same_problem(tmp_path: Path, counted: list[str]) -> None:
    problems = {"a": problem()}
    for _ in range(2):
        compare(problems, METHODS, max_iter=5, out=tmp_path)
    assert counted == METHODS


def test_an_added_method_is_the_only_one_computed(tmp_path: Path, counted: list[str]) -> None:
    compare({"a": problem()}, ["fw"], max_iter=5, out=tmp_path)
    compare({"a": problem()}, ["fw", "ascent"], max_iter=5, out=tmp_path)
    assert counted == ["fw", "ascent"]


@pytest.mark.parametrize(
    "change",
    [
        {"tol": 1e-3},
        {"relative": True},
        {"max_iter": 6},
        {"time_limit": 100.0},
        {"rng": 1},
        {"check_every": 2},
        {"order": "cyclic"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_setting_is_another_run(
    tmp_path: Path, counted: list[str], change: dict[str, object]
) -> None:
    compare({"a": problem()}, ["bcfw"], **{"max_iter": 5}, out=tmp_path)
    (tmp_path / "comparison.toml").unlink()
    compare({"a": problem()}, ["bcfw"], **{"max_iter": 5, **change}, out=tmp_path)
    assert counted == ["bcfw", "bcfw"]


def test_another_problem_of_the_same_name_is_another_run(
    tmp_path: Path, counted: list[str]
) -> None:
    compare({"a": problem()}, ["fw"], max_iter=5, out=tmp_path)
    (tmp_path / "comparison.toml").unlink()
    compare({"a": problem(lam=0.06)}, ["fw"], max_iter=5, out=tmp_path)
    assert counted == ["fw", "fw"]


def test_another_version_of_the_code_is_another_run(
    tmp_path: Path, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compare({"a": problem()}, ["fw"], max_iter=5, out=tmp_path)
    monkeypatch.setattr("numpy.__version__", "99")
    compare({"a": problem()}, ["fw"], max_iter=5, out=tmp_path)
    assert counted == ["fw", "fw"]


def test_a_damaged_file_is_computed_again(tmp_path: Path, counted: list[str]) -> None:
    compare({"a": problem()}, ["fw"], max_iter=5, out=tmp_path)
    (stored,) = (tmp_path / "runs").iterdir()
    stored.write_bytes(stored.read_bytes()[:200])
    comparison = compare({"a": problem()}, ["fw"], max_iter=5, out=tmp_path)
    assert counted == ["fw", "fw"]
    assert Result.load(stored).gap == comparison.results["a", "fw"].gap


def test_file_names_are_readable_and_safe(tmp_path: Path) -> None:
    compare({"../my data/x": problem()}, ["fw"], max_iter=1, out=tmp_path)
    (stored,) = (tmp_path / "runs").iterdir()
    assert stored.name.startswith(".._my_data_x-fw-")
    assert {file.name for file in tmp_path.iterdir()} == {"runs", "comparison.toml", ".lock"}


def test_every_run_has_its_own_key(tmp_path: Path) -> None:
    compare({"a": problem(), "b": problem(lam=0.1)}, METHODS, max_iter=1, out=tmp_path)
    keys = {path.stem.rsplit("-", 1)[1] for path in (tmp_path / "runs").iterdir()}
    assert len(keys) == 2 * len(METHODS)


def test_problems_differ_in_their_hash() -> None:
    X, y = data()
    other_X, other_y = X.copy(), y.copy()
    other_X[3, 2] = np.nextafter(other_X[3, 2], 1)
    other_y[:2] = other_y[1::-1]
    costs = 1.0 - np.eye(4)
    other_costs = costs.copy()
    other_costs[0, 1] = 1.5
    weights = np.ones(len(y))
    weights[0] = 2.0
    structured = fwlab.StructuredHinge
    problems = [
        problem(),
        fwlab.Problem(other_X, y, fwlab.TopK(2), 0.05),
        fwlab.Problem(X, other_y, fwlab.TopK(2), 0.05),
        fwlab.Problem(X[:-1], y[:-1], fwlab.TopK(2), 0.05),
        fwlab.Problem(scipy.sparse.csr_matrix(X), y, fwlab.TopK(2), 0.05),
        problem(fwlab.TopK(3)),
        problem(fwlab.Usunier(2)),
        problem(fwlab.WeightedTopK([0.6, 0.4])),
        problem(fwlab.WeightedTopK([0.5, 0.4])),
        problem(structured(costs)),
        problem(structured(other_costs)),
        problem(structured(costs[y], per_sample=True)),
        problem(lam=0.06),
        problem(smoothing=0.1),
        problem(kernel="linear"),
        problem(n_classes=5),
        problem(sample_weight=weights),
    ]
    hashes = [digest(one) for one in problems]
    assert len(set(hashes)) == len(problems)
    assert digest(problem()) == hashes[0]
    assert digest(problem(structured(costs.copy()))) == digest(problems[9])


def test_hash_tells_values_and_types_apart() -> None:
    values = [1, 1.0, "1", True, None, [1], [[1]], {"a": 1}, {"b": 1}, np.ones(1), np.ones((1, 1))]
    values.append(np.zeros(1))
    assert len({digest(value) for value in values}) == len(values)
    assert digest(np.float64(1.0)) != digest(1.0) and digest(np.int64(1)) != digest(1)
    assert digest([1], []) != digest([], [1])


# interruption


def test_interrupted_run_is_reported_and_stored_as_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(a_problem: fwlab.Problem, name: str, **options: object) -> Result:
        return replace(fwlab.solve(a_problem, name, max_iter=2), status=Status.INTERRUPTED)

    replace_solve(monkeypatch, "bcfw", interrupted)
    comparison = compare({"a": problem()}, METHODS, max_iter=5, out=tmp_path)
    assert [row["status"] for row in comparison.rows()] == ["MAX_ITER", "INTERRUPTED", "not run"]
    stored = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert [name.split("-")[1] for name in stored] == ["bcfw", "fw"]
    assert [name.endswith(".unfinished.npz") for name in stored] == [True, False]


def test_ctrl_c_between_runs_keeps_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*args: object, **options: object) -> Result:
        raise KeyboardInterrupt

    replace_solve(monkeypatch, "bcfw", press)
    comparison = compare({"a": problem()}, METHODS, max_iter=5, out=tmp_path)
    assert [row["status"] for row in comparison.rows()] == ["MAX_ITER", "not run", "not run"]
    assert "not run: interrupted" in comparison.table()


# traces


def read_csv(comparison: Comparison, path: Path) -> list[dict[str, str]]:
    comparison.to_csv(path)
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_csv_holds_every_checkpoint_exactly(tmp_path: Path) -> None:
    problems = {"plain": problem(), "smooth": problem(smoothing=0.1)}
    comparison = compare(problems, ["fw", "ascent"], max_iter=6, tol=1e-9)
    rows = read_csv(comparison, tmp_path / "new" / "traces.csv")
    assert list(rows[0]) == [*RUN, *Trace.__dataclass_fields__, *MADE]
    assert len(rows) == sum(len(r.trace.gap) for r in comparison.results.values())
    for (name, method), result in comparison.results.items():
        mine = [row for row in rows if (row["problem"], row["method"]) == (name, method)]
        columns = result.trace.as_dict()
        for column in Trace.__dataclass_fields__:
            if column in columns:
                found = np.array([float(row[column]) for row in mine])
                np.testing.assert_array_equal(found, columns[column])
            else:
                assert {row[column] for row in mine} == {""}


def test_csv_of_failures_alone_is_a_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_solve(monkeypatch, "fw", before_work(RuntimeError("broken")))
    assert read_csv(compare({"a": problem()}, ["fw"]), tmp_path / "traces.csv") == []


def test_importing_draws_in_no_plotting_and_no_processes() -> None:
    code = (
        "import sys, fwlab, fwlab.cli, fwlab.experiments, fwlab.plot;"
        "print({'matplotlib', 'joblib', 'tqdm', 'sklearn', 'pooch'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "set()"
