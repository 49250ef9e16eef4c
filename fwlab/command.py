"""Run a command line: any end is an exit code, and an error is one sentence on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from fwlab.launch import INTERRUPTED
from fwlab.streams import discard_output, stderr, writable_streams

BROKEN_PIPE = 141  # as of a program that the signal SIGPIPE ends


def run_command(name: str, command: Callable[[], int]) -> int:
    """Return the exit code of a command, also if there is no reader, no memory or no space."""
    with writable_streams():
        try:
            with flushed():
                return command()
        except BrokenPipeError:
            discard_output()
            return BROKEN_PIPE
        except KeyboardInterrupt:
            code, reason = INTERRUPTED, "interrupted before there was anything to report."
        except OSError as error:  # from writing: errors of reading become sentences of their own
            code, reason = 1, sentence(error)
        except MemoryError as error:
            code, reason = 1, f"there is not enough memory. {error}"
        # now without the traceback, which holds what fills the memory
        with suppress(OSError):
            complain(reason, name)
        _write_or_discard()
        return code


def complain(error: object, name: str = "fwlab") -> None:
    """Print an error or a warning of a command as one line on stderr."""
    print(f"{name}: {' '.join(sentence(error).split())}", file=stderr(), flush=True)


def sentence(error: object) -> str:
    """Return what an error says; what the system says about a file, without its number."""
    if isinstance(error, OSError) and error.strerror:
        place = "" if error.filename is None else f"{str(error.filename)!r}: "
        return f"{place}{error.strerror}."
    return str(error)


@contextmanager
def flushed() -> Iterator[None]:
    """Write what was printed before a `with` block ends, so that an error of writing is seen."""
    try:
        yield
    finally:
        sys.stdout.flush()


def _write_or_discard() -> None:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        discard_output()
