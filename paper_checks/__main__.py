"""`python -m paper_checks`: try the papers' statements and print or write the ledger."""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tqdm import tqdm

from fwlab.experiments import sigterm_interrupts
from fwlab.files import write_text_atomically
from paper_checks.formulas import as_svg
from paper_checks.ledger import CLAIMS
from paper_checks.modules import PAPERS, ClaimFile, claim_files, claims
from paper_checks.page import html_page
from paper_checks.report import markdown, table
from paper_checks.run import Record, run
from paper_checks.stored_tables import DEFAULT, VARIABLE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 if every check ran; 1 if one broke or a page cannot be written; 2 for bad input; 130 after
    Ctrl-C or SIGTERM.
    """
    options = parser().parse_args(arguments)
    try:
        files = files_of(options)
        chosen = selected(options, files)
        if options.list:
            print("\n".join(chosen))
            return 0
        check_paths(options, chosen)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        with sigterm_interrupts():
            records = in_order(chosen, options, files)
    except KeyboardInterrupt:
        kept = "--keep FILE would resume"
        if options.keep:
            kept = f"finished claims are in {options.keep}, if there are any"
        print(f"interrupted before all claims were tried; {kept}", file=sys.stderr)
        return 130
    print(json.dumps(records, indent=1) if options.json else table(records))
    try:
        if options.html is not None:
            write_text_atomically(options.html, html_page(records))
        if options.markdown is not None:
            write_text_atomically(options.markdown, markdown(records))
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def files_of(options: argparse.Namespace) -> list[ClaimFile]:
    """Import the files of --file. Raises ValueError for one that has no claims to try."""
    try:
        return claim_files(options.file)
    except ValueError as error:
        raise ValueError(f"--file {error}") from error


def selected(options: argparse.Namespace, files: Sequence[ClaimFile]) -> list[str]:
    """Return the ids of the claims to try: of --paper, else of --file, else all; of these --id."""
    all_claims = claims()
    papers = list(dict.fromkeys(claim.paper for claim in all_claims))
    for paper in options.paper:
        if paper not in papers:
            raise ValueError(f"--paper {paper}: no claim is of it; there are {', '.join(papers)}")
    chosen = [claim.id for p in dict.fromkeys(options.paper) for claim in claims(p)]
    if not options.paper and options.id is None:
        chosen = [id for file in files for id in file.ids]
    if not options.paper and not chosen:
        chosen = [claim.id for claim in all_claims]
    unknown = sorted(set(options.id or ()) - set(chosen))
    if unknown:
        raise ValueError(f"--id {unknown[0]}: no such claim; --list prints them")
    return [id for id in chosen if options.id is None or id in options.id]


def check_paths(options: argparse.Namespace, chosen: Sequence[str]) -> None:
    """Raise ValueError for what cannot be read or written, before any work."""
    if options.figures is not None:
        if not options.figures.is_dir():
            raise ValueError(f"--figures {options.figures}: no such folder")
        os.environ[VARIABLE] = str(options.figures.resolve())
    for path in (options.html, options.markdown, options.keep):
        if path is not None and (problem := why_not_a_file(path)):
            raise ValueError(f"{path}: {problem}")
    if options.html is not None:
        for id in chosen:
            check_formula(id)


def check_formula(id: str) -> None:
    """Raise ValueError if the formula of a claim is no mathtext."""
    try:
        if CLAIMS[id].formula:
            as_svg(CLAIMS[id].formula)
    except ValueError as error:
        said = str(error).strip().splitlines()[-1]
        raise ValueError(f"{id}: its formula is no mathtext: {said}") from error


def why_not_a_file(path: Path) -> str:
    """Why nothing can be written to this path; "" if nothing speaks against it."""
    if path.is_dir():
        return "it is a folder, not a file"
    return "" if path.resolve().parent.is_dir() else "its folder does not exist"


def in_order(
    chosen: list[str], options: argparse.Namespace, files: Sequence[ClaimFile]
) -> list[Record]:
    """The records of the chosen claims, in their order, with progress on the error stream."""
    found = {}
    work = run(chosen, options.seed, options.deep, options.jobs, options.keep, files)
    counts: Counter[str] = Counter()
    with tqdm(work, total=len(chosen), unit="claim", disable=None) as progress:
        for record in progress:
            found[record["id"]] = record
            counts[record["verdict"]] += 1
            progress.set_postfix(counts)
    return [found[id] for id in chosen]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("python -m paper_checks", description=__doc__)
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
    made.add_argument("--id", action="append", help="only this claim; may be given several times")
    made.add_argument("--list", action="store_true", help="print the ids and stop")
    made.add_argument("--deep", action="store_true", help="more and larger cases")
    made.add_argument("--seed", type=whole_number(0), default=0, help="of the random cases (0)")
    made.add_argument(
        "--jobs", type=whole_number(1), default=os.cpu_count(), help="processes (all cores)"
    )
    made.add_argument("--html", type=Path, metavar="FILE", help="write a page")
    made.add_argument("--markdown", type=Path, metavar="FILE", help="write the same as Markdown")
    made.add_argument("--json", action="store_true", help="print records instead of a table")
    made.add_argument(
        "--figures",
        type=Path,
        metavar="DIR",
        help="where `python -m figures --out DIR` has put the published tables "
        f"({VARIABLE}, else {DEFAULT})",
    )
    made.add_argument("--keep", type=Path, metavar="FILE", help="keep records; resume from them")
    return made


def whole_number(least: int) -> Callable[[str], int]:
    """What turns text into an int that is at least this."""

    def read(text: str) -> int:
        if not text.lstrip("-").isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        return int(text)

    return read


if __name__ == "__main__":
    sys.exit(main())
