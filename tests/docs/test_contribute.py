"""The page for contributors names the tree as it is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "fwlab" / "docs" / "pages" / "contribute.md").read_text("utf-8")
# paths are told from the top, or from fwlab/ in a list that begins there
PATH = re.compile(r"`([\w/]+(?:\.(?:py|toml|md)|/))`")


def test_every_path_exists():
    places = [ROOT, ROOT / "fwlab", *(p for p in (ROOT / "fwlab").iterdir() if p.is_dir())]
    places += [ROOT / folder for folder in ("figures", "paper_checks", "tests")]
    places += [ROOT / "fwlab" / "kernels"]
    found = [path for path in PATH.findall(PAGE) if not re.search("[A-Z]{4}|my_", path)]
    assert len(found) > 50
    assert [path for path in found if not any((one / path).exists() for one in places)] == []


def test_every_package_is_named():
    tops = ["fwlab/", "reference/", "paper_checks/", "figures/", "tests/"]
    packages = [f"fwlab/{path.parent.name}/" for path in (ROOT / "fwlab").glob("*/__init__.py")]
    assert [one for one in (*tops, *packages) if f"`{one}`" not in PAGE] == []
