"""`compare --html` writes the interactive page, or says before any run why it cannot."""

from pathlib import Path

import pytest
from command_line import compared

from fwlab.cli import main

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'fwlab[report]'")


def test_the_page_needs_no_other_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "page.html"
    answer = compared(capsys, "--methods", "fw", "--max-iter", "3", "--html", str(page))
    assert answer["files"]["html"] == str(page)
    assert "Plotly.newPlot(" in page.read_text("utf-8")


def test_a_page_in_no_folder_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--data", "four.npz", "--html", "no/page.html"]) == 2
    said = "fwlab: html must be a file in a folder that exists; got 'no/page.html'.\n"
    assert capsys.readouterr().err == said
    assert not (folder / "results").exists()
