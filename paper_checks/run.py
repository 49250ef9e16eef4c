"""Run claims, in parallel, and write what was found as records: plain dictionaries for JSON."""

import json
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from paper_checks.ledger import CLAIMS, Claim, Finding, Trial, Verdict, judge

PAPERS = {
    "K19": ("kato2019", "Kato and Hirohashi 2019, Learning weighted top-k support vector machine"),
    "L15": ("lapin2015", "Lapin, Hein and Schiele 2015, Top-k multiclass SVM"),
    "T20": (
        "tajima2020",
        "Tajima et al. 2020, Frank-Wolfe for SVM-type multi-category classifiers",
    ),
    "M20": (
        "macha2020",
        "Macha, Adam and Smidl 2020, Nonlinear classifiers for ranking problems",
    ),
    "LP15": (
        "lei2015",
        "Lei, Dogan, Binder and Kloft 2015, Multi-class SVMs: from tighter bounds to algorithms",
    ),
}

Record = dict[str, Any]


def claims(paper: str | None = None) -> list[Claim]:
    """All claims, or those of one paper, in the order of their files."""
    for module, _ in PAPERS.values():
        import_module(f"paper_checks.{module}")
    return [claim for claim in CLAIMS.values() if paper in (None, claim.paper)]


def run(
    ids: Sequence[str], seed: int = 0, deep: bool = False, jobs: int = 1, keep: Path | None = None
) -> Iterator[Record]:
    """Records of the claims with these ids, each as soon as it is there.

    keep: a file of records, one a line; those found there under the same seed and depth are not
    tried again, but for untestable ones, as what they lack may be there by now, and those from a
    table, which may be another by now; each new one is added at once.
    """
    lasting = {claim.id for claim in claims() if not claim.from_table}
    kept = {record["id"]: record for record in stored(keep) if same_run(record, seed, deep)}
    kept = {
        id: record
        for id, record in kept.items()
        if id in lasting and record["verdict"] != Verdict.UNTESTABLE
    }
    yield from (kept[id] for id in ids if id in kept)
    work = (delayed(tried)(id, seed, deep) for id in ids if id not in kept)
    for record in Parallel(n_jobs=jobs, return_as="generator_unordered")(work):
        if keep is not None:
            with keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        yield record


def tried(id: str, seed: int, deep: bool) -> Record:
    """The record of one claim, tried in this process."""
    claims()
    start = time.perf_counter()
    finding = judge(CLAIMS[id], seed, deep)
    return record(finding.timed(time.perf_counter() - start))


def stored(path: Path | None) -> list[Record]:
    """The records of a file, one a line; a last line cut off by a killed run is left out."""
    if path is None or not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def same_run(record: Record, seed: int, deep: bool) -> bool:
    return (record["seed"], record["deep"]) == (seed, deep)


def record(finding: Finding) -> Record:
    """A finding as a dictionary; `cases` counts, `kinds` says of what kind they were."""
    claim, printed = finding.claim, finding.printed
    other = corrected(finding)
    return {
        "id": claim.id,
        "paper": claim.paper,
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
