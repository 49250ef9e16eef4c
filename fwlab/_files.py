"""Writing files so that a killed run or a full disk leaves the old file or none."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4


def write_atomically(path: Path, write: Callable[[Any], Any]) -> None:
    """Call `write` with a binary file beside `path`, then move it there. Its mode is that of any
    new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with draft.open("xb") as file:
            write(file)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
