"""Let Ctrl-C and SIGTERM wait for the end of an iteration."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType

_raise_at_end = ContextVar("raise at the end of an interrupted run", default=False)


@dataclass
class Interrupt:
    """Whether Ctrl-C was pressed since a run or a command began."""

    pressed: bool = False


_command = Interrupt()


@contextmanager
def deferred_interrupt() -> Iterator[Interrupt]:
    """Note the first Ctrl-C instead of raising; a second one raises KeyboardInterrupt.

    Signals reach only the main thread: in other threads nothing changes.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def note(number: int, frame: FrameType | None) -> None:
        if interrupt.pressed:
            raise KeyboardInterrupt
        interrupt.pressed = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupt.pressed and _raise_at_end.get():
        raise KeyboardInterrupt


@contextmanager
def interrupted_runs_raise() -> Iterator[None]:
    """Make runs inside raise KeyboardInterrupt after Ctrl-C instead of returning.

    It is for work that must be done completely or not at all. Python drops an exception in a
    finalizer or in a function that C code calls; a KeyboardInterrupt that a command lost there is
    raised again at the end.
    """
    token = _raise_at_end.set(True)
    try:
        yield
    finally:
        _raise_at_end.reset(token)
    if _command.pressed:
        raise KeyboardInterrupt


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does: what is finished is kept, and a message says so.

    Inside, Ctrl-C is also noted, so that work in `interrupted_runs_raise` cannot miss it. Signals
    reach only the main thread: in other threads nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _as_interrupt)
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if raises:
        signal.signal(signal.SIGINT, _noted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if raises:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _command.pressed = False


def _noted(number: int, frame: FrameType | None) -> None:
    _command.pressed = True
    raise KeyboardInterrupt


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C does, also where a shell made a job in the background ignore Ctrl-C."""
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)
    else:
        raise KeyboardInterrupt
