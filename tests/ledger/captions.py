"""Captions of the figures in the repository, against the verdicts of the ledger."""

from functools import cache
from pathlib import Path

from figures.kit.findings import FigureOutcome
from figures.kit.script import script, script_names
from figures.kit.study import NotRun, Study

RIGHT, WRONG = ("holds", "wider", "reproduced"), ("fails", "misprint", "not reproduced")


def contradiction(finding, id, verdict):
    """Return how a caption and a row of the ledger contradict each other, "" if they do not.

    A cell that has the row's id in its name makes the row's statement.
    """
    if finding.outcome == FigureOutcome.AGREES and verdict in WRONG:
        return f"the caption agrees, {id} {verdict}"
    if finding.outcome == FigureOutcome.NOTHING and verdict in ("reproduced", "not reproduced"):
        return f"the caption has no data, {id} is {verdict}"
    chosen = [one for one in finding.tried if one.reading.name == finding.reading]
    cells = {name: d for one in chosen for name, d in one.cells.items() if id in name}
    far = [name for name, d in cells.items() if d > finding.tolerance]
    if (far and verdict in RIGHT) or (cells and not far and verdict in WRONG):
        return f"{id} {verdict}, but the caption's statements {far or list(cells)} say otherwise"
    return ""


@cache
def kept_findings():
    """Return {name: finding} of all figures in the repository."""
    found = {}
    for name in script_names():
        try:
            found[name] = script(name).found(Study(name, "standard", Path("none")))
        except NotRun:
            continue
    return {name: finding for name, finding in found.items() if finding is not None}


def contradictions(id, verdict):
    """Return how the captions of the figures about a row contradict its verdict."""
    about = [finding for finding in kept_findings().values() if id in finding.claims]
    return [text for finding in about if (text := contradiction(finding, id, verdict))]
