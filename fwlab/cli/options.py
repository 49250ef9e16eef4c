"""Parse the options of the command line: flags first, then a TOML file, then defaults.

The keys of a TOML file are long flags (max-iter = 500, methods = ["fw", "ascent"]). Its values are
parsed like flags.
"""

import argparse
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

LOSSES = (
    "max-hinge",
    "topk",
    "pseudo-topk",
    "usunier",
    "weighted-topk",
    "weighted-usunier",
    "structured",
)
COMMANDS = {
    "compare": "run methods on problems: a table, a figure, a CSV",
    "solve": "run one method on one problem",
    "predict": "label new samples with a stored model",
    "data": "list the data sets, or describe one",
    "info": "print versions, folders and threads",
    "warmup": "compile and cache all kernels",
}
NORMALIZATIONS = ("none", "unit", "standard")
KERNELS = ("none", "linear")
WEIGHTS = ("flat", "linear", "exponential")

DEFAULTS: dict[str, Any] = {
    "data": "digits",
    "normalize": "none",
    "loss": "topk",
    "k": 3,
    "weights": None,
    "costs": None,
    "smoothing": 0.0,
    "kernel": "none",
    "C": 1.0,
    "lam": None,
    "methods": "all",
    "method": "ascent",
    "tol": 1e-5,
    "relative": False,
    "max_iter": 1000,
    "time_limit": None,
    "rng": 0,
    "check_every": None,
    "jobs": 1,
    "out": "results",
    "save": None,
    "model": None,
    "samples": None,
    "topk": 1,
    "labels": None,
    "verify": False,
    "proved": False,
    "strict": False,
    "json": False,
    "name": None,
}

EXIT_CODES = (
    "Exit code: 0 when every run finished, 1 when one failed (with --strict also when one was not "
    "certified to tol), 2 for bad input."
)


class BadInput(Exception):
    """A sentence for the user; the command ends with exit code 2."""


class CommandParser(argparse.ArgumentParser):
    """An argparse parser that raises BadInput instead of printing its usage and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise BadInput."""
        raise BadInput(message)


def parse(argv: Sequence[str] | None, version: str) -> argparse.Namespace:
    """Return the options of one call. Flags override --config, which overrides DEFAULTS.

    Raises BadInput with one sentence.
    """
    parser, commands = _parser(version)
    given = vars(parser.parse_args(argv))
    config = given.pop("config", None)
    command = commands[given["command"]]
    stored = _from_config(command, config) if config is not None else {}
    if "C" in given:
        stored.pop("lam", None)  # lam takes precedence over C, but --C over a lam in the file
    names = {action.dest for action in command._actions} & set(DEFAULTS)
    defaults = {name: value for name, value in DEFAULTS.items() if name in names}
    return argparse.Namespace(**{**defaults, **stored, **given})


def _parser(version: str) -> tuple[CommandParser, dict[str, CommandParser]]:
    parser = CommandParser(
        prog="fwlab",
        description="Certified training of top-k and multi-class SVMs.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"fwlab {version}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="|".join(COMMANDS))
    made = {name: _command(commands, name, sentence) for name, sentence in COMMANDS.items()}
    _add_compare(made["compare"])
    _add_solve(made["solve"])
    _add_predict(made["predict"])
    _add_data(made["data"])
    return parser, made


def _command(commands: Any, name: str, sentence: str) -> CommandParser:
    parser: CommandParser = commands.add_parser(
        name,
        help=sentence,
        description=f"{sentence[0].upper()}{sentence[1:]}.",
        epilog=EXIT_CODES if name in ("compare", "solve") else None,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")
    return parser


def _add_compare(parser: CommandParser) -> None:
    _add_problem(parser, many=True)
    _option(parser, "methods", "names of `fwlab.methods()`, joined by commas, or all")
    _add_run(parser)
    _option(parser, "jobs", "runs at a time; leave it at 1 for times to compare", int)
    _option(parser, "out", "folder for table.txt, comparison.csv, .png, .pdf and finished runs")


def _add_solve(parser: CommandParser) -> None:
    _add_problem(parser, many=False)
    _option(parser, "method", "a name of `fwlab.methods()`")
    _add_run(parser)
    _option(
        parser, "save", "file for result and model, .npz: for `fwlab predict` and fwlab.Result.load"
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="enclose primal, dual and gap in ball arithmetic (needs python-flint)",
    )
    parser.add_argument(
        "--proved",
        action="store_true",
        help="print which labels and which accuracies are proved to be the exact optimum's",
    )


def _add_predict(parser: CommandParser) -> None:
    parser.add_argument("--model", metavar="FILE", help="what `fwlab solve --save FILE` wrote")
    parser.add_argument(
        "--data",
        dest="samples",
        metavar="FILE",
        help="raw samples, .csv, .npz or LIBSVM, with labels or without",
    )
    _option(parser, "topk", "labels per sample, the best one first", int)
    parser.add_argument(
        "--out", dest="labels", metavar="FILE", help="write the labels to a .csv file"
    )


def _add_data(parser: CommandParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME|FILE", help="the data set to describe")
    _choice(parser, "normalize", NORMALIZATIONS, "rows of length 1, or features of variance 1")


def _add_problem(parser: CommandParser, many: bool) -> None:
    several = ", or several joined by commas" if many else ""
    _option(parser, "data", f"a name of `fwlab data` or a file{several}")
    _choice(parser, "normalize", NORMALIZATIONS, "rows of length 1, or features of variance 1")
    all_losses = f"{several}, or all" if many else ""
    _option(parser, "loss", f"one of {', '.join(LOSSES)}{all_losses}")
    parser.add_argument(
        "-k", "--k", type=int, help=f"k of the top-k losses (default: {DEFAULTS['k']})"
    )
    decay = "decay of the k weights (default: flat; linear for weighted-topk, weighted-usunier)"
    parser.add_argument("--weights", choices=WEIGHTS, help=decay)
    parser.add_argument(
        "--costs",
        metavar="FILE",
        help="costs (m, m) of the structured loss, .npy or .csv (default: |i - j|)",
    )
    _option(parser, "smoothing", "constant of the Moreau envelope", float)
    _choice(parser, "kernel", KERNELS, "work on the Gram matrix X X^T")
    scale = parser.add_mutually_exclusive_group()
    _option(scale, "C", "lam = 1/(C n)", float)
    scale.add_argument("--lam", type=float, help="the regularisation constant itself")
    parser.add_argument("--config", metavar="FILE", help="TOML file with long flags as keys")


def _add_run(parser: CommandParser) -> None:
    _option(parser, "tol", "stop at a certified gap of tol; 0: run to --max-iter", float)
    parser.add_argument(
        "--relative", action="store_true", help="tol is a fraction of the objective"
    )
    _option(parser, "max-iter", "iterations of each run", int)
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="for each run")
    _option(parser, "rng", "seed of the block orders", int)
    parser.add_argument(
        "--check-every",
        type=_iterations,
        metavar="N",
        help="iterations between two certificates, or auto (default: auto; 1 for compare)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit code 1 also for a run not certified to tol"
    )


def _iterations(text: str) -> int | str:
    """Convert the value of --check-every; the solver checks it."""
    try:
        return int(text)
    except ValueError:
        return text


def _option(parser: Any, name: str, sentence: str, kind: type = str) -> None:
    default = DEFAULTS[name.replace("-", "_")]
    shown = "" if default is None else f" (default: {default})"
    names = {int: "N", float: "X", str: "TEXT"}
    parser.add_argument(f"--{name}", type=kind, metavar=names[kind], help=f"{sentence}{shown}")


def _choice(parser: Any, name: str, values: Sequence[str], sentence: str) -> None:
    shown = f"{sentence} (default: {DEFAULTS[name]})"
    parser.add_argument(f"--{name}", choices=values, help=shown)


def _from_config(parser: CommandParser, path: str) -> dict[str, Any]:
    """Return the options in a TOML file, parsed as flags of the command."""
    try:
        table = tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"--config {path} cannot be read: {error}") from error
    actions = {action.dest: action for action in parser._actions if action.option_strings}
    allowed = sorted(set(actions) - {"help", "config"})
    argv = []
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in allowed:
            keys = ", ".join(dest.replace("_", "-") for dest in allowed)
            raise BadInput(f"--config {path} has the key {key!r}; allowed are {keys}.")
        argv += _as_flag(path, key, actions[name], value)
    try:
        return vars(parser.parse_args(argv))
    except BadInput as error:
        raise BadInput(f"--config {path}: {error}") from error


def _as_flag(path: str, key: str, action: argparse.Action, value: Any) -> list[str]:
    flag = action.option_strings[-1]
    is_switch = action.nargs == 0
    if isinstance(value, bool) and is_switch:
        return [flag] if value else []
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        value = ",".join(value)
    if is_switch or isinstance(value, bool) or not isinstance(value, str | int | float):
        kind = "true or false" if is_switch else "a string, a number or a list of strings"
        raise BadInput(f"--config {path}: {key} must be {kind}; got {value!r}.")
    return [f"{flag}={value}"]
