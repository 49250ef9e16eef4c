"""The flags of `fwlab suite`."""

from fwlab.cli.flags import CommandParser, choice, option

SIZES = ("small", "medium", "large")


def add_suite(parser: CommandParser) -> None:
    """Add the flags to the parser of the command."""
    what = parser.add_mutually_exclusive_group()
    tried = "a StepRule or Method in a Python file, or a name of `fwlab.methods()`"
    what.add_argument("--method", dest="tried", metavar="FILE:NAME", help=tried)
    both = "compare the methods of two folders on the problems that both have"
    what.add_argument("--compare", dest="folders", nargs=2, metavar="DIR", help=both)
    seconds = "seconds of a run: 0.25, 2.5 or 30; 60 problems in about 2 min, 20 min or 4 h"
    choice(parser, "size", SIZES, seconds)
    named = "names or patterns of some of the problems, joined by commas (default: all)"
    option(parser, "problems", named)
    folder = "folder for suite.html, suite.tex, worst_problem.npz and all runs (default: suite)"
    parser.add_argument("--out", dest="suite_folder", metavar="DIR", help=folder)
    page = "with --compare: write a page with profiles of both (needs plotly)"
    parser.add_argument("--html", metavar="FILE", help=page)
    lines = "a line for each run, with the time left"
    parser.add_argument("-v", "--verbose", action="store_true", help=lines)
