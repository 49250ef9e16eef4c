"""`python -m paper_checks`: try the papers' statements and print or write the ledger."""

import argparse
import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from tqdm import tqdm

from fwlab.command import run_command
from fwlab.experiments import sigterm_interrupts
from fwlab.files import why_no_file, write_text_atomically
from paper_checks.ledger import CLAIMS
from paper_checks.modules import ClaimFile, claim_files, claims
from paper_checks.options import parser
from paper_checks.report.markdown import markdown
from paper_checks.report.stamp import stamp
from paper_checks.report.terminal import details, table
from paper_checks.report.told import told
from paper_checks.run import Record, run
from paper_checks.stored_tables import VARIABLE

ROOT = Path(__file__).parents[1]
# up to this number of claims, selected by --id, are printed in full
FEW = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    The exit code is 0 if every check ran, 1 if a check failed to run or a file cannot be written, 2
    for bad input, 130 after Ctrl-C or SIGTERM, and 141 if the reader of the output has gone.
    """
    return run_command("paper_checks", lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    options = parser(__doc__).parse_args(arguments)
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
        kept = "--keep DIR would resume"
        if options.keep:
            kept = f"finished claims are in {options.keep}, if there are any"
        print(f"interrupted before all claims were tried; {kept}", file=sys.stderr)
        return 130
    except OSError as error:  # from --keep
        print(error, file=sys.stderr)
        return 1
    print(printed(records, options))
    command = shlex.join(sys.argv[1:] if arguments is None else arguments)
    try:
        write_reports(records, options, f"python -m paper_checks {command}".rstrip())
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def printed(records: Sequence[Record], options: argparse.Namespace) -> str:
    """Return the text for the terminal."""
    if options.json:
        return json.dumps([told(record) for record in records], indent=1)
    return details(records) if options.id and len(records) <= FEW else table(records)


def write_reports(records: Sequence[Record], options: argparse.Namespace, command: str) -> None:
    """Write the files that the options name."""
    header = stamp(command, options.seed, options.deep)
    if options.html is not None:
        from paper_checks.report.page import html_page

        sources = Path(os.path.relpath(ROOT, options.html.resolve().parent)).as_posix()
        write_text_atomically(options.html, html_page(records, header, sources))
    if options.certificates is not None:
        from paper_checks.certify.export import write_certificates

        write_certificates(options.certificates, records)
    if options.markdown is not None:
        write_text_atomically(options.markdown, markdown(records, header))


def files_of(options: argparse.Namespace) -> list[ClaimFile]:
    """Import the files of --file. Raises ValueError for a file without claims."""
    try:
        return claim_files(options.file)
    except ValueError as error:
        raise ValueError(f"--file {error}") from error


def selected(options: argparse.Namespace, files: Sequence[ClaimFile]) -> list[str]:
    """Return the ids of the claims to try: those of --paper, else of --file, else all.

    --id selects among them.
    """
    all_claims = claims()
    papers = list(dict.fromkeys(claim.paper for claim in all_claims))
    for paper in options.paper:
        if paper not in papers:
            raise ValueError(
                f"--paper {paper}: it has no claim; sources with claims are {', '.join(papers)}"
            )
    chosen = [claim.id for p in dict.fromkeys(options.paper) for claim in claims(p)]
    if not options.paper and options.id is None:
        chosen = [id for file in files for id in file.ids]
    if not options.paper and not chosen:
        chosen = [claim.id for claim in all_claims]
    for id in options.id or ():
        if id not in chosen:
            raise ValueError(f"--id {id}: {no_such_claim(id, chosen)}")
    return [id for id in chosen if options.id is None or id in options.id]


def no_such_claim(id: str, chosen: Sequence[str]) -> str:
    """Return a message that lists the ids which contain this text, one per line."""
    near = [name for name in chosen if id.lower() in name.lower()]
    if not near:
        return "no such claim; --list prints them"
    return "\n  ".join(["no claim has this id; did you mean one of these?", *near])


def check_paths(options: argparse.Namespace, chosen: Sequence[str]) -> None:
    """Raise ValueError, before any work, for a path that cannot be read or written."""
    if options.figures is not None:
        if not options.figures.is_dir():
            raise ValueError(f"--figures {options.figures}: no such folder")
        os.environ[VARIABLE] = str(options.figures.resolve())
    if options.certificates is not None and not options.certificates.is_dir():
        raise ValueError(f"--certificates {options.certificates}: no such folder")
    for path in (options.html, options.markdown):
        if path is not None and (problem := why_not_a_file(path)):
            raise ValueError(f"{path}: {problem}")
    if options.keep is not None and (problem := why_no_file(options.keep / "record")):
        raise ValueError(f"--keep {options.keep}: {problem}")
    if options.html is not None:
        for name in ("jinja2", "latex2mathml"):
            if find_spec(name) is None:
                raise ValueError(f"--html needs {name}: pip install 'fwlab[report]'")
        from paper_checks.report.page import check_formulas

        for id in chosen:
            check_formulas(CLAIMS[id])


def why_not_a_file(path: Path) -> str:
    """Return the reason why nothing can be written to this path, or ""."""
    return why_no_file(path) if path.resolve().parent.is_dir() else "its folder does not exist"


def in_order(
    chosen: list[str], options: argparse.Namespace, files: Sequence[ClaimFile]
) -> list[Record]:
    """Return the records of the chosen claims, in their order; progress goes to stderr."""
    found = {}
    work = run(chosen, options.seed, options.deep, options.jobs, options.keep, files)
    counts: Counter[str] = Counter()
    with tqdm(work, total=len(chosen), unit="claim", disable=None) as progress:
        for record in progress:
            found[record["id"]] = record
            counts[record["verdict"]] += 1
            progress.set_postfix(counts)
    return [found[id] for id in chosen]


if __name__ == "__main__":
    sys.exit(main())
