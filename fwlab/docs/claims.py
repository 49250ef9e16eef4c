"""Pages made of the ledger: one per claim, one per paper, the errata and the mathematics."""

from pathlib import Path

from fwlab.docs import api, figure_links, sources
from fwlab.docs.markdown import write
from fwlab.docs.papers import PAPERS
from fwlab.docs.records import Records, source_file, source_line
from paper_checks.records import Record
from paper_checks.report import facts
from paper_checks.report.order import chapters
from paper_checks.report.words import MEANING, TIERS

FOLDER = "claims"
# facts that the page shows in other places
SHOWN_ELSEWHERE = ("tier", "planted errors", "of the library")


def write_pages(source: Path, records: Records) -> None:
    """Write all pages of the ledger below `source`."""
    drawn = figure_links.figures_of_claims()
    for record in records.by_id.values():
        write_claim(source, record, records, drawn.get(record["id"], []))
    everything = list(records.by_id.values())
    shared = {"MEANING": MEANING, "TIERS": TIERS, "PAPERS": PAPERS, "records": everything}
    write(source / FOLDER / "index.md", "ledger.md", counts=facts.counts(everything), **shared)
    for paper in PAPERS:
        of_paper = records.of_paper(paper)
        write(
            source / FOLDER / f"{paper}.md",
            "paper.md",
            paper=PAPERS[paper],
            name=paper,
            claims=of_paper,
            counts=facts.counts(of_paper),
        )
    wrong = next(chapter for chapter in chapters(everything) if chapter.name == "wrong")
    write(source / "wrong_in_print.md", "wrong_in_print.md", wrong=wrong, facts=facts)
    write(
        source / "mathematics.md",
        "mathematics.md",
        papers=formulas(records),
        PAPERS=PAPERS,
        address={n: api.function_address(n) for n in records.by_function},
    )


def write_claim(source: Path, record: Record, records: Records, figures: list[str]) -> None:
    """Write the page of one claim. figures: the scripts whose figure is about it."""
    known = dict(facts.facts(record))
    write(
        source / FOLDER / f"{record['id']}.md",
        "claim.md",
        record=record,
        paper=PAPERS[record["paper"]],
        place=facts.place(record),
        meaning=MEANING[record["verdict"]],
        tier=facts.tier(record),
        witness=facts.witness(record),
        true_version=facts.true_version(record),
        corrected=facts.corrected(record),
        evidence=[
            (name, text) for name, text in facts.evidence(record) if name not in SHOWN_ELSEWHERE
        ],
        planted=known.get("planted errors", ""),
        command=facts.run_command(record),
        check=sources.address(source_file(record), source_line(record)) if record["source"] else "",
        where_right_is_claim=record["where_right"] in records.by_id,
        figures={name: figure_links.address(name) for name in figures},
        functions={n: api.function_address(n) for n in record["library"]},
    )


def formulas(records: Records) -> dict[str, list[Record]]:
    """Return {paper: its records that have a true formula and a function of fwlab}."""
    return {
        paper: [r for r in records.of_paper(paper) if true_formula(r) and r["library"]]
        for paper in PAPERS
    }


def true_formula(record: Record) -> str:
    """Return the formula as it should be, "" if the claim has none."""
    if record["erratum"]:
        return str(record["erratum"]["correct"])
    refuted = record["verdict"] in ("misprint", "fails", "conditional")
    return str(record["corrected_formula"] if refuted else record["formula"])
