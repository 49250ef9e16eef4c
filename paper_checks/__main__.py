"""`python -m paper_checks`: try the papers' statements and print or write the ledger."""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tqdm import tqdm

from paper_checks.page import html_page
from paper_checks.report import markdown, table
from paper_checks.run import PAPERS, Record, claims, run
from paper_checks.stored_tables import DEFAULT, VARIABLE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if every check ran, 1 if one broke, 2 for bad input, 130 for Ctrl-C."""
    options = parser().parse_args(arguments)
    papers = dict.fromkeys(options.paper or [None])
    chosen = [claim.id for paper in papers for claim in claims(paper)]
    if options.id is not None:
        unknown = sorted(set(options.id) - set(chosen))
        if unknown:
            print(f"--id {unknown[0]}: no such claim; --list prints them", file=sys.stderr)
            return 2
        chosen = [id for id in chosen if id in options.id]
    if options.list:
        print("\n".join(chosen))
        return 0
    if options.figures is not None:
        if not options.figures.is_dir():
            print(f"--figures {options.figures}: no such folder", file=sys.stderr)
            return 2
        os.environ[VARIABLE] = str(options.figures.resolve())
    for path in (options.html, options.markdown, options.keep):
        if path is not None and (problem := why_not_a_file(path)):
            print(f"{path}: {problem}", file=sys.stderr)
            return 2
    try:
        records = in_order(chosen, options)
    except KeyboardInterrupt:
        kept = "--keep FILE would resume"
        if options.keep:
            kept = f"finished claims are in {options.keep}, if there are any"
        print(f"interrupted before all claims were tried; {kept}", file=sys.stderr)
        return 130
    if options.html is not None:
        options.html.write_text(html_page(records), encoding="utf-8")
    if options.markdown is not None:
        options.markdown.write_text(markdown(records), encoding="utf-8")
    print(json.dumps(records, indent=1) if options.json else table(records))
    return 0


def why_not_a_file(path: Path) -> str:
    """Why nothing can be written to this path; "" if nothing speaks against it."""
    if path.is_dir():
        return "it is a folder, not a file"
    return "" if path.resolve().parent.is_dir() else "its folder does not exist"


def in_order(chosen: list[str], options: argparse.Namespace) -> list[Record]:
    """The records of the chosen claims, in their order, with progress on the error stream."""
    found = {}
    work = run(chosen, options.seed, options.deep, options.jobs, options.keep)
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
        "--paper",
        action="append",
        choices=list(PAPERS),
        help="only this paper's claims; may be given several times",
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
