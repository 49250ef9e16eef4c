"""Records of claims that nobody made, for the tests of what readers see."""

ERRATUM = {
    "page": "p. 5",
    "printed": r"\frac{1}{n}(z_i-e)",
    "correct": r"\frac{1}{n}(e-z_i)",
    "proof": "At $z = 1$ the printed form is < 0 & the true one is not.",
    "breaks": "Lemma 3.",
}
PARTS = [
    {"name": "z", "side": "given", "value": "(1, 2)"},
    {"name": "k", "side": "given", "value": "2"},
    {"name": "steps", "side": "seen", "value": "4"},
    {"name": "left", "side": "seen", "value": "1/3"},
    {"name": "right", "side": "seen", "value": "-1/3"},
]


# what most records leave empty
EMPTY = {
    **dict.fromkeys(("file", "shapes", "judged", "assumed", "charity", "reason"), ""),
    **dict.fromkeys(("corrected", "corrected_formula", "witness"), ""),
    **dict.fromkeys(("proof_sizes", "proof_undecided", "proof_catches", "not_proved"), ""),
    **dict.fromkeys(("where_right", "where_right_at", "where_right_tier"), ""),
    **dict.fromkeys(("corrected_trial", "otherwise", "erratum"), None),
    "text": {"file": "read.txt", "sha256": "0" * 64},
    **dict.fromkeys(("failed", "undefined", "undecided", "library_cases", "library_failed"), 0),
    **dict.fromkeys(("witness_parts", "library", "library_defects_missed"), ()),
}
REFUTED = {
    "failed": 2,
    "undefined": 1,
    "witness": "exact: z = (1, 2); left = 1/3",
    "witness_parts": PARTS,
    "corrected": "the other sign",
    "corrected_trial": {"cases": 7, "failed": 0, "margin": "0"},
}


SEVERITY = {
    "misprint": "slip",
    "fails": "formula or constant",
    "conditional": "formula or constant",
}


def record(id, verdict="holds", **changes):
    """Return a record as `paper_checks.records` makes it."""
    refuted = verdict in SEVERITY
    return {
        **EMPTY,
        "severity": SEVERITY.get(verdict, ""),
        "main_case": "k < m" if refuted else "",
        "failed_in_main_case": int(refuted),
        "slip": id if refuted else "",
        "id": id,
        "paper": id.partition("-")[0],
        "where": "(22)",
        "statement": "A number is <at> least 1 & more.",
        "formula": "x<1",
        "verdict": verdict,
        "tier": "exact",
        "tier_detail": "m <= 4",
        "cases": 7,
        "kinds": {"exact": 7},
        "margin": "-1/3",
        "sides": ["printed", "summed up"],
        "planted": [{"text": "half", "caught": True}, {"text": "twice", "caught": False}],
        "defects_planted": 2,
        "defects_caught": 1,
        "defects_missed": ["twice"],
        "source": "paper_checks/kato2019/losses.py:57",
        "seconds": 0.25,
        "seed": 3,
        "deep": False,
        **(REFUTED if refuted else {}),
        **changes,
    }


RECORDS = [
    record("K19-holds"),
    record("K19-if", "conditional"),
    record(
        "K19-eq22",
        "misprint",
        shapes="z: (m,)",
        erratum=ERRATUM,
        where_right="L15-fails",
        where_right_at="(8)",
    ),
    record("K19-fig", "not reproduced", tier="Monte Carlo"),
    record("L15-table", "untestable", reason="no table", tier="", cases=0, kinds={}, margin=None),
    record("L15-fails", "fails", tier="float", corrected_formula=r"x\leq 2"),
    record("T20-eq", "conditional", erratum=ERRATUM),
    record("MY-own", file="my claims.py", text=None, library=["fwlab.TopK"], library_cases=5),
]
STAMP = {
    "version": "0.1",
    "commit": "abc+changes",
    "date": "2026-01-01",
    "command": "python -m paper_checks --html 'a <b>.html'",
    "seed": 3,
    "deep": False,
    "python": "3.11",
    "processor": "one",
}
