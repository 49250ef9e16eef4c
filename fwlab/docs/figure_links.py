"""Which claims a figure is about, which script draws it, and where in the site it stands."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).parents[2] / "figures"
GALLERY, INDEX = FIGURES / "GALLERY.md", FIGURES / "results" / "index.json"
# the pages of figures, by the folder of their script
PAGES = {
    "kato2019": "K19",
    "lapin2015": "L15",
    "tajima2020": "T20",
    "macha2020": "M20",
    "lei2015": "LP15",
    "own": "own",
}
# the anchor of a section of the gallery, with its heading
SECTION = re.compile(r'<a id="([\w.-]+)"></a>\n\n(### .*\n)')


@cache
def index() -> dict[str, Any]:
    """Return the index of the figures' stored results. Raises ValueError if it is damaged."""
    try:
        found: dict[str, Any] = json.loads(INDEX.read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{INDEX} is damaged; python -m figures page writes it again.") from error
    return found


def told(name: str) -> dict[str, Any]:
    """Return what a script tells of its stored values."""
    found: dict[str, Any] = index()["scripts"][name]["told"]
    return found


def address(name: str) -> str:
    """Return the address, from the site's top, of a script's first result in the gallery.

    It is the list of scripts if the gallery has no result of this one.
    """
    return first_sections().get(name, "figures.md#the-scripts")


@cache
def first_sections() -> dict[str, str]:
    """Return {script: the address of its first section of the gallery}."""
    found: dict[str, str] = {}
    for stem, _ in SECTION.findall(GALLERY.read_text("utf-8")):
        found.setdefault(script_of(stem), f"{page_of(stem)}#{stem}")
    return found


def figures_of_claims() -> dict[str, list[str]]:
    """Return {id of a claim: the scripts whose figure is about it}, from the stored results."""
    found: dict[str, list[str]] = {}
    for line in index()["scoreboard"]:
        for claim in line["claims"]:
            found.setdefault(claim, []).append(line["script"])
    return found


def page_of(stem: str) -> str:
    """Return the page, from the site's top, of the section of the gallery with this anchor."""
    source = index()["scripts"][script_of(stem)]["source"]
    return f"figures/{PAGES[source.split('/')[1]]}.md"


def script_of(stem: str) -> str:
    """Return the script that wrote the files with this stem."""
    return str(max((n for n in index()["scripts"] if f"{stem}_".startswith(f"{n}_")), key=len))
