"""The pages of figures: an index with the scoreboard, and a page per paper, made of the gallery."""

import re
import shutil
from collections import Counter
from html import escape
from pathlib import Path

from fwlab.docs import sources
from fwlab.docs.figure_links import (
    FIGURES,
    GALLERY,
    PAGES,
    SECTION,
    figures_of_claims,
    index,
    page_of,
    script_of,
)
from fwlab.docs.markdown import moved, with_letters, write
from fwlab.docs.papers import PAPERS
from fwlab.docs.records import Records

# a link of the gallery to one of its own sections
OWN_LINK = re.compile(r"\]\(#([\w.-]+)\)")
RESULTS = re.compile(r"^## (The results|Results of the full size)\n", re.MULTILINE)
TITLE_OF_OWN = "Figures of our own"
# what a part of a figure shows, where the name of its file says it badly
PARTS = {
    "a_synthetic": "A, synthetic",
    "b_synthetic": "B, synthetic",
    "by_set": "by data set",
    "d_n_face": "d > n, face",
    "d_n_interior": "d > n, interior",
    "news20": "News20",
    "prose": "numbers in the text",
    "smoothing_0_1_face": "smoothing 0.1, face",
    "smoothing_2_interior": "smoothing 2, interior",
    "synthetic_fmd_s_size": "synthetic, FMD's size",
}


def write_pages(source: Path, records: Records) -> None:
    """Write figures.md and a page per paper below `source`, with links to scripts and claims."""
    text = with_letters(GALLERY.read_text("utf-8"))
    head = RESULTS.split(text, maxsplit=1)[0]
    entries = sections(text)
    headings = told_apart({stem: heading for stem, (heading, _) in entries.items()})
    write(
        source / "figures.md",
        "figures.md",
        head=with_rows(OWN_LINK.sub(lambda m: f"]({page_of(m[1])}#{m[1]})", head)),
        entries={stem: entry_link(stem, heading) for stem, heading in headings.items()},
        pages={page: title(page) for page in PAGES.values()},
        page_of=lambda stem: title(page_of(stem).split("/")[1].removesuffix(".md")),
    )
    for page in PAGES.values():
        own = [stem for stem in entries if page_of(stem) == f"figures/{page}.md"]
        write(
            source / "figures" / f"{page}.md",
            "figures_of.md",
            title=title(page),
            page=page,
            is_paper=page in PAPERS,
            entries=[section(stem, headings[stem], entries[stem][1], records) for stem in own],
        )
    shutil.copytree(FIGURES / "pictures", source / "pictures")


def title(page: str) -> str:
    """Return the title of a page of figures."""
    return f"{page}: figures and tables" if page in PAPERS else TITLE_OF_OWN


def sections(text: str) -> dict[str, tuple[str, str]]:
    """Return {anchor: the heading of a section of the gallery, and what stands below it}."""
    parts = SECTION.split(RESULTS.sub("", text))[1:]
    found = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {stem: (line.removeprefix("### ").strip(), body) for stem, line, body in found}


def told_apart(headings: dict[str, str]) -> dict[str, str]:
    """Return {anchor: heading}; of several with the same heading each names its part."""
    count = Counter(headings.values())
    found = {}
    for stem, heading in headings.items():
        part = stem.removeprefix(script_of(stem)).strip("_")
        told = f" ({PARTS.get(part, part)})" if part else ""
        found[stem] = heading + (told if count[heading] > 1 else "")
    return found


def entry_link(stem: str, heading: str) -> str:
    """Return the link from the index to a section, with the anchor that the section had there."""
    return moved(page_of(stem), stem.replace("_", "-"), escape(heading))


def section(stem: str, heading: str, body: str, records: Records) -> str:
    """Return a section as Markdown, with links to its script and its claims."""
    name = script_of(stem)
    script = sources.address(index()["scripts"][name]["source"])
    claims = [c for c, names in figures_of_claims().items() if name in names]
    links = [f"`python -m figures {name} --plot-only`", f'<a href="../{script}">script</a>']
    links += [f"[{claim}](../claims/{claim}.md)" for claim in claims if claim in records.by_id]
    body = body.replace("](pictures/", "](../pictures/").strip()
    return f"({stem})=\n\n### {heading}\n\n{' · '.join(links)}\n\n{body}\n"


def with_rows(text: str) -> str:
    """Return Markdown whose tables stand in containers, so that a page can filter their rows.

    The container's class says how a narrow page shows a row.
    """

    def contained(match: re.Match[str]) -> str:
        kind = "scoreboard" if match[0].startswith("| figure | outcome") else "scripts"
        return f":::{{container}} rows {kind}\n{match[0]}:::\n"

    return re.sub(r"(?:^\|.*\n)+", contained, text, flags=re.M)
