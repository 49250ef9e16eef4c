"""Show a clock on the terminal while numba compiles at its first use on a computer."""

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

LINE = "\rCompiling (about 10 s, once): {:.0f} s"


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Show a moving clock on stderr while something compiles, if stderr is a terminal."""
    if not stderr().isatty():
        yield
        return
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
    """Write the seconds since the start until `done`, once something is compiled; then clear."""
    began, shown = time.monotonic(), ""
    while not done.wait(SECONDS_UNSEEN):
        if compiled.buffer:
            shown = LINE.format(time.monotonic() - began)
            print(shown, end="", file=stderr(), flush=True)
    if shown:
        print("\r" + " " * len(shown) + "\r", end="", file=stderr(), flush=True)
