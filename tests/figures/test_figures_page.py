"""figures/GALLERY.md has the list of the scripts and pictures; README.md says how to add one."""

import re
from pathlib import Path

from figures import __main__ as command
from figures.kit.captions import Caption
from figures.kit.listing import markdown_list
from figures.kit.page import HEAD, HEADINGS, LIST, update_gallery, write_page
from figures.kit.study import Study
from figures.kit.style import new_figure, state
from figures.kit.tables import Table
from fwlab.experiments.cells import Cell

FOLDER = Path(command.__file__).parent
README = (FOLDER / "README.md").read_text()
GALLERY = (FOLDER / "GALLERY.md").read_text()


def test_the_gallery_lists_all_scripts_below_the_scoreboard():
    head, _, rest = GALLERY.partition(LIST)
    assert head.startswith(HEAD) and "| figure | outcome |" in head
    # `python -m figures page` writes it; a row of a new script can be added by hand
    assert rest.startswith(f"{markdown_list()}\n{next(iter(HEADINGS.values()))}")


def test_the_readme_is_a_page_that_leads_to_the_gallery():
    assert "(GALLERY.md)" in README and len(README.splitlines()) <= 155
    assert not any(heading in README for heading in HEADINGS.values())


def test_the_pictures_are_small_and_there():
    pictures = re.findall(r"\(pictures/([^)]+)\)", GALLERY)
    for picture in pictures:
        most = 500_000 if picture.endswith(".gif") else 120_000
        assert (FOLDER / "pictures" / picture).stat().st_size < most
    kept = (FOLDER / "pictures").glob("*/*")
    assert sorted(pictures) == sorted(f"{file.parent.name}/{file.name}" for file in kept)


def test_the_page_shows_each_figure_and_table_of_a_folder(tmp_path):
    made = Study("example", "standard", tmp_path / "out")
    made.compute([Cell("cell", nothing, {})])
    caption = Caption("A title", "What it shows.", "seed 0.", "They agree.")
    made.save_figure(new_figure(2.0), caption)
    made.save_animation(lambda frame: None, 2, new_figure(2.0), "animation")
    made.save_table(Table(["k"], [["1"]] * 2), caption, "short")
    made.save_table(Table(["k"], [["1"]] * 40), caption, "long")
    page = write_page(made.folder).read_text()
    assert page.count("### A title\n") == page.count("They agree.") == 3
    assert "![A title](example.png)\n![A title](example_animation.gif)\n" in page
    assert "<summary>40 rows</summary>" in page and "| k |\n| --- |\n| 1 |\n| 1 |\n\n" in page

    here = tmp_path / "here"
    (here / "pictures" / "standard").mkdir(parents=True)
    (here / "pictures" / "standard" / "old.png").touch()
    first, second = HEADINGS.values()
    (here / "GALLERY.md").write_text("Old.\n")
    text = update_gallery(made.out, here).read_text()
    assert text.startswith(HEAD) and "| figure | outcome |" in text
    anchor = '<a id="example"></a>'
    assert f"{LIST}{markdown_list()}\n{first}\n{anchor}\n\n### A title\n" in text
    assert "Old." not in text
    assert text.count("](pictures/standard/example") == 2 and second not in text
    pictures = sorted((here / "pictures").glob("*/*"))
    assert [file.name for file in pictures] == ["example.png", "example_animation.gif"]
    assert pictures[0].stat().st_size < (made.folder / "example.png").stat().st_size
    assert pictures[1].read_bytes() == (made.folder / "example_animation.gif").read_bytes()

    full = Study("example", "full", made.out)
    full.compute([Cell("cell", nothing, {})])
    full.save_figure(new_figure(2.0), caption)
    text = update_gallery(made.out, here).read_text()
    assert text.count(first) == text.count(second) == 1
    assert text.rindex("](pictures/full/example.png)") > text.index(second)


def nothing():
    return {}


def test_the_finding_is_the_text_for_those_who_cannot_see_the_picture(tmp_path):
    made = Study("example", "standard", tmp_path)
    made.compute([Cell("cell", nothing, {})])
    figure = new_figure(2.0)
    state(figure, "One method is first on every data set of this example, and by a factor of two")
    made.save_figure(figure, Caption("A title", "What it shows.", "seed 0."))
    alt = "A title. One method is first on every data set of this example, and by a factor of two"
    assert f"![{alt}](example.png)" in write_page(made.folder).read_text()
