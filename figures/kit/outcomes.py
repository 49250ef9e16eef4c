"""The outcome of a figure, from the verdicts of the ledger's rows about it.

Records flow one way: the stored values of a figure are judged by a row of the ledger, the ledger is
stored, and the scoreboard and the gallery read it. This is the one table from verdicts to outcomes.
"""

from collections.abc import Iterable, Mapping

from figures.kit.findings import FigureOutcome

OUTCOMES: Mapping[str, FigureOutcome] = {
    "holds": FigureOutcome.AGREES,
    "wider": FigureOutcome.AGREES,
    "reproduced": FigureOutcome.AGREES,
    "reproduced with the program": FigureOutcome.AGREES_WITH_PROGRAM,
    "explained": FigureOutcome.EXPLAINED,
    "not reproduced": FigureOutcome.NOT_EXPLAINED,
    "fails": FigureOutcome.NOT_EXPLAINED,
    "misprint": FigureOutcome.NOT_EXPLAINED,
    "conditional": FigureOutcome.NOT_EXPLAINED,
    # these decide nothing about a figure
    "inconclusive": FigureOutcome.NOTHING,
    "other data": FigureOutcome.NOTHING,
    "depends on the reading": FigureOutcome.NOTHING,
    "empty": FigureOutcome.NOTHING,
    "no claim": FigureOutcome.NOTHING,
    "untestable": FigureOutcome.NOTHING,
}
# from the least to the worst; where another row decides, one that decides nothing has no part
ORDER = (
    FigureOutcome.NOTHING,
    FigureOutcome.AGREES,
    FigureOutcome.AGREES_WITH_PROGRAM,
    FigureOutcome.EXPLAINED,
    FigureOutcome.NOT_EXPLAINED,
)


def row_of(label: str) -> str:
    """Return the id of the ledger's row about all numbers of a figure: "K19 Table 6"."""
    paper, *place = label.split()
    return f"{paper}-{''.join(place).lower()}-whole"


def worst(verdicts: Iterable[str]) -> FigureOutcome:
    """Return the worst outcome of some verdicts, "nothing to compute" of none.

    Raises KeyError for a verdict that the ledger does not have.
    """
    found = [OUTCOMES[verdict] for verdict in verdicts]
    return max(found, key=ORDER.index, default=FigureOutcome.NOTHING)
