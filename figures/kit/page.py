"""Markdown pages that show figures and tables with their captions.

`write_page` writes a page of one size beside its files. `update_gallery` writes this folder's
GALLERY.md: the scoreboard, the list of scripts, then both larger sizes, with smaller copies of the
pictures. It also writes the index of the results, from which the site is made.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from figures.kit.index import write_index
from figures.kit.listing import markdown_list
from figures.kit.scoreboard import markdown_scoreboard, scores
from figures.kit.script import script_names
from fwlab.files import write_atomically, write_text_atomically

HERE = Path(__file__).parents[1]
HEADINGS = {"standard": "## The results\n", "full": "## Results of the full size\n"}
HEAD = """# Gallery

Which figures and tables of the five papers come out again, and what is known of the others. Each
has one of five outcomes, which follows from stored numbers by way of the ledger:

- *agrees*: nine of ten of its numbers are within the distance that its caption states, in a reading
  that the text allows. If several readings were tried, numbers that were not used for the choice
  confirm it.
- *agrees with the program*: the same in a reading of the authors' public program, where the text
  says otherwise.
- *explained*: it is not reproduced, but a measured cause reproduces it, and a control without the
  cause does not.
- *not explained*: it is not reproduced; the last column says what was tried.
- *nothing to compute*: its data are unavailable, or it has no numbers.

The caption of each figure has a table of the readings and says where each comes from: the paper's
text, the authors' program (repository, commit and file), or a guess of ours.
The column *ledger* counts the verdicts of the ledger's rows about a figure: one judges all of its
numbers, each other one a statement about it. The worst of them is the outcome; a row that decides
nothing, such as one on other data, has no part. `figures/kit/outcomes.py` is the table from
verdicts to outcomes.

`python -m figures NAME --plot-only` draws a figure again from the stored results, and
`python -m figures NAME` computes it anew; the list of scripts has its name.

"""
LIST = """## The scripts

`python -m figures page` writes this file; [README.md](README.md) says how to make and to add
figures. Times are estimates for two quiet cores; "quick" only shows that everything runs.

"""
CAPTION = ".caption.md"
NONE: Mapping[str, str] = {}
# longer tables are folded up
ROWS_SHOWN = 32
# pixels and colours of a small picture
WIDTH, COLOURS = 720, 256


def write_page(folder: Path) -> Path:
    """Write folder/README.md and return its path."""
    text = f"# Figures and tables, size {folder.name}\n\n{''.join(entries(folder, folder))}"
    write_text_atomically(folder / "README.md", text)
    return folder / "README.md"


def update_gallery(out: Path, here: Path = HERE) -> Path:
    """Write here/GALLERY.md and here/results/index.json, and return the path of the first.

    Raises FileNotFoundError if `out` holds no figures of the standard size.
    """
    if not any((out / "standard").glob(f"*{CAPTION}")):
        raise FileNotFoundError(f"{out} holds no figures; python -m figures all makes them.")
    found = scores(out, "standard")
    board = markdown_scoreboard(found, anchors(out / "standard"))
    outcomes = {score.script: score.outcome for score in found}
    text = f"{HEAD}{board}\n{LIST}{markdown_list()}\n"
    for size, heading in HEADINGS.items():
        pictures = here / "pictures" / size
        keep_pictures(out / size, pictures)
        told = outcomes if size == "standard" else {}
        if sections := "".join(entries(out / size, pictures, f"pictures/{size}/", told)):
            text += f"{heading}\n{sections}"
    write_index(here / "results")
    page = here / "GALLERY.md"
    write_text_atomically(page, text)
    return page


def anchors(folder: Path) -> dict[str, str]:
    """Return for each script the anchor of its first entry on the page."""
    found = {}
    for name in script_names():
        stems = {*folder.glob(f"{name}{CAPTION}"), *folder.glob(f"{name}_*{CAPTION}")}
        if stems:
            found[name] = min(stems).name.removesuffix(CAPTION)
    return found


def keep_pictures(folder: Path, target: Path) -> None:
    """Fill `target` with small copies of a folder's pictures, and delete everything else in it."""
    shown = [*folder.glob("*.png"), *folder.glob("*.gif")]
    for path in shown:
        if path.suffix == ".png":
            shrink(path, target / path.name)
        else:
            write_atomically(
                target / path.name, lambda file, path=path: file.write(path.read_bytes())
            )
    for path in target.glob("*"):
        if path.name not in {picture.name for picture in shown}:
            path.unlink()


def entries(
    folder: Path, pictures: Path, link: str = "", outcomes: Mapping[str, str] = NONE
) -> Iterator[str]:
    """Yield a section for each caption of a folder, sorted by name.

    `link` leads from the page to the folder `pictures`; `outcomes` are those of the scripts.
    """
    for path in sorted(folder.glob(f"*{CAPTION}")):
        stem = path.name.removesuffix(CAPTION)
        above, details = path.read_text("utf-8").split("\n\n- ", 1)
        title, *said = above.split("\n\n")
        if outcome := outcomes.get(script_of(stem)):
            said.insert(0, f"*Outcome*: {outcome}.")
        table = folder / f"{stem}.md"
        if table.exists():
            body = folded(table.read_text("utf-8"))
        else:
            names = [n for n in (f"{stem}.png", f"{stem}_animation.gif") if (pictures / n).exists()]
            text = alt(title.strip("*"), folder / f"{stem}.png")
            body = "".join(f"![{text}]({link}{name})\n" for name in names)
        details = (
            f"<details><summary>Data and settings</summary>\n\n- {details.strip()}\n\n</details>"
        )
        heading = f'<a id="{stem}"></a>\n\n### {title.strip("*")}'
        yield "\n\n".join([heading, body.rstrip(), *said, details])
        yield "\n\n"


def script_of(stem: str) -> str:
    """Return the script that wrote the files with this stem, "" if none of here did."""
    names = [name for name in script_names() if f"{stem}_".startswith(f"{name}_")]
    return max(names, key=len, default="")


def alt(title: str, picture: Path) -> str:
    """Return a picture's alternative text: its caption's title and its finding."""
    from PIL import Image

    with Image.open(picture) as image:
        finding = image.info.get("Title", "").replace("\N{NO-BREAK SPACE}", " ")
    return f"{title}. {finding}" if finding else title


def folded(table: str) -> str:
    """Return the table, collapsed under one line if it is long."""
    rows = table.count("\n") - 2
    if rows <= ROWS_SHOWN:
        return table
    return f"<details><summary>{rows} rows</summary>\n\n{table}\n</details>"


def shrink(source: Path, target: Path) -> None:
    """Write a small copy of a picture."""
    from PIL import Image

    with Image.open(source) as image:
        size = WIDTH, round(image.height * WIDTH / image.width)
        small = image.convert("RGB").resize(size).quantize(COLOURS)
    write_atomically(target, lambda file: small.save(file, format="PNG", optimize=True))
