"""TABLE.md holds the defects of defects/*.toml, each with the test that must see it."""

import re
from pathlib import Path

from planted_defects import Defect, read_defects

TEXT = Path(__file__).with_name("TABLE.md").read_text("utf-8")
PLAIN, COMPILED = TEXT.split("`python tests/planted --compiled`")
ROW = re.compile(r"^\| `([\w.]+)` \| (.+?) \| (.+?) \| [\d.]+ \|$", re.MULTILINE)
AGAIN = "run `python tests/planted` again, or add rows that `python tests/planted NAME` prints"


def assert_holds(table: str, defects: list[Defect]) -> None:
    found = ROW.findall(table)
    rows = {(module, name.replace("\\|", "|")): caught for module, name, caught in found}
    expected = {(defect.module, defect.name): defect.test for defect in defects}
    assert rows.keys() == expected.keys(), AGAIN
    other = [row for row in rows if not f"tests/{rows[row]}".startswith(expected[row])]
    assert other == [], AGAIN


def test_the_table_holds_all_defects():
    assert_holds(PLAIN, read_defects())


def test_the_table_counts_its_rows():
    defects = read_defects()
    modules = len({defect.module for defect in defects})
    assert f"{len(defects)} defects in {modules} modules" in PLAIN, AGAIN


def test_the_table_holds_the_sample_with_the_jit():
    assert_holds(COMPILED, [defect for defect in read_defects() if defect.compiled])
