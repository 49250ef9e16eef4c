"""Write the proofs and the witnesses of the ledger's rows for verify_proofs.py.

There is one file per paper, with one line per row; it gives the reasons for all parts that are not
stored.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from figures.exact.rate_certificate import RateCertificate, as_data
from fwlab.files import write_text_atomically
from paper_checks.arithmetic import Truth
from paper_checks.certify.formulas import lines_of
from paper_checks.certify.trees import NoProof, find_tree
from paper_checks.ledger import CLAIMS, Claim, Version
from paper_checks.proofs import (
    BySolver,
    ByTheorem,
    contradiction,
    no_assumption,
    obligation_of,
    opposites,
    sizes,
)
from paper_checks.records import Record
from paper_checks.symbols import Symbol, as_formula, variables
from paper_checks.trials import Case
from paper_checks.verdicts import TRUE_VERSION, Verdict
from paper_checks.verify_proofs import weakness

Row = dict[str, Any]
BY_PROGRAM = "its cases are judged by a program, not by one formula"


def write_certificates(folder: Path, records: Sequence[Record]) -> None:
    """Write the file of each paper that has records."""
    exact = [record for record in records if has_proof_or_witness(record)]
    with tqdm(exact, unit="row", desc="certificates", disable=None) as progress:
        rows = [(record["paper"], row_of(record)) for record in progress]
    for paper in dict.fromkeys(paper for paper, _ in rows):
        lines = ",\n".join(as_line(row) for of, row in rows if of == paper)
        write_text_atomically(folder / f"{paper}.json", f"[\n{lines}\n]\n")


def as_line(row: Row) -> str:
    return json.dumps(row, separators=(",", ":"))


def has_proof_or_witness(record: Record) -> bool:
    """Return whether a row is proved, or has a witness."""
    return bool(record["proof_sizes"] or record["witness"])


def row_of(record: Record) -> Row:
    """Return a row's proofs and witness, and the missing parts with the reasons."""
    claim = CLAIMS[record["id"]]
    row: Row = {"id": claim.id, "verdict": record["verdict"], "true": record["corrected"]}
    row |= {"proofs": [], "proofs_missing": [], "refutation": [], "refutation_missing": []}
    for side, wanted, parts in (
        ("proofs", record["proof_sizes"], proofs_of(claim, record)),
        ("refutation", record["witness"], refutation_of(claim)),
    ):
        for size, part in parts if wanted else ():
            if isinstance(part, str):
                row[f"{side}_missing"].append([size, part])
            else:
                row[side].append({"size": size, **part})
    return row


# --- proofs --------------------------------------------------------------------------------------


def proofs_of(claim: Claim, record: Record) -> Iterator[tuple[str, Row | str]]:
    """Yield size and certificate, or the reason for none, of each part of the true proof."""
    version, conditional = true_version(claim, record)
    meets = claim.condition.meets if conditional and claim.condition else no_assumption
    for proof in claim.proofs:
        if isinstance(proof, BySolver):
            form = version.form or claim.form
            for case, formula in opposites(proof, form, version.changes, False, meets):
                yield sizes([case], proof)[0], by_cases(formula)
        elif isinstance(proof, ByTheorem):
            if proof.obligations is None:
                yield proof.sizes, proof.not_stored
                continue
            for size, obligation in proof.obligations(**version.changes):
                yield size, certificate_of(obligation)


def true_version(claim: Claim, record: Record) -> tuple[Version, bool]:
    """Return the true version, and whether it is true only on cases that meet the condition."""
    name = TRUE_VERSION.get(record["verdict"], "printed")
    derived = claim.derived
    if record["verdict"] == Verdict.FAILS and derived and derived.text == record["corrected"]:
        name = "derived"
    return claim.versions.get(name, Version("")), name == "met"


def certificate_of(obligation: Truth | RateCertificate) -> Row | str:
    """Return the certificate of a rate or of an unsatisfiable formula."""
    if isinstance(obligation, RateCertificate):
        return {"kind": "rate", **as_data(obligation)}
    return by_cases(obligation)


def by_cases(formula: Truth) -> Row | str:
    """Return a proof by cases that a formula is never true, or the reason why there is none."""
    try:
        lines = lines_of(as_formula(formula))
        found = {"kind": "cases", "formula": lines, "tree": find_tree(lines)}
    except NoProof as reason:
        return str(reason)
    return accepted(found)


def accepted(part: Row) -> Row:
    """Return the part if the checker accepts it. Raises RuntimeError if not."""
    if reason := weakness(part):
        raise RuntimeError(f"verify_proofs.py rejects what was found: {reason}")
    return part


# --- witnesses -----------------------------------------------------------------------------------


def refutation_of(claim: Claim) -> Iterator[tuple[str, Row | str]]:
    """Yield the size and the witness of the first refutation of the printed statement."""
    for proof in (proof for proof in claim.proofs if isinstance(proof, BySolver)):
        for case, formula in opposites(proof, claim.form, {}):
            found = contradiction(formula, case)
            if isinstance(found, Case):
                undefined = obligation_of(claim.form, case, {}) is False
                part = "the expression is undefined for all numbers" if undefined else None
                yield sizes([case], proof)[0], part or witness(formula, case, found)
                return
    yield "", BY_PROGRAM


def witness(formula: Truth, symbolic: Case, found: Case) -> Row:
    """Return the witness of a formula: numbers for the symbols of its case."""
    numbers = dict(values(vars(symbolic), vars(found)))
    return accepted({"kind": "witness", "formula": lines_of(as_formula(formula)), "at": numbers})


def values(symbolic: Any, found: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and the number of each symbol that is a variable."""
    if isinstance(symbolic, dict):
        for name, part in symbolic.items():
            yield from values(part, found[name])
    elif isinstance(symbolic, list | tuple):
        for one, other in zip(symbolic, found, strict=True):
            yield from values(one, other)
    elif isinstance(symbolic, Symbol) and list(variables(symbolic)):
        yield str(symbolic.term), str(found)
