"""Convert a finding about a claim to a plain dictionary, for JSON, the page and the terminal."""

import inspect
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from paper_checks.ledger import CLAIMS, Claim
from paper_checks.main_cases import main_case
from paper_checks.proofs import summary
from paper_checks.severity import failed_in_main_case, severity
from paper_checks.slips import slip_of
from paper_checks.sources import sources
from paper_checks.trials import Tier, Trial, Witness
from paper_checks.verdicts import Finding, Verdict

Record = dict[str, Any]
ROOT = Path(__file__).parent.parent
UNIT_ROUNDOFF = 2.0**-53


def record(finding: Finding) -> Record:
    """Return a finding as a dictionary; `cases` counts the cases, `kinds` counts them by kind.

    `file` is empty until `run` fills it in for a claim from a user's file.
    """
    claim, printed = finding.claim, finding.printed
    return {
        "id": claim.id,
        "paper": claim.paper,
        "file": "",
        "where": claim.where,
        "statement": claim.statement,
        **{name: getattr(claim, name) for name in ("formula", "shapes", "judged", "assumed")},
        "verdict": str(finding.verdict),
        **severity_parts(finding),
        "tier": str(finding.tier or ""),
        "tier_detail": tier_detail(finding),
        **trial_parts(printed),
        **correction(finding),
        **proof_parts(finding),
        **planted_parts(finding),
        **library_parts(finding),
        "where_right": claim.where_right.place if claim.where_right else "",
        "where_right_at": where_right_at(claim),
        "where_right_tier": where_right_tier(finding),
        "erratum": asdict(claim.erratum) if claim.erratum else None,
        "sides": list(claim.sides),
        "text": sources().get(claim.paper),
        "source": source(claim),
        "reason": finding.reason
        or on_other_data(finding.trials.get("other data"))
        or hedged(claim),
        "seconds": round(finding.seconds, 3),
        "seed": finding.seed,
        "deep": finding.deep,
    }


def severity_parts(finding: Finding) -> Record:
    """Return an error's severity, the main case, and the id of the row under which it is shown."""
    found = severity(finding)
    return {
        "severity": str(found or ""),
        "main_case": main_case(finding.claim).text if found else "",
        "failed_in_main_case": failed_in_main_case(finding) if found else 0,
        "slip": slip_of(finding.claim.id) if found or finding.verdict == Verdict.DEPENDS else "",
    }


def trial_parts(printed: Trial | None) -> Record:
    """Return the results for the printed statement."""
    if printed is None:
        printed = Trial({}, 0, None)
    uses = printed.conventions
    return {
        "cases": printed.cases,
        "kinds": dict(printed.kinds),
        "failed": printed.failed,
        "undefined": printed.undefined,
        "undecided": printed.undecided,
        "margin": number(printed),
        "witness": str(printed.witness),
        "witness_parts": witness_parts(printed.witness),
        "charity": f"0/0 is read as 0, {uses} times" if uses else "",
    }


def witness_parts(witness: Witness) -> list[Record]:
    """Return the values of a witness, each with its name and whether it was given or computed."""
    sides = (("given", witness.given), ("seen", witness.seen))
    return [
        {"name": name, "side": side, "value": value}
        for side, part in sides
        for name, value in part.items()
    ]


def correction(finding: Finding) -> Record:
    """Return the true version of the statement and its trials, as a record."""
    text, formula, trial = corrected(finding)
    return {
        "corrected": text,
        "corrected_formula": formula,
        "corrected_trial": trial_record(trial),
        "otherwise": trial_record(finding.trials.get("not met")),
    }


def corrected(finding: Finding) -> tuple[str, str, Trial | None]:
    """Return the true version in words and as a formula, "" if there is none, with its trial."""
    claim, trials = finding.claim, finding.trials
    if finding.verdict == Verdict.CONDITIONAL and claim.condition is not None:
        text = f"true if {claim.condition.text}"
        if claim.corrected is not None and trials["corrected"].holds:
            text += f"; in all cases: {claim.corrected.text}"
            return text, claim.corrected.formula, trials["met"]
        return text, "", trials["met"]
    version = claim.versions.get(finding.true_name)
    if version is None or finding.verdict == Verdict.HOLDS:
        return "", "", None
    return version.text, version.formula, trials[finding.true_name]


def proof_parts(finding: Finding) -> Record:
    """Return the proofs of the true version: their sizes, and the errors that they would detect."""
    proved = [summary_of(decision.proved) for _, decision in finding.proved]
    undecided = [size for _, decision in finding.proved for size in decision.undecided]
    return {
        "proof_sizes": "; ".join(proved),
        "proof_undecided": "; ".join(undecided),
        "proof_catches": " ".join(proof.catches for proof, _ in finding.proved),
        "not_proved": "" if proved else finding.claim.not_proved,
    }


def summary_of(sizes: tuple[str, ...]) -> str:
    """Return the sizes of one proof as text."""
    return summary(sizes) if all(" = " in size for size in sizes) else "; ".join(sizes)


def planted_parts(finding: Finding) -> Record:
    """Return the planted versions, each with whether the check refuted it."""
    planted = finding.claim.planted
    tiers = finding.planted or (None,) * len(planted)
    caught = [tier is not None for tier in tiers]
    return {
        "planted": [
            {"text": wrong.text, "caught": found}
            for wrong, found in zip(planted, caught, strict=True)
        ],
        "defects_planted": len(planted),
        "defects_caught": sum(caught),
        "defects_missed": list(finding.defects_missed),
    }


def library_parts(finding: Finding) -> Record:
    """Return the functions of fwlab that the row exercises, and how they compare."""
    library = finding.claim.library
    trial = finding.trials.get("library")
    return {
        "library": list(library.names) if library else [],
        "library_cases": trial.cases if trial else 0,
        "library_failed": trial.failed if trial else 0,
        "library_defects_missed": [
            name
            for name, caught in zip(library.names, finding.library_defects, strict=False)
            if not caught
        ]
        if library
        else [],
    }


def where_right_at(claim: Claim) -> str:
    """Return the place that has the correct form, from the row that `where_right` names."""
    where = claim.where_right
    if where is None or where.form is None:
        return ""
    return where.at or getattr(CLAIMS.get(where.place), "where", "")


def where_right_tier(finding: Finding) -> str:
    """Return the tier of the evidence that the paper has the correct form elsewhere."""
    where = finding.claim.where_right
    if where is None or finding.verdict != Verdict.MISPRINT:
        return ""
    trial = finding.trials.get("where_right")
    return str(Tier.READ if trial is None else next(iter(sorted(trial.tiers)), ""))


def tier_detail(finding: Finding) -> str:
    """Return the details of the tier: sizes, number of cases, tolerance, closest interval."""
    if finding.tier is None:
        return ""
    if finding.tier in (Tier.PROVED, Tier.PROVED_SMALL):
        return proof_parts(finding)["proof_sizes"]
    trial = decisive_trial(finding)
    used = trial.tiers.get(finding.tier, 0)
    text = f"{used} of {trial.cases} cases"
    if finding.tier == Tier.FLOAT:
        roundoffs = trial.allowed / UNIT_ROUNDOFF
        text += f", relative tolerance {trial.allowed:.2g} = {roundoffs:.2g} unit roundoffs"
    if finding.tier in trial.intervals:
        text += f", closest interval {trial.intervals[finding.tier]}"
    return text


def decisive_trial(finding: Finding) -> Trial:
    """Return the trial of the true version, or of the printed version if there is no true one."""
    trials: Mapping[str, Trial] = finding.trials
    printed = trials["printed"] if trials["printed"].cases else trials["other data"]
    true = trials.get(finding.true_name)
    return true if true is not None and true.holds else printed


def source(claim: Claim) -> str:
    """Return the file and line of the check; for a user's file, its path as given."""
    try:
        path = Path(inspect.getsourcefile(claim.form) or "").resolve()
        line = inspect.getsourcelines(claim.form)[1]
    except (OSError, TypeError):
        return ""
    inside = path.is_relative_to(ROOT)
    return f"{path.relative_to(ROOT).as_posix() if inside else path}:{line}"


def hedged(claim: Claim) -> str:
    """Return why a conjecture or a rounded number is not judged as a claim."""
    return f'the paper says "{claim.hedge}"' if claim.hedge else ""


def on_other_data(trial: Trial | None) -> str:
    """Return the finding on data other than the paper's."""
    if trial is None:
        return ""
    kinds = ", ".join(trial.kinds)
    held = trial.cases - trial.failed - trial.undecided
    return f"on other data ({kinds}): holds in {held} of {trial.cases} cases"


def trial_record(trial: Trial | None) -> Record | None:
    if trial is None:
        return None
    return {"cases": trial.cases, "failed": trial.failed, "margin": number(trial)}


def number(trial: Trial | None) -> float | str | None:
    """Return the worst margin: a float, or a fraction as text."""
    if trial is None or trial.worst is None:
        return None
    return str(trial.worst) if isinstance(trial.worst, Fraction) else float(trial.worst)
