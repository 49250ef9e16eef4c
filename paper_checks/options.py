"""Define the options of `python -m paper_checks`."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from paper_checks.modules import PAPERS
from paper_checks.stored_tables import VARIABLE


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the parser of the options."""
    made = argparse.ArgumentParser("python -m paper_checks", description=description)
    add_choice(made)
    add_effort(made)
    add_output(made)
    return made


def add_choice(made: argparse.ArgumentParser) -> None:
    """Add the options that choose the claims."""
    made.add_argument(
        "--file",
        action="append",
        default=[],
        metavar="FILE",
        help="try the claims of this Python file, and only those unless --paper or --id chooses "
        "among them and the papers' claims; may be given several times; "
        "paper_checks/template.py is one to copy",
    )
    made.add_argument(
        "--paper",
        action="append",
        default=[],
        metavar="NAME",
        help="only the claims of this paper (" + ", ".join(PAPERS) + ") or of this source in a "
        "file, the part of an id before the first dash; may be given several times",
    )
    made.add_argument(
        "--id",
        action="append",
        help="only this claim; may be given several times. A few are printed in full; a part of an "
        "id lists those that contain it",
    )
    made.add_argument("--list", action="store_true", help="print the ids and stop")


def add_effort(made: argparse.ArgumentParser) -> None:
    """Add the options for the depth of the trials."""
    made.add_argument("--deep", action="store_true", help="more and larger cases")
    made.add_argument("--seed", type=whole_number(0), default=0, help="of the random cases (0)")
    made.add_argument(
        "--jobs", type=whole_number(1), default=os.cpu_count(), help="processes (all cores)"
    )
    made.add_argument(
        "--figures",
        type=Path,
        metavar="DIR",
        help="the folder of the published tables, as written by `python -m figures --out DIR` "
        f"({VARIABLE}, else figures/results, where the repository has them)",
    )
    made.add_argument("--keep", type=Path, metavar="DIR", help="keep records; resume from them")


def add_output(made: argparse.ArgumentParser) -> None:
    """Add the options for the output."""
    made.add_argument("--html", type=Path, metavar="FILE", help="write a page")
    made.add_argument(
        "--certificates",
        type=Path,
        metavar="DIR",
        help="write the proofs and witnesses as data for paper_checks/verify_proofs.py (minutes)",
    )
    made.add_argument("--markdown", type=Path, metavar="FILE", help="write the same as Markdown")
    made.add_argument(
        "--json",
        action="store_true",
        help="print records instead of a table; paper_checks/ledger.schema.json describes "
        "their format",
    )


def whole_number(least: int) -> Callable[[str], int]:
    """Return a function that converts text to an int of at least `least`."""

    def read(text: str) -> int:
        if not text.lstrip("-").isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return read
