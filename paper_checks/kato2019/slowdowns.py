"""Check K19 sections 7.1 and 7.2: which runs reach a gap of 1e-3, and which slow down.

All rows read the stored runs of Figures 2 and 3 on News20.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from figures.kato2019.news20 import SCALINGS
from figures.kato2019.statements import Smoothed, alone
from figures.kit.traces import best_so_far, first_below
from paper_checks.cases import Rng
from paper_checks.kato2019.races import CAP, METHODS_COMPARED, REACHED
from paper_checks.ledger import Case, Experiment, Outcome, Tier, claim, version
from paper_checks.outcomes import both, effect, less, truth
from paper_checks.stored_tables import stored_figure

NEWS20 = Experiment(data=("News20",))
NOT_PROVED = "an experiment"
# where the later part of a run begins, and the end of the first several iterations
LATER = 10


def ends(value: dict[str, Any]) -> tuple[float, float]:
    """Return the iterations to a gap of 1e-3, infinite if never reached, and those done."""
    return first_below(value, REACHED) or math.inf, float(value["iteration"][-1])


def runs_by_reading(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield, for each scaling of the rows that was stored, how each method ends."""
    figure = stored_figure("kato2019_figure2")
    found = {
        reading.name: {
            method: ends(alone(figure.values, reading.name, method)) for method in METHODS_COMPARED
        }
        for reading in SCALINGS
    }
    yield Case(kind=f"each scaling of the rows, {figure.size} size", data="News20", ends=found)


@claim(
    "K19-afw-thousand",
    "7.1, second paragraph, last sentence",
    "On News20 the standard and the pairwise method reach a gap of 1e-3 within 1000 iterations, "
    "and the away-step method does not.",
    formula=r"t_{FW},t_{PFW}\leq1000<t_{AFW}",
    shapes="ends: (iterations to 1e-3, iterations done) by scaling and method",
    judged="the text does not say how the rows are scaled, so it holds if it holds for one "
    "of the scalings of Figure 2. It is undecided if a run that could decide ended "
    "too early.",
    cases=runs_by_reading,
    from_table=True,
    experiment=NEWS20,
    planted=(version("the standard method within five iterations", within=5),),
    not_proved=NOT_PROVED,
)
def away_steps_are_late(case: Case, within: int = CAP) -> Outcome:
    answers = [for_one_scaling(runs, within) for runs in case.ends.values()]
    if True in answers or all(answer is False for answer in answers):
        return truth(True in answers, Tier.FLOAT, scalings=len(answers))
    return effect(-1.0, 1.0, Tier.FLOAT, scalings=len(answers))


def for_one_scaling(runs: Mapping[str, tuple[float, float]], within: int) -> bool | None:
    """Return whether the statement holds for one scaling; None if that is undecided."""
    parts = [arrives(*runs[method], within) for method in ("fw", "pfw")]
    away = arrives(*runs["afw"], CAP)
    parts.append(None if away is None else not away)
    return False if False in parts else None if None in parts else True


def arrives(needed: float, done: float, within: int) -> bool | None:
    """Return whether a run reached the gap within these iterations; None if it ended before."""
    if needed <= within:
        return True
    return False if needed < math.inf or done >= within else None


def smoothed_runs(rng: Rng, deep: bool) -> Iterator[Case]:
    """Yield how fast the gaps of the methods fall, by smoothing, in the reading of Figure 3."""
    figure = stored_figure("kato2019_figure3")
    found = Smoothed(figure.values, figure.finding.reading)
    slopes = {method: falls(found.value(method, 1e-2)) for method in METHODS_COMPARED}
    counts = {
        method: (found.iterations(method, 0.0), found.iterations(method, 1e-3))
        for method in METHODS_COMPARED
    }
    yield Case(kind=figure.kind, data="News20", slopes=slopes, counts=counts)


def falls(value: dict[str, Any]) -> tuple[float, float]:
    """Return minus the slopes of the gap before and after the first several iterations.

    The axes are logarithmic, and the gap is the smallest so far.
    """
    iterations, gaps = best_so_far(value)
    later = iterations >= LATER
    first = (iterations >= 1) & (iterations <= LATER)

    def slope(part: Any) -> float:
        x, y = iterations[part], gaps[part]
        return -math.log(y[-1] / y[0]) / math.log(x[-1] / x[0])

    return slope(first), slope(later)


@claim(
    "K19-slowdown",
    "7.2, last paragraph, on gamma = 1e-2",
    "With smoothing 1e-2 the gap of the standard method falls quickly for several iterations and "
    "then more slowly; the away-step and the pairwise method do not slow down so.",
    shapes="slopes: minus d log gap / d log t, before and after iteration 10",
    judged="the standard method slows down if the slope after iteration 10 is less than the one "
    "before; the others do not slow down like that if their slope after it is larger "
    "than that of the standard method. By the reading that Figures 2 "
    "to 4 have chosen.",
    cases=smoothed_runs,
    from_table=True,
    experiment=NEWS20,
    planted=(
        version("the away-step method alone does", slow="afw"),
        version("the gap falls no more", part=0.0),
    ),
    not_proved=NOT_PROVED,
)
def slows_down(case: Case, slow: str = "fw", part: float = 1.0) -> Outcome:
    first, later = case.slopes[slow]
    others = (case.slopes[method][1] for method in METHODS_COMPARED if method != slow)
    return both(less(later, part * first), *(less(later, other) for other in others))


@claim(
    "K19-little-smoothing",
    "7.2, last paragraph, last sentence",
    "With smoothing 1e-3 the iterations to a gap of 1e-3 do not differ largely from those without "
    "smoothing.",
    formula=r"\frac{1}{2}\leq\frac{t(\gamma=10^{-3})}{t(\gamma=0)}\leq2",
    shapes="counts: iterations without smoothing and with 1e-3, by method",
    judged="largely is read as: by a factor of 2 or more, for each of the three methods. "
    "By the reading that Figures 2 to 4 have chosen.",
    cases=smoothed_runs,
    from_table=True,
    experiment=NEWS20,
    planted=(version("they differ by at least half", differ=True),),
    not_proved=NOT_PROVED,
)
def little_difference(case: Case, differ: bool = False) -> Outcome:
    outcomes = []
    for plain, smooth in case.counts.values():
        if math.inf in (plain, smooth):
            outcomes.append(effect(-1.0, 1.0, Tier.FLOAT, counts=case.counts))
            continue
        ratio = max(plain, smooth) / min(plain, smooth)
        outcomes.append(less(1.5, ratio) if differ else less(ratio, 2.0))
    return both(*outcomes)
