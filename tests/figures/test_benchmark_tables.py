"""The timing tables are made; no time is asserted."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import fwlab
from figures.benchmarks import (
    block_projection,
    certificates,
    first_call,
    growth,
    linear_svc,
    logistic,
    lp_norm,
    packages,
    page,
    pair_steps,
    passes,
    peer,
    products,
    projections,
    ranking,
    ranking_peers,
    small_fits,
    tail,
    threads,
    wall,
)

ROOT = Path(__file__).parents[2]


def test_projection_table(monkeypatch, capsys):
    monkeypatch.setattr(projections, "SIZES", (3, 40))
    projections.run(quick=True)
    head, names, *lines = capsys.readouterr().out.splitlines()
    assert "ratio to np.partition" in head and names.split()[:5] == [
        "regime", "d", "k", "active", "partition"
    ]  # fmt: skip
    # k < d: one line for d = 3, two for d = 40, in either regime
    assert [line.split()[0] for line in lines] == ["sum"] * 3 + ["cone"] * 3
    for line in lines:
        assert len(re.findall(r"\d+\.\d\d \( *\d+\.\d\d\)", line)) == 6


def test_small_fits_table(monkeypatch, capsys):
    monkeypatch.setattr(small_fits, "REPEATS", 3)
    small_fits.run(quick=True)
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert [row[:3] for row in rows[2:]] == [
        ["iris", "150 x 4 x 3", tol] for tol in ("0.1", "0.01")
    ]
    for row in rows[2:]:
        ours, without, peer, ratio = map(float, row[5:])
        assert without > 0 and peer > 0 and ratio == pytest.approx(ours / peer, rel=0.1)


@pytest.mark.turns
def test_logistic_table(monkeypatch, capsys):
    monkeypatch.setattr(logistic, "REPEATS", 1)
    logistic.run(quick=True)
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert [row[:4] for row in rows[2:]] == [
        ["digits", "1347 x 64 x 10", "1", excess] for excess in ("0.001", "1e-05")
    ]
    for row in rows[2:]:
        ours, certified, *peers, ratio, other = map(float, row[4:])
        assert ratio == pytest.approx(min(peers) / ours, rel=0.1)
        assert other == pytest.approx(min(peers) / certified, rel=0.1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_logistic_row_takes_the_loosest_tolerance_that_reaches_the_excess(monkeypatch):
    data = fwlab.datasets.synthetic(30, 3, 3, 1.0, rng=0)
    problem = fwlab.Problem(data.X_train, data.y_train, fwlab.CrossEntropy(), C=1.0)
    best = fwlab.solve(problem, "lbfgs", tol=1e-12).dual
    for name, solver in logistic.solvers(problem, 1.0, 1e-5).items():
        found = logistic.loosest(problem, solver, best + 1e-5)
        assert found is not None, name
        looser = solver(1.0).set_params(tol=found[0].tol * 10**0.5)
        assert problem.primal(looser.fit(problem.X, problem.y).coef_) > best + 1e-5
    monkeypatch.setattr(logistic, "TRIES", 3)
    assert logistic.loosest(problem, solver, best - 1.0) is None


def test_package_table(monkeypatch, capsys):
    def simplex(rows, k):
        return fwlab.project_knapsack(rows, k, 1.0, equality=True)

    both = {"right": (simplex, True), "wrong": (lambda rows, k: simplex(rows, k) + 0.5, False)}
    monkeypatch.setattr(packages, "SIZES", (20,))
    monkeypatch.setattr(packages, "PACKAGES", both)
    monkeypatch.setattr(packages, "present", lambda: list(both))
    packages.run(quick=True)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[3:]]
    assert [line[:3] for line in lines] == [
        [regime, "20", k] for regime in ("sum", "cone") for k in ("1", "5", "10")
    ]
    assert [line[-1] for line in lines] == ["5e-01", "0e+00", "0e+00"] * 2
    assert [line.count("-") for line in lines] == [0, 1, 1] * 2


def test_tail_table(monkeypatch, capsys):
    monkeypatch.setattr(tail, "SETS", {"digits": "*"})
    monkeypatch.setattr(tail, "CS", (0.01,))
    tail.run(quick=True)
    *_, line = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\| digits\* \| 0\.01 \| 1e-06 (\| \d+\.\d\d ){4}\|", line)


def test_the_tail_table_falls_back_on_the_last_decade_that_was_passed(monkeypatch):
    gaps = {"ascent": [1.0, 0.2, 3e-5], "newton": [1.0, 2e-5, 7e-6], "auto": [1.0, 2e-5, 9e-6]}
    tols = {}

    def solve(problem, method, tol, **options):
        tols[method] = tol
        trace = SimpleNamespace(gap=np.array(gaps[method]), seconds=np.array([0.0, 1.0, 2.0]))
        return SimpleNamespace(trace=trace)

    monkeypatch.setattr(fwlab, "solve", solve)
    gap, seconds = tail.one_round(None, 1e-8, 10.0)
    assert gap == pytest.approx(1e-5)
    assert seconds == {"ascent": np.inf, "newton": 2.0, "auto": 2.0}
    assert tols == {"ascent": 1e-8, "newton": 1e-8, "auto": gap}


def test_pass_table(monkeypatch, capsys):
    def small(quick):
        data = fwlab.datasets.synthetic(30, 40, 4, 0.5, rng=0)
        yield "small", passes.top_three(data.X_train, data.y_train)

    monkeypatch.setattr(passes, "problems", small)
    passes.run(quick=True)
    text = capsys.readouterr().out
    for label in ("X W^T", "A^T X", "fw", "bcfw", "row by row", "float32", "Gram"):
        assert re.search(rf"small .*{re.escape(label)} +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d", text)
    assert "passes of ascent to" in text


def test_product_table(monkeypatch, capsys):
    monkeypatch.setattr(products, "ENTRIES", 6_000)
    monkeypatch.setattr(products, "FEATURES", (5, 6, 7, 20))
    products.run(quick=True)
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[:2] for line in lines] == [
        [d, m] for d in ("5", "20") for m in ("3", "10")
    ]
    assert all(re.fullmatch(r" *\d+ +\d+( +\d+\.\d\d){3}", line) for line in lines)


def test_certificate_table(capsys):
    certificates.run(quick=True)
    digits = capsys.readouterr().out.splitlines()[-1].split()
    assert digits[:6] == ["digits", "1347", "x", "64", "x", "10"]
    assert 1e-14 < float(digits[7]) < 1e-10


def test_lp_norm_tables(monkeypatch, capsys):
    data = fwlab.datasets.synthetic(60, 8, 3, 1.0, rng=0, normalize="unit", n_test=20)
    monkeypatch.setattr(lp_norm, "news20", lambda: data)
    monkeypatch.setattr(lp_norm, "NORMS", (1.0, 1.5))
    monkeypatch.setattr(lp_norm, "CANDIDATES", (1.5, 2.0))
    monkeypatch.setattr(lp_norm, "CS", (1.0,))
    lp_norm.run(quick=False)
    text = capsys.readouterr().out
    for p in ("1", "1.5"):
        for method in ("direct", "alternate"):
            assert re.search(rf"^ *{p} +{method} +\d+ +\d+\.\d +\d\.\de-0[5-9] ", text, re.M)
    assert re.search(r"p = 2 +2 +1 .* 85\.12$", text, re.M)
    assert re.search(r"best p .* 86\.19$", text, re.M)


def test_growth_table(monkeypatch, capsys):
    small = {"n": 40, "d": 5, "m": 4, "k": 2}
    monkeypatch.setattr(growth, "FIXED", dict.fromkeys("ndmk", small))
    monkeypatch.setattr(growth, "GROWING", {**dict.fromkeys("ndm", (4, 8)), "k": (1, 2)})
    growth.run(quick=True)
    lines = capsys.readouterr().out.splitlines()[2:]
    per_size = [*growth.TIMED, "later changes"]
    assert [line.split()[0] for line in lines] == [name for name in "ndmk" for _ in per_size]
    assert all(re.search(r" \d: \d+\.\d\d, \d: \d+\.\d\d", line) for line in lines)


def test_pair_step_table(monkeypatch, capsys):
    monkeypatch.setattr(pair_steps, "SIZES", (20, 40, 80))
    monkeypatch.delenv("FWLAB_DATA", raising=False)
    pair_steps.run(quick=True)
    lines = capsys.readouterr().out.splitlines()[2:]
    assert len(lines) == len(pair_steps.OBJECTIVES)
    for line in lines:
        assert re.search(r" -?\d\.\d\d +\d\.\de-\d\d +20: \d\.\d{3}, 40: .*80: ", line)


def test_ranking_lines():
    wanted = ranking.tasks(quick=False)
    assert len(wanted) == 4 * 2 * 2 * 5 + 3 and len(ranking.tasks(quick=True)) == 20
    assert {task[0] for task in wanted} == {*ranking.UCI, "fashion_mnist"}


@pytest.mark.usefixtures("data_folder")
def test_a_ranking_line_is_certified():
    task = ("ionosphere", "standard", ranking.UCI_OBJECTIVES[2], {"kernel": "rbf", "sigma": 0.05})
    cells = dict(zip(ranking.HEADER, ranking.line(*task), strict=True))
    assert cells["objective"] == "TopPushK(K = 5, hinge)" and cells["n"] == "176"
    assert float(cells["gap"]) <= ranking.TOL and cells["method"] == "interior-point"


def test_the_program_of_toppush_has_the_optimum_of_ranking():
    """Clarabel's value is the one that the ranking run certifies, to both tolerances."""
    pytest.importorskip("clarabel")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3 // 2
    value = ranking_peers.clarabel_call(X, y)().obj_val
    result = fwlab.ranking.solve(X, y, fwlab.ranking.TopPush(), 1.0, tol=1e-9)
    assert value == pytest.approx(result.primal, rel=1e-5)


@pytest.mark.usefixtures("data_folder")
def test_ranking_beside_its_peers(capsys):
    pytest.importorskip("clarabel")
    ranking_peers.run(quick=True)
    lines = capsys.readouterr().out.splitlines()[2:]
    assert len(lines) == 2 + 5 and not any("not met" in line for line in lines)
    assert all(float(line.split("|")[-2]) > 0 for line in lines)


def cells(printed):
    """The cells of a Markdown table, line by line, without the rule below the header."""
    lines = printed.splitlines()
    return [line.strip("| ").split(" | ") for line in [lines[0], *lines[2:]]]


def test_wall_table(monkeypatch, capsys):
    monkeypatch.setattr(wall, "REPEATS", 2)
    wall.run(quick=True)
    header, *lines = cells(capsys.readouterr().out)
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert [(row["data"], row["gap"]) for row in rows] == [("digits", "1e-01"), ("digits", "1e-02")]
    data = fwlab.datasets.load("digits", normalize="unit")
    for row in rows:
        passes_made, needed = map(int, row["passes / needed"].split(" / "))
        assert needed <= passes_made
        assert 0 < float(row["method"]) <= float(row["wall"])
        W = fwlab.solve(wall.problem_on(data, fwlab.TopK(3)), tol=float(row["gap"])).W
        hits = np.argmax(data.X_test @ W.T, axis=1) == data.y_test
        assert row["top-1"] == f"{hits.mean():.4f}"
    assert wall.top1(fwlab.datasets.synthetic(9, 2, 2, 1.0, rng=0), W) == "-"


def test_first_call_table(monkeypatch, capsys):
    monkeypatch.setattr(first_call, "seconds", lambda *run: (0.5, 2.0))
    monkeypatch.setattr(first_call, "printed", lambda *run: "0.25")
    first_call.run(quick=False)
    _, *lines = cells(capsys.readouterr().out)
    assert [line[3:] for line in lines] == [["2.00", "2.00", "0.50", "0.25"]] * len(first_call.RUNS)


@pytest.mark.turns
def test_first_call_is_that_of_a_new_process(tmp_path):
    stored = os.environ.get("NUMBA_CACHE_DIR", str(tmp_path))
    imported, solved = first_call.seconds("fw", "dense", 3, stored)
    assert 0 < imported and 0 < solved


def test_block_projection_table(monkeypatch, capsys):
    monkeypatch.setattr(block_projection, "CLASSES", (12, 70))
    monkeypatch.setattr(block_projection, "ENTRIES", 4000)
    block_projection.run(quick=True)
    lines = capsys.readouterr().out.splitlines()[2:]
    # TopK(100) needs more classes
    assert [line.split()[0] for line in lines] == ["12"] * 5 + ["70"] * 5


def test_threads_table(monkeypatch, capsys):
    monkeypatch.setattr(threads, "SIZES", ((400, 150, 5),))
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 2)
    threads.run(quick=True)
    header, *lines = cells(capsys.readouterr().out)
    assert header[2:4] == ["one thread", "two"]
    assert [line[1] for line in lines] == list(threads.ITERATIONS)
    assert all(float(line[2]) > 0 and float(line[3]) > 0 for line in lines)


def test_linear_svc_table(monkeypatch, capsys):
    monkeypatch.setattr(linear_svc, "REPEATS", 1)
    linear_svc.run(quick=True)
    header, line = cells(capsys.readouterr().out)
    row = dict(zip(header, line, strict=True))
    assert row["data"] == "digits" and 0 < float(row["error"]) < 0.1


def test_the_page_names_the_machine_and_its_floors(monkeypatch, capsys):
    monkeypatch.setattr(page, "SIDE", 50)
    monkeypatch.setattr(growth, "run", lambda quick: print("a table"))
    page.print_page(["growth"], quick=True)
    printed = capsys.readouterr().out
    assert "`python -m figures.benchmarks growth --markdown --quick`" in printed
    assert "GF/s" in printed and "numpy" in printed and "```text\na table\n```" in printed


@pytest.mark.turns
@pytest.mark.parametrize(
    ("arguments", "code", "text"), [([], 0, "projections "), (["nothing"], 2, "there are: ")]
)
def test_command(arguments, code, text):
    command = [sys.executable, "-m", "figures.benchmarks", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code and text in done.stdout + done.stderr


PEER = """\
#!{python}
import sys
import numpy as np
import fwlab

job, *arguments, path = sys.argv[1:]
numbers = np.fromfile(path)
if job == "project":
    name, k, r, rows, d = arguments
    k, r, rows, d = int(k), float(r), int(rows), int(d)
    vectors = numbers.reshape(rows, d)
    if name == "topk-simplex":
        result = fwlab.project_topk_simplex(vectors, k, r, bias=1.0)
    elif name == "topk-cone":
        result = vectors
    else:
        result = fwlab.project_knapsack(vectors, r, r / k)
        if name == "knapsack-equality":
            result[0, 0] = np.nan
    print(1e6)
else:
    k, C, gap, n, d, m = (float(one) for one in arguments)
    n, d = int(n), int(d)
    X, y = numbers[: n * d].reshape(n, d), numbers[n * d :].astype(int)
    assert y.max() == m - 1
    problem = fwlab.Problem(X, y, fwlab.Usunier(int(k)), C=C)
    result = fwlab.solve(problem, tol=gap, relative=True).W
    print(2e6)
result.tofile(path)
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Provide a program of a reader, some of whose projections are wrong."""
    path = tmp_path / "peer"
    path.write_text(PEER.format(python=sys.executable))
    path.chmod(0o755)
    monkeypatch.setenv(peer.PROGRAM, str(path))


@pytest.mark.turns
def test_peer_table(program, monkeypatch, capsys):
    monkeypatch.setattr(peer, "SIZES", (20,))
    monkeypatch.setattr(peer, "SELECTED", (5, 30))
    monkeypatch.setattr(peer, "TURNS", 1)
    monkeypatch.setattr(linear_svc, "REPEATS", 1)
    peer.run(quick=True)
    first, second = capsys.readouterr().out.strip().split("\n\n")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in first.splitlines()]
    assert [line[:3] for line in lines[2:]] == [["sum", "20", "5"], ["cone", "20", "5"]]
    for _, _, _, simplex, cone, *knapsacks in lines[2:]:
        assert re.fullmatch(r"differ by \de[+-]\d\d", cone)
        for cell in (simplex, knapsacks[0]):
            assert re.fullmatch(r"\d+\.\d\d, 10000000000\.00 \(0\.00\)", cell)
        assert knapsacks[1] == "differ by nan"
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in second.splitlines()]
    assert [line[:2] for line in lines[2:]] == [["digits, 1", "0.01"], ["digits, 3", "0.01"]]
    for _, _, error, _, theirs, ratio in lines[2:]:
        assert 0.0 < float(error) < 1e-2
        assert (theirs, ratio) == ("2000000.000", "0.00")


def test_no_peer(monkeypatch, capsys):
    monkeypatch.delenv(peer.PROGRAM, raising=False)
    peer.run(quick=True)
    assert capsys.readouterr().out == "FWLAB_PEER names no program.\n"


def test_a_peer_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv(peer.PROGRAM, str(tmp_path / "none"))
    with pytest.raises(SystemExit, match=r"must be the path of a program; got '.*none'"):
        peer.run(quick=True)
