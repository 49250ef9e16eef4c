"""A watch for rounding: whether a form, while it runs, touches a float that is not a whole number
or calls a numerical library."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import fwlab
import paper_checks

PAPERS = Path(paper_checks.__file__).parent
NUMERICAL = (f"{Path(fwlab.__file__).parent}", "/scipy/", "/cvxpy/", "/numpy/linalg/")


@contextmanager
def watched() -> Iterator[list[str]]:
    """Collect what rounds inside: one text for each place."""
    found: list[str] = []

    def look(frame, event, argument):
        path = frame.f_code.co_filename
        place = f"{path}:{frame.f_code.co_name}"
        if event == "call" and any(part in path for part in NUMERICAL):
            found.append(f"{place} is called")
        if event == "return" and Path(path).parent.parent == PAPERS:
            rounded = [name for name, value in frame.f_locals.items() if rounds(value)]
            found.extend(f"{place}: {name} = {frame.f_locals[name]!r}" for name in rounded)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(before)


def rounds(value) -> bool:
    """Return whether a finite float that is not a whole number is in a value."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and any(rounds(x) for x in value.ravel().tolist())
    if isinstance(value, list | tuple):
        return any(map(rounds, value))
    return isinstance(value, float | np.floating) and np.isfinite(value) and value % 1 != 0
