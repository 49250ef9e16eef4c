"""The ledger as a table for the terminal and as Markdown, and what both and the page say."""

import shlex
from collections import Counter
from collections.abc import Sequence

from paper_checks.kept import Record
from paper_checks.ledger import CLAIMS
from paper_checks.modules import PAPERS
from paper_checks.verdicts import Verdict

# what the true version of a statement is called, by verdict
TRUE_VERSION = {
    Verdict.WIDER: "also true",
    Verdict.CONDITIONAL: "condition",
    Verdict.MISPRINT: "derived form",
    Verdict.FAILS: "corrected form",
}


def table(records: Sequence[Record]) -> str:
    """One line a claim, and the counts by verdict; of an untestable one its reason."""
    width = max((len(record["id"]) for record in records), default=0)
    lines = [
        f"{record['id']:{width}}  {record['verdict']:11}  "
        + (
            record["reason"]
            or f"{record['cases']:6d} cases  "
            f"defects {record['defects_caught']}/{record['defects_planted']}  "
            f"{record['seconds']:6.1f} s"
        )
        for record in records
    ]
    return "\n".join([*lines, "", counts(records)])


def counts(records: Sequence[Record]) -> str:
    """How many claims have each verdict, as one line."""
    found = Counter(record["verdict"] for record in records)
    parts = [f"{found[verdict]} {verdict}" for verdict in Verdict if found[verdict]]
    return f"{len(records)} claims: {', '.join(parts)}"


def markdown(records: Sequence[Record]) -> str:
    """The ledger in Markdown: counts, then each paper with its claims."""
    lines = ["# Ledger of claims", "", f"{counts(records)}.", "", setting(records), ""]
    for title, chosen in by_paper(records):
        lines += [f"## {title}", "", counts(chosen), "", "| id | place | verdict | statement |"]
        lines += ["|---|---|---|---|"]
        lines += [
            f"| {r['id']} | {r['where']} | {r['verdict']} | {cell(r['statement'])} |"
            for r in chosen
        ]
        for record in chosen:
            lines += ["", f"### {record['id']}: {record['verdict']}", ""]
            lines += [f"* {name}: {text}" for name, text in facts(record)]
            lines += [f"* run again: `{run_command(record)}`"]
        lines += [""]
    return "\n".join(lines)


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def facts(record: Record) -> list[tuple[str, str]]:
    """What is known of a claim, as names and texts; what is empty is left out."""
    claim = CLAIMS[record["id"]]
    kinds = ", ".join(f"{number} {kind}" for kind, number in record["kinds"].items())
    depth = "deep" if record["deep"] else "quick"
    found = [
        ("shapes", claim.shapes),
        ("judged", claim.judged),
        ("reason", record["reason"]),
        ("tried on", f"{kinds}: {record['failed']} of {record['cases']} fail" if kinds else ""),
        ("worst margin", shown_margin(record["margin"])),
        ("witness", record["witness"]),
        (TRUE_VERSION.get(Verdict(record["verdict"]), ""), corrected(record)),
        ("planted errors", planted(record)),
        ("time", f"{record['seconds']:.1f} s, {depth}, seed {record['seed']}"),
    ]
    return [(name, text) for name, text in found if text]


def shown_margin(margin: float | str | None) -> str:
    """A float to three digits; a fraction as it is."""
    if margin is None:
        return ""
    return f"{margin:.3g}" if isinstance(margin, float) else str(margin)


def corrected(record: Record) -> str:
    """The true version and how it was tried."""
    trial = record["corrected_trial"]
    if trial is None:
        return ""
    text = f"{record['corrected']} ({trial['failed']} of {trial['cases']} cases fail"
    if (otherwise := record["otherwise"]) is not None:
        text += f", otherwise {otherwise['failed']} of {otherwise['cases']}"
    return f"{text})"


def planted(record: Record) -> str:
    """How many wrong versions of the statement the same check refuted, and which were tried."""
    if not record["defects_planted"]:
        return ""
    texts = "; ".join(wrong.text for wrong in CLAIMS[record["id"]].planted)
    text = f"{record['defects_caught']} of {record['defects_planted']} refuted: {texts}"
    missed = "; ".join(record["defects_missed"])
    return f"{text} (not refuted: {missed})" if missed else text


def run_command(record: Record) -> str:
    """The command that tries this claim again, alone."""
    depth = " --deep" if record["deep"] else ""
    file = f"--file {shlex.quote(record['file'])} " if record["file"] else ""
    return f"python -m paper_checks {file}--id {record['id']} --seed {record['seed']}{depth}"


def setting(records: Sequence[Record]) -> str:
    """One sentence on what was tried: cases, planted errors, seconds."""
    tested = [record for record in records if record["verdict"] != Verdict.UNTESTABLE]
    cases, caught, errors, seconds = (
        sum(record[name] for record in tested)
        for name in ("cases", "defects_caught", "defects_planted", "seconds")
    )
    return (
        f"Tried on {cases} cases; {caught} of {errors} planted errors refuted by the same checks; "
        f"{seconds:.0f} s of work."
    )


def by_paper(records: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    """Return titles with their records: the papers first, then the sources from outside."""
    found = []
    for paper in dict.fromkeys([*PAPERS, *(record["paper"] for record in records)]):
        chosen = [record for record in records if record["paper"] == paper]
        if chosen:
            title = PAPERS[paper][1] if paper in PAPERS else f"claims of {files(chosen)}"
            found.append((f"{paper}: {title}", chosen))
    return found


def files(records: Sequence[Record]) -> str:
    """Return the files that records from outside come from."""
    return ", ".join(dict.fromkeys(record["file"] for record in records))
