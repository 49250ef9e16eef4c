"""Changes of the checks' formulas: their list, how one is planted, and who catches it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from paper_checks.modules import claims
from paper_checks.mutation.judging import MutantResult
from paper_checks.mutation.mutants import ROOT, Mutant, mutants, slots
from paper_checks.mutation.planting import plant
from paper_checks.mutation.reasons import reasons, stale, without_code

BIAS = "paper_checks/lapin2015/bias.py"
ANGLE = f"{BIAS} bias_widens_the_angle"
SQUARE = f"{BIAS} squared_cosine: entry ** 2 -> entry ** 3"
SOURCE = '''
import numpy as np
LARGE = 1 + 2


def form(case: int, radius=1, *, sign=1):
    """Say 1 + 1."""
    if case.m <= 3 or case.k != 20:
        raise ValueError(1 + 1)
    total = max(case.a - case.b * 2, np.minimum(0.5, loss(case.h, case.k)))
    total += 1
    return f"{case.m + 1}" + "a"


where = version("text", lambda case: [case.a / case.b], radius=2)
'''


def by_key(key: str) -> Mutant:
    return next(m for m in mutants(key.partition(" ")[0]) if m.key == key)


def test_the_changes_of_a_module_are_these(tmp_path, monkeypatch):
    monkeypatch.setattr("paper_checks.mutation.mutants.ROOT", tmp_path)
    (tmp_path / "module.py").write_text(SOURCE)
    found = mutants("module.py")
    assert [(m.function, m.line, m.original, m.changed) for m in found] == [
        ("form", 6, "sign=1", "sign=-1"),
        ("form", 6, "radius=1", "radius=2"),
        ("form", 8, "case.m <= 3", "case.m < 3"),
        ("form", 8, "case.m <= 3", "case.m <= 4"),
        ("form", 8, "case.k != 20", "case.k == 20"),
        (
            "form",
            10,
            "max(case.a - case.b * 2, np.minimum(0.5, loss(case.h, case.k)))",
            "min(case.a - case.b * 2, np.minimum(0.5, loss(case.h, case.k)))",
        ),
        ("form", 10, "case.a - case.b * 2", "case.a + case.b * 2"),
        ("form", 10, "case.a - case.b * 2", "case.a"),
        ("form", 10, "case.b * 2", "case.b / 2"),
        ("form", 10, "case.b * 2", "case.b * 3"),
        (
            "form",
            10,
            "np.minimum(0.5, loss(case.h, case.k))",
            "np.maximum(0.5, loss(case.h, case.k))",
        ),
        ("form", 10, "loss(case.h, case.k)", "loss(case.h, case.k + 1)"),
        ("form", 11, "total += 1", "total -= 1"),
        ("form", 11, "total += 1", "total += 2"),
        ("<lambda>", 15, "case.a / case.b", "case.a * case.b"),
    ]


def test_the_list_is_the_same_each_time_and_no_name_occurs_twice():
    for file in sorted((ROOT / "paper_checks" / "lapin2015").glob("*.py")):
        path = file.relative_to(ROOT).as_posix()
        first = mutants(path)
        assert first == mutants(path)
        assert len({mutant.key for mutant in first}) == len(first)


def test_a_change_leaves_the_rest_of_the_tree_alone():
    source = (ROOT / BIAS).read_text()
    before = ast.unparse(ast.parse(source)).splitlines()
    for number in range(len(mutants(BIAS))):
        tree = ast.parse(source)
        slots(tree)[number].apply()
        after = ast.unparse(tree).splitlines()
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


FORKED = """
from paper_checks.mutation.judging import by_row, prepare, results, rows_of, spread
prepare()
rows = list(rows_of({ids}, 1))
choices = by_row("L15", rows)
assert spread(choices, 5) == spread(choices, 5)
keys = {keys}
tried = [m for m in choices["L15-bias-angle"] if m.key in keys]
for result in results(tried, rows, choices, 1):
    print(result.key, "|", result.caught_by, "|", result.how)
"""


@pytest.mark.turns
def test_a_row_catches_a_change_and_survives_another():
    """The statement is wrong with another sign or norm, and right for each k."""
    wanted = {
        f"{ANGLE}: sign=1 -> sign=-1": "L15-bias-angle | verdict: holds -> fails",
        SQUARE: "L15-bias-angle | verdict: holds -> fails",
        f"{BIAS} along_bias: topk_cone(case.k) -> topk_cone(case.k + 1)": " | ",
    }
    script = FORKED.format(ids=["L15-bias-angle"], keys=list(wanted))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(f"{k} | {v}" for k, v in wanted.items())


def test_a_change_that_no_function_has_is_an_error(monkeypatch):
    claims()
    monkeypatch.setattr("paper_checks.mutation.planting.functions_of", lambda path: [])
    with pytest.raises(ValueError, match="no function has this code"):
        plant(by_key(SQUARE))


def test_every_reason_is_for_a_change_of_the_present_code():
    assert without_code(reasons()) == []


def test_a_stale_reason_is_reported():
    known = {SQUARE: "", f"{BIAS} f: 1 -> 2": "", "paper_checks/none.py f: 1 -> 2": ""}
    assert stale(known, [MutantResult(SQUARE, ("L15-bias",), "L15-bias", "")]) == [
        f"no such change: {BIAS} f: 1 -> 2",
        "no such change: paper_checks/none.py f: 1 -> 2",
        f"caught by L15-bias: {SQUARE}",
    ]


def test_a_reason_given_twice_is_an_error(tmp_path: Path):
    entry = '[[survivor]]\nchange = "a"\nreason = "equivalent"\n'
    (tmp_path / "reasons.toml").write_text(2 * entry)
    with pytest.raises(ValueError, match="two reasons for a"):
        reasons(tmp_path / "reasons.toml")
