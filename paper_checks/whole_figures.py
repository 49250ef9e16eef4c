"""A row for each figure and table of the papers: whether its numbers come out again.

The numbers are compared by the figure's own script, from its stored values. The verdict follows
from that comparison: *reproduced* if the text allows a reading in which nine of ten numbers are
near, *reproduced with the program* or *explained* if the program or a measured cause does so.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from figures.kit.findings import FigureFinding, FigureOutcome
from figures.kit.judge import judge
from figures.kit.outcomes import row_of
from figures.kit.readings import Tried
from figures.kit.scoreboard import WITHOUT_SCRIPT, label
from figures.kit.script import script, script_names
from paper_checks.cases import Rng
from paper_checks.ledger import Case, Experiment, Outcome, Tier, Untestable, claim, version
from paper_checks.outcomes import truth
from paper_checks.stored_tables import stored_finding

PAPERS_OWN = "the paper's figure"


def numbers_of(name: str, rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield the finding of a figure from its stored values."""
    size, finding = stored_finding(name)
    if finding.outcome == FigureOutcome.NOTHING:
        raise Untestable(finding.because)
    yield Case(kind=f"{size} size", data=PAPERS_OWN, _finding=finding)


def no_numbers(why: str, rng: Rng, deep: bool) -> Iterator[Case]:
    raise Untestable(why)
    yield


def comes_out(
    case: Case,
    outcome: FigureOutcome = FigureOutcome.AGREES,
    far: Fraction = Fraction(0),
) -> Outcome:
    """State that the numbers of a figure have an outcome; `far` of them can be moved far away."""
    finding = case._finding
    found = judge(moved(finding, far), finding.tolerance).outcome if far else finding.outcome
    seen = {"near": finding.measured, "reading": finding.under, "why": finding.because}
    told = {name: text for name, text in seen.items() if text}
    return truth(found == outcome, Tier.FLOAT, **told)


def moved(finding: FigureFinding, far: Fraction) -> list[Tried]:
    """Return the readings of a finding with a part of the cells at an infinite distance."""
    found = []
    for one in finding.tried:
        names = [*one.cells][: math.ceil(far * len(one.cells))]
        parts = (
            {name: math.inf if name in names else d for name, d in cells.items()}
            for cells in (one.choose, one.confirm)
        )
        found.append(Tried(one.reading, *parts))
    return found


def register(figure: str, cases: partial[Iterator[Case]]) -> None:
    """Register the row of a figure: "K19 Table 6"."""
    place = figure.partition(" ")[2]
    made = claim(
        row_of(figure),
        place,
        f"{place} comes out again: nine of ten of its numbers or statements are near, in a "
        "reading that the text allows.",
        judged="What is near, the readings and the causes stand in the caption of the figure. "
        "Where several readings were tried, numbers that had no part in the choice confirm it.",
        cases=cases,
        from_table=cases.func is numbers_of,
        experiment=Experiment((PAPERS_OWN,)),
        program=version(
            "in a reading of the authors' public program, where the text says otherwise",
            outcome=FigureOutcome.AGREES_WITH_PROGRAM,
        ),
        cause=version(
            "with a cause that was measured, and not in a control without it",
            outcome=FigureOutcome.EXPLAINED,
        ),
        planted=(version("with a fifth of the numbers far away", far=Fraction(1, 5)),),
        not_proved="an experiment",
    )
    made(comes_out)


for _name in script_names():
    if script(_name).finding is not None:
        register(label(script(_name).shows), partial(numbers_of, _name))
for _figure, _why in WITHOUT_SCRIPT.items():
    register(_figure, partial(no_numbers, _why))
