"""Captions: what a figure or table shows, from which data, and how far it agrees with the paper."""

from dataclasses import dataclass
from typing import Any

SIZE_SENTENCES = {
    "quick": "quick: tiny data, to show that everything runs; its numbers mean nothing.",
    "standard": "standard: repetitions and grids as the settings say, at most the paper's.",
    "full": "full: the paper's protocol.",
}

TOO_SMALL = "not asked for in the quick size, whose data are not the paper's."


@dataclass(frozen=True)
class Caption:
    """title (with "synthetic" where the data are); shows, what one sees; settings, all constants
    and the seed; agreement, one computed sentence on the paper's result."""

    title: str
    shows: str
    settings: str
    agreement: str


def caption_text(caption: Caption, record: dict[str, Any]) -> str:
    """The caption as Markdown, with what the stored record adds."""
    data = record["data"] or ["none: computed from the formulas, or drawn as the settings say."]
    agreement = TOO_SMALL if record["size"] == "quick" else caption.agreement
    lines = [
        f"**{caption.title}**",
        "",
        caption.shows,
        "",
        f"*Agreement*: {agreement}",
        "",
        *[f"- data: {line}" for line in data],
        f"- settings: {caption.settings}",
        f"- size: {SIZE_SENTENCES[record['size']]}",
        f"- version: {record['version']}",
        f"- command: `{record['command']}`",
        "",
    ]
    return "\n".join(lines)
