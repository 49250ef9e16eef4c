"""Write files atomically, and read arrays back.

If a run is killed or the disk is full, the old file remains, or no file if there was none.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import BadZipFile

import numpy as np


def write_atomically(path: Path, write: Callable[[Any], Any]) -> None:
    """Call `write` with a new binary file next to `path`, then move this file to `path`.

    The file gets the same access mode as any new file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with draft.open("xb") as file:
            write(file)
        os.replace(draft, path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = str(path)  # a full disk names no file
        raise


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text as UTF-8."""
    write_atomically(path, lambda file: file.write(text.encode()))


@contextmanager
def saved_arrays(path: str | Path, owner: str) -> Iterator[dict[str, Any]]:
    """Read the arrays of an .npz file in a `with` block.

    Raises ValueError if the file was not written by `owner.save`, whether reading it fails or the
    block cannot use its arrays.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            yield dict(stored)
    except (AttributeError, BadZipFile, EOFError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"path must name a file that {owner}.save wrote; got {path}.") from error
