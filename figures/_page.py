"""One Markdown page with every figure and table of a folder, its caption below it.

`write_page` puts it beside them; `update_readme` ends this folder's README.md with the same, and
keeps smaller pictures in `pictures`.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from fwlab._files import write_atomically

HERE = Path(__file__).parent
HEADING = "## The results\n"
CAPTION = ".caption.md"
# longer tables are folded up
ROWS_SHOWN = 32
# pixels and colours of a small picture
WIDTH, COLOURS = 840, 64


def write_page(folder: Path) -> Path:
    """Write folder/README.md; returns its path."""
    text = f"# Figures and tables, size {folder.name}\n\n{''.join(entries(folder, folder))}"
    write_atomically(folder / "README.md", lambda file: file.write(text.encode()))
    return folder / "README.md"


def update_readme(folder: Path, here: Path = HERE) -> Path:
    """Replace what follows HEADING in here/README.md; returns its path.

    Raises FileNotFoundError where the folder holds no figures.
    """
    if not any(folder.glob(f"*{CAPTION}")):
        raise FileNotFoundError(f"{folder} holds no figures; python -m figures all makes them.")
    for picture in sorted((here / "pictures").glob("*")):
        picture.unlink()
    for path in sorted(folder.glob("*.png")):
        shrink(path, here / "pictures" / path.name)
    for path in sorted(folder.glob("*.gif")):
        shutil.copyfile(path, here / "pictures" / path.name)
    page = here / "README.md"
    head = page.read_text("utf-8").split(HEADING)[0]
    text = f"{head}{HEADING}\n{''.join(entries(folder, here / 'pictures', 'pictures/'))}"
    write_atomically(page, lambda file: file.write(text.encode()))
    return page


def entries(folder: Path, pictures: Path, link: str = "") -> Iterator[str]:
    """A section for each caption of a folder, in the order of their names; `link` leads from the
    page to the folder `pictures`."""
    for path in sorted(folder.glob(f"*{CAPTION}")):
        stem = path.name.removesuffix(CAPTION)
        title, shows, agreement, details = path.read_text("utf-8").split("\n\n", 3)
        table = folder / f"{stem}.md"
        if table.exists():
            body = folded(table.read_text("utf-8"))
        else:
            names = [n for n in (f"{stem}.png", f"{stem}_animation.gif") if (pictures / n).exists()]
            body = "".join(f"![{title.strip('*')}]({link}{name})\n" for name in names)
        details = (
            f"<details><summary>Data and settings</summary>\n\n{details.strip()}\n\n</details>"
        )
        yield "\n\n".join([f"### {title.strip('*')}", body.rstrip(), shows, agreement, details])
        yield "\n\n"


def folded(table: str) -> str:
    """The table itself, or a line that opens it if it is long."""
    rows = table.count("\n") - 2
    if rows <= ROWS_SHOWN:
        return table
    return f"<details><summary>{rows} rows</summary>\n\n{table}\n</details>"


def shrink(source: Path, target: Path) -> None:
    """A small copy of a picture."""
    from PIL import Image

    with Image.open(source) as image:
        size = WIDTH, round(image.height * WIDTH / image.width)
        small = image.convert("RGB").resize(size).quantize(COLOURS)
    write_atomically(target, lambda file: small.save(file, format="PNG", optimize=True))
