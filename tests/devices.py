"""Devices for the tests, which a faulty writer may replace without harm to the machine."""

import os
import stat
from pathlib import Path

import pytest

MINORS = {"null": 3, "full": 7}


def device(name: str, folder: Path) -> Path:
    """Return /dev/null or /dev/full, or for root, who could replace it, a copy in the folder."""
    if os.geteuid() != 0:
        path = Path("/dev", name)
        if not path.exists():
            pytest.skip(f"this system has no {path}")
        return path
    path = folder / name
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, MINORS[name]))
        path.open("wb").close()
    except (OSError, AttributeError) as error:
        pytest.skip(f"no device can be made here: {error}")
    return path


def stdout_by_name(folder: Path) -> Path:
    """Return a link to what stdout goes to, as /dev/stdout is one."""
    own = Path("/proc/self/fd/1")
    if not own.exists():
        pytest.skip(f"this system has no {own}")
    link = folder / "stdout"
    link.symlink_to(own)
    return link
