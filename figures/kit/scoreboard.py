"""The scoreboard: every figure and table of the papers, and whether it comes out again."""

import json
import re
import shutil
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import shorten

from figures.kit.findings import FigureFinding, FigureOutcome, nothing_to_compute
from figures.kit.script import script, script_names
from figures.kit.study import NotRun, Study
from fwlab.text import format_table

HEADER = ("figure", "outcome", "the number that says so", "reading", "ledger", "why")
# its verdicts are about the results in this repository
LEDGER = Path(__file__).parents[2] / "paper_checks" / "ledger.json"
# figures that have no numbers, and why
WITHOUT_SCRIPT = {"L15 Figure 1": "it shows photographs of SUN 397"}
NARROW = 30  # columns of a terminal for the last column, at least


@dataclass(frozen=True)
class Score:
    """A line of the scoreboard. script: "" for a figure that has none; finding: None if its values
    are not stored."""

    figure: str
    script: str
    finding: FigureFinding | None
    stale: bool = False

    @property
    def outcome(self) -> str:
        """Return the outcome, or "not computed", with a mark if the values are not today's."""
        told = str(self.finding.outcome) if self.finding else "not computed"
        return f"{told} (stale)" if self.stale else told

    def texts(self) -> tuple[str, ...]:
        """Return the entries of the line."""
        if self.finding is None:
            return self.figure, self.outcome, "", "", "", ""
        found = self.finding
        return self.figure, self.outcome, found.measured, found.under, self.ledger, found.because

    @property
    def ledger(self) -> str:
        """Return how many of the ledger's rows about the figure have each verdict."""
        rows = self.finding.claims if self.finding else ()
        counts = Counter(verdicts()[row] for row in rows if row in verdicts())
        return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))


@cache
def verdicts() -> dict[str, str]:
    """Return {id: verdict} of the ledger's rows, none without a ledger.

    Raises ValueError if the file is damaged.
    """
    if not LEDGER.exists():
        return {}
    try:
        return {row["id"]: row["verdict"] for row in json.loads(LEDGER.read_text("utf-8"))}
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"{LEDGER} holds no records of `python -m paper_checks --json`."
        ) from error


def scores(out: Path, size: str) -> list[Score]:
    """Return a line for each figure and table of a paper, from what is stored."""
    found = [
        Score(figure, "", nothing_to_compute(why=why)) for figure, why in WITHOUT_SCRIPT.items()
    ]
    for name in script_names():
        one = script(name)
        if one.finding is not None:
            study, figure = Study(name, size, out), label(one.shows)
            try:
                found.append(Score(figure, name, one.found(study), one.is_stale(study)))
            except NotRun:
                found.append(Score(figure, name, None))
    return sorted(found, key=lambda score: score.figure)


def label(shows: str) -> str:
    """Return the paper and the number of its figure or table from a script's first line."""
    found = re.match(r"\w+ (?:Figure|Table) \d+", shows)
    return found[0] if found else shows.split(":")[0]


def summary(found: list[Score]) -> str:
    """Return a sentence that counts the outcomes."""
    counts = Counter(score.finding.outcome for score in found if score.finding)
    told = [f"{outcome}: {counts[outcome]}" for outcome in FigureOutcome]
    missing = sum(score.finding is None for score in found)
    told += [f"not computed: {missing}"] * bool(missing)
    return f"Of {len(found)} results: {', '.join(told)}."


def terminal_scoreboard(found: list[Score]) -> str:
    """Return the scoreboard for a terminal; the last column is cut to its width."""
    rows = [score.texts() for score in found]
    others = sum(max(map(len, column)) + 2 for column in [*zip(HEADER, *rows, strict=True)][:-1])
    width = max(NARROW, shutil.get_terminal_size().columns - others)
    cut = [(*row[:-1], shorten(row[-1], width, placeholder=" ..")) for row in rows]
    return f"{format_table(HEADER, cut)}\n\n{summary(found)}"


def markdown_scoreboard(found: list[Score], anchors: dict[str, str]) -> str:
    """Return the scoreboard as Markdown. anchors: where on the page a script's results begin."""
    lines = [HEADER, ("---",) * len(HEADER)]
    for score in found:
        figure, *rest = score.texts()
        anchor = anchors.get(score.script)
        lines.append((f"[{figure}](#{anchor})" if anchor else figure, *rest))
    cells = [[text.replace("|", "\\|") for text in line] for line in lines]
    table = "".join(f"| {' | '.join(line)} |\n" for line in cells)
    return f"{summary(found)}\n\n{table}"
