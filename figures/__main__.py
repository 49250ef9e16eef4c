"""Figures and tables of the papers: python -m figures [list | all | NAME ...] [--quick | --full].

Your own, from a file elsewhere: python -m figures --file my_figure.py [--quick | --full].
Each has a script, whose cells are computed and stored; its plot reads and draws them. An
interrupted or killed run resumes where it stopped. OUT/SIZE/README.md shows everything that was
made. `scoreboard` says which of the papers' figures are reproduced. `check` recomputes stored
cells, random ones for a minute or all with --all, and marks a result as stale if one differs.
`keep` copies results from OUT to figures/results, from which --plot-only draws what is missing in
OUT; `page` writes figures/GALLERY.md.
"""

import argparse
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from figures.kit.kept import keep
from figures.kit.listing import listing, spell
from figures.kit.page import update_gallery, write_page
from figures.kit.replay import replays
from figures.kit.scoreboard import JUDGE, scores, terminal_scoreboard
from figures.kit.script import RESERVED, add_files, script, script_names
from figures.kit.study import Study
from fwlab.command import complain, run_command
from fwlab.experiments import BACKENDS, CellsFailed, check_backend, sigterm_interrupts
from fwlab.text import did_you_mean

DEFAULT_OUT = "results/figures"
SECONDS_OF_A_CHECK = 30.0  # estimated, on two cores
# they are not for the quick size, whose numbers mean nothing
NOT_QUICK = ("check", "keep", "scoreboard")


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (python -m figures --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0; 1 when a figure could not be made; 2 for bad input; 130 after Ctrl-C or SIGTERM; 141 if the
    reader of the output has gone.
    """
    return run_command("figures", lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    try:
        options = _options(argv)
    except (ValueError, TypeError, OSError, ImportError) as error:
        _complain(error)
        return 2
    if options.names == ["check"]:
        return check(options)
    show = _shows(options)
    if show is not None:
        return 0 if put(show) else 1
    names = script_names() if options.names == ["all"] else options.names
    return _make_all([_study(name, options) for name in names], options.plot_only)


def _make_all(studies: Sequence[Study], plot_only: bool) -> int:
    """Make all figures and the page that shows them; return the exit code."""
    made: list[bool] = []
    began = time.perf_counter()
    try:
        with sigterm_interrupts():
            for done, study in enumerate(studies):
                left = "" if plot_only else time_left(studies, done, time.perf_counter() - began)
                count = f", {done + 1} of {len(studies)}" if len(studies) > 1 else ""
                print(f"{study.name} ({study.size}){count}{left}", file=sys.stderr)
                made.append(make(study, plot_only))
    except KeyboardInterrupt:
        folder = studies[0].folder
        _complain(
            f"interrupted; {sum(made)} of {len(studies)} figures are in {folder}, finished cells "
            f"in {folder.parent / 'cells'}; the same command resumes from there."
        )
        return 130
    paged = not any(made) or put(lambda: write_page(studies[0].folder))
    return 0 if all(made) and paged else 1


def time_left(studies: Sequence[Study], done: int, seconds: float) -> str:
    """Return how long the studies from `done` on will take, as the end of a sentence.

    Estimates are for two cores and no stored cells; they are corrected by the time taken so far.
    """
    before, after = estimated(studies[:done]), estimated(studies[done:])
    if not before:
        return f"; about {spell(after)} on two cores"
    return f"; about {spell(after * seconds / before)} left"


def make(study: Study, plot_only: bool = False) -> bool:
    """Compute and plot one figure; return False, with a sentence on stderr, if that failed."""
    try:
        one = script(study.name)
        if not plot_only:
            one.compute(study)
        files = one.draw(study)
    except (CellsFailed, OSError, ValueError, ImportError) as error:
        _complain(f"{study.name}: {error}")
        return False
    for file in files:
        print(file)
    return True


def check(options: Any) -> int:
    """Compute stored cells again and print those that differ; return the exit code."""
    studies = [_study(name, options) for name in script_names()]
    done, differing, without_data = 0, 0, 0
    try:
        with sigterm_interrupts():
            seconds = None if options.all else SECONDS_OF_A_CHECK
            for replay in replays(studies, seconds, options.seed):
                done, without_data = done + replay.has_data, without_data + (not replay.has_data)
                differing += bool(replay.difference)
                print(replay, file=sys.stdout if replay.difference else sys.stderr)
    except KeyboardInterrupt:
        _complain("interrupted; what differs so far is marked.")
        return 130
    except (OSError, ValueError, ImportError) as error:
        _complain(error)
        return 1
    print(f"{done} stored cells were computed again (--seed {options.seed}); {differing} differ.")
    if without_data:
        print(f"{without_data} were not: FWLAB_DATA names no folder with their data.")
    return 1 if differing else 0


def put(show: Callable[[], object]) -> bool:
    """Print what `show` returns; return False, with a sentence on stderr, if that failed."""
    try:
        shown = show()
    except (OSError, ValueError) as error:
        _complain(error)
        return False
    print(shown)
    return True


def _shows(options: Any) -> Callable[[], object] | None:
    """Return the function that answers a reserved word, or None for names of figures."""
    out = Path(options.out)
    words: dict[str, Callable[[], object]] = {
        "list": lambda: listing(out),
        "page": lambda: update_gallery(out),
        "scoreboard": lambda: terminal_scoreboard(scores(out, options.size, options.ledger)),
        "keep": lambda: "\n".join(map(str, keep(out, options.size, script_names()))),
    }
    return words.get(options.names[0] if options.names else "list")


def estimated(studies: Sequence[Study]) -> float:
    """Return the seconds that all studies take when nothing is stored."""
    return sum(script(study.name).seconds[study.size] for study in studies)


def _parser() -> Parser:
    parser = Parser(prog="python -m figures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(RESERVED)}, or names")
    parser.add_argument(
        "--file",
        action="append",
        default=[],
        metavar="FILE",
        help="make the figures of this Python file, and only those unless NAMEs choose among them "
        "and all others; may be given several times; figures/template.py is one to copy",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick")
    size.add_argument("--full", dest="size", action="store_const", const="full")
    parser.set_defaults(size="standard")
    parser.add_argument("--out", default=DEFAULT_OUT, help=f"folder, {DEFAULT_OUT} if not given")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    parser.add_argument("--plot-only", action="store_true", help="draw stored results again")
    parser.add_argument("--backend", default="loky", help=" or ".join(BACKENDS))
    parser.add_argument("--scheduler", help="address of a dask scheduler")
    parser.add_argument("--all", action="store_true", help="check every stored cell")
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help=f"take the outcomes of the scoreboard from this ledger, made by {JUDGE}",
    )
    parser.add_argument("--seed", type=int, help="choose the cells to check by this number")
    return parser


def _options(argv: Sequence[str] | None) -> Any:
    options = _parser().parse_args(argv)
    if (options.all or options.seed is not None) and options.names != ["check"]:
        raise ValueError("--all and --seed are for check.")
    if options.names == ["check"] and (options.jobs != 1 or options.plot_only or options.scheduler):
        raise ValueError("check takes no --jobs, --plot-only and --scheduler.")
    if options.ledger is not None and options.names != ["scoreboard"]:
        raise ValueError("--ledger is for scoreboard.")
    if options.ledger is not None and not options.ledger.is_file():
        raise ValueError(f"--ledger {options.ledger}: no such file.")
    if options.seed is None:
        options.seed = secrets.randbelow(2**32)
    if options.jobs < 1:
        raise ValueError(f"jobs must be at least 1; got {options.jobs}.")
    check_backend(options.backend, options.scheduler)
    _choose_names(options)
    if options.names not in ([], ["list"], ["scoreboard"]):
        _check_folder(Path(options.out))
    return options


def _choose_names(options: Any) -> None:
    """Check the names; without names use those of --file."""
    if len(options.names) > 1 and {*RESERVED} & {*options.names}:
        raise ValueError(f"{', '.join(RESERVED)} stand alone; got {' '.join(options.names)!r}.")
    if options.file and options.names in (["check"], ["page"], ["keep"]):
        raise ValueError(f"{options.names[0]} is for this repository and takes no --file.")
    if options.size == "quick" and {*NOT_QUICK} & {*options.names}:
        raise ValueError(f"{options.names[0]} takes no --quick, whose numbers mean nothing.")
    try:
        own = add_files(options.file)
    except ValueError as error:
        raise ValueError(f"--file {error}") from error
    options.names = options.names or own
    unknown = [n for n in options.names if n not in {*RESERVED, *script_names()}]
    if unknown:
        known = [*RESERVED, *script_names()]
        raise ValueError(
            f"no figure is named {unknown[0]!r}.{did_you_mean(unknown[0], known)} "
            "python -m figures list prints all names."
        )


def _check_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise ValueError(
            f"--out must be a folder to write in; got {str(out)!r} ({error.strerror})."
        ) from None


def _study(name: str, options: Any) -> Study:
    out = Path(options.out)
    parallel = options.jobs, options.backend, options.scheduler
    return Study(name, options.size, out, *parallel, file=script(name).file)


def _complain(error: object) -> None:
    complain(error, "figures")


if __name__ == "__main__":
    sys.exit(main())
