"""Let one run at a time write to a folder.

The operating system holds the lock as long as the process lives: a killed one leaves none.
"""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOTDIR
from pathlib import Path

from fwlab.say import say

FILE = ".lock"


@contextmanager
def locked(folder: Path | None) -> Iterator[None]:
    """Make the folder, and keep other runs out of it in a `with` block.

    Nothing is done for None. On a file system without locks nothing keeps others out, and a line on
    stderr says so. Raises ValueError if another run is in such a block.
    """
    if folder is None:
        yield
        return
    from filelock import lock_descriptor

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(folder)) from error
    with (folder / FILE).open("a+b", buffering=0) as file:
        try:
            is_free = lock_descriptor(file.fileno(), blocking=False)
        except OSError as error:
            say(f"{folder} cannot be locked ({error.strerror}); let no other run write to it.")
            is_free = True
        # Windows locks the first byte, which only the holder can then read
        if not is_free:
            file.seek(1)
            holder = (file.read() or b"").decode("utf-8", "replace") or "another process"
            raise ValueError(
                f"out must be a folder to which no other run writes; {holder} writes to "
                f"{str(folder)!r}."
            )
        file.truncate(0)
        file.write(f"\nprocess {os.getpid()} on {platform.node()}".encode())
        yield
