"""Writing files so that a killed run or a full disk leaves the old file or none, and reading."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import BadZipFile

import numpy as np


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


@contextmanager
def saved_arrays(path: str | Path, owner: str) -> Iterator[dict[str, Any]]:
    """The arrays of an .npz file; ValueError where it, or what is made of it here, is not such as
    `owner`.save writes."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            yield dict(stored)
    except (AttributeError, BadZipFile, EOFError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"path must name a file that {owner}.save wrote; got {path}.") from error
