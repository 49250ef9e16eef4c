"""The front page: where to go, what the project found, and one picture."""

import re
from collections import Counter
from pathlib import Path

from fwlab.docs import cards, figure_links
from fwlab.docs.findings import CLAIM, FIGURE, findings
from fwlab.docs.markdown import with_letters, write
from fwlab.docs.papers import PAPERS
from fwlab.docs.records import Records

FIGURES = Path(__file__).parents[2] / "figures"
PICTURE = "certified_gaps"


def write_pages(source: Path, records: Records) -> None:
    """Write index.md and benchmarks.md below `source`."""
    links = (
        f"[the claim](claims/{CLAIM}.md), [everything that is wrong in print](wrong_in_print.md)",
        "[all benchmarks](benchmarks.md)",
        f"[the figure]({figure_links.address(FIGURE)}), [all figures](figures.md)",
        "[the causes and their controls](printed_tables.md)",
    )
    write(
        source / "index.md",
        "index.md",
        findings=zip(findings(records), links, strict=True),
        counts=told_counts(records),
        PAPERS=PAPERS,
        cards=cards.cards(list(cards.FRONT), records, "gallery/"),
        picture=PICTURE,
        address=figure_links.address(PICTURE),
        text=figure_links.told(PICTURE)["finding"],
    )
    benchmarks = with_letters((FIGURES / "BENCHMARKS.md").read_text("utf-8"))
    (source / "benchmarks.md").write_text(in_one_chapter(benchmarks), "utf-8")


def told_counts(records: Records) -> str:
    """Return the number of claims, and how many of them hold or are reproduced."""
    found = Counter(record["verdict"] for record in records.by_id.values())
    return (
        f"{found.total()} claims: {found['holds']} hold, {found['wider']} hold more widely than "
        f"stated, and {found['reproduced']} experiments are reproduced. It counts all {len(found)} "
        "verdicts"
    )


def in_one_chapter(text: str) -> str:
    """Return Markdown whose chapters are the sections of one, which a long page folds."""
    return re.sub(r"^## ", "### ", text, flags=re.M).replace("\n### ", "\n## The tables\n\n### ", 1)
