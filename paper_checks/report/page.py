"""Write the ledger as one HTML page that needs no scripts and no other files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from fwlab.docs import mathml
from paper_checks.ledger import Claim
from paper_checks.records import Record
from paper_checks.report import facts
from paper_checks.report.order import chapters
from paper_checks.report.words import MEANING, SEVERITIES, TIERS

HERE = Path(__file__).parent
# shared with the site's pages
STYLE = HERE.parents[1] / "fwlab" / "docs" / "style.css"


def html_page(records: Sequence[Record], stamp: Mapping[str, Any], sources: str = "") -> str:
    """Return the page of these records.

    `stamp` is the header that `paper_checks.report.stamp` returns. `sources` is the path from the
    page to the folder in which the paths of the sources start, "" if the page lies in it.

    Raises ValueError if a formula cannot be read.
    """
    return (
        environment()
        .get_template("page.html")
        .render(
            records=records,
            stamp=stamp,
            sources=sources,
            ids={record["id"] for record in records},
            chapters=chapters(records),
            style=Markup(STYLE.read_text("utf-8")),
            ledger_style=Markup((HERE / "ledger.css").read_text("utf-8")),
            script=Markup((HERE / "filter.js").read_text("utf-8")),
        )
    )


@cache
def environment() -> Environment:
    """Return the template environment, with all functions that the templates call."""
    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"MEANING": MEANING, "SEVERITIES": SEVERITIES, "TIERS": TIERS, "facts": facts}
    made.filters |= {
        "display": lambda formula: Markup(mathml.display(formula)),
        "prose": lambda text: Markup(mathml.prose(text)),
        "by_paper": by_paper,
        "source_link": source_link,
    }
    return made


def check_formulas(claim: Claim) -> None:
    """Raise ValueError if a formula of a claim cannot be shown."""
    formulas = [claim.formula, *(other.formula for other in claim.versions.values())]
    texts = []
    if (note := claim.erratum) is not None:
        formulas += [note.printed, note.correct]
        texts += [note.proof, note.breaks]
    try:
        for formula in formulas:
            mathml.display(formula)
        for text in texts:
            mathml.prose(text)
    except ValueError as error:
        raise ValueError(f"{claim.id}: its formula cannot be read: {error}") from error


def by_paper(records: Sequence[Record], field: str) -> dict[str, dict[str, int]]:
    """Return {value of a field: {paper: number of records}}.

    Papers in order, the value "" left out.
    """
    papers = list(dict.fromkeys(record["paper"] for record in records))
    found = Counter((record[field], record["paper"]) for record in records)
    values = [
        value
        for value in {**MEANING, **SEVERITIES, **TIERS}
        if any(found[value, p] for p in papers)
    ]
    return {value: {paper: found[value, paper] for paper in papers} for value in values}


def source_link(source: str, sources: str) -> str:
    """Return the address of "path:line"; an absolute path is left unchanged."""
    path, _, line = source.rpartition(":")
    return f"{quote(str(PurePosixPath(sources) / path), safe='/:.')}#L{line}"
