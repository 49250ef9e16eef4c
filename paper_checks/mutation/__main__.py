"""Change the formulas of the checks, one at a time, and count the changes that the rows catch."""

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tqdm import tqdm

from fwlab.command import run_command
from fwlab.experiments import sigterm_interrupts
from fwlab.experiments.store import load_record, place, record_of, save_record
from fwlab.files import why_no_file, write_text_atomically
from fwlab.identity import identity
from fwlab.say import say
from paper_checks.__main__ import why_not_a_file
from paper_checks.ledger import CLAIMS
from paper_checks.modules import PAPERS, claims
from paper_checks.mutation.judging import (
    MutantResult,
    Row,
    by_row,
    prepare,
    results,
    rows_of,
    spread,
)
from paper_checks.mutation.page import Scored, markdown, score_table, survivor_table
from paper_checks.mutation.reasons import reasons, stale
from paper_checks.options import whole_number
from paper_checks.report.stamp import stamp


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns 0; 1 if reasons are stale or a file cannot be written; 2 for bad input; 130 after Ctrl-C
    or SIGTERM.
    """
    options = parser().parse_args(arguments)
    claims()
    if problem := why_not(options):
        print(problem, file=sys.stderr)
        return 2
    prepare()
    try:
        with sigterm_interrupts():
            scored = [score(paper, ids, options) for paper, ids in chosen(options)]
        return reported(scored, options, arguments)
    except KeyboardInterrupt:
        print("interrupted; with --keep DIR the same command resumes", file=sys.stderr)
        return 130
    except OSError as error:
        print(error, file=sys.stderr)
        return 1


def reported(
    scored: Sequence[Scored], options: argparse.Namespace, arguments: Sequence[str] | None
) -> int:
    """Print and write the scores; return the exit code."""
    known = reasons()
    for part in scored:
        print("\n".join([*survivor_table(part, known), ""]))
    print("\n".join(score_table(scored, known)))
    if options.markdown is not None:
        given = shlex.join(sys.argv[1:] if arguments is None else arguments)
        header = stamp(f"python -m paper_checks.mutation {given}".rstrip(), 0, False)
        write_text_atomically(options.markdown, markdown(scored, known, header))
    lines = stale(known, (result for part in scored for _, result in part.found))
    print("".join(f"stale reason: {line}\n" for line in lines), end="", file=sys.stderr)
    return 1 if lines else 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    made = argparse.ArgumentParser("python -m paper_checks.mutation", description=__doc__)
    made.add_argument("--paper", action="append", choices=tuple(PAPERS), help="only this paper")
    made.add_argument("--id", action="append", help="only this row; may be given several times")
    made.add_argument(
        "--count", type=whole_number(1), default=100, help="changes for each paper (100)"
    )
    made.add_argument(
        "--change", metavar="TEXT", help="instead, try all changes whose names contain this text"
    )
    made.add_argument("--jobs", type=whole_number(1), default=1, help="processes (1)")
    made.add_argument("--keep", type=Path, metavar="DIR", help="keep results; resume from them")
    made.add_argument("--markdown", type=Path, metavar="FILE", help="write a page")
    return made


def why_not(options: argparse.Namespace) -> str:
    """Return what is wrong with the options, or ""."""
    for id in options.id or ():
        if id not in CLAIMS:
            return f"--id {id}: no such claim; python -m paper_checks --list prints them"
    if options.markdown is not None and (problem := why_not_a_file(options.markdown)):
        return f"{options.markdown}: {problem}"
    if options.keep is not None and (problem := why_no_file(options.keep / "record")):
        return f"--keep {options.keep}: {problem}"
    return ""


def chosen(options: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """Yield each paper with its selected rows."""
    for paper in PAPERS:
        ids = [c.id for c in claims(paper) if options.id is None or c.id in options.id]
        if ids and paper in (options.paper or PAPERS):
            yield paper, ids


def score(paper: str, ids: Sequence[str], options: argparse.Namespace) -> Scored:
    """Trace the rows of a paper, choose changes and judge them; stored results are reused."""
    store = store_in(options.keep)
    known = store.read("row", ids, row_of)
    missing = [id for id in ids if id not in known]
    for row in shown(rows_of(missing, options.jobs), len(missing), f"{paper} rows"):
        known[row.id] = row
        store.add("row", row.id, row)
    rows = [known[id] for id in ids]
    choices = by_row(paper, rows)
    possible = {mutant.key: mutant for every in choices.values() for mutant in every}
    picked = spread(choices, options.count)
    if options.change is not None:
        picked = [mutant for key, mutant in possible.items() if options.change in key]
    kind = f"change in {' '.join(ids)}"
    found = store.read(kind, [mutant.key for mutant in picked], result_of)
    left = [mutant for mutant in picked if mutant.key not in found]
    work = results(left, rows, choices, options.jobs)
    for result in shown(work, len(left), f"{paper} changes"):
        found[result.key] = result
        store.add(kind, result.key, result)
    pairs = [(mutant, found[mutant.key]) for mutant in picked]
    reached = {id for _, result in pairs for id in result.rows}
    return Scored(paper, len(rows), len(reached), len(possible), pairs)


def row_of(part: dict[str, Any]) -> Row:
    """Return the row stored in an entry of a file."""
    return Row(**part | {"lines": tuple((file, line) for file, line in part["lines"])})


def result_of(part: dict[str, Any]) -> MutantResult:
    """Return the result stored in an entry of a file."""
    return MutantResult(**part | {"rows": tuple(part["rows"])})


def shown(work: Iterable[Any], total: int, what: str) -> Iterator[Any]:
    """Show the progress on stderr."""
    yield from tqdm(work, total=total, desc=what, unit="", disable=None)


class Store:
    """A folder of stored results, which are valid only for the code that computed them."""

    def __init__(self, folder: Path | None, code: str) -> None:
        self.folder, self.code = folder, code

    def read(
        self, kind: str, names: Iterable[str], made: Callable[[dict[str, Any]], Any]
    ) -> dict[str, Any]:
        """Return {name: stored result} for the names that have one."""
        files = {name: self.file(kind, name) for name in names}
        found = {name: load_record(file) for name, file in files.items() if file is not None}
        return {name: made(record["value"]) for name, record in found.items() if record is not None}

    def add(self, kind: str, name: str, content: Any) -> None:
        """Store a result."""
        file = self.file(kind, name)
        if file is not None:
            save_record(file, record_of(asdict(content), getattr(content, "seconds", None)))

    def file(self, kind: str, name: str) -> Path | None:
        """Return the file of a result, or None if nothing is stored."""
        if self.folder is None:
            return None
        return place(self.folder, name, ".json", self.code, kind).file


def store_in(folder: Path | None) -> Store:
    """Return the store in a folder.

    It stores nothing without a folder or if the code cannot be identified.
    """
    if folder is not None:
        try:
            return Store(folder, identity(rows_of))
        except Exception as error:
            say(f"nothing is kept in {folder}: {error}.")
    return Store(None, "")


if __name__ == "__main__":
    sys.exit(run_command("paper_checks.mutation", main))
