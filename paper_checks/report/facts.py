"""Describe a record in words, for all reports."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence

from paper_checks.notation import explained
from paper_checks.records import Record
from paper_checks.report.words import MEANING, SEVERITIES, TRUE_VERSION

# the longest value of a witness, in letters, that is also shown in decimals
LONGEST = 60


def counts(records: Sequence[Record]) -> str:
    """Return how many claims have each verdict, as one line."""
    found = Counter(record["verdict"] for record in records)
    parts = [f"{found[verdict]} {verdict}" for verdict in MEANING if found[verdict]]
    return f"{len(records)} claims: {', '.join(parts)}"


def errors(records: Sequence[Record]) -> str:
    """Return how many errors have each severity, as one line.

    An error in several rows counts once, with its highest severity.
    """
    refuted = [record for record in records if record["severity"]]
    ranks = list(SEVERITIES)
    found: dict[str, str] = {}
    for record in refuted:
        severity = found.get(record["slip"], record["severity"])
        found[record["slip"]] = min(severity, record["severity"], key=ranks.index)
    numbers = Counter(found.values())
    parts = [f"{name}: {numbers[name]}" for name in ranks if numbers[name]]
    rows = f"{len(refuted)} refuted claims are {len(found)} errors"
    return f"{rows}: {', '.join(parts)}" if refuted else ""


def printed_as(record: Record) -> str:
    """Return the heading for the false form."""
    heads = {"conditional": "as stated", "depends on the reading": "as read"}
    return heads.get(record["verdict"], "as printed")


def corrected_as(record: Record) -> str:
    """Return the heading for the true form."""
    return "read otherwise" if record["verdict"] == "depends on the reading" else "as it should be"


def texts(records: Sequence[Record]) -> dict[str, Record]:
    """Return {paper: the text that was judged, its file and sha256}."""
    return {record["paper"]: record["text"] for record in records if record["text"]}


def others(record: Record, records: Sequence[Record]) -> list[Record]:
    """Return the other records that are refuted by the error shown in this record."""
    if not record["slip"]:
        return []
    return [r for r in records if r["slip"] == record["slip"] and r["id"] != record["id"]]


def setting(records: Sequence[Record]) -> str:
    """Return one sentence on the trials: cases, planted errors, seconds."""
    cases, caught, errors, seconds = (
        sum(record[name] for record in records if record["verdict"] != "untestable")
        for name in ("cases", "defects_caught", "defects_planted", "seconds")
    )
    return (
        f"Tried on {cases} cases; {caught} of {errors} planted errors refuted by the same checks; "
        f"{seconds:.0f} s of work."
    )


def facts(record: Record) -> list[tuple[str, str]]:
    """Return the facts about a claim as names and texts; empty ones are left out."""
    found = [
        ("severity", severity(record)),
        (true_version(record), corrected(record)),
        ("right in the paper", right_in_paper(record)),
        ("reason", record["reason"]),
        *witness_lines(record),
        *evidence(record),
    ]
    return [(name, text) for name, text in found if text]


def evidence(record: Record) -> list[tuple[str, str]]:
    """Return the verdict and the trials of a claim as names and texts; empty ones are left out."""
    found = [
        ("shapes", record["shapes"]),
        ("symbols", symbols(record)),
        ("assumed", record["assumed"]),
        ("judged", record["judged"]),
        ("text judged", text(record)),
        ("tier", tier(record)),
        ("proved for", record["proof_sizes"]),
        ("not decided for", record["proof_undecided"]),
        ("the proof would catch", record["proof_catches"]),
        ("not proved", record["not_proved"]),
        ("tried on", tried_on(record)),
        ("worst margin", shown_margin(record["margin"])),
        ("read kindly", record["charity"]),
        ("planted errors", planted(record)),
        ("of the library", library(record)),
        ("seed", f"{record['seed']}, {depth(record)}, {record['seconds']:.1f} s"),
    ]
    return [(name, text) for name, text in found if text]


def symbols(record: Record) -> str:
    """Return the meanings of the symbols of a record's formulas that its shapes do not name."""
    note = record["erratum"] or {"printed": "", "correct": ""}
    formulas = (record["formula"], record["corrected_formula"], note["printed"], note["correct"])
    found = explained(record["paper"], " , ".join(formulas), record["shapes"])
    return "; ".join(f"{symbol}: {meaning}" for symbol, meaning in found.items())


def place(record: Record) -> str:
    """Return the place in the paper; an erratum gives it more precisely."""
    where, note = str(record["where"]), record["erratum"]
    if note is None:
        return where
    return str(note["page"]) if where in note["page"] else f"{note['page']} · {where}"


def true_version(record: Record) -> str:
    """Return the name of the true version of this statement."""
    return TRUE_VERSION.get(record["verdict"], "correct form")


def severity(record: Record) -> str:
    """Return the severity and the number of cases of the main case that fail."""
    if not record["severity"]:
        return ""
    failed = f"fails in {record['failed_in_main_case']} cases of the main case"
    return f"{record['severity']}: {failed} ({record['main_case']})"


def text(record: Record) -> str:
    """Return the file of the text that was judged, with the start of its sha256."""
    judged = record["text"]
    return f"machine-read, {judged['file']}, sha256 {judged['sha256'][:12]}" if judged else ""


def tier(record: Record) -> str:
    """Return the strength of the evidence."""
    return ": ".join(part for part in (record["tier"], record["tier_detail"]) if part)


def depth(record: Record) -> str:
    return "deep" if record["deep"] else "quick"


def tried_on(record: Record) -> str:
    """Return the numbers of cases by kind, and the number in which the statement does not hold."""
    kinds = ", ".join(f"{number} {kind}" for kind, number in record["kinds"].items())
    if not kinds:
        return ""
    text = f"{kinds}: {record['failed']} of {record['cases']} fail"
    if record["undefined"]:
        text += f", {record['undefined']} of them without a value"
    return f"{text}, {record['undecided']} undecided" if record["undecided"] else text


# a fraction with a number of two or more digits, and the characters allowed around it
FRACTION = re.compile(r"(?<![\w.])(-?\d+)/(\d+)(?![\w.])")


def with_decimals(value: str) -> str:
    """Return a value; if it has a fraction that is hard to read, decimals are added."""
    hard = any(max(len(a.lstrip("-")), len(b)) > 1 for a, b in FRACTION.findall(value))
    if not hard or len(value) > LONGEST:
        return value
    return f"{value} ≈ {FRACTION.sub(decimal, value)}"


def decimal(fraction: re.Match[str]) -> str:
    return f"{int(fraction[1]) / int(fraction[2]):.4g}"


def witness(record: Record) -> list[tuple[str, list[str]]]:
    """Return the parts of a witness by heading: case, given values, both sides, all others."""
    if not record["witness"]:
        return []
    left, right = record["sides"]
    kind = record["witness"].partition(":")[0]
    found: dict[str, list[str]] = {"case": [kind], "given": [], left: [], right: [], "seen": []}
    for part in record["witness_parts"]:
        name, value = part["name"], with_decimals(part["value"])
        head = {"left": left, "right": right}.get(name, "seen")
        if part["side"] == "given" or head == "seen":
            found[part["side"]].append(f"{name} = {value}")
        else:
            found[head].append(value)
    return [(head, parts) for head, parts in found.items() if parts]


def witness_lines(record: Record) -> list[tuple[str, str]]:
    """Return the parts of a witness, one text per heading."""
    return [(head, "; ".join(parts)) for head, parts in witness(record)]


def shown_margin(margin: float | str | None) -> str:
    """Return a float to three digits, or a fraction unchanged."""
    if margin is None:
        return ""
    return f"{margin:.3g}" if isinstance(margin, float) else str(margin)


def corrected(record: Record) -> str:
    """Return the true version and its trial."""
    trial = record["corrected_trial"]
    if trial is None:
        return str(record["corrected"])
    text = f"{record['corrected']} ({trial['failed']} of {trial['cases']} cases fail"
    if (otherwise := record["otherwise"]) is not None:
        text += f", otherwise {otherwise['failed']} of {otherwise['cases']}"
    return f"{text})"


def right_in_paper(record: Record) -> str:
    """Return the place at which the paper has the correct form, with the evidence."""
    how = f" ({record['where_right_tier']})" if record["where_right_tier"] else ""
    at = f"{record['where_right_at']}: " if record["where_right_at"] else ""
    return f"{at}{record['where_right']}{how}" if record["where_right"] else ""


def planted(record: Record) -> str:
    """Return the number and the names of the wrong versions that the same check refuted."""
    if not record["defects_planted"]:
        return ""
    texts = "; ".join(wrong["text"] for wrong in record["planted"])
    text = f"{record['defects_caught']} of {record['defects_planted']} refuted: {texts}"
    missed = "; ".join(record["defects_missed"])
    return f"{text} (not refuted: {missed})" if missed else text


def library(record: Record) -> str:
    """Return the functions of the library that were compared, and the outcome."""
    if not record["library"]:
        return ""
    text = ", ".join(record["library"])
    if record["library_cases"]:
        text += f": {record['library_failed']} of {record['library_cases']} cases fail"
    missed = ", ".join(record["library_defects_missed"])
    return f"{text} (a defect in {missed} is not detected)" if missed else text


def run_command(record: Record) -> str:
    """Return the command that tries only this claim again."""
    deep = " --deep" if record["deep"] else ""
    file = f"--file {shlex.quote(record['file'])} " if record["file"] else ""
    return f"python -m paper_checks {file}--id {record['id']} --seed {record['seed']}{deep}"
