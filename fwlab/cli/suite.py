"""`fwlab suite`: a method of the user against the built-in ones, or two such suites compared."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from fwlab.cli.flags import BadInput
from fwlab.cli.output import bad_input, print_json
from fwlab.command import complain
from fwlab.experiments.html_report import check_html_report
from fwlab.experiments.import_file import import_file, importable
from fwlab.experiments.suite import LATEX, PAGE
from fwlab.experiments.suite import suite as run_suite
from fwlab.experiments.suite_comparison import compare_suites
from fwlab.experiments.suite_report import WORST, SuiteReport
from fwlab.launch import INTERRUPTED
from fwlab.text import did_you_mean


def suite(options: Namespace) -> int:
    """Run the command and return its exit code."""
    if options.folders is not None:
        return _compare(options)
    if options.tried is None:
        raise BadInput("suite needs --method FILE:NAME, or --compare DIR DIR.")
    if options.html is not None:
        raise BadInput(f"--html goes with --compare; the page of a suite is DIR/{PAGE}.")
    folder = Path(options.suite_folder)
    method, name = tried(options.tried)
    patterns = options.problems and [part.strip() for part in options.problems.split(",")]
    try:
        with bad_input(ImportError):
            report = run_suite(method, options.size, folder, patterns, name, int(options.verbose))
    except KeyboardInterrupt:
        complain(f"interrupted; the same command goes on from the finished runs in {folder}.")
        return INTERRUPTED
    files = {kind: str(folder / file) for kind, file in _FILES.items()}
    if options.json:
        _print_report(report, files)
    else:
        print(f"{report.table()}\n")
        print(f"Worst problem: {report.worst}\n\nwritten: {', '.join(files.values())}")
    return int(bool(report.failed))


_FILES = {"page": PAGE, "latex": LATEX, "worst": WORST}


def _print_report(report: SuiteReport, files: dict[str, str]) -> None:
    print_json(
        version=report.version,
        size=report.suite.size,
        method=report.method,
        methods=report.rows(),
        notes=report.notes,
        missing=report.suite.missing,
        worst=report.worst,
        runs=report.comparison.rows(),
        files=files,
    )


def _compare(options: Namespace) -> int:
    with bad_input(ImportError, OSError):
        if options.html is not None:
            check_html_report(Path(options.html))
        found = compare_suites(*options.folders)
    if options.html is not None:
        found.to_html(options.html)
    if options.json:
        print_json(methods=found.rows(), problems=list(found.profiles.problems), notes=found.notes)
    else:
        print(found.table())
    return 0


def tried(text: str) -> tuple[Any, str | None]:
    """Return what --method names, an object of a Python file with its name there, or a method.

    Raises BadInput.
    """
    file, colon, name = text.rpartition(":")
    if not colon:
        return text, None
    with bad_input():
        module = import_file(path := next(iter(found := importable([file]))), found[path])
    if not hasattr(module, name):
        guess = did_you_mean(name, [n for n in vars(module) if not n.startswith("_")])
        raise BadInput(f"--method {text}: the file defines no {name!r}.{guess}")
    return getattr(module, name), name
