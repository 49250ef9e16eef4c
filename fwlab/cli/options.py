"""Parse the options of the command line: flags first, then a TOML file, then defaults.

--config, --again and --resume read files of one kind: comparison.toml is one of them.

The keys of a TOML file are long flags (max-iter = 500, methods = ["fw", "ascent"]). Its values are
parsed like flags.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any, NoReturn

from fwlab.cli.flags import (
    DEFAULTS,
    BadInput,
    CommandParser,
    choice,
    iterations,
    option,
    reals,
    whole_number,
    whole_numbers,
)
from fwlab.cli.suite_options import add_suite
from fwlab.release import __version__
from fwlab.text import did_you_mean
from fwlab.toml_text import read_toml

LOSSES = {
    "max-hinge": "the largest margin violation: Crammer and Singer's multi-class SVM",
    "topk": "the mean of the k largest violations, not below 0; --weights weighs them",
    "pseudo-topk": "topk on a larger dual domain, an upper bound that SDCA methods can project to",
    "usunier": "the mean of the k largest positive parts of violations; --weights weighs them",
    "weighted-topk": "topk with decaying weights (linear unless --weights says otherwise)",
    "weighted-usunier": "usunier with decaying weights (linear unless --weights says otherwise)",
    "structured": "the largest violation with a cost for each pair of classes (--costs)",
    "cross-entropy": "multinomial logistic regression, with probabilities in `fwlab predict`",
    "topk-entropy": "cross-entropy that is lenient with k guesses; cross-entropy itself for k = 1",
}
ENTROPIES = ("cross-entropy", "topk-entropy")
# the losses of --loss all
HINGES = tuple(name for name in LOSSES if name not in ENTROPIES)
COMMANDS = {
    "compare": "run methods on problems: a table, a figure, a CSV",
    "solve": "run one method on one problem",
    "predict": "label new samples with a stored model",
    "suite": "compare your method with the built-in ones on a fixed list of problems",
    "certify": "prove how far a machine in a file is from the optimum",
    "data": "list the data sets, or describe one",
    "methods": "list the methods, each with a sentence",
    "losses": "list the losses, each with a sentence",
    "info": "print versions, folders and threads",
    "warmup": "compile and cache all kernels",
}
NORMALIZATIONS = ("none", "unit", "standard")
KERNELS = ("none", "linear")
WEIGHTS = ("flat", "linear", "exponential")
# flags that --again takes: they change no number
BESIDE_AGAIN = {"command", "again", "out", "html", "jobs", "json", "strict", "verbose"}
# the options of a path over C, in its folder
PATH_RECORD = "path.toml"
# the tables of a stored comparison
RESULTS = ("problems", "runs", "clocks", "environment")

EXIT_CODES = (
    "Exit code: 0 when every run finished, 1 when one failed (with --strict also when one was not "
    "certified to tol), 2 for bad input, 130 after Ctrl-C."
)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of one call. Flags override --config, which overrides DEFAULTS.

    Raises BadInput with one sentence. A call without arguments prints the help, as --help does.
    """
    parser, commands = _parser()
    argv = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if argv[0].startswith("-") and argv[0] not in parser._option_string_actions:
        _refuse([argv[0]], parser)
    namespace, unknown = parser.parse_known_args(argv)
    given = vars(namespace)
    command = commands[given["command"]]
    if unknown:
        _refuse(unknown, command)
    stored = _stored(command, given)
    # lam takes precedence over C, but --C over a lam in the file; seeds and rng likewise
    for flag, other in (("C", "lam"), ("rng", "seeds")):
        if flag in given:
            stored.pop(other, None)
    names = {action.dest for action in command._actions} & set(DEFAULTS)
    defaults = {name: value for name, value in DEFAULTS.items() if name in names}
    options = argparse.Namespace(**{**defaults, **stored, **given})
    if "method" in names and options.method is None:
        options.method = "lbfgs" if options.loss in ENTROPIES else "ascent"
    return options


def _refuse(unknown: list[str], parser: CommandParser) -> NoReturn:
    """Raise BadInput for words that a parser does not know."""
    flag = next((word for word in unknown if word.startswith("-")), unknown[0])
    guess = did_you_mean(flag.partition("=")[0], parser._option_string_actions)
    if not guess and not flag.startswith("-"):
        guess = " A value follows its flag, and several are joined by commas without spaces."
    raise BadInput(f"unrecognized arguments: {' '.join(unknown)}.{guess}")


def _parser() -> tuple[CommandParser, dict[str, CommandParser]]:
    parser = CommandParser(
        prog="fwlab",
        description="Certified training of top-k and multi-class SVMs.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"fwlab {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="|".join(COMMANDS))
    made = {name: _command(commands, name, sentence) for name, sentence in COMMANDS.items()}
    _add_compare(made["compare"])
    _add_solve(made["solve"])
    _add_predict(made["predict"])
    _add_certify(made["certify"])
    _add_data(made["data"])
    add_suite(made["suite"])
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
    option(parser, "methods", "names of `fwlab.methods()`, joined by commas, or all")
    _add_run(parser, many=True)
    option(parser, "repeat", "rounds of all runs, for medians of their seconds", whole_number)
    option(parser, "jobs", "runs at a time; leave it at 1 for times to compare", whole_number)
    option(parser, "out", "folder for table.txt, comparison.csv, .png, .pdf, .toml and all runs")
    page = "write a page with interactive figures, for any browser (needs plotly)"
    parser.add_argument("--html", metavar="FILE", help=page)
    parser.add_argument(
        "--again",
        metavar="DIR",
        help="repeat the comparison in DIR on the same data (default of --out: DIR-again)",
    )
    resume = "go on with the interrupted comparison in --out, from its unfinished run"
    parser.add_argument("--resume", action="store_true", help=resume)


def _add_solve(parser: CommandParser) -> None:
    _add_problem(parser, path=True)
    option(
        parser, "method", "a name of `fwlab.methods()` (default: ascent; lbfgs for cross-entropy)"
    )
    _add_run(parser)
    option(
        parser, "save", "file for result and model, .npz: for `fwlab predict` and fwlab.Result.load"
    )
    verify = "enclose primal, dual and gap in ball arithmetic (needs python-flint)"
    parser.add_argument("--verify", action="store_true", help=verify)
    proved = "print which labels and which accuracies are proved to be the exact optimum's"
    parser.add_argument("--proved", action="store_true", help=proved)
    _add_out_of_core(parser)


def _add_out_of_core(parser: CommandParser) -> None:
    parser.add_argument(
        "--out-of-core",
        action="store_true",
        help="leave the features in the file --data, .npy, and read them chunk by chunk",
    )
    labels = "labels of --data, .npy"
    parser.add_argument("--labels", dest="label_file", metavar="FILE", help=labels)
    option(
        parser, "max-memory", "bytes that a run out of core may take, such as 500MB (default: 1GB)"
    )
    option(parser, "chunk-rows", "rows read at a time (default: by --max-memory)", whole_number)
    features = "features to measure accuracies on, .npy"
    parser.add_argument("--validation", metavar="FILE", help=features)
    parser.add_argument("--validation-labels", metavar="FILE", help="labels of --validation, .npy")
    folder = "folder for the result of each C, and for what --resume needs"
    parser.add_argument("--out", dest="folder", metavar="DIR", help=folder)
    resume = "go on with the killed or interrupted path in --out"
    parser.add_argument("--resume", action="store_true", help=resume)


def _add_predict(parser: CommandParser) -> None:
    parser.add_argument("--model", metavar="FILE", help="what `fwlab solve --save FILE` wrote")
    parser.add_argument(
        "--data",
        dest="samples",
        metavar="FILE",
        help="raw samples, .csv, .npz, .npy or LIBSVM, with labels or without",
    )
    _add_index_base(parser, "default: as in the training file")
    option(parser, "topk", "labels per sample, the best one first", whole_number)
    parser.add_argument(
        "--probabilities",
        action="store_true",
        help="add the probability of each label; for models of the cross-entropy",
    )
    parser.add_argument(
        "--out", dest="labels", metavar="FILE", help="write the labels to a .csv file"
    )


def _add_certify(parser: CommandParser) -> None:
    machine = parser.add_mutually_exclusive_group()
    machine.add_argument("--model", metavar="FILE", help="what `fwlab solve --save FILE` wrote")
    weights = "the machine, .npy of shape (m, d), a row per class in sorted order"
    machine.add_argument("--weights", dest="machine", metavar="FILE", help=weights)
    parser.add_argument("--intercept", metavar="FILE", help="the intercept, .npy of shape (m,)")
    constant = "append a constant feature X to the data, so that the intercept is regularised"
    parser.add_argument("--intercept-scaling", type=float, metavar="X", help=constant)
    _add_problem(parser, decay="decay")
    option(parser, "factor", "end when the upper bound is at most X times the lower one", float)
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="for the whole call")
    strict = "exit code 1 also if the excess is not known within the factor"
    parser.add_argument("--strict", action="store_true", help=strict)


def _add_data(parser: CommandParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME|FILE", help="the data set to describe")
    choice(parser, "normalize", NORMALIZATIONS, "rows of length 1, or features of variance 1")
    _add_index_base(parser, "default: 0 if any row has index 0, else 1")


def _add_index_base(parser: CommandParser, default: str) -> None:
    sentence = f"index of the first feature in a LIBSVM file, 0 or 1 ({default})"
    parser.add_argument("--index-base", type=whole_number, metavar="N", help=sentence)


def _add_problem(
    parser: CommandParser, many: bool = False, path: bool = False, decay: str = "weights"
) -> None:
    several = ", or several joined by commas" if many else ""
    option(parser, "data", f"a name of `fwlab data` or a file{several}")
    choice(parser, "normalize", NORMALIZATIONS, "rows of length 1, or features of variance 1")
    _add_index_base(parser, "default: 0 if any row has index 0, else 1")
    all_losses = f"{several}, or all for all but the entropies" if many else ""
    option(parser, "loss", f"one of {', '.join(LOSSES)}{all_losses}")
    parser.add_argument(
        "-k", "--k", type=whole_number, help=f"k of the top-k losses (default: {DEFAULTS['k']})"
    )
    sentence = "decay of the k weights (default: flat; linear for weighted-topk, weighted-usunier)"
    parser.add_argument(f"--{decay}", dest="weights", choices=WEIGHTS, help=sentence)
    parser.add_argument(
        "--costs",
        metavar="FILE",
        help="costs (m, m) of the structured loss, .npy or .csv (default: |i - j|)",
    )
    option(parser, "smoothing", "constant of the Moreau envelope", float)
    choice(parser, "kernel", KERNELS, "work on the Gram matrix X X^T")
    scale = parser.add_mutually_exclusive_group()
    if not path:
        option(scale, "C", "lam = 1/(C n)", float)
    else:
        option(scale, "C", "lam = 1/(C n); with --out-of-core several, joined by commas", reals)
    scale.add_argument("--lam", type=float, help="the regularisation constant itself")
    parser.add_argument("--config", metavar="FILE", help="TOML file with long flags as keys")


def _add_run(parser: CommandParser, many: bool = False) -> None:
    option(parser, "tol", "stop at a certified gap of tol; 0: run to --max-iter", float)
    parser.add_argument(
        "--relative", action="store_true", help="tol is a fraction of the objective"
    )
    option(parser, "max-iter", "iterations of each run", whole_number)
    parser.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="for each run, with its certificate"
    )
    seeds = parser.add_mutually_exclusive_group()
    option(seeds, "rng", "seed of the block orders", whole_number)
    if many:
        sentence = "several seeds, joined by commas, each with a run of every method"
        option(seeds, "seeds", sentence, whole_numbers)
    option(parser, "n-threads", "threads that share the work on rows", whole_number)
    parser.add_argument(
        "--check-every",
        type=iterations,
        metavar="N",
        help="iterations between two certificates, or auto (default: auto; 1 for compare)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit code 1 also for a run not certified to tol"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="a line a second, with the time left"
    )


def _stored(command: CommandParser, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of --config, --again or --resume; they are files of the same kind."""
    config, again = given.pop("config", None), given.get("again")
    if again is not None:
        others = sorted(set(given) - BESIDE_AGAIN) + ["config"] * (config is not None)
        if others:
            raise BadInput(f"--again repeats the stored settings; got --{others[0]} beside it.")
        given.setdefault("out", str(_new_folder(again)))
        return _from_record(command, "--again", again)
    if given.get("resume"):
        if config is not None:
            raise BadInput("--resume goes on with the stored settings; got --config beside it.")
        if given["command"] == "compare":
            return _from_record(command, "--resume", given.get("out", DEFAULTS["out"]))
        return _from_path(command, given.get("folder"))
    return {} if config is None else _from_file(command, "--config", config)


def _new_folder(again: str) -> Path:
    """Return a folder beside the stored comparison that does not exist yet."""
    folder = Path(again).resolve()
    names = (f"{folder.name}-again{number}" for number in chain([""], count(2)))
    return next(path for path in map(folder.with_name, names) if not path.exists())


def _from_record(parser: CommandParser, flag: str, folder: str) -> dict[str, Any]:
    """Return the options in the record of a comparison that the command line made."""
    # with all that a comparison needs
    from fwlab.experiments.record import FILE as RECORD

    path = Path(folder) / RECORD
    if not path.is_file():
        raise BadInput(f"{flag} needs the folder of a comparison; {folder!r} holds no {RECORD}.")
    options = _from_file(parser, flag, str(path))
    if "data" not in options:
        raise BadInput(
            f"{flag} repeats a comparison of the command line; that of {folder!r} was made by "
            "fwlab.compare in a program: run the program again."
        )
    return options


def _from_path(parser: CommandParser, folder: str | None) -> dict[str, Any]:
    """Return the options of a path over C out of core."""
    path = None if folder is None else Path(folder) / PATH_RECORD
    if path is None or not path.is_file():
        raise BadInput(
            f"--resume needs --out DIR, the folder of a path; got {folder!r}"
            + ("." if path is None else f", which holds no {PATH_RECORD}.")
        )
    return _from_file(parser, "--resume", str(path))


def _from_file(parser: CommandParser, source: str, path: str) -> dict[str, Any]:
    """Return the options in a TOML file, parsed as flags of the command.

    The tables of a stored comparison are results and no options.
    """
    try:
        table = read_toml(Path(path))
    except (OSError, ValueError) as error:
        raise BadInput(f"{source} {path} cannot be read: {error}") from error
    actions = {
        action.option_strings[-1].lstrip("-").replace("-", "_"): action
        for action in parser._actions
        if action.option_strings
    }
    allowed = sorted(set(actions) - {"help", "config", "again", "resume"})
    argv = []
    for key, value in table.items():
        name = key.replace("-", "_")
        if key in RESULTS and isinstance(value, dict):
            continue
        if name not in allowed:
            keys = [dest.replace("_", "-") for dest in allowed]
            guess = did_you_mean(key, keys)
            raise BadInput(
                f"{source} {path} has the key {key!r}; allowed are {', '.join(keys)}.{guess}"
            )
        argv += _as_flag(f"{source} {path}", key, actions[name], value)
    try:
        return vars(parser.parse_args(argv))
    except BadInput as error:
        raise BadInput(f"{source} {path}: {error}") from error


def _as_flag(source: str, key: str, action: argparse.Action, value: Any) -> list[str]:
    flag = action.option_strings[-1]
    is_switch = action.nargs == 0
    if isinstance(value, bool) and is_switch:
        return [flag] if value else []
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        value = ",".join(value)
    if is_switch or isinstance(value, bool) or not isinstance(value, str | int | float):
        kind = "true or false" if is_switch else "a string, a number or a list of strings"
        raise BadInput(f"{source}: {key} must be {kind}; got {value!r}.")
    return [f"{flag}={value}"]
