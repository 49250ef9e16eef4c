"""The index of the stored results, for programs that do not import this package.

`results/index.json` has a line for each line of the scoreboard. For each script it has the script's
file and what pages other than the gallery show of its values. `python -m figures page` writes it.
"""

import inspect
import json
from functools import partial
from pathlib import Path
from typing import Any

from figures.kit.scoreboard import Score, scores
from figures.kit.script import Script, script, script_names
from figures.kit.study import KEPT, NotRun, Study
from fwlab.files import write_text_atomically

NAME, SIZE = "index.json", "standard"
# parts of each line of the scoreboard
NAMES = ("figure", "outcome", "measured", "reading", "ledger", "because")
TOP = Path(__file__).parents[2]


def index(kept: Path = KEPT) -> dict[str, Any]:
    """Return the index of the results in a folder."""
    return {
        "scripts": {name: entry(name, script(name), kept) for name in script_names()},
        "scoreboard": [line(score) for score in scores(kept, SIZE)],
    }


def write_index(kept: Path = KEPT) -> Path:
    """Write the index of the results in a folder and return its path."""
    write_text_atomically(kept / NAME, json.dumps(index(kept), indent=1) + "\n")
    return kept / NAME


def entry(name: str, one: Script, kept: Path) -> dict[str, Any]:
    """Return the file of a script, and what other pages show of its stored values."""
    try:
        told = one.for_pages(Study(name, SIZE, kept).values, SIZE) if one.for_pages else {}
    except NotRun:
        told = {}
    return {"source": source_of(one), "told": told}


def source_of(one: Script) -> str:
    """Return the path of a script's file from the top of the repository."""
    function = one.plot.func if isinstance(one.plot, partial) else one.plot
    path = Path(inspect.getsourcefile(inspect.unwrap(function)) or "")
    return path.relative_to(TOP).as_posix()


def line(score: Score) -> dict[str, Any]:
    """Return a line of the scoreboard, with the claims of the ledger that are about the figure."""
    texts = dict(zip(NAMES, score.texts(), strict=True))
    return {**texts, "script": score.script, "claims": list(score.verdicts)}
