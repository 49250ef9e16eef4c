"""The scoreboard: every figure and table of the papers, and whether it comes out again."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from textwrap import shorten

from figures.kit.findings import FigureFinding, FigureOutcome, nothing_to_compute
from figures.kit.outcomes import ORDER, OUTCOMES, row_of, worst
from figures.kit.script import script, script_names
from figures.kit.study import KEPT, NotRun, Study
from fwlab.text import format_table

HEADER = ("figure", "outcome", "the number that says so", "reading", "ledger", "why")
# its verdicts are about the results in this repository
LEDGER = Path(__file__).parents[2] / "paper_checks" / "ledger.json"
# figures that have no numbers, and why
WITHOUT_SCRIPT = {"L15 Figure 1": "it shows photographs of SUN 397"}
# makes a ledger about other values than those in the repository
JUDGE = "python -m paper_checks --figures DIR --json > FILE"
NARROW = 30  # columns of a terminal for the last column, at least


@dataclass(frozen=True)
class Score:
    """A line of the scoreboard.

    script: "" for a figure that has none; finding: None if its values are not stored; verdicts: of
    the ledger's rows about the figure, by id, the row about all its numbers first; empty if the
    ledger is about other values.
    """

    figure: str
    script: str
    finding: FigureFinding | None
    stale: bool = False
    verdicts: Mapping[str, str] = field(default_factory=dict)

    @property
    def judged(self) -> FigureOutcome | None:
        """Return the worst outcome of the rows, None without values or without rows."""
        return worst(self.verdicts.values()) if self.finding and self.verdicts else None

    @property
    def outcome(self) -> str:
        """Return the outcome, or why there is none, with a mark if the values are not today's."""
        told = str(self.judged or ("not judged" if self.finding else "not computed"))
        return f"{told} (stale)" if self.stale else told

    def texts(self) -> tuple[str, ...]:
        """Return the entries of the line."""
        if self.finding is None:
            return self.figure, self.outcome, "", "", "", ""
        found = self.finding
        why = "; ".join(text for text in (found.because, *self.worse_rows) if text)
        return self.figure, self.outcome, found.measured, found.under, self.ledger, why

    @property
    def ledger(self) -> str:
        """Return how many of the ledger's rows about the figure have each verdict."""
        counts = Counter(self.verdicts.values())
        return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))

    @property
    def worse_rows(self) -> list[str]:
        """Return the rows of the figure with a worse outcome than that of all its numbers."""
        first, *others = self.verdicts.items() or [("", "untestable")]
        rank = ORDER.index(OUTCOMES[first[1]])
        return [f"{id} {v}" for id, v in others if ORDER.index(OUTCOMES[v]) > rank]


@cache
def verdicts(ledger: Path = LEDGER) -> dict[str, str]:
    """Return {id: verdict} of a ledger's rows, none without a ledger.

    Raises ValueError if the file is damaged.
    """
    if not ledger.exists():
        return {}
    try:
        return {row["id"]: row["verdict"] for row in json.loads(ledger.read_text("utf-8"))}
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"{ledger} holds no records of `python -m paper_checks --json`."
        ) from error


def scores(out: Path, size: str, ledger: Path | None = None) -> list[Score]:
    """Return a line for each figure and table of a paper, from what is stored.

    The repository's ledger is about the values in the repository; other values are not judged
    unless a ledger about them is given.
    """
    known = verdicts(ledger or LEDGER)
    found = [
        Score(figure, "", nothing_to_compute(why=why), verdicts=rows_of(figure, (), known))
        for figure, why in WITHOUT_SCRIPT.items()
    ]
    for name in script_names():
        one = script(name)
        if one.finding is not None:
            study, figure = Study(name, size, out), label(one.shows)
            try:
                told, stale = one.found(study), one.is_stale(study)
            except NotRun:
                found.append(Score(figure, name, None))
                continue
            claims = told.claims if told else ()
            about = known if ledger or is_kept(study) else {}
            found.append(Score(figure, name, told, stale, rows_of(figure, claims, about)))
    return sorted(found, key=lambda score: score.figure)


def rows_of(figure: str, claims: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    """Return {id: verdict} of the rows about a figure; none without the one about all numbers."""
    ids = (row_of(figure), *claims)
    return {id: known[id] for id in ids if id in known} if ids[0] in known else {}


def is_kept(study: Study) -> bool:
    """Return whether the values of a study are those in the repository."""
    kept = replace(study, out=KEPT)
    try:
        return kept.place == study.place or kept.values == study.values
    except NotRun:
        return False


def label(shows: str) -> str:
    """Return the paper and the number of its figure or table from a script's first line."""
    found = re.match(r"\w+ (?:Figure|Table) \d+", shows)
    return found[0] if found else shows.split(":")[0]


def summary(found: list[Score]) -> str:
    """Return a sentence that counts the outcomes."""
    counts = Counter(score.judged for score in found)
    told = [f"{outcome}: {counts[outcome]}" for outcome in FigureOutcome]
    missing = sum(score.finding is None for score in found)
    told += [f"not computed: {missing}"] * bool(missing)
    others = counts[None] - missing
    told += [f"not judged: {others}"] * bool(others)
    return f"Of {len(found)} results: {', '.join(told)}."


def terminal_scoreboard(found: list[Score]) -> str:
    """Return the scoreboard for a terminal; the last column is cut to its width."""
    rows = [score.texts() for score in found]
    others = sum(max(map(len, column)) + 2 for column in [*zip(HEADER, *rows, strict=True)][:-1])
    width = max(NARROW, shutil.get_terminal_size().columns - others)
    cut = [(*row[:-1], shorten(row[-1], width, placeholder=" ..")) for row in rows]
    text = f"{format_table(HEADER, cut)}\n\n{summary(found)}"
    if any(score.finding and not score.judged for score in found):
        text += f"\nThe ledger is about other values. For --ledger FILE:\n{JUDGE}"
    return text


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
