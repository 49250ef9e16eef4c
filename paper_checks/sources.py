"""Record which text of each paper was judged: python -m paper_checks.sources DIR

It prints {paper: {"file", "sha256"}} for the texts in DIR, in the format of
paper_checks/sources.json.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from fwlab.command import run_command
from paper_checks.modules import INSIDE, PAPERS

STORED = Path(__file__).with_name("sources.json")
Source = Mapping[str, str]


@cache
def sources() -> Mapping[str, Source]:
    """Return {paper: its file and the file's sha256}, as stored."""
    found: dict[str, Source] = json.loads(STORED.read_text("utf-8"))
    return found


def read_sources(folder: Path) -> dict[str, Source]:
    """Return {paper: its file and the file's sha256} of the texts in a folder.

    The text of a paper is the one file whose name begins with author and year, such as
    lapin_2015. Raises ValueError if a paper has none or several.
    """
    return {paper: source_in(folder, paper) for paper in PAPERS}


def source_in(folder: Path, paper: str) -> Source:
    """Return the file of one paper in a folder, and its sha256."""
    package = INSIDE[paper].rpartition(".")[2]
    author, year = package[:-4], package[-4:]
    found = sorted(folder.glob(f"{author}_*{year}_*.txt"))
    if len(found) != 1:
        raise ValueError(
            f"{folder}: {len(found)} texts of {paper} ({author}_{year}*); exactly one is needed"
        )
    digest = hashlib.sha256(found[0].read_bytes()).hexdigest()
    return {"file": found[0].name, "sha256": digest}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the sources; return 0, or 2 for a folder without the texts."""
    parser = argparse.ArgumentParser("python -m paper_checks.sources", description=__doc__)
    parser.add_argument("folder", metavar="DIR", type=Path)
    options = parser.parse_args(arguments)
    try:
        found = read_sources(options.folder)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(run_command("paper_checks.sources", main))
