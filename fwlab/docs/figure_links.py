"""Which claims a figure is about and which script draws it, and the site's page of all figures."""

import json
import re
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from fwlab.docs import sources
from fwlab.docs.records import Records

FIGURES = Path(__file__).parents[2] / "figures"
GALLERY, INDEX = FIGURES / "GALLERY.md", FIGURES / "results" / "index.json"
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
        found.setdefault(script_of(stem), f"figures.md#{stem}")
    return found


def figures_of_claims() -> dict[str, list[str]]:
    """Return {id of a claim: the scripts whose figure is about it}, from the stored results."""
    found: dict[str, list[str]] = {}
    for line in index()["scoreboard"]:
        for claim in line["claims"]:
            found.setdefault(claim, []).append(line["script"])
    return found


def write_page(source: Path, records: Records) -> None:
    """Write figures.md below `source`: the gallery, with links to scripts and claims."""
    by_script: dict[str, list[str]] = {}
    for claim, names in figures_of_claims().items():
        for name in names:
            by_script.setdefault(name, []).append(claim)

    text = GALLERY.read_text("utf-8")
    headings = Counter(heading for _, heading in SECTION.findall(text))

    def with_links(match: re.Match[str]) -> str:
        name = script_of(match[1])
        part = match[1].removeprefix(name).strip("_").replace("_", " ")
        heading = match[2].rstrip() + (f" ({part})" if headings[match[2]] > 1 and part else "")
        links = [f"`python -m figures {name} --plot-only`"]
        links += [f'<a href="{sources.address(index()["scripts"][name]["source"])}">script</a>']
        links += [f"[{c}](claims/{c}.md)" for c in by_script.get(name, []) if c in records.by_id]
        return f"({match[1]})=\n{heading}\n\n{' · '.join(links)}\n"

    text = SECTION.sub(with_links, text).replace("[README.md](README.md)", "`figures/README.md`")
    (source / "figures.md").write_text(text.replace("# Gallery", "# Figures", 1), "utf-8")
    shutil.copytree(FIGURES / "pictures", source / "pictures")


def script_of(stem: str) -> str:
    """Return the script that wrote the files with this stem."""
    return str(max((n for n in index()["scripts"] if f"{stem}_".startswith(f"{n}_")), key=len))
