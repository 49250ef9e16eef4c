"""Write to stdout and stderr wherever Python starts: without a console, closed, or in ASCII."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any


class Nowhere(io.TextIOBase):
    """A text stream that discards what is written."""

    def write(self, text: str) -> int:
        """Discard the text."""
        return len(text)


NOWHERE = Nowhere()


def stderr() -> Any:
    """Return the stream for progress: sys.stderr, or one that discards if there is none.

    Python has none under pythonw, or if its descriptor is closed; print(..., file=None) would then
    write to stdout.
    """
    stream: Any = sys.stderr
    return NOWHERE if stream is None or getattr(stream, "closed", False) else stream


@contextmanager
def writable_streams() -> Iterator[None]:
    """Let sys.stdout and sys.stderr be there and take any text in a `with` block.

    What the encoding of a stream lacks is written as a backslash and its code.
    """
    with ExitStack() as end:
        for number, name in ((1, "stdout"), (2, "stderr")):
            stream = getattr(sys, name)
            if stream is None:
                _open(number)
                setattr(sys, name, NOWHERE)
                end.callback(setattr, sys, name, None)
            elif hasattr(stream, "reconfigure"):
                end.callback(stream.reconfigure, errors=stream.errors)
                stream.reconfigure(errors="backslashreplace")
        yield


def discard_output() -> None:
    """Let what is still to be written vanish: the reader of stdout or stderr, `head` say, is gone.

    Otherwise Python writes it at its exit, and reports that this fails.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # a stream without a descriptor
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _open(number: int) -> None:
    """Open a closed descriptor, or the next file would get its number, and what others print."""
    try:
        os.fstat(number)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
