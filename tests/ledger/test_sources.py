"""The texts that were judged are the stored ones."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from paper_checks import modules, sources

PLACES = ("FWLAB_PAPERS", "FWLAB_DATA")


def papers() -> Path:
    """Return the folder of the papers' texts: FWLAB_PAPERS, or papers beside FWLAB_DATA."""
    own, data = (os.environ.get(name) for name in PLACES)
    folder = Path(own) if own else Path(data or ".").parent / "papers"
    if not folder.is_dir():
        pytest.skip("the texts of the papers are not here; FWLAB_PAPERS names their folder")
    return folder


def test_the_stored_texts_are_those_here():
    again = "python -m paper_checks.sources DIR > paper_checks/sources.json writes them again"
    assert sources.read_sources(papers()) == sources.sources(), again


def test_each_paper_has_a_text():
    assert list(sources.sources()) == list(modules.PAPERS)


@pytest.fixture
def folder(tmp_path):
    """Provide a folder with a text of each paper."""
    for package in modules.INSIDE.values():
        name = package.rpartition(".")[2]
        (tmp_path / f"{name[:-4]}_{name[-4:]}_title.txt").write_text(package)
    return tmp_path


def test_a_text_is_known_by_author_and_year(folder, capsys):
    (folder / "kato_2018_title.txt").write_text("another year")
    assert sources.main([str(folder)]) == 0
    found = json.loads(capsys.readouterr().out)["K19"]
    digest = hashlib.sha256(b"paper_checks.kato2019").hexdigest()
    assert found == {"file": "kato_2019_title.txt", "sha256": digest}


@pytest.mark.parametrize("others", [0, 2])
def test_a_paper_needs_one_text(folder, others, capsys):
    (folder / "lei_2015_title.txt").unlink()
    for number in range(others):
        (folder / f"lei_x{number}_2015_title.txt").write_text("")
    assert sources.main([str(folder)]) == 2
    assert f"{others} texts of LP15 (lei_2015*); exactly one is needed" in capsys.readouterr().err
