"""Say while numba compiles at its first use on a computer that it does, and on a terminal how long.

The line goes to the logger `fwlab`, which a program may silence as any other. Python prints it to
stderr by default.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba.core.event

from fwlab.streams import stderr

# a shorter wait needs no line
SECONDS_UNSEEN = 1.0
event: Any = numba.core.event

TOLD = (
    "fwlab compiles its kernels for this computer: about 10 s, once. `fwlab warmup` compiles all "
    "in advance."
)
LINE = "\rCompiling: {:.0f} s"
# a process tells it once
told = threading.Event()


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Say once per process that something compiles, and show a clock if stderr is a terminal."""
    compiled = event.RecordingListener()
    done = threading.Event()
    clock = threading.Thread(target=_show, args=(compiled, done), daemon=True)
    with event.install_listener("numba:compile", compiled):
        clock.start()
        try:
            yield
        finally:
            done.set()
            clock.join()


def _show(compiled: Any, done: threading.Event) -> None:
    """Tell it, and write the seconds since the start until `done`, once something is compiled."""
    began, shown, is_terminal = time.monotonic(), "", stderr().isatty()
    while not done.wait(SECONDS_UNSEEN):
        if not compiled.buffer:
            continue
        if not told.is_set():
            told.set()
            logging.getLogger("fwlab").warning(TOLD)
        if is_terminal:
            shown = LINE.format(time.monotonic() - began)
            print(shown, end="", file=stderr(), flush=True)
    if shown:
        print("\r" + " " * len(shown) + "\r", end="", file=stderr(), flush=True)
