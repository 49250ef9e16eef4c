"""One name, one thing: no two classes have the same name, nor have two modules of the tests."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("fwlab", "figures", "paper_checks")
# ranking has a problem, a state and a result of its own, and benchopt asks for its names
APART = (ROOT / "fwlab" / "ranking", ROOT / "figures" / "benchopt")


def classes() -> list[str]:
    """Return the names of all classes that do not stand apart; the reference shares names."""
    files = [f for folder in FOLDERS for f in sorted((ROOT / folder).rglob("*.py"))]
    trees = [ast.parse(f.read_text()) for f in files if not any(map(f.is_relative_to, APART))]
    return [n.name for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]


def test_no_class_name_occurs_twice():
    names = classes()
    assert len(names) > 100
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_no_module_of_the_tests_hides_another():
    """pytest puts the folders of all collected tests on the path, in the order of collection."""
    names = [file.name for file in (ROOT / "tests").rglob("*.py")]
    names = [n for n in names if n not in ("conftest.py", "__main__.py", "__init__.py")]
    assert len(names) > 100
    assert [name for name, count in Counter(names).items() if count > 1] == []
