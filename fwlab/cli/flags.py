"""Add flags to the parser of a command: one default each, one sentence each."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from fwlab.files import why_no_file
from fwlab.text import as_whole_number, did_you_mean

# flags that take several names, joined by commas or given again
LISTS = ("data", "loss", "methods")
MOST_DIGITS = 19

DEFAULTS: dict[str, Any] = {
    "data": "digits",
    "normalize": "none",
    "index_base": None,
    "loss": "topk",
    "k": 3,
    "weights": None,
    "costs": None,
    "smoothing": 0.0,
    "kernel": "none",
    "C": 1.0,
    "lam": None,
    "methods": "all",
    "method": None,  # by the loss
    "tol": 1e-5,
    "relative": False,
    "max_iter": 1000,
    "time_limit": None,
    "rng": 0,
    "seeds": None,
    "repeat": 1,
    "check_every": None,
    "n_threads": 1,
    "jobs": 1,
    "out": "results",
    "html": None,
    "again": None,
    "resume": False,
    "out_of_core": False,
    "label_file": None,
    "max_memory": None,
    "chunk_rows": None,
    "validation": None,
    "validation_labels": None,
    "folder": None,
    "save": None,
    "model": None,
    "machine": None,
    "intercept": None,
    "intercept_scaling": None,
    "factor": 1.1,
    "tried": None,
    "folders": None,
    "size": "small",
    "problems": None,
    "suite_folder": "suite",
    "samples": None,
    "topk": 1,
    "probabilities": False,
    "labels": None,
    "verify": False,
    "proved": False,
    "strict": False,
    "verbose": False,
    "json": False,
    "name": None,
}


class BadInput(Exception):
    """A sentence for the user; the command ends with exit code 2."""


class CommandParser(argparse.ArgumentParser):
    """An argparse parser that raises BadInput instead of printing its usage and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise BadInput."""
        raise BadInput(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            guess = did_you_mean(value, action.choices or ())
            raise argparse.ArgumentError(action, f"{error.message}.{guess}") from None


class Joined(argparse.Action):
    """A flag whose values add up if it is repeated, joined by commas."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Append the value to those that were given before."""
        before = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, values if before is None else f"{before},{values}")


def check_file(flag: str, path: str | None) -> None:
    """Raise BadInput, before any work, if a flag names a file that cannot be written."""
    if path is not None and (reason := why_no_file(Path(path))):
        raise BadInput(f"{flag} must name a file to write; got {path!r}: {reason}.")


def whole_number(text: str) -> int:
    """Return a whole number in any notation: 1000, 1e3, 1000.0."""
    number = as_whole_number(text, MOST_DIGITS)
    if number is None:
        raise argparse.ArgumentTypeError(
            f"must be a whole number, such as 1000 or 1e3; got {text!r}."
        )
    return number


def iterations(text: str) -> int | str:
    """Convert the value of --check-every; the solver checks it."""
    return text if text == "auto" else whole_number(text)


def reals(text: str) -> float | list[float]:
    """Return a number, or a list of numbers that are joined by commas."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be numbers joined by commas, such as 1 or 0.1,1,10; got {text!r}."
        ) from None
    return numbers if len(numbers) > 1 else numbers[0]


def whole_numbers(text: str) -> list[int]:
    """Return whole numbers that are joined by commas."""
    return [whole_number(part) for part in text.split(",")]


def option(parser: Any, name: str, sentence: str, kind: Callable[[str], Any] = str) -> None:
    """Add a flag with a value; its sentence ends with its default."""
    default = DEFAULTS[name.replace("-", "_")]
    shown = "" if default is None else f" (default: {default})"
    names = {whole_number: "N", whole_numbers: "N,N", float: "X", reals: "X", str: "TEXT"}
    action = Joined if name in LISTS else "store"
    parser.add_argument(
        f"--{name}", type=kind, metavar=names[kind], action=action, help=f"{sentence}{shown}"
    )


def choice(parser: Any, name: str, values: Sequence[str], sentence: str) -> None:
    """Add a flag with one of some values; its sentence ends with its default."""
    shown = f"{sentence} (default: {DEFAULTS[name]})"
    parser.add_argument(f"--{name}", choices=values, help=shown)
