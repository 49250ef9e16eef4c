"""figures/README.md: its list is that of the scripts, its example runs, its pictures are there."""

import importlib
import re
import sys
from pathlib import Path

from figures import __main__ as command
from figures._study import Study

FOLDER = Path(command.__file__).parent
PAGE = (FOLDER / "README.md").read_text()


def test_the_page_lists_every_script_with_its_times():
    # python -m figures list --markdown prints the rows
    for row in command.listing(markdown=True).splitlines():
        assert row in PAGE


def test_the_pictures_are_small_and_there():
    for picture in re.findall(r"\(pictures/([^)]+)\)", PAGE):
        assert (FOLDER / "pictures" / picture).stat().st_size < 60_000


def test_the_example_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "example_of_the_page.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("example_of_the_page")
    study = Study("example", "quick", tmp_path)
    module.run(study)
    assert all(value["gap"] <= 1e-3 for value in study.values.values())
    assert all(file.stat().st_size > 0 for file in module.plot(study))
    sys.modules.pop("example_of_the_page")
