"""Explain the verdicts and the tiers of evidence, in the order in which they are listed.

The meanings are stored in ledger.schema.json, so that programs in other languages can use them too.
"""

import json
from pathlib import Path

SCHEMA = json.loads((Path(__file__).parents[1] / "ledger.schema.json").read_text("utf-8"))


def meanings(field: str) -> dict[str, str]:
    """Return {value: its meaning} for a field of a record."""
    known = SCHEMA["items"]["properties"][field]
    return dict(zip(known["enum"], known["enumDescriptions"], strict=True))


MEANING = meanings("verdict")
SEVERITIES = {name: meaning for name, meaning in meanings("severity").items() if name}
TIERS = {tier: meaning for tier, meaning in meanings("tier").items() if tier}
EXPERIMENTS = (
    "reproduced",
    "reproduced with the program",
    "explained",
    "not reproduced",
    "inconclusive",
    "other data",
)
REFUTED = ("misprint", "fails")
# the name of the true version of a statement, by verdict
TRUE_VERSION = {
    "wider": "also true",
    "conditional": "condition",
    "misprint": "derived form",
    "fails": "corrected form",
    "depends on the reading": "read otherwise",
    "reproduced with the program": "what the program does",
    "explained": "cause",
}
