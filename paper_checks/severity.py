"""Classify errors in statements: a slip, a wrong formula or constant, or a false theorem."""

from enum import StrEnum

from paper_checks.main_cases import main_case
from paper_checks.verdicts import Finding, Verdict


class Severity(StrEnum):
    """The severity of the error that refutes a statement, the most severe first."""

    THEOREM = "theorem false in its main case"
    FORMULA = "formula or constant"
    SLIP = "slip"


REFUTED = (Verdict.FAILS, Verdict.MISPRINT, Verdict.CONDITIONAL)


def severity(finding: Finding) -> Severity | None:
    """Return the severity of the error in a statement, or None if the statement is not refuted.

    A misprint is a slip: the paper itself has the correct form elsewhere. Otherwise it is a formula
    or constant if the same form is true with other numbers, or fails only outside the main case.
    """
    if finding.verdict not in REFUTED:
        return None
    if finding.verdict == Verdict.MISPRINT:
        return Severity.SLIP
    if failed_in_main_case(finding) == 0 or has_true_formula(finding):
        return Severity.FORMULA
    return Severity.THEOREM


def failed_in_main_case(finding: Finding) -> int:
    """Return the number of cases of the claim's main case in which the printed form fails."""
    if finding.printed is None:
        return 0
    meets = main_case(finding.claim).meets
    return sum(bool(meets(case)) for case in finding.printed.failing)


def has_true_formula(finding: Finding) -> bool:
    """Return whether the printed form is true with other numbers.

    A version with its own form counts as a different statement.
    """
    versions = finding.claim.versions
    named = [name for name in ("derived", "corrected") if name in versions]
    return any(
        finding.trials[name].holds and versions[name].form is None and bool(versions[name].changes)
        for name in named
    )
