"""Print for all commands: sentences of errors and warnings, one JSON document, closed pipes."""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any

from fwlab.cli.flags import BadInput
from fwlab.provenance import installed

BROKEN_PIPE = 141  # as of a program that the signal SIGPIPE ends


@contextmanager
def bad_input(*more: type[Exception]) -> Iterator[None]:
    """Turn the one-sentence errors of a call into BadInput."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, (ValueError, TypeError, *more)):
            raise
        raise BadInput(sentence(error)) from error


@contextmanager
def enough_memory(data: str) -> Iterator[None]:
    """Turn MemoryError in a `with` block into BadInput that names the data and what they take."""
    try:
        yield
    except MemoryError as error:
        raise BadInput(f"{data!r} takes more memory than there is. {error}") from error


def print_json(**document: Any) -> None:
    """Print one JSON document with fwlab's version."""
    print(json.dumps(_strict({"fwlab": installed("fwlab"), **document}), indent=2, allow_nan=False))


def complain(error: object) -> None:
    """Print an error or a warning as one line on stderr."""
    print(f"fwlab: {' '.join(sentence(error).split())}", file=sys.stderr)


def sentence(error: object) -> str:
    """Return what an error says; what the system says about a file, without its number."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{str(error.filename)!r}: {error.strerror}."
    return str(error)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show warnings as sentences in a `with` block, without the place in the code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *place: complain(message)
        yield


@contextmanager
def flushed() -> Iterator[None]:
    """Write what was printed before a `with` block ends, so that an error of writing is seen."""
    try:
        yield
    finally:
        sys.stdout.flush()


def discard_output() -> None:
    """Let what is still to be written vanish: the reader of stdout or stderr, `head` say, is gone.

    Otherwise Python writes it at its exit, and reports that this fails.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _strict(value: Any) -> Any:
    """Replace infinity and NaN, which JSON does not have, by None."""
    if isinstance(value, dict):
        return {name: _strict(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(entry) for entry in value]
    return None if isinstance(value, float) and not isfinite(value) else value
