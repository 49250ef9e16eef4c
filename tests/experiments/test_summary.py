"""Tables of several runs: medians with ranges, statuses with counts, text for LaTeX."""

from dataclasses import replace

import pytest
from test_plot import comparison, result

from fwlab.experiments import Comparison, Failure, RunKey
from fwlab.experiments.comparison import LOADED
from fwlab.experiments.load import Load
from fwlab.experiments.summary import escaped, latex_of, scientific, table_of

pytestmark = pytest.mark.small


def row(method="fw", **numbers):
    columns = "iterations wall_seconds seconds cpu_seconds primal dual gap calls passes".split()
    filled = {
        "problem": "a",
        "method": method,
        "status": "MAX_ITER",
        "message": "",
        "stored": False,
    }
    filled |= {"resumed": None, "machine": "Abacus 9", "date": "1999"}
    return {**filled, **dict.fromkeys(columns, 1.0), **numbers}


def cells(*rows):
    header, lines = table_of(rows)
    return [dict(zip(header, line, strict=True)) for line in lines]


def test_a_number_of_several_runs_is_the_median_with_the_range():
    (line,) = cells(*(row(gap=gap, iterations=n) for gap, n in ((4e-3, 7), (1e-3, 7), (2e-3, 7))))
    assert (line["runs"], line["gap"], line["iterations"]) == (
        "3",
        "2.00e-03 [1.00e-03, 4.00e-03]",
        "7",
    )
    (line,) = cells(row(iterations=10), row(iterations=13))
    assert line["iterations"] == "11.5 [10, 13]"


def test_objectives_have_no_range():
    (line,) = cells(row(primal=0.25, dual=0.1), row(primal=0.75, dual=0.2))
    assert (line["primal"], line["dual"]) == ("0.50000000", "0.15000000")


def test_a_range_that_does_not_show_is_left_out():
    (line,) = cells(row(gap=1.0001e-3), row(gap=1.0002e-3))
    assert line["gap"] == "1.00e-03"


def test_runs_without_a_number_count_in_the_status_alone():
    none = dict.fromkeys(("iterations", "gap", "seconds", "cpu_seconds"))
    failed = row(**none, status="failed", message="broken")
    (line,) = cells(row(gap=1e-3), failed, failed)
    assert (line["runs"], line["gap"]) == ("3", "1.00e-03")
    assert line["status"] == "1 MAX_ITER, 2 failed: broken"
    assert line["cpu_seconds"] == "1.0000"
    (line,) = cells(failed, failed)
    assert (line["gap"], line["status"]) == ("-", "failed: broken")


def test_a_nan_is_no_number():
    (line,) = cells(row(cpu_seconds=float("nan")), row(cpu_seconds=2.0), row(cpu_seconds=4.0))
    assert line["cpu_seconds"] == "3.0000 [2.0000, 4.0000]"


def test_one_run_of_each_method_has_no_medians():
    header, lines = table_of([row(), row("ascent")])
    assert "runs" not in header and len(lines) == 2


def test_stored_and_new_runs_are_told_apart():
    (line,) = cells(row(stored=True), row(stored=True), row(), row(resumed="iteration 3"))
    assert line["made"] == "1999 on Abacus 9, now, resumed at iteration 3"
    earlier = [{"stored": True, "date": date} for date in ("2001", "1998", "2000")]
    (line,) = cells(*(row(**made) for made in earlier), row(stored=True, machine="Enigma"))
    assert line["made"] == "1998 to 2001 on Abacus 9, 1999 on Enigma"


def test_latex_has_a_line_for_each_method():
    text = latex_of([row("my_rule", gap=1.5e-4), row("my_rule", gap=2.5e-4), row("fw", gap=0.0)])
    lines = text.splitlines()
    assert lines[0] == r"% needs \usepackage{booktabs}"
    assert lines[1] == r"\begin{tabular}{lrrrrl}"
    assert lines[3] == r"method & iterations & CPU (s) & passes & gap & status \\"
    gaps = r"$2.0\times 10^{-4}$ [$1.5\times 10^{-4}$, $2.5\times 10^{-4}$]"
    assert lines[5] == rf"my\_rule & 1 & 1 & 1 & {gaps} & max iter \\"
    assert lines[6] == r"fw & 1 & 1 & 1 & 0 & max iter \\"
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]


def test_latex_names_problems_if_there_are_several():
    text = latex_of([row(), {**row(), "problem": "b & c"}])
    assert "problem & method & iterations" in text and r"b \& c & fw & 1" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.234e-5, r"$1.2\times 10^{-5}$"),
        (0.0, "0"),
        (-3e-17, r"$-3.0\times 10^{-17}$"),
        (12.0, r"$1.2\times 10^{1}$"),
    ],
)
def test_powers_of_ten(value, text):
    assert scientific(value) == text


def test_signs_of_latex_are_texts():
    assert escaped(r"50% of a_b^c~{d}\e") == (
        r"50\% of a\_b\textasciicircum{}c\textasciitilde{}\{d\}\textbackslash{}e"
    )


def test_latex_is_written_and_returned(tmp_path):
    runs = comparison({("a", "fw"): result([1.0, 0.5])})
    text = runs.to_latex(tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text() == text == runs.to_latex()


# ---------------------------------------------------------------- a loaded machine


def loaded(load, processors=2, seconds=1.0, cpu_seconds=1.0, **made):
    run = result([1.0, 0.5])
    made |= {"load": str(load), "processors": str(processors)}
    return replace(run, seconds=seconds, cpu_seconds=cpu_seconds, made_by=made)


@pytest.mark.parametrize(
    ("run", "high"),
    [
        (loaded(2.0), False),
        (loaded(2.01), True),
        (loaded(7.0, processors=8), False),
        (loaded(0.1, cpu_seconds=0.89), True),
        (loaded(0.1, cpu_seconds=0.91), False),
        (loaded(0.1, seconds=0.05, cpu_seconds=0.01), False),  # too short to tell
        (loaded(0.1, cpu_seconds=float("nan")), False),
        (loaded(0.1, cpu_seconds=1.9), False),
    ],
)
def test_a_machine_is_loaded_if_work_waits(run, high, monkeypatch):
    monkeypatch.setattr("fwlab.experiments.load.LEAST_SHARE", 0.9)
    assert Load.of(run).is_high is high


def test_an_older_run_has_no_load():
    load = Load.of(result([1.0, 0.5]))
    assert (load.average, load.processors, load.share) == (None, None, None)
    assert not load.is_high and str(load) == "not known"


def test_a_load_is_told_in_words():
    assert str(Load.of(loaded(3.14159))) == "load 3.14 on 2 processors, CPU / wall 1.00, loaded"
    assert str(Load.of(loaded(0.5, seconds=0.01))) == "load 0.50 on 2 processors"


def test_runs_of_a_loaded_machine_are_counted():
    one = comparison({("a", "fw"): loaded(0.1)})
    assert "loaded machine" not in one.table()
    runs = {**one.runs, RunKey("a", "fw", 1): loaded(9.0), RunKey("a", "fw", 2): Failure("", "")}
    both = Comparison(one.problems, ("fw",), one.settings, runs)
    assert LOADED.format(1, 2) in both.table().splitlines()
    assert [row["loaded"] for row in both.rows()] == [False, True, None]
