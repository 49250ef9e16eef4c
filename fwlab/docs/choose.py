"""The page on which method to choose: tables made of stored results."""

from pathlib import Path
from typing import Any

from figures.kit.study import KEPT, NotRun, Study
from figures.own import certified_gaps
from figures.own.which_method import MILLISECONDS
from fwlab.docs import figure_links
from fwlab.docs.markdown import write

SIZE, REGIMES = "standard", "which_method"
POWERS = ("1e-3", "1e-5", "1e-9")
DEFAULT = certified_gaps.DEFAULT


def write_page(source: Path) -> None:
    """Write choose_a_method.md below `source`."""
    try:
        contests = Study(REGIMES, SIZE, KEPT).values
    except NotRun:
        contests = {}
    write(
        source / "choose_a_method.md",
        "choose_a_method.md",
        n_problems=len(contests),
        regimes=regimes(contests),
        powers=POWERS,
        address=figure_links.address,
        arrivals=arrivals(Study("certified_gaps", SIZE, KEPT).values),
        limit=f"{certified_gaps.LIMIT[SIZE]:g}",
    )


def regimes(contests: dict[str, Any]) -> list[list[str]]:
    """Return a row per method that is first in a contest of seconds, most wins first.

    A row has the method, how many problems it wins, the range of lambda_max(K)/(lam n) there, and
    the range of the default method's time as a multiple of its own.
    """
    won: dict[str, list[dict[str, Any]]] = {}
    for value in contests.values():
        winner, _ = MILLISECONDS.winner(value)
        won.setdefault(winner or "none", []).append(value)
    return [
        [method, str(len(values)), span([v["condition"] for v in values]), slower(method, values)]
        for method, values in sorted(won.items(), key=lambda pair: -len(pair[1]))
    ]


def slower(method: str, contests: list[dict[str, Any]]) -> str:
    """Return the range of the ratio of times, the default method's over a method's."""
    costs = [MILLISECONDS.costs(value) for value in contests]
    found = [c[DEFAULT] / c[method] for c in costs if DEFAULT in c and method in c]
    missed = len(contests) - len(found)
    told = span(found) if found else ""
    return told + f"{'; ' * bool(told)}not in time: {missed}" * bool(missed)


def span(numbers: list[float]) -> str:
    """Return the smallest and the largest number with two digits."""
    low, high = (f"{number:.2g}" for number in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def arrivals(values: dict[str, Any]) -> list[list[str]]:
    """Return a row per method: seconds to each gap of POWERS, "" for a gap not reached in time.

    Methods that reach smaller gaps come first, and of these the faster ones.
    """
    found = {name.partition("|")[2]: value["reached"] for name, value in values.items()}

    def order(method: str) -> list[float]:
        return [found[method].get(power, (0, float("inf")))[1] for power in reversed(POWERS)]

    return [
        [m, *(f"{found[m][p][1]:.2g}" if p in found[m] else "" for p in POWERS)]
        for m in sorted(found, key=order)
    ]
