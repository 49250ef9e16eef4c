"""Print for all commands of fwlab: one JSON document, and warnings and bad input as sentences."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any

from fwlab.cli.flags import BadInput
from fwlab.command import complain, sentence
from fwlab.release import __version__


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
    print(json.dumps(_strict({"fwlab": __version__, **document}), indent=2, allow_nan=False))


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show warnings as sentences in a `with` block, without the place in the code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *place: complain(message)
        yield


def _strict(value: Any) -> Any:
    """Replace infinity and NaN, which JSON does not have, by None."""
    if isinstance(value, dict):
        return {name: _strict(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(entry) for entry in value]
    return None if isinstance(value, float) and not isfinite(value) else value
