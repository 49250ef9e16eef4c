"""Run claims, in parallel, and write what was found as records: plain dictionaries for JSON."""

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path

from joblib import Parallel, delayed

from paper_checks.kept import Record, code_hash, keep_record, stored, usable
from paper_checks.ledger import CLAIMS, Finding, Trial, Verdict, judge
from paper_checks.modules import INSIDE, PAPERS, ClaimFile, claims

__all__ = ["PAPERS", "Record", "claims", "record", "run", "stored", "tried"]


def run(
    ids: Sequence[str],
    seed: int = 0,
    deep: bool = False,
    jobs: int = 1,
    keep: Path | None = None,
    files: Sequence[ClaimFile] = (),
) -> Iterator[Record]:
    """Yield the records of the claims with these ids, each as soon as it is there.

    keep: a file of records. Those found there under the same seed, depth and code are not tried
    again, if they are testable and not from a table; each new one is added at once, unless its
    code was edited since the run began. files: what `claim_files` has imported.
    """
    claims()
    paths = {id: file.path for file in files for id in file.ids}
    modules = {id: file.module for file in files for id in file.ids}
    modules |= {id: INSIDE[CLAIMS[id].paper] for id in ids if id not in modules}
    codes = {id: code_hash(modules[id]) for id in ids} if keep is not None else {}
    kept = usable(keep, seed, deep, codes)
    yield from ({**kept[id], "file": paths.get(id, "")} for id in ids if id in kept)
    work = (delayed(tried)(id, seed, deep, modules[id]) for id in ids if id not in kept)
    for record in Parallel(n_jobs=jobs, return_as="generator_unordered")(work):
        id = record["id"]
        if keep is not None and code_hash(modules[id]) == codes[id]:
            keep_record(keep, record, codes[id])
        yield {**record, "file": paths.get(id, "")}


def tried(id: str, seed: int, deep: bool, module: str | None = None) -> Record:
    """Return the record of one claim, tried in this process after the import of its module."""
    if module is None:
        claims()
    else:
        import_module(module)
    start = time.perf_counter()
    finding = judge(CLAIMS[id], seed, deep)
    return record(finding.timed(time.perf_counter() - start))


def record(finding: Finding) -> Record:
    """A finding as a dictionary; `cases` counts, `kinds` says of what kind they were.

    `file` is empty until `run` fills it in for a claim from outside.
    """
    claim, printed = finding.claim, finding.printed
    other = corrected(finding)
    return {
        "id": claim.id,
        "paper": claim.paper,
        "file": "",
        "where": claim.where,
        "statement": claim.statement,
        "verdict": str(finding.verdict),
        "cases": printed.cases if printed else 0,
        "kinds": dict(printed.kinds) if printed else {},
        "failed": printed.failed if printed else 0,
        "margin": number(printed),
        "witness": printed.witness if printed else "",
        "corrected": other[0],
        "corrected_trial": trial_record(other[1]),
        "otherwise": trial_record(finding.others.get("not met")),
        "reason": finding.reason,
        "defects_planted": len(claim.planted),
        "defects_caught": finding.defects_caught,
        "defects_missed": list(finding.defects_missed),
        "seconds": round(finding.seconds, 3),
        "seed": finding.seed,
        "deep": finding.deep,
    }


def corrected(finding: Finding) -> tuple[str, Trial | None]:
    """The version of the statement that is true, in words, with its trial; "" if there is none."""
    claim, others = finding.claim, finding.others
    if finding.verdict == Verdict.CONDITIONAL and claim.condition is not None:
        text = f"true if {claim.condition.text}"
        if claim.corrected is not None and others["corrected"].holds:
            text += f"; in all cases: {claim.corrected.text}"
        return text, others["met"]
    name = {
        Verdict.MISPRINT: "derived",
        Verdict.WIDER: "relaxed",
        Verdict.FAILS: "corrected",
    }.get(finding.verdict, "")
    version = getattr(claim, name, None)
    return ("", None) if version is None else (version.text, others[name])


def trial_record(trial: Trial | None) -> Record | None:
    if trial is None:
        return None
    return {"cases": trial.cases, "failed": trial.failed, "margin": number(trial)}


def number(trial: Trial | None) -> float | str | None:
    """The worst margin: a float, or a fraction as text."""
    if trial is None or trial.worst is None:
        return None
    return str(trial.worst) if isinstance(trial.worst, Fraction) else float(trial.worst)
