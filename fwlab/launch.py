"""Let Ctrl-C end the command line with a sentence while Python still imports fwlab.

The script `fwlab` and `python -m fwlab` import the package, which takes a second, before any code
of the command runs. The package imports this module first; a program that uses fwlab as a library
keeps its own handling of Ctrl-C.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import PurePath
from types import FrameType

INTERRUPTED = 130


def is_command(argv: Sequence[str]) -> bool:
    """Return whether Python was started as `fwlab` or `python -m fwlab`, from its arguments."""
    for before, argument in pairwise(argv):
        if before == "-m":
            return argument == "fwlab"
        if not argument.startswith("-") and before not in ("-X", "-W"):
            return PurePath(argument).stem == "fwlab"
    return False


def end_quietly(number: int, frame: FrameType | None) -> None:
    """End the process at once, because nothing is open yet and imports can swallow exceptions."""
    with suppress(OSError):  # stderr is closed
        os.write(2, b"fwlab: interrupted.\n")
    os._exit(INTERRUPTED)


def imported() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is end_quietly:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if (
    is_command(sys.orig_argv)
    and threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, end_quietly)
