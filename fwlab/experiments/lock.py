"""Let one comparison at a time write to a folder.

The operating system holds the lock as long as the process lives: a killed one leaves none.
"""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows nothing is locked
    fcntl = None  # type: ignore[assignment]  # a module everywhere else

FILE = ".lock"


@contextmanager
def locked(folder: Path | None) -> Iterator[None]:
    """Make the folder, and keep other comparisons out of it in a `with` block.

    Nothing is done for None. Raises ValueError if another comparison is in such a block.
    """
    if folder is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FILE).open("a+", encoding="utf-8") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                file.seek(0)
                raise ValueError(
                    "out must be a folder to which no other comparison writes; "
                    f"{file.read()} writes to {str(folder)!r}."
                ) from error
            except OSError:  # a file system without locks
                pass
        file.truncate(0)
        file.write(f"process {os.getpid()} on {platform.node()}")
        file.flush()
        yield
