"""Captions: what a figure or table shows, from which data, and how far it agrees with the paper."""

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
TOO_SMALL = "not asked for in the quick size, whose data are not the paper's."


@dataclass(frozen=True)
class Caption:
    """title (with "synthetic" where the data are); shows, what one sees; settings, all constants
    and the seed; agreement, computed sentences to stand behind the finding."""

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
    """The caption as Markdown, with the finding and what the stored record adds."""
    data = record["data"] or ["none: computed from the formulas, or drawn as the settings say."]
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
    """Return the lines of a table of the readings with their distances, none for a single one."""
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
    """Return how many cells of a part are near, and how far nine of ten are at most."""
    if not cells:
        return "none"
    return f"{within(cells, tolerance)} of {len(cells)} near, nine of ten by {distance(cells):.2g}"
