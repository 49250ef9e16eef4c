"""Captions: what a figure or table shows, from which data, and how it agrees with the paper."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from figures.kit.findings import FigureFinding
from figures.kit.readings import distance, within

SIZE_SENTENCES = {
    "quick": "quick: tiny data, to show that everything runs; its numbers mean nothing.",
    "standard": "standard: repetitions and grids as the settings say, at most the paper's.",
    "full": "full: the paper's protocol.",
}

STALE = "; **stale**: the settings have changed since, or a cell computed again differs"
TOO_SMALL = "not judged in the quick size, whose data are not the paper's."


@dataclass(frozen=True)
class Caption:
    """A caption.

    Its fields are title (with "synthetic" if the data are), shows (what can be seen), settings (all
    constants and the seed) and agreement (computed sentences that follow the finding).
    """

    title: str
    shows: str
    settings: str
    agreement: str = ""


def caption_text(
    caption: Caption,
    record: dict[str, Any],
    finding: FigureFinding | None = None,
    stale: bool = False,
) -> str:
    """Return the caption in Markdown, with the finding and entries from the stored record."""
    data = record["data"] or ["none: computed from formulas, or generated as the settings say."]
    date = f", {record['date']}" if record.get("date") else ""
    found = [finding.sentence()] if finding else []
    agreement = TOO_SMALL if record["size"] == "quick" else " ".join([*found, caption.agreement])
    lines = [
        f"**{caption.title}**",
        "",
        caption.shows,
        "",
        f"*Agreement*: {agreement.rstrip()}",
        "",
        *(readings_table(finding) if finding and record["size"] != "quick" else []),
        *[f"- data: {line}" for line in data],
        f"- settings: {caption.settings}",
        f"- size: {SIZE_SENTENCES[record['size']]}",
        f"- version: {record['version']}{date}{STALE if stale else ''}",
        f"- command: `{record['command']}`",
        "",
    ]
    return "\n".join(lines)


def readings_table(finding: FigureFinding) -> list[str]:
    """Return the lines of a table of the readings with their distances.

    None for a single reading.
    """
    if finding.n_readings == 1:
        return []
    lines = ["| reading | where it comes from | choosing cells | other cells |", "| --- " * 4 + "|"]
    for one in finding.tried:
        name = one.reading.name
        name = f"**{name}**" if name == finding.reading else name
        parts = [_part(cells, finding.tolerance) for cells in (one.choose, one.confirm)]
        lines.append(f"| {' | '.join([name, one.reading.origin, *parts])} |")
    return [*lines, ""]


def _part(cells: Mapping[str, float], tolerance: float) -> str:
    """Return how many cells of a part are near, and the distance within which nine of ten lie."""
    if not cells:
        return "none"
    return f"{within(cells, tolerance)} of {len(cells)} near, nine of ten by {distance(cells):.2g}"
