"""Write the mutation scores and the survivors in Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paper_checks.modules import PAPERS
from paper_checks.mutation.judging import MutantResult
from paper_checks.mutation.mutants import Mutant

ABOUT = """
A row of the ledger is only as good as its ability to detect errors. Here one operator, constant or
term of a check's formula is changed at a time: `<=` to `<` and the like, `+` to `-`, `*` to `/`, a
constant c <= 10 to c + 1, min to max, k to k + 1 in a call; one term of a sum is left out. Only
lines that run while a form, a condition or a proof of a row is evaluated are changed, not those
that draw its cases. The rows of a paper take turns; each chooses the next change of its lines in a
fixed random order. All rows of the paper that run the changed line are judged again, the quickest
first, as in a quick run. The change is *caught* if a row raises or takes ten times as long, or if
its verdict, its tier, the sizes of its proof, its corrected version, a planted version or the
comparison with fwlab comes out differently. Otherwise it *survives*; a survivor without a reason is
open.
""".strip()
# the number of ids that a table entry names before it counts the rest
MOST_NAMED = 3


@dataclass(frozen=True)
class Scored:
    """The outcome for one paper.

    `rows` counts its rows, `reached` the rows that run at least one of the changes, `possible` all
    changes of lines that rows run.
    """

    paper: str
    rows: int
    reached: int
    possible: int
    found: Sequence[tuple[Mutant, MutantResult]]

    @property
    def survivors(self) -> list[tuple[Mutant, MutantResult]]:
        return [(mutant, result) for mutant, result in self.found if not result.caught_by]


def markdown(scored: Sequence[Scored], reasons: Mapping[str, str], stamp: Mapping[str, Any]) -> str:
    """Return the page."""
    lines = ["# Mutation scores of the ledger", "", ABOUT, ""]
    lines += [f"* {name}: {value}" for name, value in stamp.items()]
    lines += ["", *score_table(scored, reasons), "", *caught_table(scored)]
    for part in scored:
        lines += ["", f"## Survivors of {part.paper}: {PAPERS[part.paper][1]}", ""]
        lines += survivor_table(part, reasons) if part.survivors else ["None."]
    return "\n".join([*lines, ""])


def score_table(scored: Sequence[Scored], reasons: Mapping[str, str]) -> list[str]:
    """Return a line per paper and a line of totals."""
    lines = [
        "| paper | rows | rows that run a change | possible changes | tried | caught | score "
        "| survivors with a reason | open |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    sums: Counter[str] = Counter()
    for part in scored:
        explained = sum(result.key in reasons for _, result in part.survivors)
        counts = {
            "rows": part.rows,
            "reached": part.reached,
            "possible": part.possible,
            "tried": len(part.found),
            "caught": len(part.found) - len(part.survivors),
            "explained": explained,
            "open": len(part.survivors) - explained,
        }
        sums.update(counts)
        lines.append(score_line(part.paper, counts))
    return [*lines, score_line("all", sums)] if len(scored) > 1 else lines


def score_line(name: str, counts: Mapping[str, int]) -> str:
    score = f"{100 * counts['caught'] / counts['tried']:.0f} %" if counts["tried"] else ""
    first = [counts[part] for part in ("rows", "reached", "possible", "tried", "caught")]
    cells = [name, *first, score, counts["explained"], counts["open"]]
    return f"| {' | '.join(map(str, cells))} |"


def caught_table(scored: Sequence[Scored]) -> list[str]:
    """Return how changes were caught, the most frequent way first."""
    ways = Counter(
        way(result.how) for part in scored for _, result in part.found if result.caught_by
    )
    lines = ["| caught because | changes |", "|---|---|"]
    return [*lines, *(f"| {name} | {count} |" for name, count in ways.most_common())]


def way(how: str) -> str:
    """Return the kind of a difference."""
    names = {
        "raises": "the row raises an error",
        "verdict": "the verdict differs",
        "tier": "the tier differs: a proof or an exact case is lost",
        "proof sizes": "fewer sizes are proved",
        "corrected": "another version is the true one",
        "corrected failed": "the corrected version fails",
        "defects missed": "a planted version is no longer refuted",
        "library failed": "the comparison with fwlab fails",
        "no verdict": "the row takes too much time or memory",
    }
    kind = how.partition(":")[0]
    return names.get("raises" if kind.startswith("raises") else kind, kind)


def survivor_table(part: Scored, reasons: Mapping[str, str]) -> list[str]:
    """Return the survivors of a paper in the order of their files; open ones are marked."""
    lines = ["| line | original | changed | rows | reason |", "|---|---|---|---|---|"]
    for mutant, result in sorted(part.survivors, key=lambda pair: (pair[0].file, pair[0].number)):
        place = f"{mutant.file.partition('/')[2]}:{mutant.line} `{mutant.function}`"
        why = reasons.get(result.key, "open")
        cells = (place, code(mutant.original), code(mutant.changed), few(result.rows), why)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def code(text: str) -> str:
    """Return a text as code in a cell of a table."""
    return f"`{text.replace('|', chr(92) + '|')}`"


def few(ids: Sequence[str]) -> str:
    """Return ids as one text, and how many more there are."""
    rest = len(ids) - MOST_NAMED
    return ", ".join(ids[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
